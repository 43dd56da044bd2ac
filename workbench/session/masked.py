"""A message without its secrets: what fragments of a session are made of.

A name, a line, a blank in a sentence has lost what a secret beside it was told by. Whatever takes a text apart (facts,
names, questions, summaries without a model, texts cut short) is therefore given these messages. Whatever shows a text
as it stands masks it where it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from workbench.base.secrets import LONG_KEY, masked_of, masked_value, without_secrets
from workbench.base.values import json_text
from workbench.session.message import Block, Media, Message, Opaque, Text, Thinking, ToolResult, ToolUse


def masked_message(message: Message) -> Message:
    """The message with every secret in its texts, results and inputs masked, block by block; the same object where
    there is none."""
    blocks = tuple(map(_masked_block, message.blocks))
    same = all(new is old for new, old in zip(blocks, message.blocks, strict=True))
    return message if same else replace(message, blocks=blocks)


def cut_blocks(
    message: Message, cut: Callable[[Block], Block | None], clean: Message | None = None
) -> tuple[Block, ...]:
    """What `cut` makes of each block without its secrets, None for nothing; one that it leaves as it is stays whole,
    and so itself. `clean` is the message masked, where that is found already."""
    several = zip(message.blocks, (clean or masked_message(message)).blocks, strict=True)
    left = (block if (made := cut(one)) is one else made for block, one in several)
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
    said = without_secrets(block.said)
    return block if (content, said) == (block.content, block.said) else replace(block, content=content, said=said)


def _masked_json(value: Any) -> Any:
    """The same value where no text in it is masked; as one text where that nests deeper than Python calls."""
    if all(masked_of(name, text, without_secrets) == text for name, text in _texts_in(value)):
        return value
    try:
        return masked_value(value, without_secrets)
    except RecursionError:
        return without_secrets(json_text(value))


def _texts_in(value: Any) -> Iterator[tuple[str, str]]:
    """Every text with the name that it is given, and the long names, which may be secrets themselves."""
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
