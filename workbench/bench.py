"""The open workbench as one frozen value, and the pure steps from one to the next.

Every step returns a new `Bench`; undo is the list of the old ones. A preview drives the strategy's own generator
with the estimating summarizer, so it cannot disagree with a run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from workbench.analysis.why.refusals import epoch_named
from workbench.base.errors import BadInput
from workbench.base.text import are
from workbench.base.text import counted as several
from workbench.compaction.context import Context
from workbench.compaction.edits import SHORT_CHARS, UNEDITED, Edits, compacting, given, shortened_message
from workbench.compaction.keeping import with_pairs
from workbench.compaction.layout import Layout
from workbench.compaction.of_tool import of_its_time, tools_preset
from workbench.compaction.opening import context_at, recounted
from workbench.compaction.outcome import Outcome
from workbench.compaction.policy import Policy
from workbench.compaction.preset import Preset, load_preset
from workbench.compaction.strategies import strategy
from workbench.compaction.strategy import Compacting, Strategy, SummaryRequest, Trigger
from workbench.session import EpochChoice, Message, Session
from workbench.summarizers.driver import Run, drive
from workbench.summarizers.estimate import estimate
from workbench.tokens import Counter, Scale, rescaled, scales
from workbench.tokens.sizes import Size
from workbench.tokens.window import Window, still, window_of

if TYPE_CHECKING:
    from workbench.analysis.generations import Turn
    from workbench.analysis.later_use import LaterUse
    from workbench.analysis.needed import Item
    from workbench.analysis.retention import Retention
    from workbench.analysis.watched import Verdict


@dataclass(frozen=True)
class Plan:
    """What a compaction would do, without a model: triggers, the estimated outcome, the requests as they would be
    sent. `given` is what the strategy works on: `context`, or what edits by hand leave of it."""

    context: Context
    given: Context
    triggers: tuple[Trigger, ...]
    run: Run

    @property
    def outcome(self) -> Outcome:
        return self.run.outcome

    @property
    def requests(self) -> tuple[SummaryRequest, ...]:
        return self.run.requests

    @property
    def fires(self) -> bool:
        return any(trigger.fires for trigger in self.triggers)

    @property
    def before(self) -> Size:
        return self.context.total

    @cached_property
    def after(self) -> Size:
        """The size afterwards: kept messages by the figures they have now, new ones by the meter, overhead
        unchanged."""
        return self.context.outcome_size(self.outcome)


class Marks(NamedTuple):
    """What the user did to the messages of an epoch, by their ids."""

    pins: frozenset[str]
    dropped: frozenset[str]
    shortened: frozenset[str]
    split_at: str | None


@dataclass(frozen=True)
class Bench:
    """A session on the bench. Made by `open_bench`, changed only by the functions of this module."""

    session: Session
    epoch: int
    opened: Context
    """The epoch's context before anything is done to it."""
    strategy: Strategy[Any]
    policy: Policy
    preset: str = ""
    version: str = ""
    """The version of the product that the preset stands for, as `Preset.version` has it."""
    pins: frozenset[str] = frozenset()
    dropped: frozenset[str] = frozenset()
    shortened: frozenset[str] = frozenset()
    split_at: str | None = None
    summarizer: str = "extractive"
    watched: tuple[str, ...] = ()
    """Sentences of which it is told how they stand, each on one line."""
    left: Mapping[int, Marks] = field(default_factory=dict, compare=False)
    """What was pinned, edited and split in the epochs that were left, by number."""
    scale: Scale | None = None
    """What an exact count taught of the session's token figures; None while none was made."""
    result: Run | None = None

    @cached_property
    def context(self) -> Context:
        return self.opened.with_(pins=self.pins, split_at=self.split_at)

    @property
    def chosen(self) -> Preset:
        """The policy as it stands, under the name of its preset."""
        return Preset(self.preset, self.strategy.id, "", "", self.policy, version=self.version)

    @property
    def layout(self) -> Layout:
        return self.opened.layout

    @property
    def window(self) -> int | None:
        return self.opened.window

    @property
    def given_window(self) -> int | None:
        """The window in tokens where the person has said it, so that it goes with them to another reading."""
        limit = self.opened.limit
        return limit.tokens if limit and limit.source == "given" else None

    @cached_property
    def plan(self) -> Plan:
        """The preview of a manual run under the present policy, pins, edits and split."""
        return plan(self.context, self.strategy, self.policy, self.edits)

    @property
    def is_planned(self) -> bool:
        """Whether the plan has been made, so that reading it costs nothing."""
        return "plan" in self.__dict__

    @property
    def doubts(self) -> tuple[str, ...]:
        """What is doubtful about the policy's prompts and numbers, one sentence each."""
        return self.strategy.doubts(self.policy)

    @property
    def left_behind(self) -> str:
        """What a file made of this epoch lacks; "" of the newest, which the agent continues with."""
        here, *later = self.session.epochs[self.epoch - 1 :]
        after = {member for one in later for member in one.members}.difference(here.members)
        lacks = f"{several(len(after), 'message')} after epoch {self.epoch} {are(len(after))} not in a new file"
        return f"{lacks}; the agent continues with epoch {later[-1].number}" if later else ""

    @property
    def edits(self) -> Edits:
        return Edits(self.dropped, self.shortened)

    @cached_property
    def offline(self) -> Run:
        """What a run with the extractive summarizer would give: seconds for a long session, made when asked for."""
        from workbench.summarizers.extractive import extractive

        return drive(self.compacting(), extractive)

    def compacting(self) -> Compacting:
        """What a run drives: the strategy on what the edits leave."""
        return compacting(self.context, self.edits, self.strategy, self.policy)

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(self.layout.messages)

    @property
    def is_tried(self) -> bool:
        """Whether the offline run has been made, so that the preview is what it gives and no estimate."""
        return "offline" in self.__dict__

    @property
    def outcome(self) -> Outcome:
        """The last run's outcome, while nothing has changed since; else what a run offline gives, and until that is
        made the plan's estimate."""
        return (self.result or (self.offline if self.is_tried else self.plan.run)).outcome

    def held(self, outcome: Outcome) -> Retention:
        """What an outcome of this context still holds of its head; what the session says later weighs more."""
        from workbench.analysis.recorded import following
        from workbench.analysis.retention import retention

        return retention(self.context, outcome, following(self.session, self.epoch))

    @cached_property
    def needed(self) -> tuple[Item, ...]:
        """What the session really needed again after this epoch and was not told again; nothing after the newest."""
        from workbench.analysis.later_use import needed_after

        return needed_after(self.session, self.epoch)

    def later_use(self, outcome: Outcome) -> LaterUse | None:
        """What of that an outcome holds; None where the file does not go on, and where its summary cannot be read."""
        from workbench.analysis.later_use import folder_of, later_use

        return later_use(self.needed, outcome, folder_of(self.session))


class Stand(Struct, frozen=True):
    """How a watched sentence stands: `now` in the context, `after` it is compacted, and when that is compacted `again`,
    None where that is not known."""

    sentence: str
    now: Verdict
    after: Verdict | None = None
    again: Verdict | None = None


def stands(bench: Bench, outcome: Outcome | None, *, again: bool = False) -> tuple[Stand, ...]:
    """How each watched sentence stands in the bench's context, in an outcome of it and, if asked for, when the context
    has grown as large again and is compacted once more, with extractive summaries; where that changes nothing, as after
    the outcome. Reads every message."""
    from workbench.analysis.watched import judge_context, judge_left, judge_outcome

    shape, context = bench.opened.shape, bench.context
    now = [judge_context(one, shape, context.beside()) for one in bench.watched]
    beside = context.beside(outcome)
    after = [judge_outcome(one, shape, outcome, beside) if outcome else None for one in bench.watched]
    second = _once_more(bench, outcome) if outcome and again else None
    twice: list[Verdict | None] = [*after] if again else [None for _ in bench.watched]
    if second:
        beside = second.context.beside(second.outcome)
        twice = [judge_left(one, shape, second.stays, second.made, beside) for one in bench.watched]
    return tuple(Stand(*one) for one in zip(bench.watched, now, after, twice, strict=True))


def _once_more(bench: Bench, outcome: Outcome) -> Turn | None:
    """The compaction after `outcome`; None where that changed nothing."""

    from workbench.analysis.generations import turns
    from workbench.analysis.recorded import following
    from workbench.summarizers.extractive import extractive

    def compact(context: Context) -> Outcome:
        if context is bench.context:
            return outcome
        return drive(compacting(context, bench.edits, bench.strategy, bench.policy), extractive).outcome

    made = list(turns(bench.context, compact, following(bench.session, bench.epoch), 2))
    return made[1] if len(made) > 1 else None


def plan(context: Context, chosen: Strategy[Any], policy: Policy, edits: Edits = UNEDITED) -> Plan:
    """Plan a compaction of `context` without a model and without a network."""
    left = given(context, edits)
    triggers = chosen.triggered(left, policy)
    run = drive(compacting(context, edits, chosen, policy), estimate)
    return Plan(context, left, triggers, run)


USUAL = "augment-example"
"""The preset for a session whose tool has none of its own."""


def open_bench(
    session: Session,
    counter: Counter,
    *,
    epoch: EpochChoice = None,
    preset: str | None = None,
    window: int | None = None,
) -> Bench:
    """Put an epoch of a session on the bench, as `epoch_named` finds it, under the preset of its own agent.

    Raises BadInput for an epoch or a preset that does not exist."""
    chosen = of_its_time(load_preset(preset or tools_preset(session) or USUAL), session)
    number = epoch_named(session, epoch)
    opened = context_at(session, number, counter, window=window)
    return Bench(session, number, opened, strategy(chosen.strategy), chosen.policy, chosen.id, chosen.version)


def counted(bench: Bench, counter: Counter) -> Bench:
    """The same bench with figures from what `counter` has counted by now; a result stays."""
    return replace(bench, opened=recounted(bench.opened, bench.session, bench.epoch, counter, bench.scale))


def recalibrated(bench: Bench, scale: Scale) -> Bench:
    """The same bench with figures by a scale that an exact count taught; a result stays."""
    return replace(relaid(bench, Layout(bench.layout.shape, rescaled(bench.layout.sizes, scale))), scale=scale)


def uncalibrated(bench: Bench, counter: Counter) -> Bench:
    """The same bench without what exact counts taught: by the session's own bills; a result stays."""
    return counted(replace(bench, scale=None), counter)


def with_kept_scale(bench: Bench) -> Bench:
    """The same bench with figures by what an exact count has taught of its session before, if one was made."""
    scale = scales.recall(bench.session)
    return recalibrated(bench, scale) if scale else bench


def relaid(bench: Bench, layout: Layout) -> Bench:
    """The same bench with the figures of another layout of its messages; a result stays."""
    return replace(bench, opened=bench.opened.with_(layout=layout))


def at_epoch(bench: Bench, epoch: int, counter: Counter) -> Bench:
    """Another epoch of the same session, with its pins, edits and split as they were left; at first with the pins and
    edits of the present one whose messages it holds."""
    found = context_at(bench.session, epoch, counter, scale=bench.scale)
    opened = found.with_(limit=still(bench.opened.limit, found.limit))
    left = {**bench.left, bench.epoch: Marks(bench.pins, bench.dropped, bench.shortened, bench.split_at)}
    pins, dropped, shortened = (
        ids.intersection(opened.shape.index_of) for ids in (bench.pins, bench.dropped, bench.shortened)
    )
    marks = left.get(epoch, Marks(pins, dropped, shortened, None))
    split = marks.split_at if bench.strategy.movable else None
    there = replace(bench, epoch=epoch, opened=opened, left=left, result=None, **marks._asdict())
    return replace(there, split_at=split)


def toggle_pin(bench: Bench, id: str) -> Bench:
    """Pin a message, or let it go. Its tool call or result goes with it in the plan, not in the set of pins."""
    _index(bench, id)
    return replace(bench, pins=bench.pins ^ {id}, result=None)


def with_pins(bench: Bench, pins: frozenset[str]) -> Bench:
    """Return the bench with exactly these messages pinned, by id."""
    return replace(bench, pins=pins, result=None)


def toggle_dropped(bench: Bench, ids: Collection[str]) -> Bench:
    """Drop messages from the plan, or let them stay when all of them are dropped already; their pairs follow.

    Pins win: what is pinned stays all the same. Raises BadInput for the session's own system message.
    """
    layout, indexes = bench.layout, _editable(bench, ids)
    whole = {layout.messages[i].id for i in with_pairs(layout.shape, indexes)}
    gone = {
        layout.messages[i].id for i in with_pairs(layout.shape, [layout.shape.index_of[id] for id in bench.dropped])
    }
    dropped = bench.dropped - whole if whole <= gone else bench.dropped | frozenset(ids)
    return replace(bench, dropped=dropped, shortened=bench.shortened - whole, result=None)


def toggle_shortened(bench: Bench, ids: Collection[str]) -> Bench:
    """Shorten messages in the plan, or let them be when all of them are short already; a dropped one comes back.

    Of several, those that have nothing to shorten are left out. Raises BadInput when none has, and for the session's
    own system message.
    """
    layout, indexes = bench.layout, _editable(bench, ids)
    long = {m.id for i in indexes if shortened_message(m := layout.messages[i]) is not m}
    if not long:
        what = "this message" if len(indexes) == 1 else f"these {len(indexes)} messages"
        raise BadInput(f"Nothing to shorten: no text in {what} is longer than {SHORT_CHARS} characters.")
    whole = {layout.messages[i].id for i in with_pairs(layout.shape, indexes)}
    shortened = bench.shortened - long if long <= bench.shortened else bench.shortened | long
    return replace(bench, shortened=shortened, dropped=bench.dropped - whole, result=None)


def _editable(bench: Bench, ids: Collection[str]) -> list[int]:
    """The indexes of messages that may be edited; of several, the session's own system messages are left out."""
    indexes = [_index(bench, id) for id in ids]
    found = [i for i in indexes if not bench.layout.messages[i].is_own_system]
    if not found:
        raise BadInput("This is the session's system message: every compaction keeps it.")
    return found


def split_at(bench: Bench, id: str | None) -> Bench:
    """Set the first message of the tail by hand, or return to the strategy's own split with None."""
    if id is not None:
        _index(bench, id)
        if not bench.strategy.movable:
            raise BadInput(f"{bench.strategy.title} has no adjustable split.")
    return replace(bench, split_at=id, result=None)


def move_split(bench: Bench, by: int) -> Bench:
    """Move the split by `by` of the strategy's units (negative: towards the beginning), clamped to the context."""
    starts = bench.context.unit_starts(bench.strategy.unit)
    here = bench.plan.outcome.split
    position = sum(1 for start in starts if start < here) + by
    position = max(1, min(position, len(starts) - 1))
    return split_at(bench, bench.layout.messages[starts[position]].id) if len(starts) > 1 else bench


def set_policy(bench: Bench, policy: Policy) -> Bench:
    return replace(bench, policy=policy, result=None)


def choose_preset(bench: Bench, preset: Preset) -> Bench:
    """Another strategy with its numbers, those of the session's own tool as of the version that wrote the session; a
    split set by hand stays where the strategy has one."""
    preset = of_its_time(preset, bench.session)
    chosen = strategy(preset.strategy)
    keep_split = bench.split_at if chosen.movable else None
    there = replace(bench, strategy=chosen, policy=preset.policy, preset=preset.id, version=preset.version)
    return replace(there, split_at=keep_split, result=None)


def with_window(bench: Bench, given: int | None) -> Bench:
    """The bench with the window that the person says; None for what session or table say. Raises BadInput for a broken
    table."""
    return with_limit(bench, window_of(bench.session, bench.epoch, given))


def with_limit(bench: Bench, limit: Window | None) -> Bench:
    return replace(bench, opened=bench.opened.with_(limit=limit), result=None)


def summarized_by(bench: Bench, name: str) -> Bench:
    """Who is to write the summaries of this session, by the name of `workbench.summarizers.named`; nothing changes."""
    return replace(bench, summarizer=name)


def watching(bench: Bench, sentences: Iterable[str]) -> Bench:
    """The bench with these sentences watched, each once; a result stays. Raises BadInput for one that cannot be."""
    if not sentences:
        return replace(bench, watched=())
    from workbench.analysis.watched import sentence_to_watch

    meant = (sentence_to_watch(one, bench.session.messages) for one in sentences)
    return replace(bench, watched=tuple(dict.fromkeys(meant)))


def committed(bench: Bench, run: Run) -> Bench:
    """The bench after a run: its outcome stands until something is changed or undone."""
    return replace(bench, result=run)


def _index(bench: Bench, id: str) -> int:
    try:
        return bench.layout.shape.index_of[id]
    except KeyError:
        raise BadInput(f"There is no message {id!r} in epoch {bench.epoch}; `cwb inspect` lists the ids.") from None
