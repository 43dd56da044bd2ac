"""State of the bench as one frozen view, and the only place where it changes. Knows no widget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.analysis.timeline import TimelineEpoch, timeline
from workbench.analysis.transcript import Verbosity
from workbench.base.errors import BadInput
from workbench.bench import Bench, RuleState
from workbench.bench.saved_work import SavedWork, work_of
from workbench.compaction.context import Layout
from workbench.compaction.preset import Preset, default_preset, load_preset, preset_for_version
from workbench.finding.following import Mark
from workbench.session import Session
from workbench.tokens import SessionMeter
from workbench.tui.filters import Filter
from workbench.tui.middle.parts import Folds
from workbench.tui.plan_words import opening_words
from workbench.tui.rows import Arrangement, Groups
from workbench.tui.undo import UndoHistory

if TYPE_CHECKING:
    from workbench.analysis.search import Query
    from workbench.analysis.usage_check import UsageCheck
    from workbench.bench.assessment import Assessment
    from workbench.bench.fixes import RuleFixes
    from workbench.compaction.checks import Check

AT_ONCE = 1_000
"""Messages up to which a plan fits a frame under any strategy, and is made without a thread."""

ALL, AS_USUAL = Filter(), Folds()


@dataclass(frozen=True, slots=True)
class SearchState:
    """Search, filter and order of the list.

    `hits` are the messages that match the search; `listed` those of them in the list, in its order, and `ranks` their
    positions. `words` describe all this, `refused` says why a search failed. `origin` is where the search began: index
    of a message, and True for its round's header.
    """

    search_query: Query | None = None
    refused: str = ""
    hits: Sequence[int] = ()
    listed: Sequence[int] = ()
    ranks: Sequence[int] = ()
    narrowing: Filter = ALL
    by_size: bool = False
    arrangement: Arrangement | None = None
    origin: tuple[int, bool] = (0, True)
    words: str = ""

    @property
    def is_on(self) -> bool:
        """True if escape has a search or a filter to clear."""
        return bool(self.search_query or self.narrowing)


@dataclass(frozen=True, slots=True)
class Following:
    """State of following the session's file: its mark when it was last read or reported, the monotonic time before
    which it is not read again, and failed readings in a row. `is_missing`: there is no such file now."""

    is_on: bool = False
    mark: Mark | None = None
    is_missing: bool = False
    not_before: float = 0.0
    failed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class PendingChange:
    """Step that is still being planned. `describe` returns its description from the bench before and after."""

    make: Callable[[Bench], Bench]
    key: str
    describe: Callable[[Bench, Bench], str]


@dataclass(frozen=True, slots=True, eq=False)
class BenchView:
    """All data from which the bench is drawn, and which decide whether an action is on or off.

    `shown` is the newest bench with a plan; the present one may still be planned. Until the first plan is made
    (`is_planned` is False) it is a copy of the bench: list and messages are drawn at once. `previewed` is the bench
    whose offline preview is done, or left out because the context is too large.

    `pending` are changes being planned, `pending_split` steps to move the split once the plan is ready, `saved` the
    work already on disk. `preset` is the preset that the settings are compared with, `note` the last thing done,
    `remark` the strategy's note about the session, `counting` the number of counted messages and of all.

    `reading` is the share of the file that is read, 0 to 1, while only its end is on the bench; None if reading failed.
    `whole` is the complete session from when it is read until it is on the bench. `epochs`, `verdict` and `usage_check`
    are empty before. `epochs` have sizes and known losses; `usage_check` compares recorded usage once all are counted.

    `rule_states` are the states of the watched rules on the bench `rule_states_bench`, `assessment` is that of the
    compaction, `fixes` would keep a lost watched rule.
    """

    history: UndoHistory
    shown: Bench
    groups: Groups
    preset: Preset
    tab: str = "message"
    pane: str = "rounds"
    note: str = ""
    running: str = ""
    previewed: Bench | None = None
    checks: tuple[Check, ...] | None = None
    counting: tuple[int, int] | None = None
    reading: float | None = 0.0
    whole: Session | None = None
    remark: str = ""
    epochs: tuple[TimelineEpoch, ...] = ()
    verdict: str = ""
    usage_check: UsageCheck | None = None
    verbosity: Verbosity = "default"
    folds: Folds = AS_USUAL
    finding: SearchState = SearchState()
    following: Following = Following()
    pending: tuple[PendingChange, ...] = ()
    saved: SavedWork | None = None
    pending_split: int = 0
    rule_states: tuple[RuleState, ...] = ()
    rule_states_bench: Bench | None = None
    assessment: Assessment | None = None
    fixes: RuleFixes | None = None
    is_planned: bool = True

    @property
    def bench(self) -> Bench:
        return self.history.present


def first_view(bench: Bench, groups: Groups, mark: Mark | None = None) -> BenchView:
    """View of a newly opened session: nothing counted, and planned only if the bench is."""
    return BenchView(
        UndoHistory(bench),
        bench if bench.is_planned else replace(bench),
        groups,
        measured_by(bench),
        note=opening_words(bench),
        counting=to_count(bench),
        epochs=() if bench.session.begins_at else timeline(bench.session),
        following=Following(mark=mark),
        saved=work_of(bench),
        is_planned=bench.is_planned,
    )


def to_count(bench: Bench) -> tuple[int, int] | None:
    """Number of counted messages and of all when counting begins; None if all were counted before."""
    meter = bench.layout.sizes.meter
    return None if isinstance(meter, SessionMeter) and meter.counted else (0, len(bench.messages))


def is_drawable(bench: Bench) -> bool:
    """True if the bench can be drawn now: it is planned, or small enough to plan within a frame."""
    return bench.is_planned or len(bench.layout.messages) <= AT_ONCE


def measured_by(bench: Bench) -> Preset:
    """Preset that the settings are compared with: the chosen one, or the strategy's own if that is missing."""
    try:
        found = preset_for_version(load_preset(bench.preset), bench.session)
    except BadInput:
        return default_preset(bench.strategy.id)
    return found if found.strategy == bench.strategy.id else default_preset(bench.strategy.id)


def moved(view: BenchView, history: UndoHistory) -> BenchView:
    """View at another step of its history, drawn at once if possible."""
    bench, before = history.present, view.bench
    view = replace(view, history=history)
    if bench is before:
        return view
    if (bench.preset, bench.strategy) != (before.preset, before.strategy):
        view = replace(view, preset=measured_by(bench))
    return with_present_drawn(replace(view, checks=None, previewed=None))


def with_present_drawn(view: BenchView) -> BenchView:
    """View with its present bench drawn, if that is possible now."""
    bench = view.bench
    groups = view.groups if view.groups.layout is bench.layout else Groups(bench.layout)
    can_draw = is_drawable(bench) if view.is_planned else bench.is_planned
    return replace(view, shown=bench, groups=groups, remark="", is_planned=True) if can_draw else view


def other_fates(was: BenchView | None, now: BenchView) -> bool:
    """True if fates on the screen changed: another bench is shown, or an offline run differs from its estimate."""
    if was is None or was.shown is not now.shown:
        return True
    shown = now.shown
    return (
        was.previewed is not now.previewed and shown.has_offline_run and shown.outcome.fates != shown.plan.outcome.fates
    )


Listener = Callable[[BenchView | None, BenchView], None]
"""Callback with the former and the present view; the former is None at first."""


class Store:
    """Holder of the view. Subscribers get each change in the order of subscription. If a subscriber changes the view
    again, that change is delivered after every subscriber has got the first one."""

    def __init__(self, view: BenchView) -> None:
        self.view = view
        self._delivered = view
        self._is_delivering = False
        self._listeners: list[Listener] = []

    @property
    def bench(self) -> Bench:
        return self.view.bench

    def subscribe(self, listener: Listener) -> None:
        self._listeners.append(listener)
        listener(None, self.view)

    def put(self, view: BenchView) -> None:
        self.view = view
        if self._is_delivering:
            return
        self._is_delivering = True
        try:
            while self._delivered is not self.view:
                before, self._delivered = self._delivered, self.view
                for listener in self._listeners:
                    listener(before, self._delivered)
        finally:
            self._is_delivering = False

    def step(self, bench: Bench, key: str = "", note: str = "") -> None:
        """Take a step to `bench`; the next one with the same `key` joins it."""
        if bench is not self.bench:
            self.put(moved(replace(self.view, note=note), self.view.history.then(bench, key)))

    def travel(self, history: UndoHistory, note: str = "") -> None:
        """Go to another step of the history."""
        if history is not self.view.history:
            self.put(moved(replace(self.view, note=note), history))

    def everywhere(self, change: Callable[[Bench], Bench]) -> None:
        """Apply `change` to every bench of the history; not a step of its own."""
        self.put(moved(self.view, self.view.history.change_all(change)))

    def counted(self, epoch: int, layout: Layout, groups: Groups, done: int, total: int) -> None:
        """Put new token figures of an epoch."""
        view = replace(self.view, counting=None if done >= total else (done, total))
        if epoch == view.bench.epoch:
            view = replace(view, groups=groups)
        self.put(moved(view, view.history.relaid(epoch, layout)))
