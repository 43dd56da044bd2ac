"""Conversion between the content of Cline's and Roo's messages and our blocks."""

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
"""The user's words in the extension's tags."""
_LED = re.compile(r"(?:[Tt]he user [^\n]{1,200}|New instructions for task continuation):\s*\Z")
"""End of a text by the extension or a tool, which introduces the user's words after it."""
_NEAR = 200
"""Leading characters of a text within which tagged words need no introduction; tool output may contain the tags further
down."""
_ASKS = re.compile(r"\[(?:ask_followup_question|attempt_completion|plan_mode_respond|new_task|condense)\b")
_EXTENSION_TEXT = re.compile(
    r"\s*(?:\[\w+(?: for .{0,4000}?)?\] Result:|\[ERROR\]|\[TASK RESUMPTION\]|<environment_details>)", re.DOTALL
)


def blocks_of(item: dict[str, Any], waiting: Sequence[str]) -> tuple[Block, ...]:
    """Return the blocks of a message. `waiting`: calls of the message before, which texts may answer in order."""
    if item.get("type") == "reasoning" and "content" not in item:
        return (_reasoning(item),)
    blocks = tuple(_with_reasoning(block) for block in from_anthropic(item.get("content")))
    blocks = tuple(block for block in blocks if not (isinstance(block, Text) and not block.text))
    if waiting and not any(isinstance(block, ToolResult) for block in blocks):
        return _paired(blocks, waiting)
    return blocks


def _with_reasoning(block: Block) -> Block:
    """Convert a block of Roo's own form of reasoning; other blocks are unchanged."""
    if isinstance(block, Opaque) and block.type == "reasoning" and isinstance(block.raw, dict):
        return _reasoning(block.raw)
    return block


def _reasoning(raw: dict[str, Any]) -> Thinking:
    text = raw.get("text", raw.get("summary"))
    if isinstance(text, list):
        text = "\n".join(as_text(part.get("text", "")) for part in text if isinstance(part, dict))
    return Thinking(as_text(text or ""), as_text(raw.get("encrypted_content") or ""))


def _paired(blocks: tuple[Block, ...], waiting: Sequence[str]) -> tuple[Block, ...]:
    """Turn each run of texts with a result heading into the result of the next waiting call; results come first."""
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
    """Separate the user's words in a user message from the extension's text: tool results as texts, environment
    details, and text around an answer or a rejection."""
    if role != "user":
        return tuple(blocks)
    separated: list[Block] = []
    in_output = False  # True within tool output
    for block in blocks:
        if isinstance(block, ToolResult):
            separated.append(replace(block, user_text=block.user_text or _feedback_in(block.text)))
        elif not isinstance(block, Text):
            separated.append(block)
        elif spans := [*_words(block.text, in_output)]:
            separated += _split(block.text, spans)
        else:
            headed = _EXTENSION_TEXT.match(block.text) is not None
            separated.append(replace(block, injected=True) if headed or in_output else block)
            if block.text.lstrip().startswith(_DETAILS):
                in_output = False
            elif _RESULT.match(block.text):
                in_output = _ASKS.match(block.text) is None
    return tuple(separated)


def _words(text: str, in_output: bool) -> Iterator[tuple[int, int]]:
    """Yield the spans of the user's words in a text; in tool output only those that the extension introduces."""
    for words in _WORDS.finditer(text):
        introduced = _LED.search(text, max(0, words.start() - 300), words.start())
        if words[2].strip() and (introduced or (words.start() <= _NEAR and not in_output)):
            yield words.span(2)


def _split(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[Text]:
    """Yield a text as blocks of own and injected words in turn; joined they equal `text`."""
    at = 0
    for start, stop in spans:
        own = text[start:stop].strip()
        start = text.index(own, start)
        yield Text(text[at:start], injected=True)
        yield Text(own)
        at = start + len(own)
    if text[at:]:
        yield Text(text[at:], injected=True)


def _feedback_in(result: str) -> str:
    """Return the user's words about a call in its result: as JSON with a status, or introduced by text."""
    if result.startswith('{"status":'):
        try:
            return text_of(dict_of(loads_text(result)).get("feedback"))
        except ValueError:
            return ""
    return "\n".join(result[start:stop].strip() for start, stop in _words(result, in_output=True))


def kind_of(role: str, blocks: Sequence[Block]) -> Kind:
    """Return the kind of a message without a flag: `meta` for text of the extension only, `summary` by its beginning,
    else `normal`."""
    if role != "user" or not blocks or any(isinstance(block, ToolUse | ToolResult | Opaque) for block in blocks):
        return "normal"
    texts = [block for block in blocks if isinstance(block, Text)]
    if texts and is_summary(texts[0].text):
        return "summary"
    return "meta" if texts and all(text.injected for text in texts) else "normal"
