"""Many ways to compact the same context, side by side."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from workbench.analysis.cache import CacheLoss, Rates, cache_loss, rates_of
from workbench.analysis.recorded import recorded_outcome
from workbench.analysis.spent import Spent, spent
from workbench.base.figures import grouped
from workbench.compaction.checks import UNDER_THE_THRESHOLD, Check, check
from workbench.compaction.context import Context
from workbench.compaction.edits import UNEDITED, Edits, compacting, given
from workbench.compaction.of_tool import of_its_time, tools_preset
from workbench.compaction.outcome import Fate, Outcome
from workbench.compaction.preset import Preset, default_preset, load_preset
from workbench.compaction.strategies import all_strategies, strategy
from workbench.compaction.strategy import Trigger
from workbench.session import Session
from workbench.summarizers.driver import Run, drive
from workbench.summarizers.summarizer import Answerer
from workbench.tokens.cost import MILLION
from workbench.tokens.sizes import Size

THEIRS = "recorded"
"""The name of the column for what the agent's own compaction made of the context."""


@dataclass(frozen=True)
class Column:
    """What one preset makes of a context; `preset` None: what the agent itself made of it, as the session records.

    `before` and `after` are the whole context, what is sent beside the messages included; `head` and `tail` the input's
    messages by their fate: what gave way and what stays. `spent` is what the summaries take, about, None where it is
    not recorded; `cache` what the prompt cache loses, `fresh` the tokens that were not cached yet, and `rates` the
    prices of the session's model, in whose unit costs are. `checks` are empty for the agent's own. `seconds` is how
    long it took.
    """

    preset: Preset | None
    triggers: tuple[Trigger, ...]
    before: Size
    head: Size
    tail: Size
    after: Size
    spent: Spent | None
    cache: CacheLoss
    fresh: int
    rates: Rates
    outcome: Outcome
    checks: tuple[Check, ...]
    seconds: float

    @property
    def name(self) -> str:
        """The preset's id, the strategy's where it has none, `recorded` for the agent's own."""
        return THEIRS if self.preset is None else self.preset.name

    @property
    def strategy(self) -> str:
        """The strategy's id, "" for the agent's own."""
        return "" if self.preset is None else self.preset.strategy

    @property
    def calls(self) -> int | None:
        """How often a model is asked; None where it is not recorded."""
        return None if self.spent is None else self.spent.calls

    @property
    def summary_cost(self) -> float | None:
        """What the summarizer's calls cost, in the rates' unit; None where they are not recorded."""
        return None if self.spent is None else self.spent.cost(self.rates)

    @property
    def cache_cost(self) -> float:
        """What the next prompt costs more, for the cache that is lost, in the rates' unit."""
        return self.cache.extra(self.fresh, self.rates) / MILLION

    @property
    def pays_off_after(self) -> int | None:
        """After how many calls it has paid for itself, the summaries included where they are known; None for never."""
        return self.cache.pays_off_after(self.fresh, self.rates, (self.summary_cost or 0.0) * MILLION)

    @property
    def fired(self) -> bool:
        """Whether the policy would have compacted this context by itself."""
        return any(trigger.fires for trigger in self.triggers)

    @property
    def saved(self) -> int:
        """Tokens that the outcome is smaller by; negative when it is larger."""
        return self.before.tokens - self.after.tokens

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed, hard or not."""
        return tuple(check for check in self.checks if not check.passed)


Fit = Literal["fits", "too large", "unchanged"]
"""`fits`: compacted and below every limit that holds for it; `unchanged`: nothing was compacted."""

_FITS: tuple[Fit, ...] = get_args(Fit)


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The tokens at which a context has to be compacted, and in words what says so."""

    tokens: int
    source: str


def ceiling_of(session: Session, context: Context) -> Ceiling | None:
    """The lowest trigger in tokens of the session's own agent on this context, else the context window; None where
    neither is known."""
    if id := tools_preset(session):
        preset = of_its_time(load_preset(id), session)
        triggers = strategy(preset.strategy).triggered(context.with_(manual=False), preset.policy)
        limits = [one.limit for one in triggers if one.unit == "tokens" and one.limit > 0]
        if limits:
            return Ceiling(int(min(limits)), f"trigger of {preset.id}")
    return Ceiling(context.window, "context window") if context.window else None


def fit_of(column: Column, ceiling: Ceiling | None) -> Fit:
    """Return "unchanged" for an outcome that compacted nothing, "fits" for one that is smaller than before, below the
    ceiling and its own policy's triggers, and fails no hard check; else "too large"."""
    if column.outcome.status == "unchanged":
        return "unchanged"
    over = ceiling is not None and column.after.tokens >= ceiling.tokens
    failed = any(check.hard or check.name == UNDER_THE_THRESHOLD for check in column.failed)
    return "too large" if over or failed or column.saved <= 0 else "fits"


def rank(fit: Fit, kept_share: float | None, cost: float | None) -> tuple[int, float, float]:
    """The key by which outcomes over one context are ordered, the best first: what fits, by the share of facts that is
    kept and then by cost; then what is too large, then what is unchanged. An unknown cost counts as the highest."""
    return _FITS.index(fit), -(kept_share or 0.0), float("inf") if cost is None else cost


def fit_words(column: Column, fit: Fit, ceiling: Ceiling | None) -> str:
    """The verdict with its figures."""
    if fit != "too large":
        return fit
    if ceiling is not None and column.after.tokens >= ceiling.tokens:
        return f"{grouped(column.after.tokens)} tokens, to be below {grouped(ceiling.tokens)} ({ceiling.source})"
    if column.saved <= 0:
        return f"not smaller: {grouped(column.after.tokens)} of {grouped(column.before.tokens)} tokens"
    failed = [check for check in column.failed if check.hard or check.name == UNDER_THE_THRESHOLD]
    return "; ".join(f"{check.name} failed" for check in failed)


def candidates(strategies: Iterable[str] = (), presets: Iterable[str] = ()) -> tuple[Preset, ...]:
    """The presets named, then the own preset of each strategy named; every strategy's own where nothing is.

    Raises BadInput for a name that does not exist.
    """
    found = [load_preset(name) for name in presets] + [default_preset(name) for name in strategies]
    return tuple(found or (default_preset(one.id) for one in all_strategies()))


def compare(context: Context, chosen: Iterable[Preset], answer: Answerer, edits: Edits = UNEDITED) -> Iterator[Column]:
    """One column for each preset, as it is done: a manual run, its summaries written by `answer`.

    The context's pins hold in all of them, and so do edits by hand; its split by hand where the strategy has one.
    """
    by_hand = context.split_at
    for preset in chosen:
        one = strategy(preset.strategy)
        context = context.with_(split_at=by_hand if one.movable else None)
        began = time.perf_counter()
        run = drive(compacting(context, edits, one, preset.policy), answer)
        yield column_of(context, preset, run, edits, time.perf_counter() - began)


def column_of(context: Context, preset: Preset, run: Run, edits: Edits = UNEDITED, seconds: float = 0.0) -> Column:
    """The column of a run that was made: of a preset on the context under the edits, in so many seconds."""
    one = strategy(preset.strategy)
    triggers = one.triggered(given(context, edits), preset.policy)
    checks = check(context, run.outcome, one, preset.policy)
    return _column(context, run.outcome, preset, triggers, spent(context, run, _fresh(context)), checks, seconds)


def theirs(session: Session, epoch: int, context: Context) -> Column | None:
    """The compaction that the agent recorded at the end of an epoch, `context` being that epoch's; None without one."""
    try:
        outcome = recorded_outcome(session, epoch)
    except KeyError:
        return None
    return _column(context, outcome, None, (), None, (), 0.0)


def _column(
    context: Context,
    outcome: Outcome,
    preset: Preset | None,
    triggers: tuple[Trigger, ...],
    summaries: Spent | None,
    checks: tuple[Check, ...],
    seconds: float,
) -> Column:
    return Column(
        preset,
        triggers,
        context.total,
        _by_fate(context, outcome, Fate.SUMMARIZED, Fate.ABRIDGED, Fate.DROPPED),
        _by_fate(context, outcome, Fate.KEPT, Fate.COMPRESSED, Fate.PINNED),
        context.outcome_size(outcome),
        summaries,
        cache_loss(context, outcome),
        _fresh(context),
        rates_of(context.model),
        outcome,
        checks,
        seconds,
    )


def _fresh(context: Context) -> int:
    """Tokens that came after the last prompt: the model's last answer and what follows it."""
    messages = context.messages
    answers = (i for i in reversed(range(len(messages))) if messages[i].role == "assistant")
    last = next((i for i in answers if messages[i].kind == "normal"), None)
    return context.total.tokens if last is None else context.size(last, len(messages)).tokens


def _by_fate(context: Context, outcome: Outcome, *fates: Fate) -> Size:
    parts = [context.size(span.start, span.stop) for span in outcome.fates if span.fate in fates]
    basis = context.total.basis if not parts else parts[0].basis
    return Size(sum(p.messages for p in parts), sum(p.chars for p in parts), sum(p.tokens for p in parts), basis)
