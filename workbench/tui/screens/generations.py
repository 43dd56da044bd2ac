"""Generations: what is left after several compactions in a row, as plots over the generations and as a table."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import DataTable, Static
from textual.worker import Worker, get_current_worker

from workbench.analysis.generations import Generation, Generations, generations
from workbench.analysis.pictures import Picture
from workbench.analysis.plots import Line
from workbench.analysis.recorded import following
from workbench.base.text import plural
from workbench.bench import Bench
from workbench.compaction.context import Context
from workbench.compaction.edits import compacting
from workbench.compaction.outcome import Outcome
from workbench.facts import FactKind
from workbench.summarizers.driver import drive
from workbench.summarizers.extractive import extractive
from workbench.tui.failures import failure_of
from workbench.tui.help_key import help_key
from workbench.tui.plain import figure, plain
from workbench.tui.screens.compare_words import watched_name
from workbench.tui.screens.retention_words import percent
from workbench.tui.widgets.calls_plot import CallsPlot
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.table import Table
from workbench.tui.widgets.watched_lines import SIGNS as VERDICTS

USUAL, MOST = 5, 100
"""Generations at first, and at most."""

SETTLE_S = 0.3
"""How long the number rests before anything is compacted."""

ALL = "*"
SIGNS: dict[FactKind, str] = {
    "instruction": "i", "stated": "s", "request": "r", "decision": "d", "path": "p", "command": "c", "error": "e",
    "identifier": "#", "number": "n", "url": "u",
}  # fmt: skip
"""The letter of each kind on its curve and above its column."""


def survival_picture(found: Generations) -> Picture:
    """Per kind the percentage of the first head's facts that each generation still holds; `*` is all of them."""
    curves = {ALL: found.overall, **{SIGNS[kind]: shares for kind, shares in found.survival.items()}}
    lines = [
        Line(sign, [(n, round(100 * share)) for n, share in enumerate(shares, 1) if share is not None])
        for sign, shares in curves.items()
    ]
    return Picture("", tuple(lines), (), {}, ())


def growth_picture(found: Generations) -> Picture:
    """The tokens of what stands for the head after each generation."""
    return Picture("", (Line("s", list(enumerate(found.summary_tokens, 1))),), (), {}, ())


class GenerationsScreen(ModalScreen[None]):
    HELP = """\
What is left after several compactions in a row, by the policy on the bench with extractive summaries. Between two of \
them the context grows by the messages that followed in the session until it is as large as before the first; where \
the session has no more, its tail is repeated (marked *). Followed are the facts of the first head: on the left the \
percentage that each generation still holds, a curve for each kind with the letter that stands above its column, * for \
all; on the right how long the summaries become. + and - change how many generations there are."""
    CSS = """
    GenerationsScreen > Vertical { width: 100%; height: 100%; background: $surface; }
    GenerationsScreen #said { height: 1; text-wrap: nowrap; text-overflow: ellipsis; padding: 0 1; background: $panel; }
    GenerationsScreen #plots { height: 3fr; }
    GenerationsScreen .plot { width: 1fr; height: 100%; border: round $border-blurred; }
    GenerationsScreen .plot { border-title-color: $foreground; }
    GenerationsScreen CallsPlot { height: 1fr; }
    GenerationsScreen Table { height: 2fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("plus,equals_sign", "more(1)", "More", id="generations.more", tooltip="One generation more."),
        Binding("minus", "more(-1)", "Fewer", id="generations.fewer", tooltip="One generation fewer."),
        Binding("f", "alone", "One kind", id="generations.alone", tooltip="Only the next kind's curve, or all again."),
        Binding("escape,q", "dismiss(None)", "Close", id="generations.close", tooltip="Back to what was lost."),
        help_key("generations"),
    ]
    AUTO_FOCUS = "Table"

    @dataclass
    class Began(Message):
        """Another compaction is being made."""

        number: int

    @dataclass
    class Made(Message):
        """All of them are, which is told after the last that began."""

        found: Generations

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.bench = bench
        self.count = USUAL
        self.found: Generations | None = None
        self.alone: FactKind | None = None

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(id="said")
            with Horizontal(id="plots"):
                with Vertical(classes="plot") as survival:
                    survival.border_title = "% of the first facts held"
                    yield CallsPlot(id="survival")
                with Vertical(classes="plot") as growth:
                    growth.border_title = "tokens of the summaries"
                    yield CallsPlot(id="growth")
            yield Table(cursor_type="row", zebra_stripes=True)
            yield KeysLine()

    def on_mount(self) -> None:
        for drawn in self.query(CallsPlot):
            drawn.can_focus = False
        self.compact()

    # --- compacting -------------------------------------------------------------------------------------------------

    @work(exclusive=True, group="generations", exit_on_error=False, description="compact")
    async def compact(self) -> None:
        count, worker = self.count, get_current_worker()
        self._say("…")
        await asyncio.sleep(SETTLE_S if self.found else 0)

        def told(number: int) -> None:
            self.post_message(self.Began(number))

        found = await asyncio.to_thread(made, self.bench, count, told, lambda: worker.is_cancelled)
        if found is not None:
            self.post_message(self.Made(found))

    @on(Began)
    def _began(self, event: Began) -> None:
        self._say(f"compacting for the {event.number}. time of {self.count} …")

    @on(Made)
    def _made(self, event: Made) -> None:
        self.found = event.found
        self.draw()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self._say(f"✘ {failure}")

    def action_more(self, by: int) -> None:
        count = max(1, min(self.count + by, MOST))
        if count != self.count:
            self.count = count
            self.compact()

    # --- drawing ----------------------------------------------------------------------------------------------------

    def _say(self, words: str) -> None:
        policy = self.bench.chosen.name
        line = f"{self.count} {plural(self.count, 'generation')} of {policy} · {words} · extractive summaries"
        self.query_one("#said", Static).update(Text(plain(line)))

    def draw(self) -> None:
        found = self.found
        if found is None:
            return
        kinds = list(found.survival)
        last = found.steps[-1]
        words = f"{percent(found.overall[-1])} present, {percent(found.right[-1])} right"
        if last.status == "unchanged":
            words += f" · the {last.number}. changes nothing"
        if any(step.replayed for step in found.steps):
            words += " · * the tail repeated"
        self._say(words)
        table = self.query_one(Table)
        at = table.cursor_row
        table.clear(columns=True)
        heads = ["generation", "grown by", "before", "after", "summary s", f"present {ALL}", "right", "weighted"]
        heads += [f"{kind} {SIGNS[kind]}" for kind in kinds]
        heads += map(watched_name, self.bench.watched)
        rows = [cells(step, kinds) for step in found.steps]
        for head in heads:
            table.add_column(head)
        for row in rows:
            table.add_row(*(Text(cell, justify="right") for cell in row))
        table.move_cursor(row=at)
        self._plot()

    def _plot(self) -> None:
        if self.found is None:
            return
        hidden = frozenset(SIGNS.values()) - {SIGNS[self.alone]} if self.alone else frozenset[str]()
        self.query_one("#survival", CallsPlot).show(survival_picture(self.found), hidden)
        self.query_one("#growth", CallsPlot).show(growth_picture(self.found))

    def action_alone(self) -> None:
        """The next kind's curve with that of all, then every curve again."""
        choices = (None, *(self.found.survival if self.found else ()))
        at = choices.index(self.alone) if self.alone in choices else 0
        self.alone = choices[(at + 1) % len(choices)]
        self._plot()

    @on(DataTable.RowHighlighted)
    def _at_generation(self, event: DataTable.RowHighlighted) -> None:
        for drawn in self.query(CallsPlot):
            drawn.go(event.cursor_row + 1)


class Stopped(Exception):
    """Nobody waits for the generations any more."""


def made(bench: Bench, count: int, began: Callable[[int], None], cancelled: Callable[[], bool]) -> Generations | None:
    """Compact by the bench's policy, `began` hearing the number of each compaction; None where it was cancelled."""
    number = 0

    def compact(context: Context) -> Outcome:
        nonlocal number
        if cancelled():
            raise Stopped
        number += 1
        began(number)
        return drive(compacting(context, bench.edits, bench.strategy, bench.policy), extractive).outcome

    try:
        return generations(bench.context, compact, following(bench.session, bench.epoch), count, bench.watched)
    except Stopped:
        return None


def cells(step: Generation, kinds: list[FactKind]) -> list[str]:
    """A generation's row; a `*` where the session had no more messages."""
    overall = step.retention.overall
    shares = (overall.share, overall.right, overall.weighted, *(step.retention.kinds[kind].share for kind in kinds))
    sizes = map(figure, (step.before, step.after, step.summary))
    stood = (f"{VERDICTS[one]} {one}" for one in step.watched)
    return [str(step.number), f"{figure(step.grown)}{'*' * step.replayed}", *sizes, *map(percent, shares), *stood]
