"""What is on the bench as one frozen view, and the one place where it changes. Knows no widget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.analysis.timeline import Stretch, timeline
from workbench.analysis.transcript import Verbosity
from workbench.base.errors import BadInput
from workbench.bench import Bench, RuleState
from workbench.bench.saved_work import SavedWork, work_of
from workbench.compaction.layout import Layout
from workbench.compaction.of_tool import preset_for_version
from workbench.compaction.preset import Preset, default_preset, load_preset
from workbench.finding.following import Mark
from workbench.session import Session
from workbench.tokens import SessionMeter
from workbench.tui.filters import Filter
from workbench.tui.history import UndoHistory
from workbench.tui.middle.view import Folds
from workbench.tui.rows import Arrangement, Groups
from workbench.tui.status_lines import opening_words

if TYPE_CHECKING:
    from workbench.analysis.bills import Bills
    from workbench.analysis.search import Query
    from workbench.bench.assessment import Assessment
    from workbench.bench.fixes import RuleFixes
    from workbench.compaction.checks import Check

AT_ONCE = 1_000
"""Messages up to which a plan surely fits a frame, under any strategy, and is made where the key is answered."""

ALL, AS_USUAL = Filter(), Folds()


@dataclass(frozen=True, slots=True)
class Finding:
    """What is searched for, and what of the context is listed.

    `hits` are the messages that hold what is `sought`; `listed` those of them that the list shows, in its order, and
    `ranks` their places in it. `words` say all this, `refused` why something could not be searched for.
    `origin` is where the search began: a message, and whether its round's header.
    """

    sought: Query | None = None
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
        """Whether escape has a search or a filter to clear."""
        return bool(self.sought or self.narrowing)


@dataclass(frozen=True, slots=True)
class Following:
    """Whether the session's file is followed; its mark when it was last read or told of; when, by the monotonic clock,
    it may be read again; and how many readings failed in a row. `is_gone` while the file is not there."""

    is_on: bool = False
    mark: Mark | None = None
    is_gone: bool = False
    not_before: float = 0.0
    failed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """A step that is still being planned. `said` tells what it did to the bench before it."""

    make: Callable[[Bench], Bench]
    key: str
    said: Callable[[Bench, Bench], str]


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Everything that is drawn of the bench, and what decides what can be done.

    `shown` is a bench whose plan is made: the present one but for the moments in which that is still being planned.
    `preset` is what the policy is measured by, `remark` what the strategy says of the whole session, `counting` how
    many messages are counted and how many there are. `wanted` are changes that are still being planned, `owed` by how
    much the split is to move once it is known where it lies, `kept` the work that is written down already.
    `stretches` are the epochs with their sizes and what each is known to have lost.
    `tried` is the bench of which it is known what a run offline gives, as far as it is run before it is asked for.
    `reading` is how much of the file is read, 0 to 1, None where it cannot be, while only its end is on the bench: what
    is told of all epochs (`stretches`, `verdict`, `bills`) is then not told yet. `whole` is the session when
    it is read and not on the bench yet.
    `bills` are judged when all epochs are counted. `stands` is how the watched sentences of the bench `stood` stand,
    `assessed` is what a compaction of the bench keeps, loses and costs, `ways` are what keeps a watched sentence
    that is lost.
    """

    history: UndoHistory
    shown: Bench
    groups: Groups
    preset: Preset
    tab: str = "message"
    pane: str = "rounds"
    said: str = ""
    running: str = ""
    tried: Bench | None = None
    checks: tuple[Check, ...] | None = None
    counting: tuple[int, int] | None = None
    reading: float | None = 0.0
    whole: Session | None = None
    remark: str = ""
    stretches: tuple[Stretch, ...] = ()
    verdict: str = ""
    bills: Bills | None = None
    verbosity: Verbosity = "default"
    folds: Folds = AS_USUAL
    finding: Finding = Finding()
    following: Following = Following()
    wanted: tuple[Change, ...] = ()
    kept: SavedWork | None = None
    owed: int = 0
    stands: tuple[RuleState, ...] = ()
    stood: Bench | None = None
    assessed: Assessment | None = None
    ways: RuleFixes | None = None

    @property
    def bench(self) -> Bench:
        return self.history.present


def first_view(bench: Bench, groups: Groups, mark: Mark | None = None) -> View:
    """A session as it comes onto the bench: planned, and nothing counted yet."""
    return View(
        UndoHistory(bench),
        bench,
        groups,
        measured_by(bench),
        said=opening_words(bench),
        counting=to_count(bench),
        stretches=() if bench.session.begins_at else timeline(bench.session),
        following=Following(mark=mark),
        kept=work_of(bench),
    )


def to_count(bench: Bench) -> tuple[int, int] | None:
    """How many messages are counted of how many, when counting begins; None where all of them were before."""
    meter = bench.layout.sizes.meter
    return None if isinstance(meter, SessionMeter) and meter.counted else (0, len(bench.messages))


def drawable(bench: Bench) -> bool:
    """Whether the bench can be drawn now: its plan is there, or surely fits a frame."""
    return bench.is_planned or len(bench.layout.messages) <= AT_ONCE


def measured_by(bench: Bench) -> Preset:
    """The preset that the policy is measured by: the chosen one, or the strategy's own where that is gone."""
    try:
        found = preset_for_version(load_preset(bench.preset), bench.session)
    except BadInput:
        return default_preset(bench.strategy.id)
    return found if found.strategy == bench.strategy.id else default_preset(bench.strategy.id)


def moved(view: View, history: UndoHistory) -> View:
    """The view at another place of its history: drawn at once where that can be."""
    bench, before = history.present, view.bench
    view = replace(view, history=history)
    if bench is before:
        return view
    if (bench.preset, bench.strategy) != (before.preset, before.strategy):
        view = replace(view, preset=measured_by(bench))
    return brought_up(replace(view, checks=None, tried=None))


def brought_up(view: View) -> View:
    """The view with its present bench drawn, if it can be drawn now."""
    bench = view.bench
    groups = view.groups if view.groups.layout is bench.layout else Groups(bench.layout)
    return replace(view, shown=bench, groups=groups, remark="") if drawable(bench) else view


def other_fates(was: View | None, now: View) -> bool:
    """Whether messages have another fate than was drawn: something else is shown, or a run offline did not do as was
    estimated."""
    if was is None or was.shown is not now.shown:
        return True
    shown = now.shown
    return was.tried is not now.tried and shown.has_offline_run and shown.outcome.fates != shown.plan.outcome.fates


Listener = Callable[[View | None, View], None]
"""Told how things stood and how they stand; None at first."""


class Store:
    """Holds the view. Who subscribes is told of every change, one after another and in the order of subscription: what
    a listener changes itself is told when all have heard of what came before."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._told = view
        self._telling = False
        self._listeners: list[Listener] = []

    @property
    def bench(self) -> Bench:
        return self.view.bench

    def subscribe(self, listener: Listener) -> None:
        self._listeners.append(listener)
        listener(None, self.view)

    def put(self, view: View) -> None:
        self.view = view
        if self._telling:
            return
        self._telling = True
        try:
            while self._told is not self.view:
                before, self._told = self._told, self.view
                for listener in self._listeners:
                    listener(before, self._told)
        finally:
            self._telling = False

    def step(self, bench: Bench, key: str = "", said: str = "") -> None:
        """Take a step to `bench`; the next one of the same `key` joins it."""
        if bench is not self.bench:
            self.put(moved(replace(self.view, said=said), self.view.history.then(bench, key)))

    def travel(self, history: UndoHistory, said: str = "") -> None:
        """Go to another place of the history."""
        if history is not self.view.history:
            self.put(moved(replace(self.view, said=said), history))

    def everywhere(self, change: Callable[[Bench], Bench]) -> None:
        """Change every bench of the history in a way that is no step of its own."""
        self.put(moved(self.view, self.view.history.change_all(change)))

    def counted(self, epoch: int, layout: Layout, groups: Groups, done: int, total: int) -> None:
        """More tokens are counted: new figures for an epoch."""
        view = replace(self.view, counting=None if done >= total else (done, total))
        if epoch == view.bench.epoch:
            view = replace(view, groups=groups)
        self.put(moved(view, view.history.relaid(epoch, layout)))
