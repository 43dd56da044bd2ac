"""The session that was named, every token counted: an epoch of it on the bench, or all of it to be played."""

from __future__ import annotations

from collections.abc import Callable

from workbench.analysis.course import Course, course_messages, course_of
from workbench.base import paths
from workbench.bench import Bench, choose_preset, open_bench, with_counts, with_saved_scale
from workbench.cli.opening import Watched, keep, loaded
from workbench.cli.plan_edits import edit_plan
from workbench.cli.selection import Selection
from workbench.compaction.agent_preset import agent_preset_id
from workbench.compaction.preset import Preset
from workbench.tokens import Counter
from workbench.tokens.cache import CountCache


def on_bench(chosen: Selection, policy: Callable[[str], Preset] | None = None) -> Bench:
    """The epoch of the session, changed by hand as was named, and under the preset that `policy` gives, which is told
    the id of the tool's own one, "" where there is none.

    Raises BadInput for a file that is no session, and for an epoch or a message that it does not have.
    """
    counter = Counter(CountCache(paths.token_counts()))
    with Watched() as watched:
        session = loaded(chosen, counter, watched)
        bench = with_saved_scale(open_bench(session, counter, epoch=chosen.epoch, window=chosen.window))
        counter.count_all(bench.messages, watched.messages_counted, lambda: False)
        keep(session, counter)
    bench = with_counts(bench, counter)
    return edit_plan(choose_preset(bench, policy(agent_preset_id(session))) if policy else bench, chosen)


def on_bench_and_course(chosen: Selection, policy: Callable[[str], Preset] | None = None) -> tuple[Bench, Course]:
    """The epoch as `on_bench` gives it, and the session from there on."""
    counter = Counter(CountCache(paths.token_counts()))
    with Watched() as watched:
        session = loaded(chosen, counter, watched)
        counter.count_all(course_messages(session), watched.messages_counted, lambda: False)
        keep(session, counter)
    bench = with_counts(
        with_saved_scale(open_bench(session, counter, epoch=chosen.epoch, window=chosen.window)), counter
    )
    course = course_of(session, counter, first=bench.epoch, scale=bench.scale)
    return edit_plan(choose_preset(bench, policy(agent_preset_id(session))) if policy else bench, chosen), course
