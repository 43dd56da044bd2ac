"""What Claude Code records of making room: each line that says so, and what it does to the context.

A `compact_boundary` puts a summary in the place of what went before; since 2.1.2xx it names lines before it that stay
behind the summary, all of them (`preservedMessages`) or the ends of their chain (`preservedSegment`). A
`microcompact_boundary` empties the results of calls, `snipMetadata` takes lines out, and so says the API of itself in
an answer's `context_management`. `content-replacement` lines say what stands for results that were too large to send.
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
"""What the tool sends for a result that it emptied; since `_SAVING` for one that could not be saved."""

PERSISTED = "<persisted-output>"
"""How what is sent for a saved result begins."""

_SAVING = (2, 0, 60)
"""Since this version the tool saves a result before it empties it, and sends where it lies."""

_CLEARED_TOOLS = frozenset(
    ["Bash", "Edit", "Glob", "Grep", "MultiEdit", "NotebookEdit", "Read", "WebFetch", "WebSearch", "Write"]
)
"""Whose results a microcompaction empties, the oldest first and all but the newest ones. It lists those that it emptied
itself; one before it may be recorded nowhere (2.1.17), so what is older than those it lists was emptied as well."""

_API_SHARES = {"clear_tool_uses": "cleared_tool_uses", "clear_thinking": "cleared_thinking_turns"}


class Kept(Struct, frozen=True):
    """Lines before a boundary that stay: `uuids` in their order, or the chain from `tail` up to `head` where no list is
    given. They stand behind the line `anchor`. Where one of `needed` is missing, the loader keeps none of them."""

    uuids: tuple[str, ...] = ()
    anchor: str = ""
    head: str = ""
    tail: str = ""
    needed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """One making of room, as `compaction.way` says it was done.

    summary: `kept` stays behind the summary. clearing: `results` gives by call id what stands there instead; results of
    `tools` that are older than the first of them are empty, too; `oldest_results` and `oldest_thoughts` count results
    and answers from the context's beginning. clearing and removal: the lines `removed` are gone.
    """

    compaction: Compaction
    kept: Kept = field(default_factory=Kept)
    results: Mapping[str, str] = field(default_factory=dict)
    tools: frozenset[str] = frozenset()
    instead: Callable[[str], str] = lambda id: CLEARED
    oldest_results: int = 0
    oldest_thoughts: int = 0
    removed: tuple[str, ...] = ()


def of_system_line(value: dict[str, Any], time: float | None) -> Event | None:
    """The event that a system line records, None for one that records none."""
    if snipped := _texts(dict_of(value.get("snipMetadata")).get("removedUuids")):
        return Event(Compaction("snip", time=time, way="removal"), removed=snipped)
    if value.get("subtype") == "compact_boundary":
        return _summary(dict_of(value.get("compactMetadata")), time)
    if value.get("subtype") == "microcompact_boundary":
        return _clearing(dict_of(value.get("microcompactMetadata")), time, partial(_saved_or_cleared, value))
    return None


def _summary(about: dict[str, Any], time: float | None) -> Event:
    listed, chain = dict_of(about.get("preservedMessages")), dict_of(about.get("preservedSegment"))
    ends = (text_of(chain.get(key)) for key in ("headUuid", "tailUuid"))
    kept = Kept(
        _texts(listed.get("allUuids")) or _texts(listed.get("uuids")),
        text_of(listed.get("anchorUuid")) or text_of(chain.get("anchorUuid")),
        text_of(chain.get("headUuid")),
        text_of(chain.get("tailUuid")),
        _texts(listed.get("uuids")) or tuple(filter(None, ends)),
    )
    before, after, took = (_figure(about.get(key)) for key in ("preTokens", "postTokens", "durationMs"))
    seconds = took / 1000 if took else None
    return Event(
        Compaction(text_of(about.get("trigger")), before, time=time, tokens_after=after, seconds=seconds), kept
    )


def _clearing(about: dict[str, Any], time: float | None, instead: Callable[[str], str]) -> Event:
    before, saved = _figure(about.get("preTokens")), _figure(about.get("tokensSaved"))
    after = before - saved if before is not None and saved is not None and saved <= before else None
    return Event(
        Compaction(text_of(about.get("trigger")), before, time=time, way="clearing", tokens_after=after),
        results={id: instead(id) for id in _texts(about.get("compactedToolIds"))},
        tools=_CLEARED_TOOLS,
        instead=instead,
        removed=_texts(about.get("clearedAttachmentUUIDs")),
    )


def _saved_or_cleared(line: dict[str, Any], id: str) -> str:
    """What the version of a line's tool sends for an emptied result. The folder of the person's home is not known."""
    version = tuple(int(part) for part in re.findall(r"\d{1,9}", text_of(line.get("version")))[:3])
    if version < _SAVING:
        return CLEARED
    folder = f"~/.claude/projects/{project_name(text_of(line.get('cwd')))}"
    file = f"{folder}/{text_of(line.get('sessionId'))}/tool-results/{id}.txt"
    return f"{PERSISTED}Tool result saved to: {file}\n\nUse Read to view</persisted-output>"


def of_answer(body: dict[str, Any], time: float | None) -> Event | None:
    """What the API says in an answer that it left out of the prompt: it does so anew for every call."""
    edits = list_of(dict_of(body.get("context_management")).get("applied_edits"))
    counts = dict.fromkeys(_API_SHARES, 0)
    for edit in map(dict_of, edits):
        for sort, key in _API_SHARES.items():
            if text_of(edit.get("type")).startswith(sort):
                counts[sort] = max(counts[sort], count_of(edit.get(key)))
    if not any(counts.values()):
        return None
    cleared = Compaction("api", time=time, way="clearing")
    return Event(cleared, oldest_results=counts["clear_tool_uses"], oldest_thoughts=counts["clear_thinking"])


def of_replacement(value: dict[str, Any]) -> Event | None:
    """What a `content-replacement` line puts in the place of results."""
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


def _figure(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None
