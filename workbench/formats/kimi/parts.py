"""Convert Kimi's content parts and results to blocks."""

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
"""Tools whose results include their duration for the model; those of MCP servers do as well."""

_MEDIA = {"image_url": "image", "audio_url": "audio", "video_url": "video"}


def blocks_of(content: Any) -> tuple[Block, ...]:
    """Return the blocks of a message's content."""
    return parts_of(content, _part)


def _part(part: Any) -> Block:
    body = dict_of(part)
    kind = text_of(body.get("type"))
    if kind == "text" and isinstance(body.get("text"), str):
        return Text(body["text"])
    if kind == "think" and isinstance(body.get("think"), str):
        return Thinking(body["think"], text_of(body.get("encrypted")))
    if kind in _MEDIA:
        value = body.get(kind)
        url = value if isinstance(value, str) else text_of(dict_of(value).get("url"))
        declared = url[5:].partition(";")[0] if url.startswith("data:") else ""
        return media_of(declared or _MEDIA[kind], url.partition(",")[2] if declared else "")
    return Opaque(kind, part)


def result_of(call: str, tool: str, recorded: dict[str, Any]) -> ToolResult:
    """Return a recorded result as it is sent to the model: with texts for failure and emptiness, duration and note."""
    failed = recorded.get("isError") is True
    blocks = blocks_of(recorded.get("output"))
    parts = [in_result(part, part.raw if isinstance(part, Opaque) else "") for part in blocks]
    if not any(isinstance(part, Media) or part.text.strip() for part in parts):
        parts = [Text(_FAILED_EMPTY if failed else _EMPTY)]
    elif failed:
        parts = _add_words(parts, f"{_FAILED}\n", before=True)
    duration = recorded.get("durationMs")
    if isinstance(duration, int | float) and (tool in _TIMED or tool.startswith("mcp__")):
        parts = _add_words(parts, f"Wall time: {duration / 1000:.3f} seconds\n", before=True)
    if note := text_of(recorded.get("note")):
        parts = _add_words(parts, f"\n{note}", before=False)
    return ToolResult(call, tuple(parts), failed)


def _add_words(parts: list[Text | Media], words: str, *, before: bool) -> list[Text | Media]:
    """Add words at one end of the parts: in the text if it is the only part, else as a separate part."""
    only = parts[0]
    if len(parts) == 1 and isinstance(only, Text):
        return [Text(words + only.text if before else only.text + words)]
    return [Text(words.strip()), *parts] if before else [*parts, Text(words.strip())]
