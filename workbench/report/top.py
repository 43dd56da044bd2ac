"""The top of a report: the verdict, the context before and after as bars on one scale, the findings as cards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from workbench.analysis.why.findings import HEADLINES
from workbench.base.figures import grouped, percent
from workbench.base.printable import printable
from workbench.bench.assessment import Assessment
from workbench.compaction.layers import Layer, layers, layers_after
from workbench.report.contents import ReportContents

Kind = Literal["before", "summary", "head", "pins", "tail"]
"""Kind of a bar's part, in this order: system prompt and tools, summaries, replaced, pinned and kept messages."""

KINDS: dict[Kind, str] = {
    "before": "before the messages",
    "head": "replaced",
    "summary": "summary",
    "pins": "pinned",
    "tail": "kept",
}

_KINDS: dict[str, Kind] = {"summaries": "summary", "head": "head", "pins": "pins", "tail": "tail", "history": "head"}


@dataclass(frozen=True, slots=True)
class Segment:
    kind: Kind
    name: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Bar:
    """Bar of a context as sent: its parts in order, their sum in `tokens`, and a `note` next to the bar."""

    name: str
    segments: tuple[Segment, ...]
    tokens: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars of several contexts; the full width is `scale` tokens. `window` is the model's limit, None if unknown."""

    scale: int
    window: int | None
    rows: tuple[Bar, ...]

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Kinds in any of the bars, for the legend."""
        there = {segment.kind for row in self.rows for segment in row.segments}
        return tuple(kind for kind in KINDS if kind in there)


@dataclass(frozen=True, slots=True)
class Card:
    """A finding: its title, tokens (0 for none), their share of the largest finding (0 to 1), and a sentence."""

    title: str
    tokens: int
    share: float
    text: str


@dataclass(frozen=True, slots=True)
class Top:
    """Top of the page. `hero` shows the context now and after, `receipt` describes the compaction. Texts are printable
    and without secrets."""

    verdict: str
    hero: Bars
    receipt: str
    cards: tuple[Card, ...]


def top(report: ReportContents) -> Top:
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


def compared(report: ReportContents) -> Bars:
    """Return the bars of the context now, and after each policy with its receipt, the smallest first."""
    rows = [_after(report, one.name, one, receipt_note=True) for one in report.variants]
    return _bars(report, [_now(report), *sorted(rows, key=lambda row: row.tokens)])


def _bars(report: ReportContents, rows: Sequence[Bar]) -> Bars:
    window = report.bench.window
    most = max(row.tokens for row in rows)
    # In a window far larger than every bar they would be too short: then the longest bar is the scale.
    return Bars(max(window, most, 1) if window and most > window / 4 else max(most, 1), window, tuple(rows))


def _now(report: ReportContents) -> Bar:
    bench = report.bench
    return _bar("now", layers(bench.context, report.variants[0].outcome))


def _after(report: ReportContents, name: str, one: Assessment, *, receipt_note: bool = False) -> Bar:
    receipt = " · ".join(one.receipt) if receipt_note else ""
    return _bar(name, layers_after(report.bench.context, one.outcome), receipt)


def _bar(name: str, found: Sequence[Layer], note: str = "") -> Bar:
    segments = tuple(Segment(_KINDS.get(layer.name, "before"), layer.name, layer.tokens) for layer in found)
    return Bar(printable(name), segments, sum(layer.tokens for layer in found), note)


def _cards(report: ReportContents) -> tuple[Card, ...]:
    found = report.diagnosis.findings
    most = max((one.tokens for one in found), default=0)
    return tuple(
        Card(HEADLINES[one.kind], one.tokens, one.tokens / most if most else 0.0, printable(one.text)) for one in found
    )


def bar_words(bar: Bar, bars: Bars) -> str:
    """Return the label of a bar: `197 481 tokens, 99 % of the window`."""
    of = f", {percent(bar.tokens / bars.window)} of the window" if bars.window else ""
    return f"{grouped(bar.tokens)} tokens{of}"
