"""Messages with their secrets masked, for code that uses parts of texts.

Many secrets are recognised by the text around them, which a part of a text may lack. Code that takes parts out of texts
(facts, names, questions, summaries without a model, shortened texts) therefore works on masked messages
(`searched_message`). Code that shows a complete text masks it when it is shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any

from workbench.base.secrets import LONG_KEY, MASK, masked_of, masked_value, without_secrets
from workbench.base.values import json_text
from workbench.session.bounded import bounded_message
from workbench.session.message import Block, Media, Message, Opaque, Text, Thinking, ToolResult, ToolUse


def masked_message(message: Message) -> Message:
    """Mask every secret in a message's texts, results and inputs; the same object if there is none."""
    blocks = tuple(map(_masked_block, message.blocks))
    same = all(new is old for new, old in zip(blocks, message.blocks, strict=True))
    return message if same else replace(message, blocks=blocks)


def searched_message(message: Message) -> Message:
    """Mask every secret in the part of a message that is searched (`bounded_message`)."""
    return masked_message(bounded_message(message))


def cut_blocks(
    message: Message, cut: Callable[[Block], Block | None], clean: Message | None = None
) -> tuple[Block, ...]:
    """Apply `cut` to the masked form of each block. A block that it changes is replaced by its result, or omitted if
    that is None; a block that it does not change stays unmasked. `clean`: the masked message, if the caller has it."""
    several = zip(message.blocks, (clean or searched_message(message)).blocks, strict=True)
    left = (block if (shortened := cut(one)) is one else shortened for block, one in several)
    return tuple(block for block in left if block is not None)


def _masked_block(block: Block) -> Block:
    match block:
        case Text(text):
            return block if (clean := without_secrets(text)) == text else replace(block, text=clean)
        case Thinking(text):
            return block if (clean := without_secrets(text)) == text else replace(block, text=clean)
        case ToolUse(_, _, given):
            return block if (clean := _masked_json(given)) is given else replace(block, input=clean)
        case Opaque(_, raw):
            return block if (clean := _masked_json(raw)) is raw else replace(block, raw=clean)
        case ToolResult():
            return _masked_result(block)
        case Media():
            return block


def _masked_result(block: ToolResult) -> ToolResult:
    content = tuple(
        replace(part, text=clean)
        if isinstance(part, Text) and (clean := without_secrets(part.text)) != part.text
        else part
        for part in block.content
    )
    words = without_secrets(block.user_text)
    same = (content, words) == (block.content, block.user_text)
    return block if same else replace(block, content=content, user_text=words)


def _masked_json(value: Any) -> Any:
    """Mask a JSON value; the same object if nothing is masked, one text if it nests too deeply for recursion."""
    if all(masked_of(name, text, without_secrets) == text for name, text in _texts_in(value)):
        return value
    try:
        return masked_value(value, without_secrets)
    except RecursionError:
        return without_secrets(json_text(value))


def _texts_in(value: Any) -> Iterator[tuple[str, str]]:
    """Yield every text in a JSON value with its key ("" without one). Long keys are yielded as texts, because they may
    be secrets themselves."""
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        name, one = waiting.pop()
        if isinstance(one, str):
            yield name, one
        elif isinstance(one, dict):
            waiting.extend(("", key) for key in one if isinstance(key, str) and len(key) >= LONG_KEY)
            waiting.extend((str(key), inner) for key, inner in one.items())
        elif isinstance(one, list):
            waiting.extend(("", inner) for inner in one)


# --- parts of secrets next to a cut


def without_rests(text: str, messages: Iterable[Message], masked: Iterable[Message]) -> str:
    """Mask the parts of secrets that cuts have left in `text`, a request made of shortened texts of `messages`. Neither
    a part of a secret nor a secret without the name before it is recognised by itself. Only for display: the request is
    sent unmasked. `masked`: the masked form of each message."""
    secrets = {
        one for pair in zip(messages, masked, strict=True) if pair[0] is not pair[1] for one in _secrets_of(*pair)
    }
    parts, done = [], 0
    for start, stop in sorted(_rests(text, secrets)) if secrets else ():
        if start >= done:
            parts += [text[done:start], MASK]
        done = max(done, stop)
    return "".join(parts) + text[done:] if parts else text


_CUT = re.compile(r"\s{0,2}(?:\.\.\.|…)(?:\[[^\[\]\n]{1,20}\])?\s{0,2}")
LONGEST, LEAST = 1_000, 4
"""Number of characters searched on each side of a cut, and length of the shortest part of a secret that is masked."""


def _rests(text: str, secrets: Collection[str]) -> Iterator[tuple[int, int]]:
    """Yield the spans of parts of secrets directly before or after a cut, and of complete secrets after one."""
    for cut in _CUT.finditer(text):
        start, stop = cut.span()
        before, behind = text[max(0, start - LONGEST) : start], text[stop : stop + LONGEST]
        for secret in secrets:
            if head := _shared(secret, before):
                yield start - head, start
            if tail := _shared(secret[::-1], behind[::-1]):
                yield stop, stop + tail
            if (at := behind.find(secret)) >= 0:
                yield stop + at, stop + at + len(secret)


def _shared(secret: str, before: str) -> int:
    """Return the length of the longest prefix of `secret` with which `before` ends; 0 if shorter than `LEAST`."""
    at = before.rfind(secret[:LEAST])
    while at >= 0:
        if secret.startswith(before[at:]):
            return len(before) - at
        at = before.rfind(secret[:LEAST], 0, at + LEAST - 1)
    return 0


def _secrets_of(message: Message, clean: Message) -> Iterator[str]:
    """Yield the secrets that were masked in a message."""
    for block, new in zip(message.blocks, clean.blocks, strict=True):
        for text, other in zip(_texts_of(block), _texts_of(new), strict=False) if block is not new else ():
            first, *parts = other.split(MASK)
            at = len(first)
            for number, part in enumerate(parts, 1):
                end = text.find(part, at) if part and number < len(parts) else len(text) - len(part)
                yield text[at:end]
                at = end + len(part)


def _texts_of(block: Block) -> Iterator[str]:
    match block:
        case Text(text) | Thinking(text):
            yield text
        case ToolUse(_, _, given) | Opaque(_, given):
            yield from (text for _, text in _texts_in(given))
        case ToolResult():
            yield from (part.text for part in block.content if isinstance(part, Text))
            yield block.user_text
