"""`cwb demo`: a demo of compaction in about a minute, with a session or the sample, on the screen or as a file."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.files import refuse_existing, write_atomically
from workbench.base.text import counted
from workbench.bench import DEFAULT_PRESET
from workbench.cli.jobs import Job, Jobs
from workbench.cli.load_bench import on_bench_and_course
from workbench.cli.output import has_a_screen, write_json
from workbench.cli.selection import Selection, selection
from workbench.compaction.preset import agent_preset_id, load_preset
from workbench.compaction.strategies import DEFAULT
from workbench.play.frames import Story
from workbench.play.outputs import animated_svg, asciicast, story_lines
from workbench.play.story import SAMPLE, WINDOW, offline, sample_story, story

OUTPUTS = "cast svg overwrite text as_json"


def _output_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the output options of `_write_story` to a command. Raises BadInput before it starts if a file exists."""
    path = click.Path(path_type=Path)

    @wraps(command)
    def offering(*chosen: Any, **options: Any) -> None:
        for file in filter(None, (options["cast"], options["svg"])):
            refuse_existing(file, overwrite=options["overwrite"])
        command(*chosen, **options)

    for option in (
        click.option("--json", "as_json", is_flag=True, help="Every frame as data, one JSON document."),
        click.option("--text", is_flag=True, help="Print text instead of using the screen; the default in a pipe."),
        click.option("--overwrite", is_flag=True, help="Replace an existing file."),
        click.option("--svg", type=path, metavar="FILE", help="Write it as one animated SVG, 100 columns wide."),
        click.option("--cast", type=path, metavar="FILE", help="Write it as an asciinema recording, 100 by 30."),
    ):
        offering = option(offering)
    return offering


@click.command(
    "demo",
    cls=Jobs,
    jobs=(
        Job("", OUTPUTS),
        Job("FILE", f"part strategies presets fields watched epoch window {OUTPUTS}", "files"),
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
    watch="Watch this sentence; of several, the first found. Default: a rule that is lost.",
)
@_output_options
def command(chosen: Selection, **output: Any) -> None:
    """Show in about a minute what compaction does: the context fills, the trigger fires, a summary replaces old
    messages, a rule survives, the next compaction loses it, a pin keeps it; then two presets side by side.

    Without FILE the session is an invented sample with a small window. With FILE it is your session: read a written
    file before you share it, because it quotes the session; secrets recognized by shape or name are masked. Nothing is
    sent, no model is asked and no key is needed: the summaries are extractive. Space pauses, the arrow keys step,
    + and - change the speed, Enter opens the session, q quits.
    """
    if chosen.files:
        _demo_of_session(chosen, **output)
    else:
        _demo_of_sample(**output)


def _demo_of_sample(**output: Any) -> None:
    bench, course = on_bench_and_course(Selection(files=(SAMPLE,), window=WINDOW, epoch=1))
    found = sample_story(course, bench.original.limit)

    def show() -> int:
        from workbench.summarizers.prepared_answer import DEMO, load_prepared_answer
        from workbench.tui.demo_app import DemoApp
        from workbench.tui.settings import read_settings

        recording = load_prepared_answer()
        app = DemoApp(
            found, SAMPLE, preset=recording.preset, settings=read_settings(paths.settings()), rehearses=DEMO, fresh=True
        )
        app.run()
        return app.return_code or 0

    _write_story(found, show, cast_to=output.pop("cast"), svg_to=output.pop("svg"), **output)


def _demo_of_session(chosen: Selection, **output: Any) -> None:
    policies = chosen.policies() if chosen.presets or chosen.strategies else []
    if len(policies) > 2:
        raise BadInput(f"{len(policies)} policies are named; a demo shows at most two.")
    bench, course = on_bench_and_course(chosen.whole)
    if not policies:
        own = agent_preset_id(bench.session) or DEFAULT_PRESET
        policies = [load_preset(name) for name in dict.fromkeys((own, DEFAULT))]
    found = story(course, policies, bench.original.limit, note=offline(chosen.file.name), watched=bench.watched)

    def show() -> int:
        from workbench.tui.demo_app import DemoApp
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

    _write_story(found, show, cast_to=output.pop("cast"), svg_to=output.pop("svg"), **output)


def _write_story(
    story: Story, show: Callable[[], int], *, cast_to: Path | None, svg_to: Path | None, **output: Any
) -> None:
    """Write the named files, and the story as JSON or text if requested. Without any of these, call `show`, which
    returns the exit code, or print text if there is no screen. Raises BadInput for an existing file."""
    for path, render in ((cast_to, asciicast), (svg_to, animated_svg)):
        if path is not None:
            write_atomically(path, render(story).encode(), overwrite=output["overwrite"])
            click.echo(f"{path}: {counted(len(story.frames), 'frame')}, {story.seconds:.0f} s")
    if output["as_json"]:
        write_json(story)
    elif output["text"] or (cast_to is None and svg_to is None and not has_a_screen()):
        click.echo("\n".join(story_lines(story)))
    elif cast_to is None and svg_to is None:
        raise click.exceptions.Exit(show())
