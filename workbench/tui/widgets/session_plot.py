"""Plot of the context over the session, call by call: as recorded and as simulated under variants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich.cells import cell_len
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from workbench.analysis.course import Course, Point
from workbench.analysis.pictures import RECORDED, replay_picture, sign_of
from workbench.analysis.replay import Replay, ReplayedCompaction
from workbench.analysis.replay_table import trail_words
from workbench.analysis.session_cost import session_cost
from workbench.analysis.watched_rules import RuleTrail
from workbench.base.figures import dollars, short
from workbench.tui.plain import figure, fit, one_line, plain, spark
from workbench.tui.widgets.calls_plot import CallsPlot, legend
from workbench.tui.widgets.watched_lines import COLOURS, SIGNS, STYLES

SENTENCE = 60
"""Maximum width of a watched sentence in cells; its state follows."""

Lines = Literal["one", "all", "simulated"]
"""Lines to draw. `one`: the variant in front and the recorded line; `all`: every variant and the recorded line;
`simulated`: every variant."""

LINES: tuple[Lines, ...] = ("one", "all", "simulated")


class SessionPlot(Vertical):
    """Plot with its legend. `replays` are those of the variants; the one at index `here` is in front. Nothing is drawn
    while `course` is None: the session is not counted yet."""

    def __init__(self) -> None:
        super().__init__()
        self.course: Course | None = None
        self.replays: Sequence[Replay] = ()
        self.here = 0
        self.lines: Lines = "one"
        self.trails: Sequence[RuleTrail] = ()
        """States of each watched sentence over the recorded compactions."""

    def compose(self) -> ComposeResult:
        yield CallsPlot()
        for name in ("legend", "call", "watched", "recorded"):
            yield Static(id=name, classes="-empty")

    def show_recorded(self, course: Course, trails: Sequence[RuleTrail], recorded: str, window: int | None) -> None:
        """Draw the recorded session, and go to its last call. `recorded` describes the agent's compactions in words;
        `window` is in tokens, None if unknown."""
        self.course, self.trails = course, trails
        _put(self.query_one("#recorded", Static), Text(plain(recorded)))
        self.border_title = plain(session_words(course))
        self.draw(window)
        plot = self.query_one(CallsPlot)
        plot.go(plot.calls)

    def show(self, replays: Sequence[Replay], here: int, window: int | None, lines: Lines) -> None:
        """Show variants, the one at index `here` in front. `window` is in tokens, None if unknown."""
        self.replays, self.here, self.lines = replays, here, lines
        self.draw(window)

    def draw(self, window: int | None) -> None:
        if self.course is None:
            return
        one = self.replays[self.here] if self.replays else None
        shown = [one] if one and self.lines == "one" else self.replays
        picture, plot = replay_picture(self.course, shown, window), self.query_one(CallsPlot)
        plot.show(picture, frozenset({RECORDED}) if self.lines == "simulated" else frozenset())
        plot.stops = [each.call for each in one.compacted] if one else ()
        plot.bring_to_front("" if self.lines == "one" else sign_of(self.here))
        _put(self.query_one("#legend", Static), legend(picture))
        _put(self.query_one("#watched", Static), watched_words(one, self.trails) if one else Text())
        self._show_call()

    @on(CallsPlot.Highlighted)
    def _show_call(self) -> None:
        course, call = self.course, self.query_one(CallsPlot).call
        if course is not None and self.replays and len(course.calls):
            alone, point = self.lines == "one", course.recorded_at.get(call)
            words = call_words(course, self.replays, call, self.here, point, alone=alone)
            _put(self.query_one("#call", Static), words)

    def to_lost(self) -> bool:
        """Go to the next call at which the variant in front loses a watched sentence, or after the last such call to
        the first. Return False if it loses none."""
        plot, trails = self.query_one(CallsPlot), self.replays[self.here].watched if self.replays else ()
        lost = sorted(trail.lost for trail in trails if trail.lost is not None)
        if lost:
            plot.go(next((call for call in lost if call > plot.call), lost[0]))
        return bool(lost)


def _put(line: Static, words: Text) -> None:
    line.update(words)
    line.set_class(not words, "-empty")


def session_words(course: Course) -> str:
    """Return the title: number of calls, tokens of the session without a compaction, recorded cost in dollars."""
    calls = len(course.calls)
    if not calls:
        return "no answer is recorded"
    cost = session_cost(course.session)
    recorded = f" · recorded {dollars(cost.recorded)}" if cost and cost.recorded is not None else ""
    return f"context over the session · {figure(calls)} calls · {figure(course.plain[-1])} tokens uncompacted{recorded}"


def context_sparkline(sent: Sequence[int], trails: Sequence[RuleTrail], width: int, top: int) -> Text:
    """Return the context over the session in at most `width` cells, `top` tokens high; red from the first call that
    loses a watched sentence. `sent` is in tokens, one figure per call."""
    line = Text(spark(sent, width, top), "dim")
    lost = min((trail.lost for trail in trails if trail.lost is not None), default=None)
    if lost is not None:
        line.stylize("red", (lost - 1) * len(line) // len(sent))
    return line


def watched_words(one: Replay, recorded: Sequence[RuleTrail]) -> Text:
    """Return a line for each watched sentence: its state after the variant's compactions and, if there are any, after
    the agent's own. `recorded` has the same sentences as `one.watched`, in the same order."""
    shown = [one_line(trail.sentence) for trail in one.watched]
    wide = min(max(map(cell_len, shown), default=0), SENTENCE)
    lines = []
    for words, trail, own in zip(shown, one.watched, recorded, strict=True):
        never = trail.last == "gone" and trail.lost is None
        style = "dim" if never else COLOURS.get(STYLES[trail.last], "")
        line = Text.assemble("◉ ", fit(words, wide), "  ", (f"{SIGNS[trail.last]} {trail_words(trail)}", style))
        if own.passed:
            lost = f", lost by that of epoch {own.lost}" if own.lost is not None else ""
            line.append(f" · by the agent's own compactions {SIGNS[own.last]} {own.last}{lost}", "dim")
        lines.append(line)
    return Text("\n").join(lines)


def call_words(
    course: Course, replays: Sequence[Replay], call: int, here: int, recorded: Point | None, *, alone: bool = False
) -> Text:
    """Return the tokens that the variant at index `here` sends at `call` (from 1), its compaction there, and, unless
    `alone`, the tokens of the other variants. `recorded` is the recorded size at the call, None without one."""
    round, one = course.round_of(course.calls[call - 1]), replays[here]
    text = Text.assemble((f"call {figure(call)} of {figure(len(course.calls))}", "bold"), f" · round {figure(round)}")
    if recorded is not None:
        text.append(f" · recorded {recorded.basis.value}{figure(recorded.tokens)}")
    text.append(" · variant " if alone else f" · {sign_of(here)} ", "bold").append(f"{_sizes(one, call)} tokens")
    compaction = next((each for each in one.compacted if each.call == call), None)
    text.append(f" · ▼ {_compaction_words(compaction)}" if compaction is not None else "")
    for trail in one.watched if compaction is not None else ():
        for passed in (each for each in trail.passed if each.at == call):
            text.append(f" · ◉ {SIGNS[passed.before]} → {SIGNS[passed.after]}")
    if missed := len(one.missed):
        text.append(f" · fired {figure(missed)} × without effect")
    text.append(" · ⏎ goes there", "dim")
    if not alone:
        text.append("\n")
        for n in (n for n in range(len(replays)) if n != here):
            text.append(f"{sign_of(n)} ", "bold").append(f"{short(replays[n].sent[call - 1])}  ")
    return text


def _sizes(one: Replay, call: int) -> str:
    full, sent = one.full[call - 1], one.sent[call - 1]
    return figure(sent) if full == sent else f"{figure(full)} → {figure(sent)}"


def _compaction_words(compaction: ReplayedCompaction) -> str:
    fired = ", ".join(trigger.name for trigger in compaction.triggers)
    pays = (
        f"paid back at call {figure(compaction.pays_off_at)}"
        if compaction.pays_off_at is not None
        else "never paid back"
    )
    return f"{fired} fires, {figure(compaction.cache.rebilled)} billed again, {pays}"
