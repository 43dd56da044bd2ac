"""An opened session, its pins, edits and policy as one frozen value: the `Bench`.

A preview drives the strategy's own generator with the estimating summarizer, so it cannot disagree with a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from workbench.base.text import are, counted
from workbench.compaction.context import Context, Layout
from workbench.compaction.edits import UNEDITED, Edits, compacting, context_after_edits
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
    from workbench.analysis.compact_instruction import CompactInstruction
    from workbench.analysis.generations import RepeatedCompaction
    from workbench.analysis.needed_items import Item, LaterUse
    from workbench.analysis.retention import Retention
    from workbench.analysis.rule_text import RuleVerdict


@dataclass(frozen=True)
class Plan:
    """Preview of a compaction: triggers, the estimated outcome, and the requests as they would be sent. The strategy
    works on `edited`, the context after the user's edits."""

    context: Context
    edited: Context
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
        """Size after the compaction: kept messages by their present figures, new ones by the meter, overhead
        unchanged."""
        return self.context.outcome_size(self.outcome)


class EpochMarks(NamedTuple):
    """Ids of the messages of an epoch that the user pinned, dropped or shortened, and of the first of the tail."""

    pins: frozenset[str]
    dropped: frozenset[str]
    shortened: frozenset[str]
    split_at: str | None


@dataclass(frozen=True)
class Bench:
    """A session on the bench. `open_bench` creates it; the functions of `steps` return changed copies."""

    session: Session
    epoch: int
    original: Context
    """Context of the epoch before pins, edits and split."""
    strategy: Strategy[Any]
    policy: Policy
    preset: str = ""
    version: str = ""
    """Version of the agent whose numbers the preset has (`Preset.version`)."""
    pins: frozenset[str] = frozenset()
    dropped: frozenset[str] = frozenset()
    shortened: frozenset[str] = frozenset()
    split_at: str | None = None
    summarizer: str = "extractive"
    watched: tuple[str, ...] = ()
    """Watched rules, each one line."""
    marks_by_epoch: Mapping[int, EpochMarks] = field(default_factory=dict, compare=False)
    """Pins, edits and split of the epochs shown before, by number."""
    scale: Scale | None = None
    """Scale of the token figures, measured by an exact count; None without one."""
    result: Run | None = None

    @cached_property
    def context(self) -> Context:
        return self.original.with_(pins=self.pins, split_at=self.split_at)

    @property
    def as_preset(self) -> Preset:
        """Present policy under the name of its preset."""
        return Preset(self.preset, self.strategy.id, "", "", self.policy, version=self.version)

    @property
    def layout(self) -> Layout:
        return self.original.layout

    @property
    def window(self) -> int | None:
        return self.original.window

    @property
    def user_window(self) -> int | None:
        """Window in tokens that the user entered, None if it comes from the session or a table."""
        limit = self.original.limit
        return limit.tokens if limit and limit.source == "given" else None

    @cached_property
    def plan(self) -> Plan:
        """Preview of a manual run under the present policy, pins, edits and split."""
        return plan(self.context, self.strategy, self.policy, self.edits)

    @property
    def is_planned(self) -> bool:
        """True if the plan is computed, so that reading it costs nothing."""
        return "plan" in self.__dict__

    @property
    def prompt_problems(self) -> tuple[str, ...]:
        """Problems of the policy's prompts and numbers, one sentence each."""
        return self.strategy.prompt_problems(self.policy)

    @property
    def export_gap(self) -> str:
        """Sentence about the messages that an export of this epoch lacks; "" for the last epoch."""
        here, *later = self.session.epochs[self.epoch - 1 :]
        after = {member for one in later for member in one.members}.difference(here.members)
        missing = f"{counted(len(after), 'message')} after epoch {self.epoch} {are(len(after))} not in a new file"
        return f"{missing}; the agent continues with epoch {later[-1].number}" if later else ""

    @cached_property
    def instruction(self) -> CompactInstruction:
        """Instruction for the agent's own compaction command, within the default limit. Reads every message."""
        from workbench.analysis.compact_instruction import compact_instruction

        return compact_instruction(self.session, self.epoch, self.context, self.watched)

    @property
    def known_instruction(self) -> CompactInstruction | None:
        """The instruction if it is computed, so that reading it costs nothing; None otherwise."""
        return self.__dict__.get("instruction")

    @property
    def edits(self) -> Edits:
        return Edits(self.dropped, self.shortened)

    @cached_property
    def offline(self) -> Run:
        """Run with the extractive summarizer. Takes seconds for a long session."""
        from workbench.summarizers.extractive import extractive

        return drive(self.compacting(), extractive)

    def compacting(self) -> Compacting:
        """Return the strategy's generator on the edited context, for a driver."""
        return compacting(self.context, self.edits, self.strategy, self.policy)

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(self.layout.messages)

    @property
    def has_offline_run(self) -> bool:
        """True if `offline` is computed; the preview is then its outcome and no estimate."""
        return "offline" in self.__dict__

    @property
    def outcome(self) -> Outcome:
        """Outcome of the last run. After any change: of the offline run if it is computed, else the plan's estimate."""
        return (self.result or (self.offline if self.has_offline_run else self.plan.run)).outcome

    def retention(self, outcome: Outcome) -> Retention:
        """Return the facts that an outcome of this context keeps. Facts that the session mentions later weigh more."""
        from workbench.analysis.recorded_compactions import following
        from workbench.analysis.retention import retention

        return retention(self.context, outcome, following(self.session, self.epoch))

    @cached_property
    def needed(self) -> tuple[Item, ...]:
        """Items that the agent used after this epoch before a message stated them again; empty for the last epoch."""
        from workbench.analysis.needed_items import needed_after

        return needed_after(self.session, self.epoch)

    def later_use(self, outcome: Outcome) -> LaterUse | None:
        """Return which of `needed` an outcome keeps; None after the last epoch, and for an unreadable summary."""
        from workbench.analysis.needed_items import later_use, project_folder

        return later_use(self.needed, outcome, project_folder(self.session))


class RuleState(Struct, frozen=True):
    """State of a watched rule: `now` in the context, `after` the compaction, and after a second one (`again`). None
    where it is not known."""

    sentence: str
    now: RuleVerdict
    after: RuleVerdict | None = None
    again: RuleVerdict | None = None


def rule_states(bench: Bench, outcome: Outcome | None, *, again: bool = False) -> tuple[RuleState, ...]:
    """Return the state of each watched rule in the bench's context and in an outcome of it. With `again`, also the
    state after a second compaction, with extractive summaries, of a context that has grown to the same size; if that
    compaction changes nothing, the state after the first. Reads every message."""
    from workbench.analysis.watched_rules import judge_context, judge_outcome, judge_remaining

    shape, context = bench.original.shape, bench.context
    now = [judge_context(one, shape, context.system_text()) for one in bench.watched]
    system = context.system_text(outcome)
    after = [judge_outcome(one, shape, outcome, system) if outcome else None for one in bench.watched]
    second = _second_compaction(bench, outcome) if outcome and again else None
    twice: list[RuleVerdict | None] = [*after] if again else [None for _ in bench.watched]
    if second:
        system = second.context.system_text(second.outcome)
        twice = [
            judge_remaining(one, shape, second.unchanged_marks, second.new_messages, system) for one in bench.watched
        ]
    return tuple(RuleState(*one) for one in zip(bench.watched, now, after, twice, strict=True))


def _second_compaction(bench: Bench, outcome: Outcome) -> RepeatedCompaction | None:
    """Return the compaction that follows `outcome`; None where `outcome` changed nothing."""
    from workbench.analysis.generations import repeat_compaction
    from workbench.analysis.recorded_compactions import following
    from workbench.summarizers.extractive import extractive

    def compact(context: Context) -> Outcome:
        if context is bench.context:
            return outcome
        return drive(compacting(context, bench.edits, bench.strategy, bench.policy), extractive).outcome

    compactions = list(repeat_compaction(bench.context, compact, following(bench.session, bench.epoch), 2))
    return compactions[1] if len(compactions) > 1 else None


def plan(context: Context, chosen: Strategy[Any], policy: Policy, edits: Edits = UNEDITED) -> Plan:
    """Plan a compaction of `context`, offline."""
    edited = context_after_edits(context, edits)
    triggers = chosen.read_triggers(edited, policy)
    run = drive(compacting(context, edits, chosen, policy), estimate)
    return Plan(context, edited, triggers, run)
