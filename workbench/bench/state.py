"""The open workbench as one frozen value, and the pure steps from one to the next.

Every step returns a new `Bench`; undo is the list of the old ones. A preview drives the strategy's own generator
with the estimating summarizer, so it cannot disagree with a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from workbench.base.text import are
from workbench.base.text import counted as several
from workbench.compaction.context import Context
from workbench.compaction.edits import UNEDITED, Edits, compacting, context_after_edits
from workbench.compaction.layout import Layout
from workbench.compaction.outcome import Outcome
from workbench.compaction.policy import Policy
from workbench.compaction.preset import Preset
from workbench.compaction.strategy import Compacting, Strategy, Trigger
from workbench.compaction.summary_request import SummaryRequest
from workbench.session import Message, Session
from workbench.summarizers.driver import Run, drive
from workbench.summarizers.estimate import estimate
from workbench.tokens import Scale
from workbench.tokens.sizes import Size

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


class EpochMarks(NamedTuple):
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
    left: Mapping[int, EpochMarks] = field(default_factory=dict, compare=False)
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
        return self.strategy.prompt_problems(self.policy)

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


class RuleState(Struct, frozen=True):
    """How a watched sentence stands: `now` in the context, `after` it is compacted, and when that is compacted `again`,
    None where that is not known."""

    sentence: str
    now: Verdict
    after: Verdict | None = None
    again: Verdict | None = None


def rule_states(bench: Bench, outcome: Outcome | None, *, again: bool = False) -> tuple[RuleState, ...]:
    """How each watched sentence stands in the bench's context, in an outcome of it and, if asked for, when the context
    has grown as large again and is compacted once more, with extractive summaries; where that changes nothing, as after
    the outcome. Reads every message."""
    from workbench.analysis.watched import judge_context, judge_left, judge_outcome

    shape, context = bench.opened.shape, bench.context
    now = [judge_context(one, shape, context.beside()) for one in bench.watched]
    beside = context.beside(outcome)
    after = [judge_outcome(one, shape, outcome, beside) if outcome else None for one in bench.watched]
    second = _second_compaction(bench, outcome) if outcome and again else None
    twice: list[Verdict | None] = [*after] if again else [None for _ in bench.watched]
    if second:
        beside = second.context.beside(second.outcome)
        twice = [judge_left(one, shape, second.stays, second.made, beside) for one in bench.watched]
    return tuple(RuleState(*one) for one in zip(bench.watched, now, after, twice, strict=True))


def _second_compaction(bench: Bench, outcome: Outcome) -> Turn | None:
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
    left = context_after_edits(context, edits)
    triggers = chosen.read_triggers(left, policy)
    run = drive(compacting(context, edits, chosen, policy), estimate)
    return Plan(context, left, triggers, run)
