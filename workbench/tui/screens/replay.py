"""Replay: the session played from its start under many policies, one saw-tooth and one row for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from rich.cells import cell_len
from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import DataTable, Static

from workbench.analysis.as_recorded import told_of_agent
from workbench.analysis.cost import paid
from workbench.analysis.course import Course
from workbench.analysis.growth import Point
from workbench.analysis.pictures import RECORDED, replay_picture, sign_of
from workbench.analysis.replay import Compacted, Replay, replay
from workbench.analysis.replay_table import cost_basis, replays_table, stood
from workbench.analysis.watched import Trail, judge_recorded
from workbench.base.figures import dollars, grouped, short
from workbench.base.tables import Column
from workbench.base.text import plural
from workbench.bench import Bench
from workbench.compaction.preset import Preset, candidates
from workbench.tokens import Counter
from workbench.tui.courses import at_call, course_on, own_preset
from workbench.tui.kept.surviving import COLOURS
from workbench.tui.keys import CLOSE_KEY, HELP_KEY
from workbench.tui.plain import figure, fit, one_line, plain, spark
from workbench.tui.screens.choose_policies import ChoosePoliciesScreen
from workbench.tui.screens.choose_preset import choices
from workbench.tui.screens.progress import ProgressScreen
from workbench.tui.widgets.calls_plot import CallsPlot, legend
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.table import Table
from workbench.tui.widgets.watched_lines import SIGNS as SIGN_OF
from workbench.tui.widgets.watched_lines import STYLES

SAW, SPARK = "context over the session", 24
"""The column of the saws, and its cells."""

SHOWN = (
    "sign", "preset", SAW, "compactions", "first", "cost", "paid_back", "mean_after", "peak", "over_window", "last",
    "rebilled", "summaries", "strategy",
)  # fmt: skip
"""The columns, what is wanted most before what a narrow screen has no room for."""

SENTENCE = 60
"""Cells of a watched sentence before its verdict, at most."""

NONE_LOST = "This policy loses no watched sentence."
NONE_WATCHED = "No sentence is watched; W on the bench watches one."

OWN = "on the bench"
"""The name of the bench's policy among the others."""


class ReplayScreen(ProgressScreen[str | Preset]):
    """Dismissed with the id of the message to go to, with the preset to open on the bench, or with None."""

    NAME = "Replay"
    HELP = """\
The session is played from its start under each policy: before each of the recorded answers the policy's triggers are \
read, and where one fires the context is compacted. A row is a policy, with the context over the session as a saw on \
one scale; the plot shows that of the row at hand, · is the session as it was recorded, ▼ a compaction that the agent \
itself made. o shows the lines of all rows at once, each with its letter behind its end. The answers are taken to be \
the same, and the summaries only take their room, so nothing is sent anywhere. Enter on a row opens that policy on \
the bench; on the plot it goes to the message of the call. n on the plot goes to the next compaction of the policy \
whose row is marked. An epoch is what the agent worked with between two compactions of its own.
Watched sentences (W on the bench) are judged at every compaction, and the summaries are then the session's own \
sentences. ◉ says how each stands in the end, and at which call it was first lost: from there on the saw is red, and \
○ stands over the plot. w goes there."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", "Plot, list", id="replay.focus", tooltip="Between the plot and the table."),
        Binding("a", "choose", "Policies", id="replay.policies", tooltip="Choose the policies that are played."),
        Binding("o", "alone", "All lines", id="replay.alone", tooltip="The lines of all rows, or of this one alone."),
        Binding("d", "recorded", "Recorded", id="replay.recorded", tooltip="Hide what was recorded, or show it again."),
        Binding("w", "lost", "Where lost", id="replay.lost", tooltip="To the call where a watched sentence was lost."),
        Binding("m", "go_to", "To message", id="replay.go", tooltip="To the message of the cursor's call."),
        CLOSE_KEY,
        HELP_KEY,
    ]
    AUTO_FOCUS = "Table"

    @dataclass
    class Laid(Message):
        """The session can be played: every token is counted. `recorded` tells what the agent itself did, `trails` how
        watched sentences came through that."""

        asked: tuple[Preset, ...]
        bench: Bench
        course: Course
        recorded: str
        trails: tuple[Trail, ...]

    @dataclass
    class Played(Message):
        """One more policy is done, of those that were asked for."""

        asked: tuple[Preset, ...]
        one: Replay

    def __init__(self, bench: Bench, counter: Counter) -> None:
        super().__init__()
        self.bench = bench
        self.counter = counter
        self.own = own_preset(bench, OWN)
        self.asked: tuple[Preset, ...] | None = None
        """None for the bench's and every strategy's own, until they are read."""
        self.course: Course | None = None
        self.played: list[Replay] = []
        self.alone, self.recorded = True, True
        """Whether the plot has the line of the marked row only, and what was recorded."""
        self.trails: tuple[Trail, ...] = ()
        self._eyes = "◉" * len(bench.watched)
        """The head over how watched sentences stand, beside the saw."""
        at = SHOWN.index(SAW) + 1
        self._shown = (*SHOWN[:at], self._eyes, *SHOWN[at:]) if bench.watched else SHOWN

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(id="title")
            yield CallsPlot(id="replay-plot")
            yield Static(id="legend")
            yield Static(id="call")
            yield Static(id="watched")
            yield Static(id="recorded")
            yield Table(cursor_type="row", zebra_stripes=True, fixed_columns=2)
            yield KeysLine()

    def on_mount(self) -> None:
        self.query_one("#recorded").display = False
        self.query_one("#watched").display = bool(self.bench.watched)
        self.say("opening")
        self.call_after_refresh(self.start)

    # --- playing ----------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Play what is asked for, anew."""
        self.played = []
        table = self.query_one(Table)
        table.clear(columns=True)
        known = {one.key: one for one in replays_table(()).columns}
        for key in self._shown:
            one = known.get(key) or Column(key, key)
            table.add_column(Text(one.heading, "dim", justify=_side(one)), key=key)
        self.play(self.asked)

    @work(thread=True, exclusive=True, group="replay", exit_on_error=False, description="play")
    def play(self, asked: tuple[Preset, ...] | None) -> None:
        """Policy by policy, so that the first stands while the last is still played. What is drawn of each is worked
        out here, too."""
        with self.working() as told:
            bench, course = self.bench, self.course
            if asked is None:
                asked = (self.own, *(one for one in candidates() if not _same(one, self.own)))
            if course is None:
                bench, course = course_on(bench, self.counter, told, first=1)
                told("reading what the agent did")
                trails = tuple(judge_recorded(sentence, bench.session) for sentence in bench.watched)
                _ = course.recorded_line, course.plain
                self.post_message(self.Laid(asked, bench, course, told_of_agent(course), trails))
            for number, preset in enumerate(asked, 1):
                told(f"playing {number} of {len(asked)}: {preset.id}")
                played = replay(course, preset, bench.opened.limit, watched=bench.watched)
                _ = played.series, played.cost, played.over_window
                self.post_message(self.Played(asked, played))

    @on(Laid)
    def _laid(self, event: Laid) -> None:
        self.asked = event.asked
        self.bench, self.course, self.trails = event.bench, event.course, event.trails
        words = self.query_one("#recorded", Static)
        words.update(plain(event.recorded))
        words.display = bool(event.recorded)

    @on(Played)
    def _one_more(self, event: Played) -> None:
        if event.asked is not self.asked or self.course is None:
            return
        self.played.append(event.one)
        made = replays_table(self.played)
        told = zip(made.columns, made.cells(made.rows[-1]), strict=True)
        cells = {one.key: Text(plain(words), justify=_side(one)) for one, words in told}
        top = max(self.course.plain, default=1)
        cells[SAW] = saw_cell(event.one, top)
        cells[self._eyes] = Text("  ").join(map(end_cell, event.one.watched))
        self.query_one(Table).add_row(*(cells[key] for key in self._shown))
        self.draw()
        if len(self.played) == 1:
            plot = self.query_one(CallsPlot)
            plot.go(plot.calls)
        if len(self.played) == len(event.asked):
            self.say(self._summed())

    def _summed(self) -> str:
        course, many = self.course, len(self.played)
        if course is None or not self.played:
            return ""
        calls = len(course.calls)
        last = f"{figure(course.plain[-1])} tokens uncompacted" if calls else "no answer is recorded"
        basis = cost_basis(self.played[0].rates)
        cost = paid(course.session)
        recorded = f" · recorded {dollars(cost.recorded)}" if cost and cost.recorded is not None else ""
        return f"{figure(calls)} calls, {last}{recorded} · {many} {plural(many, 'policy')} · {basis}"

    # --- drawing ----------------------------------------------------------------------------------------------------

    def draw(self) -> None:
        """The lines anew: a policy came, or others are to be seen."""
        if self.course is None or not self.played:
            return
        shown = [self.played[max(self.here, 0)]] if self.alone else self.played
        picture = replay_picture(self.course, shown, self.bench.window)
        self.query_one(CallsPlot).show(picture, frozenset() if self.recorded else frozenset({RECORDED}))
        self.query_one("#legend", Static).update(legend(picture))
        self._tell_row()

    @property
    def here(self) -> int:
        """The place of the marked row, -1 where there is none."""
        at = self.query_one(Table).cursor_row
        return at if at < len(self.played) else -1

    @on(DataTable.RowHighlighted)
    def _row_marked(self) -> None:
        if self.alone:
            self.draw()
        else:
            self._tell_row()

    def _tell_row(self) -> None:
        if self.here >= 0:
            plot = self.query_one(CallsPlot)
            plot.stops = [one.call for one in self.played[self.here].compacted]
            plot.bring_to_front("" if self.alone else sign_of(self.here))
            self._tell_call()
            self.query_one("#watched", Static).update(watched_words(self.played[self.here], self.trails))

    @on(CallsPlot.Moved)
    def _tell_call(self) -> None:
        if self.course is not None and self.played and len(self.course.calls):
            call = self.query_one(CallsPlot).call
            recorded = self.course.recorded_at.get(call)
            text = call_words(self.course, self.played, call, max(self.here, 0), recorded, alone=self.alone)
            self.query_one("#call", Static).update(text)

    def action_recorded(self) -> None:
        self.recorded = not self.recorded
        self.draw()

    def action_lost(self) -> None:
        """To where the row's policy first lost a watched sentence; again, to the next one that it lost."""
        plot, trails = self.query_one(CallsPlot), self.played[self.here].watched if self.here >= 0 else ()
        lost = sorted(trail.lost for trail in trails if trail.lost is not None)
        if lost:
            plot.go(next((call for call in lost if call > plot.call), lost[0]))
        else:
            self.notify(NONE_LOST if trails else NONE_WATCHED, markup=False)

    def action_alone(self) -> None:
        self.alone = not self.alone
        self.draw()

    # --- going elsewhere --------------------------------------------------------------------------------------------

    def action_choose(self) -> None:
        def chosen(presets: tuple[Preset, ...] | None) -> None:
            if presets is not None:
                self.asked = presets
                self.start()

        others = (one.preset for one in choices()[0] if not one.heading)
        every = [self.own, *(one for one in others if not _same(one, self.own))]
        now = (self.own,) if self.asked is None else self.asked
        asked = [one for one in every if any(_same(one, each) for each in now)]
        self.app.push_screen(ChoosePoliciesScreen(every, asked), chosen)

    @on(DataTable.RowSelected)
    def _row_chosen(self, event: DataTable.RowSelected) -> None:
        if event.cursor_row < len(self.played):
            preset = self.played[event.cursor_row].preset
            self.dismiss(None if preset is self.own else preset)

    @on(CallsPlot.Chosen)
    def action_go_to(self) -> None:
        if self.course is not None and len(self.course.calls):
            self.dismiss(at_call(self.course, self.query_one(CallsPlot).call))


def _side(one: Column) -> Literal["left", "right"]:
    return "left" if one.is_text else "right"


def _same(one: Preset, other: Preset) -> bool:
    return (one.strategy, one.policy) == (other.strategy, other.policy)


def saw_cell(one: Replay, top: int) -> Text:
    """The context over the session, `top` tokens high; red from where the first watched sentence is lost."""
    saw = Text(spark(one.sent, SPARK, top), "cyan")
    lost = min((trail.lost for trail in one.watched if trail.lost is not None), default=None)
    if lost is not None:
        saw.stylize("red", (lost - 1) * len(saw) // len(one.sent))
    return saw


def end_cell(trail: Trail) -> Text:
    """How a watched sentence stands in the end, and at which call it was first lost."""
    at = f" {grouped(trail.lost)}" if trail.lost is not None else ""
    return Text(f"{SIGN_OF[trail.last]}{at}", _style(trail))


def _style(trail: Trail) -> str:
    never = trail.last == "gone" and trail.lost is None
    return "dim" if never else COLOURS.get(STYLES[trail.last], "")


def watched_words(one: Replay, recorded: Sequence[Trail]) -> Text:
    """A line for each watched sentence: how it came through the policy's compactions, and through the agent's own."""
    shown = [one_line(trail.sentence) for trail in one.watched]
    wide = min(max(map(cell_len, shown), default=0), SENTENCE)
    lines = []
    for words, trail, own in zip(shown, one.watched, recorded, strict=True):
        line = Text.assemble("◉ ", fit(words, wide), "  ", (f"{SIGN_OF[trail.last]} {stood(trail)}", _style(trail)))
        if own.passed:
            lost = f", lost by that of epoch {own.lost}" if own.lost is not None else ""
            line.append(f" · by the agent's own compactions {SIGN_OF[own.last]} {own.last}{lost}", "dim")
        lines.append(line)
    return Text("\n").join(lines)


def call_words(
    course: Course, played: list[Replay], call: int, marked: int, recorded: Point | None, *, alone: bool = False
) -> Text:
    """What the marked policy sends at this call, with the compaction it makes there, and what the others send, unless
    it is looked at `alone`."""
    round = course.round_of(course.calls[call - 1])
    text = Text.assemble((f"call {figure(call)} of {figure(len(course.calls))}", "bold"), f" · round {figure(round)}")
    if recorded is not None:
        text.append(f" · recorded {recorded.basis.value}{figure(recorded.tokens)}")
    text.append(" · " if alone else f" · {sign_of(marked)} ", "bold").append(_sizes(played[marked], call))
    made = next((one for one in played[marked].compacted if one.call == call), None)
    text.append(f" · ▼ {_compaction(made)}" if made is not None else "")
    for trail in played[marked].watched if made is not None else ():
        for came in (one for one in trail.passed if one.at == call):
            text.append(f" · ◉ {SIGN_OF[came.before]} → {SIGN_OF[came.after]}")
    if missed := len(played[marked].missed):
        text.append(f" · fired {figure(missed)} × in vain")
    text.append(" · ⏎ goes there\n", "dim")
    for n in (n for n in range(len(played)) if n != marked and not alone):
        text.append(f"{sign_of(n)} ", "bold").append(f"{short(played[n].sent[call - 1])}  ")
    return text


def _sizes(one: Replay, call: int) -> str:
    full, sent = one.full[call - 1], one.sent[call - 1]
    return figure(sent) if full == sent else f"{figure(full)} → {figure(sent)}"


def _compaction(made: Compacted) -> str:
    fired = ", ".join(trigger.name for trigger in made.triggers)
    pays = f"paid back at call {figure(made.pays_off_at)}" if made.pays_off_at is not None else "never paid back"
    return f"{fired} fires, {figure(made.cache.rebilled)} billed again, {pays}"
