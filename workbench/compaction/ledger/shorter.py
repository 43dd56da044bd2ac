"""Shorten messages: keep the beginning and the end of each text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from workbench.base.figures import grouped
from workbench.base.values import strings_in
from workbench.compaction.language import Language
from workbench.compaction.ledger.text import WORDS
from workbench.facts.pastes import passages, shorten_pastes
from workbench.session import Block, Media, Message, Text, Thinking, ToolResult, ToolUse
from workbench.session.masked import cut_blocks, searched_message

LEAST_CHARS = 120
"""Fewest characters of a shortened text, whatever the budget; the mark for the cut is not counted."""


def clipped(text: str, chars: int, language: Language) -> str:
    """Cut the middle of a text over `chars` and put a mark there. A text that is only slightly longer stays unchanged.
    Marks of earlier cuts are not divided; the new mark includes them."""
    if len(text) <= chars + TOLERANCE:
        return text
    start, stop = chars - chars // 2, len(text) - chars // 2
    for mark in _CUT.finditer(text) if "[…" in text else ():
        start = mark.start() if mark.start() < start < mark.end() else start
        stop = mark.end() if mark.start() < stop < mark.end() else stop
    return f"{text[:start]}\n{_cut_mark(text[start:stop], language)}\n{text[stop:]}"


_CUT = re.compile(r"[\n ]?\[…+ [^\[\]\n]{1,90}\]\n?")
_COUNT = re.compile(r"(\d{1,3}(?: \d{3}){0,3}) (?:characters|more|个字符)")


def _length(text: str) -> int:
    """Characters of a text, including those that earlier cuts removed according to their marks."""
    length = len(text)
    for mark in _CUT.finditer(text) if "[…" in text else ():
        if count := _COUNT.search(mark[0]):
            length += int(count[1].replace(" ", "")) - len(mark[0])
    return length


def uncut(text: str) -> list[str]:
    """Parts of a text between its marks of cuts."""
    return [part for part in _CUT.split(text) if part.strip()]


def beginning(text: str, chars: int, language: Language) -> str:
    """First `chars` characters of a text, and a mark with the number of the others; a slightly longer text stays
    unchanged."""
    if len(text) <= chars + TOLERANCE:
        return text
    return f"{text[:chars]} {WORDS[language].more.format(count=grouped(_length(text[chars:])))}"


def _around_pastes(text: str, chars: int, language: Language) -> str:
    """Cut the pastes in a user's text and keep the user's own words; unchanged if there are no pastes or no own
    words."""
    if len(text) <= chars + TOLERANCE:
        return text
    parts = passages(text)
    own, pastes = sum(one.stop - one.start for one in parts if one.own), sum(not one.own for one in parts)
    if not own or not pastes:
        return text
    return shorten_pastes(
        text, max(chars - own, 0) // pastes, lambda one: _cut_mark(text[one.start : one.stop], language)
    )


def _cut_mark(part: str, language: Language) -> str:
    return WORDS[language].shortened.format(count=grouped(_length(part)))


ENDLESS = 1 << 39
"""More characters than any text has."""

TOLERANCE = 60
"""A text is cut only if it has more than this many characters too many: about the length of the mark."""


def shortened(
    message: Message,
    chars: int,
    language: Language,
    *,
    read: bool = True,
    done: bool = True,
    clean: Message | None = None,
) -> Message:
    """Cut every text and tool result of a message to `chars`; return the same object if none is longer.

    `done`: its calls have results, so texts in their inputs are cut, too. `read`: the agent has answered the message,
    so thinking is removed and media become placeholders. Text that an agent injected next to the user's words is cut to
    an eighth, each further one to a little less, so that they vanish one after another. The id is kept; `source` is
    removed, because no record has the new text. Secrets are masked if a text is cut; `clean`: the masked message, if
    the caller has it.
    """
    clean = clean or searched_message(message)
    injected = [block for block in clean.blocks if isinstance(block, Text) and block.injected]
    share: dict[int, int] = {}
    if message.user_text.strip():
        share = {id(block): chars // 8 - TOLERANCE * place for place, block in enumerate(injected)}

    def short(text: str) -> str:
        return clipped(_around_pastes(text, chars, language) if message.starts_round else text, chars, language)

    def shortest(block: Block) -> Block | None:
        if isinstance(block, Text) and (fits := share.get(id(block))) is not None:
            less = clipped(block.text, fits, language) if fits >= TOLERANCE else ""
            return block if less is block.text else replace(block, text=less) if less else None
        return _short(block, short, read=read, done=done)

    blocks = cut_blocks(message, shortest, clean)
    if len(blocks) == len(message.blocks) and all(a is b for a, b in zip(blocks, message.blocks, strict=True)):
        return message
    return replace(message, blocks=blocks, source=()) if blocks else message


def _short(block: Block, short: Callable[[str], str], *, read: bool, done: bool) -> Block | None:
    match block:
        case Text(text):
            return block if (new := short(text)) is text else replace(block, text=new)
        case ToolResult(_, content):
            parts = tuple(_short_part(part, short, read=read) for part in content)
            same = all(new is old for new, old in zip(parts, content, strict=True))
            return block if same else replace(block, content=parts)
        case ToolUse(_, _, input) if done:
            return block if (less := _short_values(input, short)) is input else replace(block, input=less)
        case Thinking() if read:
            return None
        case Media() if read:
            return Text(block.placeholder)
    return block


def _short_part(part: Text | Media, short: Callable[[str], str], *, read: bool) -> Text | Media:
    if isinstance(part, Media):
        return Text(part.placeholder) if read else part
    return part if (new := short(part.text)) is part.text else replace(part, text=new)


DEEPEST = 50
"""Depth of objects and lists in a call's input below which texts stay unchanged."""


def _short_values(value: Any, short: Callable[[str], str], depth: int = 0) -> Any:
    """Shorten the texts in a value; return the same object if none is shortened."""
    if depth == DEEPEST:
        return value
    if isinstance(value, str):
        return short(value)
    if isinstance(value, dict):
        fields = {key: _short_values(one, short, depth + 1) for key, one in value.items()}
        return value if all(fields[key] is value[key] for key in value) else fields
    if isinstance(value, list):
        items = [_short_values(one, short, depth + 1) for one in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value


def longest_text(message: Message) -> int:
    """Characters of the longest text that `shortened` cuts, thinking included; `ENDLESS` with media, which are kept
    whole or not at all."""
    return max(_lengths(message), default=0)


def _lengths(message: Message) -> Iterator[int]:
    for block in message.blocks:
        match block:
            case Text(text) | Thinking(text):
                yield len(text)
            case ToolUse(_, _, input):
                yield from map(len, strings_in(input))
            case ToolResult(_, content):
                yield from (len(part.text) if isinstance(part, Text) else ENDLESS for part in content)
            case Media():
                yield ENDLESS
