"""Recorded compactions of Claude Code, and their effects on the context.

A `compact_boundary` replaces all earlier messages with a summary; since 2.1.2xx it names earlier lines that are kept
after the summary, either all of them (`preservedMessages`) or the ends of their chain (`preservedSegment`). A
`microcompact_boundary` clears tool results and `snipMetadata` removes lines. The API reports its own clearing in an
answer's `context_management`. `content-replacement` lines hold the replacement of results that were too large to send.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from msgspec import Struct

from workbench.formats.claude_code.project import project_name
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of
from workbench.session import Compaction

CLEARED = "[Old tool result content cleared]"
"""Text sent in place of a cleared result; since `_SAVING` only where the result could not be saved."""

PERSISTED = "<persisted-output>"
"""Prefix of the text sent in place of a saved result."""

_SAVING = (2, 0, 60)
"""Since this version Claude Code saves a result to a file before clearing it, and sends the file's path."""

_CLEARED_TOOLS = frozenset(
    ["Bash", "Edit", "Glob", "Grep", "MultiEdit", "NotebookEdit", "Read", "WebFetch", "WebSearch", "Write"]
)
"""Tools whose results a microcompaction clears, oldest first, except the newest ones. Its line lists the cleared
results. An earlier microcompaction may be unrecorded (2.1.17), so results older than the listed ones count as cleared
too."""

_API_SHARES = {"clear_tool_uses": "cleared_tool_uses", "clear_thinking": "cleared_thinking_turns"}


class Preserved(Struct, frozen=True):
    """Earlier lines that a boundary keeps: `uuids` in order, or the chain from `tail` up to `head` if there is no list.
    They follow the line `anchor`. If one of `needed` is missing, the loader keeps none of them."""

    uuids: tuple[str, ...] = ()
    anchor: str = ""
    head: str = ""
    tail: str = ""
    needed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """One recorded compaction; `compaction.way` is its kind.

    summary: `preserved` lines follow the summary.
    clearing: `results` maps call ids to replacement texts. Older results of `tools` are cleared too, with
      `replacement(call id)`. `oldest_results` and `oldest_thoughts` count results and answers with reasoning, cleared
      from the start of the context.
    clearing and removal: the lines `removed` are dropped.
    """

    compaction: Compaction
    preserved: Preserved = field(default_factory=Preserved)
    results: Mapping[str, str] = field(default_factory=dict)
    tools: frozenset[str] = frozenset()
    replacement: Callable[[str], str] = lambda id: CLEARED
    oldest_results: int = 0
    oldest_thoughts: int = 0
    removed: tuple[str, ...] = ()


def event_of_system_line(value: dict[str, Any], time: float | None) -> Event | None:
    """Return the compaction that a system line records, or None. `time` in seconds since the epoch."""
    if removed := _texts(dict_of(value.get("snipMetadata")).get("removedUuids")):
        return Event(Compaction("snip", time=time, way="removal"), removed=removed)
    if value.get("subtype") == "compact_boundary":
        return _summary(dict_of(value.get("compactMetadata")), time)
    if value.get("subtype") == "microcompact_boundary":
        return _clearing(dict_of(value.get("microcompactMetadata")), time, partial(_saved_or_cleared, value))
    return None


def _summary(metadata: dict[str, Any], time: float | None) -> Event:
    listed, chain = dict_of(metadata.get("preservedMessages")), dict_of(metadata.get("preservedSegment"))
    ends = (text_of(chain.get(key)) for key in ("headUuid", "tailUuid"))
    preserved = Preserved(
        _texts(listed.get("allUuids")) or _texts(listed.get("uuids")),
        text_of(listed.get("anchorUuid")) or text_of(chain.get("anchorUuid")),
        text_of(chain.get("headUuid")),
        text_of(chain.get("tailUuid")),
        _texts(listed.get("uuids")) or tuple(filter(None, ends)),
    )
    before, after, took = (_count_or_none(metadata.get(key)) for key in ("preTokens", "postTokens", "durationMs"))
    seconds = took / 1000 if took else None
    return Event(
        Compaction(text_of(metadata.get("trigger")), before, time=time, tokens_after=after, seconds=seconds), preserved
    )


def _clearing(metadata: dict[str, Any], time: float | None, replacement: Callable[[str], str]) -> Event:
    before, saved = _count_or_none(metadata.get("preTokens")), _count_or_none(metadata.get("tokensSaved"))
    after = before - saved if before is not None and saved is not None and saved <= before else None
    return Event(
        Compaction(text_of(metadata.get("trigger")), before, time=time, way="clearing", tokens_after=after),
        results={id: replacement(id) for id in _texts(metadata.get("compactedToolIds"))},
        tools=_CLEARED_TOOLS,
        replacement=replacement,
        removed=_texts(metadata.get("clearedAttachmentUUIDs")),
    )


def _saved_or_cleared(line: dict[str, Any], id: str) -> str:
    """Return the text that the line's version of Claude Code sends for a cleared result. The user's home folder is not
    recorded, so the path begins with `~`."""
    version = tuple(int(part) for part in re.findall(r"\d{1,9}", text_of(line.get("version")))[:3])
    if version < _SAVING:
        return CLEARED
    folder = f"~/.claude/projects/{project_name(text_of(line.get('cwd')))}"
    file = f"{folder}/{text_of(line.get('sessionId'))}/tool-results/{id}.txt"
    return f"{PERSISTED}Tool result saved to: {file}\n\nUse Read to view</persisted-output>"


def event_of_answer(body: dict[str, Any], time: float | None) -> Event | None:
    """Return the clearing that the API reports in an answer, or None. The API repeats the clearing for every call."""
    edits = list_of(dict_of(body.get("context_management")).get("applied_edits"))
    counts = dict.fromkeys(_API_SHARES, 0)
    for edit in map(dict_of, edits):
        for edit_type, key in _API_SHARES.items():
            if text_of(edit.get("type")).startswith(edit_type):
                counts[edit_type] = max(counts[edit_type], count_of(edit.get(key)))
    if not any(counts.values()):
        return None
    cleared = Compaction("api", time=time, way="clearing")
    return Event(cleared, oldest_results=counts["clear_tool_uses"], oldest_thoughts=counts["clear_thinking"])


def event_of_replacement(value: dict[str, Any]) -> Event | None:
    """Return the replacements that a `content-replacement` line records, or None if it holds none."""
    listed = map(dict_of, list_of(value.get("replacements")))
    results = {
        call: text
        for one in listed
        if (call := text_of(one.get("toolUseId") or one.get("tool_use_id")))
        and (text := text_of(one.get("replacement") or one.get("content")))
    }
    return Event(Compaction("tool-result", way="clearing"), results=results) if results else None


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(one for one in list_of(value) if isinstance(one, str) and one)


def _count_or_none(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None
