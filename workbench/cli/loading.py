"""Load the named session with counted tokens: one epoch on the bench, or with it the session to replay."""

from __future__ import annotations

from collections.abc import Callable

from workbench.analysis.course import Course, course_messages, course_of
from workbench.base import paths
from workbench.bench import Bench, choose_preset, open_bench, with_counts, with_saved_scale
from workbench.cli.opening import LoadProgress, cache_session, load_session
from workbench.cli.plan_edits import edit_plan
from workbench.cli.selection import Selection
from workbench.compaction.preset import Preset, agent_preset_id
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
