"""`cwb resume`: steps to resume a session in its agent."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.base.printable import printable
from workbench.cli.output import write_json
from workbench.finding.resuming import can_be_resumed, steps_of
from workbench.formats.files import load

NO_COMMAND = 1


@click.command("resume")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--part", default="", metavar="ID", help="The session of this id, of several in FILE.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of the lines.")
def command(file: Path, part: str, as_json: bool) -> None:
    """Print the steps to go on with FILE in its tool: an export, or any session as it lies.

    They are lines for a shell: the first put the file where its agent looks, unless it is there, and never over
    another; the last goes to the session's folder and opens it. To run them at once:

    \b
      sh -c "$(cwb resume FILE)"

    \b
    Exit codes:
      0    the steps open it
      1    no command does; what to do is said as a comment
      2    bad input or usage
    """
    session = load(file, part=part)
    lines = steps_of(session)
    if as_json:
        write_json({"format": session.format, "id": session.id, "resume_steps": lines})
    else:
        click.echo("\n".join(map(printable, lines)))
    raise click.exceptions.Exit(0 if can_be_resumed(lines) else NO_COMMAND)
