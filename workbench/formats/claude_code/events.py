"""Recorded compactions of Claude Code, and their effects on the context.

compact_boundary       replaces all earlier messages with a summary. Since 2.1.2xx it can name earlier lines that stay
                       after the summary: a list (`preservedMessages`) or the ends of a chain (`preservedSegment`)
microcompact_boundary  clears tool results
snipMetadata           removes lines
context_management     clearing by the API, reported in an answer
content-replacement    texts sent in place of results that were too large
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
"""Text in place of a cleared result: before `_SAVING`, if a result could not be saved, and for clearing by the API."""

PERSISTED = "<persisted-output>"
"""Prefix of the text sent in place of a saved result."""

_SAVING = (2, 0, 60)
"""First version that saves a result to a file before clearing it, and sends the file's path."""

_CLEARED_TOOLS = frozenset(
    ["Bash", "Edit", "Glob", "Grep", "MultiEdit", "NotebookEdit", "Read", "WebFetch", "WebSearch", "Write"]
)
"""Tools whose results a microcompaction clears, oldest first, except the newest ones. Its line lists the cleared
results. An earlier microcompaction may be unrecorded (2.1.17), so results older than the listed ones count as cleared
too."""

_API_SHARES = {"clear_tool_uses": "cleared_tool_uses", "clear_thinking": "cleared_thinking_turns"}


class Preserved(Struct, frozen=True):
    """Earlier lines that a boundary keeps, by uuid: `uuids` in order, or if empty, the chain from `tail` up to `head`.
    They come after the line `anchor`. If a line of `needed` is missing, the loader keeps none of them."""

    uuids: tuple[str, ...] = ()
    anchor: str = ""
    head: str = ""
    tail: str = ""
    needed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """One recorded compaction. Its kind, `compaction.way`, decides which fields apply.

    summary: `preserved` lines come after the summary.
    clearing: `results` has the replacement texts by call id. Results of `tools` that are older than these are replaced
      by `replacement(call id)`. `oldest_results` and `oldest_thoughts` are the numbers of results and of answers with
      reasoning that are cleared, from the start of the context.
    clearing and removal: `removed` has the uuids of dropped lines.
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
    """Return the compaction that a system line records, or None. `time`: seconds since 1970, None if unknown."""
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
    """Return the text that the Claude Code version of `line` sends for the cleared result of call `id`. The path begins
    with `~`, because the home folder is not recorded."""
    version = tuple(int(part) for part in re.findall(r"\d{1,9}", text_of(line.get("version")))[:3])
    if version < _SAVING:
        return CLEARED
    folder = f"~/.claude/projects/{project_name(text_of(line.get('cwd')))}"
    file = f"{folder}/{text_of(line.get('sessionId'))}/tool-results/{id}.txt"
    return f"{PERSISTED}Tool result saved to: {file}\n\nUse Read to view</persisted-output>"


def event_of_answer(body: dict[str, Any], time: float | None) -> Event | None:
    """Return the clearing that the API reports in an answer, or None. `body`: the answer's message. Counts
    are from the start of the context, because the API repeats the clearing in each call."""
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
