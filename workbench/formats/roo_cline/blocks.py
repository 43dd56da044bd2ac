"""The content of Cline's and Roo's messages and our blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from workbench.formats.agent_texts import is_summary
from workbench.formats.kit.blocks import as_text, from_anthropic
from workbench.formats.kit.jsonl import loads_text
from workbench.formats.kit.values import dict_of, text_of
from workbench.session import Block, Kind, Media, Opaque, Text, Thinking, ToolResult, ToolUse

_RESULT = re.compile(r"\[(\w+)(?: for [^\n]{0,4000}?)?\] Result:")
_DETAILS = "<environment_details>"
_WORDS = re.compile(r"^<(task|feedback|answer|user_message)>(.*?)</\1>", re.DOTALL | re.MULTILINE)
"""What the person said, in the extension's tags."""
_LED = re.compile(r"(?:[Tt]he user [^\n]{1,200}|New instructions for task continuation):\s*\Z")
"""How the extension leads from its own words, or a tool's, to the person's."""
_NEAR = 200
"""Characters within which words need no lead: what a tool found may hold the tags, too, but further down."""
_ASKS = re.compile(r"\[(?:ask_followup_question|attempt_completion|plan_mode_respond|new_task|condense)\b")
_OWN = re.compile(
    r"\s*(?:\[\w+(?: for .{0,4000}?)?\] Result:|\[ERROR\]|\[TASK RESUMPTION\]|<environment_details>)", re.DOTALL
)


def blocks_of(item: dict[str, Any], waiting: Sequence[str]) -> tuple[Block, ...]:
    """The blocks of a message. `waiting`: calls of the message before, which texts may answer in order."""
    if item.get("type") == "reasoning" and "content" not in item:
        return (_reasoning(item),)
    blocks = tuple(_own(block) for block in from_anthropic(item.get("content")))
    blocks = tuple(block for block in blocks if not (isinstance(block, Text) and not block.text))
    if waiting and not any(isinstance(block, ToolResult) for block in blocks):
        return _paired(blocks, waiting)
    return blocks


def _own(block: Block) -> Block:
    """A block, of which Roo's reasoning has a shape of its own."""
    if isinstance(block, Opaque) and block.type == "reasoning" and isinstance(block.raw, dict):
        return _reasoning(block.raw)
    return block


def _reasoning(raw: dict[str, Any]) -> Thinking:
    said = raw.get("text", raw.get("summary"))
    if isinstance(said, list):
        said = "\n".join(as_text(part.get("text", "")) for part in said if isinstance(part, dict))
    return Thinking(as_text(said or ""), as_text(raw.get("encrypted_content") or ""))


def _paired(blocks: tuple[Block, ...], waiting: Sequence[str]) -> tuple[Block, ...]:
    """The blocks with each run of texts headed as a result made the result of the next waiting call; results first."""
    results: list[ToolResult] = []
    rest: list[Block] = []
    content: list[Text | Media] | None = None
    for block in blocks:
        headed = isinstance(block, Text) and _RESULT.match(block.text) is not None
        if headed and len(results) < len(waiting):
            content = []
            results.append(ToolResult(waiting[len(results)], ()))
        elif headed or (isinstance(block, Text) and block.text.startswith(_DETAILS)):
            content = None
        if content is None or not isinstance(block, Text | Media):
            rest.append(block)
        else:
            content.append(block)
            results[-1] = ToolResult(results[-1].call_id, tuple(content))
    return (*results, *rest)


def with_own_words(role: str, blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks of a user's message with the person's words parted from the extension's: results of tools as texts,
    environment details, and what it puts around an answer or a refusal."""
    if role != "user":
        return tuple(blocks)
    made: list[Block] = []
    found = False  # whether texts are what a tool found
    for block in blocks:
        if isinstance(block, ToolResult):
            made.append(replace(block, said=block.said or _said_in(block.text)))
        elif not isinstance(block, Text):
            made.append(block)
        elif spans := [*_words(block.text, found)]:
            made += _parted(block.text, spans)
        else:
            headed = _OWN.match(block.text) is not None
            made.append(replace(block, injected=True) if headed or found else block)
            if block.text.lstrip().startswith(_DETAILS):
                found = False
            elif _RESULT.match(block.text):
                found = _ASKS.match(block.text) is None
    return tuple(made)


def _words(text: str, found: bool) -> Iterator[tuple[int, int]]:
    """Where the person's words stand in a text; in what a tool found only where the extension leads to them."""
    for words in _WORDS.finditer(text):
        led = _LED.search(text, max(0, words.start() - 300), words.start())
        if words[2].strip() and (led or (words.start() <= _NEAR and not found)):
            yield words.span(2)


def _parted(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[Text]:
    """A text as blocks of own and injected words in turn; joined they are `text`."""
    at = 0
    for start, stop in spans:
        own = text[start:stop].strip()
        start = text.index(own, start)
        yield Text(text[at:start], injected=True)
        yield Text(own)
        at = start + len(own)
    if text[at:]:
        yield Text(text[at:], injected=True)


def _said_in(result: str) -> str:
    """What the person said about a call, which its result tells: as JSON beside a status, or led to."""
    if result.startswith('{"status":'):
        try:
            return text_of(dict_of(loads_text(result)).get("feedback"))
        except ValueError:
            return ""
    return "\n".join(result[start:stop].strip() for start, stop in _words(result, found=True))


def kind_of(role: str, blocks: Sequence[Block]) -> Kind:
    """Kind of a message that no flag tells: the extension's own words, the user's, or a summary by its beginning."""
    if role != "user" or not blocks or any(isinstance(block, ToolUse | ToolResult | Opaque) for block in blocks):
        return "normal"
    texts = [block for block in blocks if isinstance(block, Text)]
    if texts and is_summary(texts[0].text):
        return "summary"
    return "meta" if texts and all(text.injected for text in texts) else "normal"
