"""Compare: strategies or presets on the session of the bench as a ranking; the chosen one opens there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import DataTable, Static
from textual.worker import Worker, get_current_worker

from workbench.analysis.replay import replay
from workbench.assessment import FIGURES, RECORDED, Assessment, compare, compute, recorded
from workbench.bench import Bench
from workbench.compaction.of_tool import of_its_time
from workbench.compaction.preset import Preset, candidates, load_preset, preset_names
from workbench.summarizers.extractive import extractive
from workbench.tokens import Counter
from workbench.tui.courses import Abandoned, course_on
from workbench.tui.failures import failure_of
from workbench.tui.kept.words import is_recorded
from workbench.tui.keys import CLOSE_KEY, HELP_KEY
from workbench.tui.middle.two_outcomes import Named
from workbench.tui.plain import plain
from workbench.tui.ranking import (
    FIRST,
    HEADS,
    SENT,
    SPARK,
    WATCHED,
    Ranked,
    details,
    heads_of,
    ordered,
    places,
    room_over,
    row,
    width_of,
)
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.table import Table

OURS = "on the bench"
"""The name of the column for the bench's own policy and run, where no preset's column is the same."""

EVERY_S = 0.25
"""How often what has been found is drawn: the table is drawn anew as a whole."""


@dataclass(frozen=True)
class Asked:
    """What is compared: the presets, and before them the bench's own policy where it is none of them."""

    presets: tuple[Preset, ...]
    own: Preset | None
    theirs: bool

    @property
    def count(self) -> int:
        return len(self.presets) + (self.own is not None) + self.theirs


def all_presets() -> tuple[Preset, ...]:
    return tuple(map(load_preset, preset_names()))


def asked_of(bench: Bench, presets: tuple[Preset, ...]) -> Asked:
    presets = tuple(of_its_time(one, bench.session) for one in presets)
    own = bench.chosen
    known = any((one.strategy, one.policy) == (own.strategy, own.policy) for one in presets)
    return Asked(presets, None if known and not bench.result else own, is_recorded(bench))


def variants_of(bench: Bench, asked: Asked) -> Iterator[Assessment]:
    """The agent's own first, then what is on the bench, then each preset; with the figures that need no facts."""
    own = [Assessment(bench, bench.result or bench.offline, asked.own)] if asked.own is not None else []
    for one in chain(filter(None, (recorded(bench),)), own, compare(bench, asked.presets, extractive)):
        yield compute(one, *FIGURES)


class CompareScreen(ModalScreen[Preset | None]):
    """Dismissed with the preset to open in the bench, or with None."""

    HELP = """\
A row for each strategy, or for every preset, the best first: contexts below the trigger of the session's own agent, \
by the share "kept" and then by cost; then contexts that are still too large, then strategies that free nothing. \
Two more rows may appear: the agent's own compaction, where one ended the epoch ({ and } on the bench go \
there), and the settings on the bench, where no preset has the same. Your pins, your edits and, where a strategy has \
one, your split hold in all of them; the summaries are extractive, the session's own sentences without a model, so \
nothing is sent anywhere.
"after" is the context that is left, beside a bar of what it was. "rules" are your standing instructions, "kept" the \
share of the whole context's facts that are still in it: the same facts in every row, so rows compare. "needed" is \
what is still there of what the session really needed again, where it goes on after this epoch. "cost" is what a model \
would take for the summaries, at the session's model's prices; it is "paid back" when later calls have saved as much \
as that and the lost prompt cache cost. ◉ says how watched sentences stand, in their order; "context" is its \
size over the whole session, played under that policy. ▲ is the best of a column, ▼ the worst.
Below is everything known of the row at hand: the "head" is replaced, the "tail" stays; so many tokens at the \
beginning "stay cached", so many are "billed again", at a higher price. "correct" leaves out facts that are \
contradicted, "weighted" counts what is used again four times. Where there is room the lost facts follow, the gravest \
first, and the beginning of the summary.
s orders by the next column, S the other way round; a click on a heading does the same. Enter opens the row on the \
bench; undo brings back what was there. Space marks two rows, d shows them side by side."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "sort", "Order by", id="compare.sort", tooltip="Order by the next column."),
        Binding("S", "turn", "Turn", id="compare.turn", tooltip="The worst first, or the best again."),
        Binding("a", "more", "All presets", id="compare.all", tooltip="Every preset, or each strategy's own."),
        Binding("space", "mark", "Mark", id="compare.mark", tooltip="Mark a row to be seen beside another one."),
        Binding("d", "beside", "Side by side", id="compare.beside", tooltip="The two marked rows, or this and one."),
        Binding("enter", "choose", "Open", id="compare.open", tooltip="Open the row at hand on the bench."),
        CLOSE_KEY,
        HELP_KEY,
    ]
    AUTO_FOCUS = "Table"

    @dataclass
    class Told(Message):
        """All rows that are made by now for this round of comparing, each with what is known of it."""

        asked: Asked
        ranked: tuple[Ranked, ...]

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, CompareScreen.Told)

    def __init__(self, bench: Bench, counter: Counter) -> None:
        super().__init__()
        self.bench, self.counter = bench, counter
        self.titles = heads_of(goes_on=bench.epoch < len(bench.session.epochs))
        self.every = False
        self.asked: Asked | None = None
        """None until the presets are read."""
        self.ranked: tuple[Ranked, ...] = ()
        """In the order in which they are shown."""
        self._shown: tuple[str, ...] = ()
        """The names in the order in which the table has them."""
        self.order, self.turned = FIRST, False
        self.marked: tuple[str, ...] = ()

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(id="said")
            yield Table(cursor_type="row", zebra_stripes=True, fixed_columns=2)
            yield Static(id="details")
            yield KeysLine()

    def on_mount(self) -> None:
        self.start()

    def start(self) -> None:
        """Compare anew: the strategies' own presets, or every one."""
        self.asked, self.ranked, self.marked = None, (), ()
        self._draw()
        self.compare(self.every)

    @work(exclusive=True, group="compare", exit_on_error=False, description="compare")
    async def compare(self, every: bool) -> None:
        """Row by row in a thread, so that the first stands while the last is still made; then what they hold, then the
        session under each of them."""
        bench, worker, told = self.bench, get_current_worker(), 0.0
        ranked: list[Ranked] = []
        presets = await asyncio.to_thread(all_presets if every else candidates)
        self.asked = asked = asked_of(bench, presets)
        self._say()

        def tell(at_least: float) -> None:
            nonlocal told
            if time.monotonic() - told >= at_least:
                self.post_message(self.Told(asked, tuple(ranked)))
                told = time.monotonic()

        variants = variants_of(bench, asked)
        while not worker.is_cancelled and (found := await asyncio.to_thread(next, variants, None)):
            ranked.append(Ranked(self.name_of(asked, found), found))
            tell(EVERY_S)
        tell(0)
        for place, one in enumerate(ranked):
            if worker.is_cancelled:
                return
            needed = ("later_use",) if "needed" in self.titles else ()
            await asyncio.to_thread(compute, one.found, "watched", *needed, "retention")
            ranked[place] = replace(one, are_known=True)
            tell(EVERY_S)
        tell(0)

        def stop(stage: str) -> None:
            if worker.is_cancelled:
                raise Abandoned

        try:
            _, course = await asyncio.to_thread(course_on, bench, self.counter, stop, first=1)
        except Abandoned:
            return
        for place, one in enumerate(ranked):
            if worker.is_cancelled:
                return
            if (preset := one.found.preset) is None:
                ranked[place] = replace(one, sent=tuple(point.tokens for point in course.growth))
            else:
                played = await asyncio.to_thread(replay, course, preset, bench.opened.limit)
                ranked[place] = replace(one, sent=tuple(played.sent))
            tell(EVERY_S)
        tell(0)

    @staticmethod
    def name_of(asked: Asked, found: Assessment) -> str:
        return OURS if found.preset is not None and found.preset is asked.own else found.name

    @on(Told)
    def _show(self, event: Told) -> None:
        """Show what is known by now; ordered when all that the order goes by is there."""
        if event.asked is self.asked:
            known = len(event.ranked) == event.asked.count and all(one.are_known for one in event.ranked)
            self.ranked = tuple(ordered(event.ranked, self.order, turned=self.turned)) if known else event.ranked
            self._draw()

    def _draw(self) -> None:
        """The table anew, the cursor on the row on which it stood; at the top, where it begins, it stays at the top."""
        table, here = self.query_one(Table), self.here
        name = self._shown[here] if 0 < here < len(self._shown) else ""
        table.clear(columns=True)
        table.add_column("", key="mark")
        table.add_column("policy", key="policy")
        watched = len(self.bench.watched)
        over = room_over(self.ranked, self.titles, watched, table.scrollable_content_region.width or self.size.width)
        for title in places(self.titles, over):
            table.add_column(self._heading(title, over), key=title)
        top = max((max(one.sent) for one in self.ranked if one.sent), default=1)
        for one in self.ranked:
            letter = "AB"[self.marked.index(one.name)] if one.name in self.marked else ""
            table.add_row(*row(one, self.ranked, self.titles, letter, top, over), key=one.name)
        self._shown = tuple(one.name for one in self.ranked)
        if name in self._shown:
            table.move_cursor(row=self._shown.index(name))
        self._say()
        self._tell()
        self.call_after_refresh(self._tell)  # when the table has its new height

    def _heading(self, title: str, over: int) -> Text:
        if title == WATCHED:
            return Text("◉" * len(self.bench.watched))
        if title == SENT:
            return Text("context over the session" if over >= SPARK else "context", "dim")
        words = f"{title} {'▴' if self.turned else '▾'}" if title == self.order else title
        return Text(f"{words:>{width_of(self.ranked, title) - 2}}", "bold" if title == self.order else "dim")

    @property
    def here(self) -> int:
        """The row at hand, -1 where there is none."""
        at = self.query_one(Table).cursor_row
        return at if at < len(self._shown) else -1

    @on(DataTable.RowHighlighted)
    def _tell(self) -> None:
        """Below the table all that is known of the row at hand."""
        told = self.query_one("#details", Static)
        if 0 <= self.here < len(self.ranked) and self._shown:
            told.update(details(self.ranked[self.here], told.content_size.width, told.content_size.height))
        else:
            told.update("")

    def on_resize(self) -> None:
        self.call_after_refresh(self._tell)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self.query_one("#said", Static).update(Text(f"✘ {plain(failure)}"))

    def _say(self) -> None:
        what = "every preset" if self.every else "each strategy's own preset"
        judged = sum(one.are_known for one in self.ranked)
        count = self.asked.count if self.asked else 0
        words = said(len(self.ranked), count, judged, what, str(self.bench.context.total)) if count else what
        self.query_one("#said", Static).update(Text(words))

    # --- the order --------------------------------------------------------------------------------------------------

    def action_more(self) -> None:
        self.every = not self.every
        self.start()

    def action_sort(self) -> None:
        self._order(self.titles[(self.titles.index(self.order) + 1) % len(self.titles)], turned=False)

    def action_turn(self) -> None:
        self._order(self.order, turned=not self.turned)

    @on(DataTable.HeaderSelected)
    def _heading_clicked(self, event: DataTable.HeaderSelected) -> None:
        if (title := event.column_key.value or "") in HEADS:
            self._order(title, turned=title == self.order and not self.turned)

    def _order(self, title: str, *, turned: bool) -> None:
        self.order, self.turned = title, turned
        self.ranked = tuple(ordered(self.ranked, title, turned=turned))
        self._draw()

    # --- one of them, or two ----------------------------------------------------------------------------------------

    def action_mark(self) -> None:
        """Mark the row, or no longer; of three the first one marked goes."""
        if self.here >= 0:
            name, before = self._shown[self.here], self.marked
            self.marked = tuple(one for one in before if one != name) if name in before else (*before, name)[-2:]
            self._draw()

    def action_beside(self) -> None:
        """The two marked; with one marked, that and the row at hand; with none, that and the first."""
        from workbench.tui.screens.two_outcomes import TwoOutcomesScreen

        here = self._shown[self.here] if self.here >= 0 else ""
        pair = (*self.marked, here)[:2] if self.marked else (*self._shown[:1], here)
        if len(set(pair)) < 2 or "" in pair:
            self.notify("Space marks a row; d shows two of them side by side.", markup=False)
            return
        by_name = {one.name: one.found.outcome for one in self.ranked}
        first, second = (Named(name, by_name[name]) for name in pair)
        self.app.push_screen(TwoOutcomesScreen(self.bench, first, second))

    @on(DataTable.RowSelected)
    def action_choose(self) -> None:
        if self.here < 0:
            return
        preset = self.ranked[self.here].found.preset
        if preset is None:
            self.notify(f"The {RECORDED} compaction is the agent's own: it has no policy to open.", markup=False)
        else:
            self.dismiss(None if self.asked and preset is self.asked.own else preset)


def said(made: int, asked: int, judged: int, what: str, before: str) -> str:
    """How far the comparison is."""
    if made < asked:
        done = f"{made} of {asked}"
    elif judged < made:
        done = f"looking for facts: {judged} of {made}"
    else:
        done = f"{asked} compared"
    return f"{what}: {done} · {before} tokens before · extractive summaries"
