"""The top of a report: the verdict, the context now and afterwards as bars on one scale, what was found as cards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from workbench.analysis.why.findings import HEADLINES
from workbench.base.figures import grouped, percent
from workbench.base.printable import printable
from workbench.bench.assessment import Assessment
from workbench.compaction.layers import Layer, layers, layers_after
from workbench.report.gathered import Report

Kind = Literal["before", "summary", "head", "pins", "tail"]
"""What is sent before the messages; summaries; what a compaction replaces; what a pin keeps; what stays."""

KINDS: dict[Kind, str] = {
    "before": "before the messages",
    "head": "goes",
    "summary": "summary",
    "pins": "pinned",
    "tail": "stays",
}

_KINDS: dict[str, Kind] = {"summaries": "summary", "head": "head", "pins": "pins", "tail": "tail", "history": "head"}


@dataclass(frozen=True, slots=True)
class Segment:
    kind: Kind
    name: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Bar:
    """A context as it is sent: its parts in order, their sum, and `told` beside it."""

    name: str
    segments: tuple[Segment, ...]
    tokens: int
    told: str = ""


@dataclass(frozen=True, slots=True)
class Bars:
    """Several contexts, of which `scale` tokens are the whole width. `window` is the model's limit, None where it is
    not known."""

    scale: int
    window: int | None
    rows: tuple[Bar, ...]

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Those that there are, for the legend."""
        there = {segment.kind for row in self.rows for segment in row.segments}
        return tuple(kind for kind in KINDS if kind in there)


@dataclass(frozen=True, slots=True)
class Card:
    """Something that was found: a few words, its figure, 0 for none, the share of the largest one (0 to 1), and a
    sentence."""

    title: str
    tokens: int
    share: float
    text: str


@dataclass(frozen=True, slots=True)
class Top:
    """Everything is printable and without secrets. `hero` is now and after, `receipt` what that keeps and costs."""

    verdict: str
    hero: Bars
    receipt: str
    cards: tuple[Card, ...]


def top(report: Report) -> Top:
    first = report.variants[0]
    rows = [_now(report), _after(report, "after", first)]
    if report.recorded is not None:
        rows.append(_after(report, "after, by the agent", report.recorded))
    return Top(
        printable(report.diagnosis.verdict),
        _bars(report, rows),
        f"{first.name}: {' · '.join(first.receipt)}",
        _cards(report),
    )


def compared(report: Report) -> Bars:
    """What each policy makes of the context, the smallest first, each with its receipt."""
    rows = [_after(report, one.name, one, told=True) for one in report.variants]
    return _bars(report, [_now(report), *sorted(rows, key=lambda row: row.tokens)])


def _bars(report: Report, rows: Sequence[Bar]) -> Bars:
    window = report.bench.window
    most = max(row.tokens for row in rows)
    # A window that nothing comes near would make slivers of the bars: then they are as long as the longest.
    return Bars(max(window, most, 1) if window and most > window / 4 else max(most, 1), window, tuple(rows))


def _now(report: Report) -> Bar:
    bench = report.bench
    return _bar("now", layers(bench.context, report.variants[0].outcome))


def _after(report: Report, name: str, one: Assessment, *, told: bool = False) -> Bar:
    receipt = " · ".join(one.receipt) if told else ""
    return _bar(name, layers_after(report.bench.context, one.outcome), receipt)


def _bar(name: str, found: Sequence[Layer], told: str = "") -> Bar:
    segments = tuple(Segment(_KINDS.get(layer.name, "before"), layer.name, layer.tokens) for layer in found)
    return Bar(printable(name), segments, sum(layer.tokens for layer in found), told)


def _cards(report: Report) -> tuple[Card, ...]:
    found = report.diagnosis.findings
    most = max((one.tokens for one in found), default=0)
    return tuple(
        Card(HEADLINES[one.kind], one.tokens, one.tokens / most if most else 0.0, printable(one.text)) for one in found
    )


def told(bar: Bar, bars: Bars) -> str:
    """The figure beside a bar: `197 481 tokens, 99 % of the window`."""
    of = f", {percent(bar.tokens / bars.window)} of the window" if bars.window else ""
    return f"{grouped(bar.tokens)} tokens{of}"
