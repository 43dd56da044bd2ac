"""`cwb open`: the screen."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from workbench.errors import BadInput
from workbench.resources import SAMPLES

OVERFLOWING = "claude-code-overflow.jsonl"


@click.command("open")
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path(path_type=Path))
@click.option("--choose", is_flag=True, help="Choose from the files given, recent ones, samples and found sessions.")
@click.option("--fresh", is_flag=True, help="Leave aside pins, split and policy remembered for this session.")
@click.option("--epoch", type=int, metavar="N", help="Open this epoch, from 1; the last one by default.")
@click.option("--preset", metavar="NAME", help="The strategy and numbers to begin with; `cwb strategies` lists them.")
@click.option("--window", type=click.IntRange(1), metavar="N", help="The model's context window in tokens.")
def command(
    files: tuple[Path, ...], choose: bool, fresh: bool, epoch: int | None, preset: str | None, window: int | None
) -> None:
    """Open FILE on the workbench's screen; without FILE, a sample session that overflows its window.

    Several files, or --choose, begin with a list to choose from.
    """
    # Said before the screen is up: a mistyped name should not cost a flicker.
    for path in files:
        if path.is_dir():
            raise BadInput(f"{path} is a folder; name a session file in it.")
        if not path.exists():
            raise BadInput(f"{path} does not exist; check the name.")
    path = files[0] if files else SAMPLES / OVERFLOWING
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadInput(f"{path} needs a terminal to be shown on; in a pipe use `cwb inspect` or `cwb compact`.")
    from workbench.tui.app import run_app
    from workbench.tui.home import state_folder
    from workbench.tui.settings import config_path, read_settings

    chosen = None if choose or len(files) > 1 else path
    settings = read_settings(config_path())
    raise click.exceptions.Exit(
        run_app(
            chosen,
            epoch=epoch,
            preset=preset,
            window=window,
            given=files,
            settings=settings,
            memory=state_folder(),
            fresh=fresh,
            tour=not files,
        )
    )
