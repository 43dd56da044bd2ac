"""Load the named session with counted tokens, for commands that plan a compaction: one epoch on the bench, with the
pins, edits and split of the options, and the course of the session to replay."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.analysis.course import Course, course_messages, course_of
from workbench.analysis.rule_file_states import sentences_to_watch
from workbench.analysis.suggested_pins import auto_pins, suggest
from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.bench import (
    Bench,
    choose_preset,
    open_bench,
    split_at,
    toggle_dropped,
    toggle_pin,
    toggle_shortened,
    with_counts,
    with_saved_scale,
    with_watched_rules,
)
from workbench.cli.load_epoch import LoadProgress, cache_session, load_session
from workbench.cli.selection import Selection
from workbench.compaction.preset import Preset, agent_preset_id
from workbench.session import Message
from workbench.tokens import Counter
from workbench.tokens.cache import CountCache


def on_bench(chosen: Selection, policy: Callable[[str], Preset] | None = None) -> Bench:
    """Return a bench of the chosen epoch with the chosen edits, under the preset that `policy` returns. `policy`
    receives the id of the agent's own preset, "" if it has none.

    Raises BadInput for a file that is no session, and for a missing epoch or message.
    """
    counter = Counter(CountCache(paths.token_counts()))
    with LoadProgress() as progress:
        session = load_session(chosen, counter, progress)
        bench = with_saved_scale(open_bench(session, counter, epoch=chosen.epoch, window=chosen.window))
        counter.count_all(bench.messages, progress.messages_counted, lambda: False)
        cache_session(session, counter)
    bench = with_counts(bench, counter)
    return edit_plan(choose_preset(bench, policy(agent_preset_id(session))) if policy else bench, chosen)


def on_bench_and_course(chosen: Selection, policy: Callable[[str], Preset] | None = None) -> tuple[Bench, Course]:
    """Return the bench as `on_bench` does, and the course of the session from that epoch on."""
    counter = Counter(CountCache(paths.token_counts()))
    with LoadProgress() as progress:
        session = load_session(chosen, counter, progress)
        counter.count_all(course_messages(session), progress.messages_counted, lambda: False)
        cache_session(session, counter)
    bench = with_counts(
        with_saved_scale(open_bench(session, counter, epoch=chosen.epoch, window=chosen.window)), counter
    )
    course = course_of(session, counter, first=bench.epoch, scale=bench.scale)
    return edit_plan(choose_preset(bench, policy(agent_preset_id(session))) if policy else bench, chosen), course


def edit_plan(bench: Bench, chosen: Selection) -> Bench:
    """Return the bench with the named pins, edits, split and watched rules.

    A message that is both dropped and shortened is dropped. `auto_pin` adds every suggested pin that needs no
    confirmation. Raises BadInput for a message that is not there, and for a rule file without rules.
    """
    dropped, shortened, pinned = (_ids(bench, named) for named in (chosen.drops, chosen.shortens, chosen.pins))
    for id in shortened:
        bench = toggle_shortened(bench, (id,))
    if dropped:
        bench = toggle_dropped(bench, dropped)
    for id in pinned:
        bench = toggle_pin(bench, id)
    if chosen.split:
        bench = split_at(bench, message_id(bench.messages, chosen.split))
    for id in auto_pins(suggest(bench.context)) if chosen.auto_pin else ():
        if id not in bench.pins:
            bench = toggle_pin(bench, id)
    return with_watched_rules(bench, sentences_to_watch(chosen.watched, bench.session)) if chosen.watched else bench


def _ids(bench: Bench, named: Sequence[str]) -> list[str]:
    """Return ids, each once: toggling a message twice would undo it."""
    return list(dict.fromkeys(message_id(bench.messages, one) for one in named))


def message_id(messages: Sequence[Message], reference: str) -> str:
    """Return the id of the message that `reference` names in a context.

    An id itself comes first, then a number (1 is the first message, as `cwb inspect` counts), then the beginning of
    exactly one id. Raises BadInput when nothing fits or several do.
    """
    if any(message.id == reference for message in messages):
        return reference
    if reference.isascii() and reference.isdigit():
        number = int(reference) if len(reference) < 10 else 0
        if 1 <= number <= len(messages):
            return messages[number - 1].id
    found = [message.id for message in messages if reference and message.id.startswith(reference)]
    if len(found) == 1:
        return found[0]
    if found:
        raise BadInput(f"{reference!r} matches {len(found)} message ids; give more characters.")
    raise BadInput(
        f"There is no message {reference!r} in this epoch; give an id, its beginning, or a number from 1 to "
        f"{len(messages)}, as `cwb inspect --json` lists them."
    )
