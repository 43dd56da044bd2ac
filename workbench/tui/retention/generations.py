"""Tab "After n compactions": a row of bars for each share of facts kept, a column for each compaction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.analysis.generations import Generations, generations
from workbench.analysis.recorded_compactions import following
from workbench.base.figures import short
from workbench.base.text import plural
from workbench.bench import Bench
from workbench.compaction.context import Context
from workbench.compaction.edits import compacting
from workbench.compaction.outcome import Outcome
from workbench.summarizers.driver import drive
from workbench.summarizers.extractive import extractive
from workbench.tui.background import WorkCancelled
from workbench.tui.keys import shared
from workbench.tui.plain import bar, fit, one_line, percent, plain, spark
from workbench.tui.retention.pane import RetentionPane, RetentionState
from workbench.tui.widgets.cut_text import WholeFigures
from workbench.tui.widgets.table import TextTable
from workbench.tui.widgets.watched_lines import COLOURS, SIGNS, STYLES

USUAL, MOST = 5, 100
"""Number of compactions at first, and at most."""

SETTLE_S = 0.3
"""Time without a change of the number before compacting begins."""


class GenerationsPane(RetentionPane):
    TITLE = "After n compactions"
    HELP = """\
Facts kept after several compactions in a row, with the settings on the bench and extractive summaries, without a \
model. Between two of them the context grows by the messages that followed in the session until it is as large as \
before the first; where the session has no more, its tail is repeated (marked *). A column is a compaction. A row is \
the share of facts that is kept: over all, by weight (facts that are needed again count more), by kind, and "correct", \
without those that are wrong; then watched rules, and the size of context and summaries. + and - change how many \
compactions there are."""
    BINDINGS: ClassVar[list[BindingType]] = [
        shared("more", "more(1)", "More", "One compaction more."),
        shared("less", "more(-1)", "Fewer", "One compaction fewer."),
    ]

    @dataclass
    class CompactionStarted(Message):
        """Compaction `number` has begun."""

        number: int

    @dataclass
    class GenerationsReady(Message):
        """All compactions are done; arrives after the last `CompactionStarted`."""

        found: Generations

    def __init__(self, state: RetentionState, *, id: str) -> None:
        super().__init__(state, id=id)
        self.count = USUAL
        self.found: Generations | None = None

    def compose(self) -> ComposeResult:
        yield Static(classes="note")
        yield WholeFigures(classes="finding")
        yield TextTable(cursor_type="row", fixed_columns=1, classes="lines")

    def start(self) -> None:
        self.compact()

    # --- compacting -------------------------------------------------------------------------------------------------

    @work(exclusive=True, group="generations", exit_on_error=False, description="compact")
    async def compact(self) -> None:
        count, worker = self.count, get_current_worker()
        self.say("…")
        await asyncio.sleep(SETTLE_S if self.found else 0)

        def report_start(number: int) -> None:
            self.post_message(self.CompactionStarted(number))

        found = await asyncio.to_thread(
            compact_repeatedly, self.bench, count, report_start, lambda: worker.is_cancelled
        )
        if found is not None:
            self.post_message(self.GenerationsReady(found))

    @on(CompactionStarted)
    def _show_start(self, event: CompactionStarted) -> None:
        self.say(f"number {event.number} in progress …")

    @on(GenerationsReady)
    def _show_ready(self, event: GenerationsReady) -> None:
        self.found = event.found
        self.draw()

    def action_more(self, by: int) -> None:
        count = max(1, min(self.count + by, MOST))
        if count != self.count:
            self.count = count
            self.compact()

    # --- drawing ----------------------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        self.draw()

    def say(self, words: str) -> None:
        policy = self.bench.as_preset.name
        line = f"{self.count} {plural(self.count, 'compaction')} by {policy} · {words} · extractive summaries"
        self.query_one(".note", Static).update(Text(plain(line)))

    def draw(self) -> None:
        found = self.found
        if found is None:
            return
        last = found.steps[-1]
        words = f"{percent(found.overall[-1])} kept, {percent(found.right[-1])} correct"
        if last.status == "unchanged":
            words += f" · number {last.number} changes nothing"
        if any(step.replayed for step in found.steps):
            words += " · * tail repeated"
        self.say(words)
        self.query_one(".finding", WholeFigures).update(f"{found.finding}." if found.finding else "")
        table = self.query_one(TextTable)
        at = table.cursor_row
        table.clear(columns=True)
        for head in column_heads(found):
            table.add_column(head)
        for row in rows(found, self.bench.watched, bar_width(self.size.width, len(found.steps))):
            table.add_row(*row)
        table.move_cursor(row=at)


def compact_repeatedly(
    bench: Bench, count: int, report_start: Callable[[int], None], cancelled: Callable[[], bool]
) -> Generations | None:
    """Compact `count` times under the bench's settings; `report_start` gets the number of each. None if
    cancelled."""
    number = 0

    def compact(context: Context) -> Outcome:
        nonlocal number
        if cancelled():
            raise WorkCancelled
        number += 1
        report_start(number)
        return drive(compacting(context, bench.edits, bench.strategy, bench.policy), extractive).outcome

    try:
        return generations(bench.context, compact, following(bench.session, bench.epoch), count, bench.watched)
    except WorkCancelled:
        return None


NAME, SPARK = 24, 12
"""Cells of a row's name at most, and of the line over all compactions."""
SHORTEST, LONGEST = 4, 40
"""Fewest and most cells of a bar; with less room, only figures are shown."""


# --- the table --------------------------------------------------------------------------------------------------------


def column_heads(found: Generations) -> Iterator[str]:
    yield "share kept"
    yield "over time"
    for step in found.steps:
        yield f"{step.number}.{' *' if step.replayed else ''}"


def bar_width(width: int, count: int) -> int:
    """Cells of a bar in a table of `width` cells with `count` compactions; 0 for figures alone."""
    room = (width - NAME - SPARK - 6) // max(count, 1) - 8
    return min(room, LONGEST) if room >= SHORTEST else 0


def rows(found: Generations, watched: Sequence[str], cells_of_bar: int) -> Iterator[list[Text]]:
    """Rows of the table: facts of the first head over all and by kind, each watched sentence, the sizes of context and
    summaries in tokens with bars relative to the largest context, and the messages added before each compaction."""
    steps, long = found.steps, cells_of_bar
    yield _shares("what mattered", found.weighted, long, strong=True)
    yield _shares("all facts", found.overall, long, strong=True)
    yield _shares("correct", found.right, long)
    for kind, shares in found.survival.items():
        yield _shares(kind, shares, long)
    for at, sentence in enumerate(watched):
        verdicts = [step.watched[at] for step in steps]
        cells = [Text(f"{SIGNS[one]} {one}", COLOURS.get(STYLES[one], "")) for one in verdicts]
        yield [Text(f"◉ {fit(one_line(sentence), NAME - 2).rstrip()}"), Text(""), *cells]
    whole = max((step.before for step in steps), default=1)
    yield _sizes("context after", [step.after for step in steps], whole, long)
    yield _sizes("its summaries", [step.summary for step in steps], whole, long)
    yield [Text("grown by messages", "dim"), Text(""), *(Text(f"{step.grown:>{long + 6}}", "dim") for step in steps)]


def _shares(name: str, shares: Sequence[float | None], long: int, *, strong: bool = False) -> list[Text]:
    known = [round(1000 * share) for share in shares if share is not None]
    cells = [Text("unknown", "dim") if share is None else _bar(share, f"{percent(share):>6}", long) for share in shares]
    return [Text(name, "bold" if strong else ""), Text(spark(known, SPARK, 1000), "dim"), *cells]


def _sizes(name: str, tokens: Sequence[int], whole: int, long: int) -> list[Text]:
    cells = [_bar(one / max(whole, 1), f"{short(one):>6}", long) for one in tokens]
    return [Text(name, "dim"), Text(spark(tokens, SPARK, whole), "dim"), *cells]


def _bar(share: float, figure: str, long: int) -> Text:
    return Text.assemble((bar(share, long), "dim"), figure) if long else Text(figure)
