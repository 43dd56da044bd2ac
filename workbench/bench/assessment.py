"""Everything known about one outcome of a bench's context: size, cost, cache, checks, facts, rules, claims.

    assess(bench, run)        a run on the bench
    compare(bench, presets)   one run for each preset
    assess_recorded(bench)    the compaction that the agent recorded

Screen, commands, report and library read the same properties, so that a figure is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from workbench.analysis.compaction_cost import CacheLoss, SummaryUsage, cache_loss, summary_usage
from workbench.analysis.continuity import ContinuityFinding, continuity
from workbench.analysis.grounding import Grounding, run_grounding
from workbench.analysis.needed_items import LaterUse
from workbench.analysis.outcome_comparison import Ceiling, Fit, ceiling_of, fit_of, fit_words, language_note, rank
from workbench.analysis.recorded_compactions import recorded_outcome
from workbench.analysis.retention import Retention, TrackedFact, is_unreadable
from workbench.analysis.retention_report import brief_receipt, receipt
from workbench.bench import Bench, RuleState, choose_preset, rule_states
from workbench.compaction.checks import Check, check
from workbench.compaction.context import Context
from workbench.compaction.edits import context_after_edits
from workbench.compaction.outcome import Fate, Outcome
from workbench.compaction.preset import Preset
from workbench.compaction.strategies import strategy
from workbench.compaction.strategy import Trigger
from workbench.summarizers.driver import Run, drive
from workbench.summarizers.server_compaction import are_readable
from workbench.summarizers.summarizer import PureSummarizer
from workbench.tokens.cost import MILLION, Cost, Rates, rates_of
from workbench.tokens.sizes import Size

RECORDED = "recorded"
"""Name of the assessment of the compaction that the agent recorded."""


@dataclass(frozen=True, eq=False)
class Assessment:
    """One outcome of the bench's context. Each property is computed on first use and cached.

    `preset` holds the policy of the run; it is None for the agent's recorded compaction, whose `run` has no requests,
    because no agent records them. `retention`, `later_use`, `watched`, `grounding` and `checks` read every message:
    compute them off the event loop (`compute`). Raises BadInput for a broken price table.
    """

    bench: Bench
    run: Run
    preset: Preset | None = None
    billed: Cost | None = None
    """Billed for the run; None if no model was asked, or no usage was reported."""

    @property
    def outcome(self) -> Outcome:
        return self.run.outcome

    @property
    def name(self) -> str:
        """Id of the preset, or of the strategy where it has none; `recorded` for the agent's own compaction."""
        return RECORDED if self.preset is None else self.preset.name

    @property
    def strategy(self) -> str:
        """Id of the strategy; "" for the agent's own compaction."""
        return "" if self.preset is None else self.preset.strategy

    @property
    def context(self) -> Context:
        return self.bench.context

    # --- size -------------------------------------------------------------------------------------------------------

    @property
    def before(self) -> Size:
        """Size of the complete context, system prompt and tools included."""
        return self.context.total

    @cached_property
    def after(self) -> Size:
        """Size of the complete context after the compaction."""
        return self.context.outcome_size(self.outcome)

    @cached_property
    def head(self) -> Size:
        """Size of the messages that were replaced."""
        return _size_of(self.context, self.outcome, Fate.SUMMARIZED, Fate.ABRIDGED, Fate.DROPPED)

    @cached_property
    def tail(self) -> Size:
        """Size that the kept and shortened messages had before."""
        return _size_of(self.context, self.outcome, Fate.KEPT, Fate.COMPRESSED, Fate.PINNED)

    @property
    def saved(self) -> int:
        """Tokens by which the context shrank; negative when it grew."""
        return self.before.tokens - self.after.tokens

    @cached_property
    def ceiling(self) -> Ceiling | None:
        return ceiling_of(self.bench.session, self.context)

    @cached_property
    def fit(self) -> Fit:
        tokens = self.before.tokens, self.after.tokens
        return fit_of(self.outcome.status, *tokens, self.failed, self.ceiling)

    @property
    def fit_words(self) -> str:
        return fit_words(self.fit, self.before.tokens, self.after.tokens, self.failed, self.ceiling)

    @cached_property
    def language_note(self) -> str:
        """Note that the summary is in another language than the session; "" if it is not."""
        policy = self.preset.policy if self.preset and self.outcome.summarizes else None
        return language_note(getattr(policy, "language", None), self.context)

    # --- triggers and checks ----------------------------------------------------------------------------------------

    @cached_property
    def triggers(self) -> tuple[Trigger, ...]:
        """Triggers of the policy on the context before; empty for the agent's own compaction."""
        if self.preset is None:
            return ()
        return strategy(self.preset.strategy).read_triggers(
            context_after_edits(self.context, self.bench.edits), self.preset.policy
        )

    @property
    def fired(self) -> bool:
        """True if the policy would have compacted this context by itself."""
        return any(trigger.fires for trigger in self.triggers)

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """Checks of the outcome; empty for the agent's own compaction."""
        if self.preset is None:
            return ()
        return check(self.context, self.outcome, strategy(self.preset.strategy), self.preset.policy)

    @property
    def failed(self) -> tuple[Check, ...]:
        """Failed checks, required or not."""
        return tuple(check for check in self.checks if not check.passed)

    # --- cost -------------------------------------------------------------------------------------------------------

    @cached_property
    def rates(self) -> Rates:
        """Prices of the session's model; costs are in its unit."""
        return rates_of(self.context.model)

    @cached_property
    def fresh(self) -> int:
        """Tokens that no cache holds: the model's last answer and what follows it."""
        messages = self.context.messages
        answers = (i for i in reversed(range(len(messages))) if messages[i].role == "assistant")
        last = next((i for i in answers if messages[i].kind == "normal"), None)
        return self.before.tokens if last is None else self.context.size(last, len(messages)).tokens

    @cached_property
    def spent(self) -> SummaryUsage | None:
        """Estimated tokens of the summarizer's calls; None if they are not recorded."""
        return None if self.preset is None else summary_usage(self.context, self.run, self.fresh)

    @property
    def calls(self) -> int | None:
        """Number of calls to the summarizer; None if they are not recorded."""
        return None if self.spent is None else self.spent.calls

    @property
    def summary_cost(self) -> float | None:
        """Cost of the summarizer's calls, in the rates' unit; None if they are not recorded."""
        return None if self.spent is None else self.spent.cost(self.rates)

    @property
    def summary_price(self) -> str:
        """`summary_cost` in words; "" for 0 and for None."""
        return self.rates.words(self.summary_cost) if self.summary_cost else ""

    @cached_property
    def cache(self) -> CacheLoss:
        return cache_loss(self.context, self.outcome)

    @property
    def cache_cost(self) -> float:
        """Extra cost of the next prompt, whose cache is lost, in the rates' unit."""
        return self.cache.extra(self.fresh, self.rates) / MILLION

    @property
    def pays_off_after(self) -> int | None:
        """Calls until the savings exceed the costs, including the summaries' where known; None for never."""
        return self.cache.pays_off_after(self.fresh, self.rates, (self.summary_cost or 0.0) * MILLION)

    # --- what is kept -----------------------------------------------------------------------------------------------

    @cached_property
    def retention(self) -> Retention:
        """Facts of the context, and which of them the outcome keeps."""
        return self.bench.retention(self.outcome)

    @cached_property
    def continuity(self) -> tuple[ContinuityFinding, ...]:
        """Breaks between the user's newest request and what the outcome says is to be done."""
        return continuity(self.context.shape, self.outcome, self.retention)

    @property
    def is_unreadable(self) -> bool:
        """True if the outcome has no readable summary: none, or an encrypted one."""
        return is_unreadable(self.outcome)

    @cached_property
    def lost(self) -> tuple[TrackedFact, ...] | None:
        """Lost facts of the head, the gravest first; None where nothing was replaced or the summary is unreadable."""
        found = self.retention
        known = found.head and not found.overall.unknown and are_readable(self.run.answers)
        return found.lost if known else None

    @cached_property
    def later_use(self) -> LaterUse | None:
        """Items that the session used later, and which of them the outcome keeps; None if it is not known."""
        return self.bench.later_use(self.outcome)

    @cached_property
    def watched(self) -> tuple[RuleState, ...]:
        """State of each watched rule, before and after."""
        return rule_states(self.bench, self.outcome)

    @cached_property
    def grounding(self) -> Grounding | None:
        """Claims of the summaries, checked against the messages they replace; None without a readable summary."""
        return run_grounding(self.run) if are_readable(self.run.answers) else None

    # --- all of it --------------------------------------------------------------------------------------------------

    @property
    def rank(self) -> tuple[float, ...]:
        """Sort key, the best first: fits below the trigger, then share of facts kept, then cost."""
        return rank(self.fit, self.retention.whole.share, self.summary_cost, foreign=bool(self.language_note))

    @property
    def receipt(self) -> tuple[str, ...]:
        """Rules and facts kept, cost of the summary, and when it is paid back, in words."""
        found = self.retention
        return receipt(found.rule_counts, found.whole, self.summary_price, self.pays_off_after)

    @property
    def brief_receipt(self) -> tuple[str, ...]:
        """The same in fewer words."""
        found = self.retention
        return brief_receipt(found.rule_counts, found.whole, self.summary_price, self.pays_off_after)


FIGURES = ("fit", "language_note", "triggers", "head", "tail", "spent", "cache", "rates")
"""Properties that need no search for facts."""


def compute(one: Assessment, *properties: str) -> Assessment:
    """Compute these properties and return the assessment."""
    for name in properties:
        getattr(one, name)
    return one


def assess(bench: Bench, run: Run) -> Assessment:
    """Assess a run of the bench under its own policy."""
    return Assessment(bench, run, bench.as_preset)


def assess_recorded(bench: Bench) -> Assessment | None:
    """Assess the compaction that the agent recorded at the end of the bench's epoch; None without one."""
    try:
        outcome = recorded_outcome(bench.session, bench.epoch)
    except KeyError:
        return None
    return Assessment(bench, Run(outcome, (), (), (), 0.0))


def compare(bench: Bench, presets: Iterable[Preset], answer: PureSummarizer) -> Iterator[Assessment]:
    """Run each preset on the bench's context, its summaries written by `answer`, and assess it.

    The bench's pins and edits hold in every run, and its split where the strategy has one.
    """
    for preset in presets:
        there = choose_preset(bench, preset)
        yield Assessment(bench, drive(there.compacting(), answer), there.as_preset)


def _size_of(context: Context, outcome: Outcome, *fates: Fate) -> Size:
    parts = [context.size(span.start, span.stop) for span in outcome.fates if span.fate in fates]
    basis = context.total.basis if not parts else parts[0].basis
    return Size(sum(p.messages for p in parts), sum(p.chars for p in parts), sum(p.tokens for p in parts), basis)
