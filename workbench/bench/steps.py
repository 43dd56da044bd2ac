"""Steps from one bench to the next: open a session, choose a preset, pin, edit, split, watch rules.

Every step returns a new `Bench`; undo is the list of the old ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from workbench.analysis.why.overflow import epoch_named
from workbench.base.errors import BadInput
from workbench.bench.state import Bench, EpochMarks
from workbench.compaction.context import Layout
from workbench.compaction.edits import SHORT_CHARS, shortened_message
from workbench.compaction.invariants import with_pairs
from workbench.compaction.opening import context_at, recounted
from workbench.compaction.policy import Policy
from workbench.compaction.preset import Preset, agent_preset_id, load_preset, preset_for_version
from workbench.compaction.strategies import strategy
from workbench.session import EpochChoice, Session
from workbench.summarizers.driver import Run
from workbench.tokens import Counter, Scale, rescaled, scales
from workbench.tokens.window import Window, still, window_of

DEFAULT_PRESET = "augment-example"
"""Preset for a session whose agent has none of its own."""


def open_bench(
    session: Session,
    counter: Counter,
    *,
    epoch: EpochChoice = None,
    preset: str | None = None,
    window: int | None = None,
) -> Bench:
    """Open an epoch of a session (`epoch_named`), by default under the preset of its agent. Raises BadInput for an
    epoch or a preset that does not exist."""
    chosen = preset_for_version(load_preset(preset or agent_preset_id(session) or DEFAULT_PRESET), session)
    number = epoch_named(session, epoch)
    opened = context_at(session, number, counter, window=window)
    return Bench(session, number, opened, strategy(chosen.strategy), chosen.policy, chosen.id, chosen.version)


def with_counts(bench: Bench, counter: Counter) -> Bench:
    """Return the bench with the counts that `counter` has by now; a result is kept."""
    return replace(bench, original=recounted(bench.original, bench.session, bench.epoch, counter, bench.scale))


def with_scale(bench: Bench, scale: Scale) -> Bench:
    """Return the bench with its counts multiplied by the scale from an exact count; a result is kept."""
    return replace(with_layout(bench, Layout(bench.layout.shape, rescaled(bench.layout.sizes, scale))), scale=scale)


def without_scale(bench: Bench, counter: Counter) -> Bench:
    """Return the bench without the scale of an exact count: calibrated to recorded usage; a result is kept."""
    return with_counts(replace(bench, scale=None), counter)


def with_saved_scale(bench: Bench) -> Bench:
    """Return the bench with the scale from an earlier exact count of its session, if there is one."""
    scale = scales.recall(bench.session)
    return with_scale(bench, scale) if scale else bench


def with_layout(bench: Bench, layout: Layout) -> Bench:
    """Return the bench with another layout of its messages, which has their sizes; a result is kept."""
    return replace(bench, original=bench.original.with_(layout=layout))


def at_epoch(bench: Bench, epoch: int, counter: Counter) -> Bench:
    """Return the bench at another epoch, with the pins, edits and split that the user left there. On the first visit it
    takes over the present pins and edits of messages that are in both epochs."""
    found = context_at(bench.session, epoch, counter, scale=bench.scale)
    opened = found.with_(limit=still(bench.original.limit, found.limit))
    here = EpochMarks(bench.pins, bench.dropped, bench.shortened, bench.split_at)
    by_epoch = {**bench.marks_by_epoch, bench.epoch: here}
    pins, dropped, shortened = (
        ids.intersection(opened.shape.index_of) for ids in (bench.pins, bench.dropped, bench.shortened)
    )
    marks = by_epoch.get(epoch, EpochMarks(pins, dropped, shortened, None))
    split = marks.split_at if bench.strategy.movable else None
    there = replace(bench, epoch=epoch, original=opened, marks_by_epoch=by_epoch, result=None, **marks._asdict())
    return replace(there, split_at=split)


def toggle_pin(bench: Bench, id: str) -> Bench:
    """Pin or unpin a message. The plan keeps its tool call or result too; the set of pins holds only the message."""
    _index(bench, id)
    return replace(bench, pins=bench.pins ^ {id}, result=None)


def with_pins(bench: Bench, pins: frozenset[str]) -> Bench:
    """Return the bench with exactly these messages pinned, by id."""
    return replace(bench, pins=pins, result=None)


def toggle_dropped(bench: Bench, ids: Collection[str]) -> Bench:
    """Drop messages and their tool pairs from the plan, or restore them when all of them are dropped.

    A pinned message is kept all the same. Raises BadInput for the session's own system message.
    """
    layout, indexes = bench.layout, _editable(bench, ids)
    whole = {layout.messages[i].id for i in with_pairs(layout.shape, indexes)}
    dropped_pairs = {
        layout.messages[i].id for i in with_pairs(layout.shape, [layout.shape.index_of[id] for id in bench.dropped])
    }
    dropped = bench.dropped - whole if whole <= dropped_pairs else bench.dropped | frozenset(ids)
    return replace(bench, dropped=dropped, shortened=bench.shortened - whole, result=None)


def toggle_shortened(bench: Bench, ids: Collection[str]) -> Bench:
    """Shorten messages in the plan, or restore them when all of them are shortened. A dropped one is restored.

    Messages without a long text are skipped. Raises BadInput when none has one, and for the session's own system
    message.
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
    """Return the indexes of the messages that are not the session's own system messages."""
    indexes = [_index(bench, id) for id in ids]
    found = [i for i in indexes if not bench.layout.messages[i].is_own_system]
    if not found:
        raise BadInput("This is the session's system message: every compaction keeps it.")
    return found


def split_at(bench: Bench, id: str | None) -> Bench:
    """Set the first message of the tail; None returns to the strategy's own split."""
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
    """Return the bench under a preset; a preset of the session's agent gets the numbers of its recorded version.
    A split that the user set is kept if the strategy has one."""
    preset = preset_for_version(preset, bench.session)
    chosen = strategy(preset.strategy)
    keep_split = bench.split_at if chosen.movable else None
    there = replace(bench, strategy=chosen, policy=preset.policy, preset=preset.id, version=preset.version)
    return replace(there, split_at=keep_split, result=None)


def with_window(bench: Bench, tokens: int | None) -> Bench:
    """Return the bench with the user's window; None takes it from the session or the table of models. Raises BadInput
    for a broken table."""
    return with_limit(bench, window_of(bench.session, bench.epoch, tokens))


def with_limit(bench: Bench, limit: Window | None) -> Bench:
    return replace(bench, original=bench.original.with_(limit=limit), result=None)


def with_summarizer(bench: Bench, name: str) -> Bench:
    """Return the bench with another summarizer, by its name in `workbench.summarizers.by_name`. A result is kept."""
    return replace(bench, summarizer=name)


def with_watched_rules(bench: Bench, sentences: Iterable[str]) -> Bench:
    """Return the bench with these rules watched, each once; a result is kept. Raises BadInput for a sentence that
    cannot be watched."""
    if not sentences:
        return replace(bench, watched=())
    from workbench.analysis.watched_rules import sentence_to_watch

    rules = (sentence_to_watch(one, bench.session.messages) for one in sentences)
    return replace(bench, watched=tuple(dict.fromkeys(rules)))


def with_result(bench: Bench, run: Run) -> Bench:
    """Return the bench with the result of a run, which any change discards."""
    return replace(bench, result=run)


def _index(bench: Bench, id: str) -> int:
    try:
        return bench.layout.shape.index_of[id]
    except KeyError:
        raise BadInput(f"There is no message {id!r} in epoch {bench.epoch}; `cwb inspect` lists the ids.") from None
