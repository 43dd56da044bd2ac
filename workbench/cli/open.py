"""`cwb open`: a session, or the list of sessions, on the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click
from click.core import ParameterSource

from workbench.base import paths
from workbench.base.environment import variables
from workbench.base.errors import BadInput
from workbench.base.resources import SAMPLES
from workbench.cli.output import has_a_screen
from workbench.cli.selection import EPOCH, EpochNumber
from workbench.session import EpochChoice

OVERFLOWING = "claude-code-overflow.jsonl"
SAMPLE_PRESET = "augment-example"
"""Preset for the sample: its split can be moved, so every key of the bench has an effect."""


@click.command("open")
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path(path_type=Path))
@click.option("--choose", is_flag=True, help="Choose from the files given, recent ones, samples and found sessions.")
@click.option("--part", default="", metavar="ID", help="The session of this id, of several in FILE.")
@click.option("--follow", is_flag=True, help="Follow FILE while its agent writes it: new messages appear.")
@click.option("--fresh", is_flag=True, help="Ignore the pins, split and settings saved for this session.")
@click.option(
    "--epoch",
    type=EpochNumber(),
    metavar="N|last",
    help=f"The epoch, from 1, or `last`. Default: the newest that overflowed or was compacted. {EPOCH}",
)
@click.option("--preset", metavar="NAME", help="The strategy and settings to begin with. Default: the agent's.")
@click.option("--window", type=click.IntRange(1), metavar="N", help="The context window, in tokens.")
@click.option(
    "--watch",
    "watched",
    multiple=True,
    metavar="TEXT",
    help="Track a sentence, or the rules of CLAUDE.md: verbatim, paraphrased, contradicted or gone. Repeatable.",
)
def command(
    files: tuple[Path, ...],
    choose: bool,
    part: str,
    follow: bool,
    fresh: bool,
    epoch: EpochChoice,
    preset: str | None,
    window: int | None,
    watched: tuple[str, ...],
) -> None:
    """Open FILE on the workbench's screen; without FILE, list the sessions on this machine, newest first, with
    the next step for each. Without sessions, or with an option, open a sample that overflows its window.

    Several files, a folder in which to look for sessions, or --choose, begin with a list to choose from.
    """
    # Checked before the screen opens, which would flicker for a mistyped name.
    for path in files:
        if not path.exists():
            raise BadInput(f"{path} does not exist; check the name.")
    path = files[0] if files else SAMPLES / OVERFLOWING
    if not has_a_screen():
        raise BadInput(f"{path} needs a full terminal; in a pipe use `cwb inspect` or `cwb compact`.")
    choose = choose or len(files) > 1 or (path.is_dir() and not _is_session(path))
    if choose and (part or follow):
        raise BadInput("--part and --follow take one FILE; name only one, without --choose.")
    if watched:
        from workbench.analysis.watched_rules import sentence_to_watch

        watched = tuple(map(sentence_to_watch, watched))
    if variables():
        from workbench.compaction.environment import strategies_with_variables
        from workbench.compaction.preset import default_preset

        for id in strategies_with_variables():
            default_preset(id)
    from workbench.tui.app import WorkbenchApp
    from workbench.tui.settings import read_settings

    shown = "sessions" if choose else path if files else first_shown(bare=_is_bare())
    app = WorkbenchApp(
        shown,
        epoch=epoch,
        preset=preset or (None if files or shown == "sessions" else SAMPLE_PRESET),
        window=window,
        part=part,
        follow=follow,
        sources=files,
        settings=read_settings(paths.settings()),
        memory=paths.state(),
        fresh=fresh,
        watched=watched,
    )
    app.run()
    raise click.exceptions.Exit(app.return_code or 0)


def _is_bare() -> bool:
    """True if neither a file nor an option is given."""
    ctx = click.get_current_context()
    return all(ctx.get_parameter_source(name) is not ParameterSource.COMMANDLINE for name in ctx.params)


def first_shown(*, bare: bool) -> Path | Literal["sessions"]:
    """Return what opens without a FILE: the list of sessions, or the sample if there are none or an option is given."""
    from workbench.finding.discover import discover
    from workbench.formats.glance import SessionGlance

    if bare and any(isinstance(one, SessionGlance) for one in discover()):
        return "sessions"
    return SAMPLES / OVERFLOWING


def _is_session(folder: Path) -> bool:
    # Imports every format, which is slow and only needed for folders.
    from workbench.finding.discover import is_session_folder

    return is_session_folder(folder)
