"""Extras that a summary message carries next to its summary, and the session's first request.

    <original_request> · the summary · <pinned>, <recent_memories>, <tasks>, <changes>

The elements are read back from the text, so that they last through several compactions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from workbench.compaction.context import Context
from workbench.compaction.ledger.text import is_ledger, read_ledger
from workbench.compaction.shape import Shape, per_shape
from workbench.compaction.summary_template import summary_inside
from workbench.facts.diffstat import FileChange, diffstat

_REQUEST = re.compile(r"\A<original_request>\n(.*?)\n</original_request>\n\n", re.DOTALL)
_ELEMENT = re.compile(r"^<(pinned|recent_memories|tasks|changes)>\n(.*?)\n</\1>$", re.DOTALL | re.MULTILINE)
_CHANGE = re.compile(r"^(.*) \+(\d+) −(\d+) \((\d+)×\)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SummaryExtras:
    """Extras of a summary message; each is empty if there is nothing."""

    request: str = ""
    passages: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    changes: tuple[FileChange, ...] = ()

    @property
    def front(self) -> str:
        """Text before the summary."""
        return f"<original_request>\n{self.request}\n</original_request>" if self.request else ""

    @property
    def back(self) -> str:
        """Text after the summary."""
        elements = [("pinned", passage) for passage in self.passages]
        elements.append(("recent_memories", "\n".join(self.memories)))
        elements.append(("tasks", "\n".join(self.tasks)))
        elements.append(("changes", "\n".join(f"{one} ({one.edits}×)" for one in self.changes)))
        return "\n".join(f"<{tag}>\n{text}\n</{tag}>" for tag, text in elements if text)


def read_extras(text: str) -> SummaryExtras:
    """Extras in the text of a summary message; empty for any other text."""
    found = _REQUEST.match(text)
    back = _without_request(text).partition("</summary>")[2]
    parts: dict[str, list[str]] = {}
    for tag, body in _ELEMENT.findall(back):
        parts.setdefault(tag, []).append(body)
    changed = [change for body in parts.get("changes", ()) for change in _CHANGE.findall(body)]
    return SummaryExtras(
        found[1] if found else "",
        tuple(parts.get("pinned", ())),
        _lines(parts.get("recent_memories", ())),
        _lines(parts.get("tasks", ())),
        tuple([FileChange(path, int(added), int(removed), int(edits)) for path, added, removed, edits in changed]),
    )


def summary_alone(text: str) -> str:
    """Summary in a summary message, without extras. The request before it may contain `<summary>`, too."""
    return summary_inside(_without_request(text))


def _without_request(text: str) -> str:
    return _REQUEST.sub("", text, count=1)


def merge_extras(several: Iterable[SummaryExtras]) -> SummaryExtras:
    """Merge extras, oldest first: the first request, each passage once, the newest lists, the sum of the changes."""
    texts = tuple(several)
    return SummaryExtras(
        next((one.request for one in texts if one.request), ""),
        tuple(dict.fromkeys(passage for one in texts for passage in one.passages)),
        next((one.memories for one in reversed(texts) if one.memories), ()),
        next((one.tasks for one in reversed(texts) if one.tasks), ()),
        _sum_changes([one.changes for one in texts if one.changes]),
    )


def _sum_changes(stats: Sequence[tuple[FileChange, ...]]) -> tuple[FileChange, ...]:
    """Sum of change statistics. A single one is returned as it is."""
    return stats[0] if len(stats) == 1 else diffstat(change for stat in stats for change in stat)


@per_shape
def extras_of(shape: Shape) -> Mapping[int, SummaryExtras]:
    """Extras of earlier summaries, by message index."""
    return {index: read_extras(shape.masked_at(index).text) for index in shape.summaries}


class Original(NamedTuple):
    """The user's first request of the whole session, with secrets masked. `id`: its message's id, "" if it is in no
    message. `number`: its place in the session; the first message has 1."""

    text: str
    id: str = ""
    number: int = 1


def original_of(context: Context) -> Original | None:
    """The user's first request of the whole session; None if the session's beginning is unknown.

    A recorded compaction may have removed it from the context, so it is looked up in the session's first context, or
    else in the extras of an earlier summary.
    """
    if found := opening_request(context.opening):
        return found
    carried = merge_extras(extras_of(context.shape).values()).request
    return Original(carried) if carried else None


@per_shape
def opening_request(opening: Shape) -> Original | None:
    """First request in a session's first context, or the one that a summary there carries. None if a boundary, or a
    summary without it, replaces the messages before."""
    if carried := merge_extras(extras_of(opening).values()).request:
        return Original(carried)
    back = range(len(opening.messages) - 1, -1, -1)
    ledgers = (read_ledger(opening.masked_at(at).text) for at in back if is_ledger(opening.messages[at]))
    if (newest := next(ledgers, None)) is not None:
        entry = newest.first_request
        return Original(entry.text, number=entry.source) if entry else None
    if opening.summaries:
        return None
    for index, message in enumerate(opening.messages):
        if message.kind == "boundary":
            return None
        if message.starts_round:
            return Original(opening.masked_at(index).user_text, message.id, index + 1)
    return None


def _lines(bodies: Iterable[str]) -> tuple[str, ...]:
    return tuple(line for body in bodies for line in body.split("\n") if line.strip())
