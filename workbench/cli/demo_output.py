"""Output of a story: on the screen, as files, as text or as JSON."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from workbench.base.files import refuse_existing, write_atomically
from workbench.base.text import counted
from workbench.cli.output import has_a_screen, write_json
from workbench.play.cast import cast
from workbench.play.frames import Story
from workbench.play.moving import moving
from workbench.play.text import story_lines


def output_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the output options of `write_story` to a command. Raises BadInput before it starts if a file exists."""
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


def write_story(
    story: Story, show: Callable[[], int], *, cast_to: Path | None, svg_to: Path | None, **how: Any
) -> None:
    """Write the named files, and the story as JSON or text if requested. Without any of these, call `show`, which
    returns the exit code, or print text if there is no screen. Raises BadInput for an existing file."""
    for path, made in ((cast_to, cast), (svg_to, moving)):
        if path is not None:
            write_atomically(path, made(story).encode(), overwrite=how["overwrite"])
            click.echo(f"{path}: {counted(len(story.frames), 'frame')}, {story.seconds:.0f} s")
    if how["as_json"]:
        write_json(story)
    elif how["text"] or (cast_to is None and svg_to is None and not has_a_screen()):
        click.echo("\n".join(story_lines(story)))
    elif cast_to is None and svg_to is None:
        raise click.exceptions.Exit(show())
