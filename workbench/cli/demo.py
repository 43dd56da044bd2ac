"""`cwb demo`: a demo of compaction in about a minute, with a session or the sample."""

from __future__ import annotations

from typing import Any

import click

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.bench import DEFAULT_PRESET
from workbench.cli.demo_output import output_options, write_story
from workbench.cli.jobs import Job, Jobs
from workbench.cli.loading import on_bench_and_course
from workbench.cli.selection import Selection, selection
from workbench.compaction.preset import agent_preset_id, load_preset
from workbench.compaction.strategies import DEFAULT
from workbench.play.demonstration import SAMPLE, WINDOW, demonstration
from workbench.play.story import offline, story

TELLINGS = "cast svg overwrite text as_json"


@click.command(
    "demo",
    cls=Jobs,
    jobs=(
        Job("", TELLINGS),
        Job("FILE", f"part strategies presets fields watched epoch window {TELLINGS}", "files"),
    ),
)
@selection(
    "part",
    "set",
    "window",
    required=False,
    strategy="A strategy with its own preset.",
    preset="The preset to show; a second one is shown next to it. Default: the agent's, and ours.",
    epoch="Start with this epoch instead of the first.",
    watch="Follow this sentence; of several, the first found. Default: a rule that is lost.",
)
@output_options
def command(chosen: Selection, **how: Any) -> None:
    """Show in about a minute what compaction does: the context fills, the trigger fires, the old part becomes a
    summary, a rule survives, the next compaction loses it, a pin keeps it; then two presets side by side.

    Without FILE the session is an invented sample with a small window. With FILE it is your session: look at a file
    before you give it away, for it quotes the session; secrets that can be told by their shape or name are masked.
    Nothing is sent, no model is asked and no key is needed: the strategies plan as for any session, and code writes
    the summaries. Space pauses, the arrows step, + and - change the speed, enter opens the session, q leaves.
    """
    if chosen.files:
        _of_file(chosen, **how)
    else:
        _of_sample(**how)


def _of_sample(**how: Any) -> None:
    bench, course = on_bench_and_course(Selection(files=(SAMPLE,), window=WINDOW, epoch=1))
    found = demonstration(course, bench.original.limit)

    def show() -> int:
        from workbench.summarizers.prepared_answer import DEMO, load_prepared_answer
        from workbench.tui.playing import DemoApp
        from workbench.tui.settings import read_settings

        recording = load_prepared_answer()
        app = DemoApp(
            found, SAMPLE, preset=recording.preset, settings=read_settings(paths.settings()), rehearses=DEMO, fresh=True
        )
        app.run()
        return app.return_code or 0

    write_story(found, show, cast_to=how.pop("cast"), svg_to=how.pop("svg"), **how)


def _of_file(chosen: Selection, **how: Any) -> None:
    policies = chosen.policies() if chosen.presets or chosen.strategies else []
    if len(policies) > 2:
        raise BadInput(f"{len(policies)} policies are named; a demo shows at most two.")
    bench, course = on_bench_and_course(chosen.whole)
    if not policies:
        own = agent_preset_id(bench.session) or DEFAULT_PRESET
        policies = [load_preset(name) for name in dict.fromkeys((own, DEFAULT))]
    found = story(course, policies, bench.original.limit, note=offline(chosen.file.name), watched=bench.watched)

    def show() -> int:
        from workbench.tui.playing import DemoApp
        from workbench.tui.settings import read_settings

        first = policies[0]
        app = DemoApp(
            found,
            chosen.file,
            preset=first.id or None,
            window=chosen.window,
            part=chosen.part,
            settings=read_settings(paths.settings()),
            memory=paths.state(),
        )
        app.run()
        return app.return_code or 0

    write_story(found, show, cast_to=how.pop("cast"), svg_to=how.pop("svg"), **how)
