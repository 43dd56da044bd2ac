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
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of text.")
def command(file: Path, part: str, as_json: bool) -> None:
    """Print the shell commands that resume FILE, an export or any other session, in its agent.

    The first ones put the file where its agent looks for sessions, unless it is there; an existing file is never
    replaced. The last one changes to the session's folder and opens the session. To run them at once:

    \b
      sh -c "$(cwb resume FILE)"

    \b
    Exit codes:
      0    the commands open it
      1    no command opens it; a comment says what to do
      2    bad input or usage
    """
    session = load(file, part=part)
    lines = steps_of(session)
    if as_json:
        write_json({"format": session.format, "id": session.id, "resume_steps": lines})
    else:
        click.echo("\n".join(map(printable, lines)))
    raise click.exceptions.Exit(0 if can_be_resumed(lines) else NO_COMMAND)
