"""What a summary's message carries beside its summary, and the session's first request.

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
from workbench.compaction.text import summary_inside
from workbench.facts.diffstat import FileChange, diffstat

_REQUEST = re.compile(r"\A<original_request>\n(.*?)\n</original_request>\n\n", re.DOTALL)
_ELEMENT = re.compile(r"^<(pinned|recent_memories|tasks|changes)>\n(.*?)\n</\1>$", re.DOTALL | re.MULTILINE)
_CHANGE = re.compile(r"^(.*) \+(\d+) −(\d+) \((\d+)×\)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SummaryExtras:
    """What a summary's message carries beside the summary, each part empty where there is nothing."""

    request: str = ""
    passages: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    changes: tuple[FileChange, ...] = ()

    @property
    def front(self) -> str:
        """What stands in front of the summary."""
        return f"<original_request>\n{self.request}\n</original_request>" if self.request else ""

    @property
    def behind(self) -> str:
        """What stands behind it."""
        elements = [("pinned", passage) for passage in self.passages]
        elements.append(("recent_memories", "\n".join(self.memories)))
        elements.append(("tasks", "\n".join(self.tasks)))
        elements.append(("changes", "\n".join(f"{one} ({one.edits}×)" for one in self.changes)))
        return "\n".join(f"<{tag}>\n{text}\n</{tag}>" for tag, text in elements if text)


def read_extras(text: str) -> SummaryExtras:
    """What a summary's message carries, from its text; nothing from any other text."""
    found = _REQUEST.match(text)
    behind = _without_request(text).partition("</summary>")[2]
    parts: dict[str, list[str]] = {}
    for tag, body in _ELEMENT.findall(behind):
        parts.setdefault(tag, []).append(body)
    changed = [made for body in parts.get("changes", ()) for made in _CHANGE.findall(body)]
    return SummaryExtras(
        found[1] if found else "",
        tuple(parts.get("pinned", ())),
        _lines(parts.get("recent_memories", ())),
        _lines(parts.get("tasks", ())),
        tuple([FileChange(path, int(added), int(removed), int(edits)) for path, added, removed, edits in changed]),
    )


def summary_alone(text: str) -> str:
    """The summary proper within a summary's message: a request in front of it may speak of `<summary>`, too."""
    return summary_inside(_without_request(text))


def _without_request(text: str) -> str:
    return _REQUEST.sub("", text, count=1)


def merge_extras(several: Iterable[SummaryExtras]) -> SummaryExtras:
    """Carried texts, oldest first, as one: the first request, every passage once, the newest list, the changes' sum."""
    texts = tuple(several)
    return SummaryExtras(
        next((one.request for one in texts if one.request), ""),
        tuple(dict.fromkeys(passage for one in texts for passage in one.passages)),
        next((one.memories for one in reversed(texts) if one.memories), ()),
        next((one.tasks for one in reversed(texts) if one.tasks), ()),
        _summed([one.changes for one in texts if one.changes]),
    )


def _summed(stats: Sequence[tuple[FileChange, ...]]) -> tuple[FileChange, ...]:
    """Statistics as one. Each is a statistic already, so one alone is not walked again."""
    return stats[0] if len(stats) == 1 else diffstat(change for stat in stats for change in stat)


@per_shape
def extras_of(shape: Shape) -> Mapping[int, SummaryExtras]:
    """What earlier summaries carry, by index."""
    return {index: read_extras(shape.masked_at(index).text) for index in shape.summaries}


class Original(NamedTuple):
    """The user's first request of the whole session, without secrets. Where a message holds it, with its id; `number`
    counts the messages from the session's first, which is 1."""

    text: str
    id: str = ""
    number: int = 1


def original_of(context: Context) -> Original | None:
    """The user's first request of the whole session; None where the session's beginning is not known.

    Recorded compactions may have taken it out of the context, so it is looked for in the session's first context. Where
    that is not read, an earlier summary may still carry it.
    """
    if found := opening_request(context.opening):
        return found
    carried = merge_extras(extras_of(context.shape).values()).request
    return Original(carried) if carried else None


@per_shape
def opening_request(opening: Shape) -> Original | None:
    """The first request in a session's first context; None where a summary there stands for what came before it."""
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
            return Original(opening.masked_at(index).said, message.id, index + 1)
    return None


def _lines(bodies: Iterable[str]) -> tuple[str, ...]:
    return tuple(line for body in bodies for line in body.split("\n") if line.strip())
