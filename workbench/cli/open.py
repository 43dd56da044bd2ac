"""`cwb open`: the screen."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from workbench.errors import BadInput
from workbench.resources import SAMPLES

OVERFLOWING = "claude-code-overflow.jsonl"


@click.command("open")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--epoch", type=int, metavar="N", help="Open this epoch, from 1; the last one by default.")
@click.option("--preset", metavar="NAME", help="The strategy and numbers to begin with; `cwb strategies` lists them.")
@click.option("--window", type=click.IntRange(1), metavar="N", help="The model's context window in tokens.")
def command(file: Path | None, epoch: int | None, preset: str | None, window: int | None) -> None:
    """Open FILE on the workbench's screen; without FILE, a sample session that overflows its window."""
    path = file or SAMPLES / OVERFLOWING
    # Said before the screen is up: a mistyped name should not cost a flicker.
    if path.is_dir():
        raise BadInput(f"{path} is a folder; name a session file in it.")
    if not path.exists():
        raise BadInput(f"{path} does not exist; check the name.")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadInput(f"{path} needs a terminal to be shown on; in a pipe use `cwb inspect` or `cwb compact`.")
    from workbench.tui.app import run_app

    raise click.exceptions.Exit(run_app(path, epoch=epoch, preset=preset, window=window))
