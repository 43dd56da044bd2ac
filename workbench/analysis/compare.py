"""Many ways to compact the same context, side by side."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from workbench.compaction.checks import Check, check
from workbench.compaction.context import Context
from workbench.compaction.edits import UNEDITED, Edits, compacting, given
from workbench.compaction.outcome import Fate, Outcome
from workbench.compaction.preset import Preset, default_preset, load_preset
from workbench.compaction.strategies import STRATEGIES, strategy
from workbench.compaction.strategy import Trigger
from workbench.summarizers.driver import drive
from workbench.summarizers.summarizer import Answerer
from workbench.tokens.sizes import Size


@dataclass(frozen=True)
class Column:
    """What one preset makes of a context. `head` and `tail` are sizes of the input's messages by their fate."""

    preset: Preset
    triggers: tuple[Trigger, ...]
    before: Size
    head: Size
    tail: Size
    after: Size
    calls: int
    outcome: Outcome
    checks: tuple[Check, ...]
    seconds: float

    @property
    def name(self) -> str:
        return self.preset.id or self.preset.strategy

    @property
    def fired(self) -> bool:
        return any(trigger.fires for trigger in self.triggers)

    @property
    def saved(self) -> int:
        """Tokens that the outcome is smaller by; negative when it is larger."""
        return self.before.tokens - self.after.tokens

    @property
    def failed(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.passed)


def candidates(strategies: Iterable[str] = (), presets: Iterable[str] = ()) -> tuple[Preset, ...]:
    """The presets named, then the own preset of each strategy named; every strategy's own where nothing is.

    Raises BadInput for a name that does not exist.
    """
    found = [load_preset(name) for name in presets] + [default_preset(name) for name in strategies]
    return tuple(found or (default_preset(one.id) for one in STRATEGIES))


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
        took = time.perf_counter() - began
        outcome = run.outcome
        yield Column(
            preset,
            one.triggers(one.gauge(given(context, edits), preset.policy), preset.policy),
            context.total,
            _by_fate(context, outcome, Fate.SUMMARIZED, Fate.ABRIDGED, Fate.DROPPED),
            _by_fate(context, outcome, Fate.KEPT, Fate.COMPRESSED, Fate.PINNED),
            context.outcome_size(outcome),
            len(run.requests),
            outcome,
            check(context, outcome, one, preset.policy),
            took,
        )


def _by_fate(context: Context, outcome: Outcome, *fates: Fate) -> Size:
    parts = [context.size(span.start, span.stop) for span in outcome.fates if span.fate in fates]
    basis = context.total.basis if not parts else parts[0].basis
    return Size(sum(p.messages for p in parts), sum(p.chars for p in parts), sum(p.tokens for p in parts), basis)
