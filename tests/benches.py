"""Benches made of contexts that tests build."""

from __future__ import annotations

from workbench.bench import Bench
from workbench.compaction.context import Context
from workbench.compaction.edits import UNEDITED, Edits
from workbench.compaction.preset import default_preset
from workbench.compaction.strategies import strategy
from workbench.session import Epoch, Records, Session


def bench_of(context: Context, edits: Edits = UNEDITED) -> Bench:
    """A bench under the trim preset with this context as its session's only epoch."""
    messages = tuple(context.messages)
    epochs = (Epoch(1, range(len(messages))),)
    session = Session("anthropic-messages", None, messages, Records(b""), epochs=epochs)
    preset = default_preset("trim")
    return Bench(
        session,
        1,
        context,
        strategy("trim"),
        preset.policy,
        preset.id,
        pins=context.pins,
        dropped=edits.dropped,
        shortened=edits.shortened,
        split_at=context.split_at,
    )
