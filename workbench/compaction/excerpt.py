"""What a summarizer is shown of a long stretch: all of it, or its beginning and its end with a marker between.

Only what may be shown is rendered, so that a plan over 60 000 messages costs what its limit costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from workbench.compaction.context import Context
from workbench.compaction.dialogue import Entry
from workbench.compaction.outcome import Fate
from workbench.compaction.painting import Stroke, each
from workbench.compaction.request import EXTEND, NEST
from workbench.compaction.strategy import SummaryRequest
from workbench.session import Span
from workbench.tokens.sizes import visible_chars

_GAP = "\n\n"


@dataclass(frozen=True, slots=True)
class Bounds:
    """A text over `limit` characters becomes its first `first`, `marker`, and its last `last`."""

    limit: int
    first: int
    last: int
    marker: str


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The text, and by message index how many of its characters are shown of how many. Others are not shown at all."""

    text: str
    views: Mapping[int, tuple[int, int]]
    cut: bool


def excerpt(indexes: Sequence[int], entry_at: Callable[[int], Entry], bounds: Bounds) -> Excerpt:
    """The entries of these messages, joined by empty lines, within `bounds` (marker not counted)."""
    front, total = _gather(indexes, entry_at, bounds.limit)
    if total <= bounds.limit:
        text = _GAP.join(one.text for _, one in front if one.text)
        return Excerpt(text, {index: (one.seen, one.of) for index, one in front}, cut=False)
    back, _ = _gather(reversed(indexes), entry_at, bounds.last) if bounds.last else ([], 0)
    start = _GAP.join(one.text for _, one in front if one.text)[: bounds.first]
    end = _GAP.join(one.text for _, one in reversed(back) if one.text)[-bounds.last :] if bounds.last else ""
    views: dict[int, tuple[int, int]] = {}
    for gathered, room in ((front, bounds.first), (back, bounds.last)):
        for index, one in gathered:
            shown = min(len(one.text), max(room, 0))
            room -= len(one.text) + (len(_GAP) if one.text else 0)
            seen = one.seen if shown == len(one.text) else one.seen * shown // len(one.text)
            already = views.get(index, (0, 0))[0]
            if seen or not one.of:
                views[index] = (min(seen + already, one.of), one.of)
    return Excerpt(start + bounds.marker + end, views, cut=True)


def _gather(
    indexes: Iterable[int], entry_at: Callable[[int], Entry], enough: int
) -> tuple[list[tuple[int, Entry]], int]:
    """Entries until their joined length is over `enough`; that length."""
    gathered: list[tuple[int, Entry]] = []
    total = -len(_GAP)
    for index in indexes:
        one = entry_at(index)
        gathered.append((index, one))
        total += len(one.text) + len(_GAP) if one.text else 0
        if total > enough:
            break
    return gathered, max(total, 0)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request over an excerpt says beside it."""

    purpose: str
    prompt: str
    previous: str = ""
    carry_on: bool = False


def excerpt_request(
    context: Context, asked: Asked, spans: Sequence[Span], shown: Excerpt, **settings: object
) -> SummaryRequest:
    """The prompt, an earlier summary where there is one, the excerpt between rules."""
    messages = [message for span in spans for message in context.messages[span.start : span.stop]]
    before = asked.prompt + _GAP
    if asked.previous:
        how = EXTEND if asked.carry_on else NEST
        before += f"{how}\n<earlier_summary>\n{asked.previous}\n</earlier_summary>{_GAP}"

    def seen(position: int) -> tuple[int, int]:
        return shown.views.get(index_at(spans, position)) or (0, visible_chars(messages[position]))

    return SummaryRequest(
        asked.purpose, messages, asked.prompt, lambda: f"{before}---\n{shown.text}\n---\n",
        previous=asked.previous, chars=len(shown.text), seen=seen, **settings,  # type: ignore[arg-type]
    )  # fmt: skip


def index_at(spans: Sequence[Span], position: int) -> int:
    """The context index of the message at `position` of a request over `spans`."""
    for span in spans:
        if position < len(span):
            return span.start + position
        position -= len(span)
    raise IndexError(position)


def shown_strokes(shown: Excerpt) -> tuple[Stroke, Stroke]:
    """The fates of what was shown: summarized, seen in part or whole. What was not shown is left to other strokes."""
    views = sorted(shown.views.items())
    return (
        Stroke(Fate.SUMMARIZED, each(index for index, (seen, of) in views if seen < of), "part"),
        Stroke(Fate.SUMMARIZED, each(index for index, (seen, of) in views if seen >= of), "all"),
    )
