"""Kimi's content parts and results as blocks."""

from __future__ import annotations

from typing import Any

from workbench.formats.kit.blocks import in_result, parts_of
from workbench.formats.kit.values import dict_of, text_of
from workbench.session import Block, Media, Opaque, Text, Thinking, ToolResult
from workbench.session.images import media_of

_FAILED = "<system>ERROR: Tool execution failed.</system>"
_EMPTY = "<system>Tool output is empty.</system>"
_FAILED_EMPTY = "<system>ERROR: Tool execution failed. Tool output is empty.</system>"

_TIMED = frozenset(("Agent", "AgentSwarm", "Bash", "FetchURL", "Glob", "Grep", "WebSearch"))
"""Tools whose results tell the model how long they took; those of MCP servers do, too."""

_MEDIA = {"image_url": "image", "audio_url": "audio", "video_url": "video"}


def blocks_of(content: Any) -> tuple[Block, ...]:
    """The blocks of a message's content."""
    return parts_of(content, _part)


def _part(part: Any) -> Block:
    body = dict_of(part)
    kind = text_of(body.get("type"))
    if kind == "text" and isinstance(body.get("text"), str):
        return Text(body["text"])
    if kind == "think" and isinstance(body.get("think"), str):
        return Thinking(body["think"], text_of(body.get("encrypted")))
    if kind in _MEDIA:
        given = body.get(kind)
        url = given if isinstance(given, str) else text_of(dict_of(given).get("url"))
        declared = url[5:].partition(";")[0] if url.startswith("data:") else ""
        return media_of(declared or _MEDIA[kind], url.partition(",")[2] if declared else "")
    return Opaque(kind, part)


def result_of(call: str, tool: str, recorded: dict[str, Any]) -> ToolResult:
    """A recorded result as the model is sent it: failure and emptiness said in words, with time and note."""
    failed = recorded.get("isError") is True
    given = blocks_of(recorded.get("output"))
    parts = [in_result(part, part.raw if isinstance(part, Opaque) else "") for part in given]
    if not any(isinstance(part, Media) or part.text.strip() for part in parts):
        parts = [Text(_FAILED_EMPTY if failed else _EMPTY)]
    elif failed:
        parts = _with(parts, f"{_FAILED}\n", before=True)
    took = recorded.get("durationMs")
    if isinstance(took, int | float) and (tool in _TIMED or tool.startswith("mcp__")):
        parts = _with(parts, f"Wall time: {took / 1000:.3f} seconds\n", before=True)
    if note := text_of(recorded.get("note")):
        parts = _with(parts, f"\n{note}", before=False)
    return ToolResult(call, tuple(parts), failed)


def _with(parts: list[Text | Media], words: str, *, before: bool) -> list[Text | Media]:
    """The parts with words at one end: in the same text where there is one alone, as a part of their own elsewhere."""
    only = parts[0]
    if len(parts) == 1 and isinstance(only, Text):
        return [Text(words + only.text if before else only.text + words)]
    return [Text(words.strip()), *parts] if before else [*parts, Text(words.strip())]
