"""`cwb sessions`: the sessions that lie where Claude Code keeps them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from workbench.analysis.transcript import one_line
from workbench.cli.output import counted, warn, write_json, write_table
from workbench.errors import BadInput
from workbench.figures import grouped
from workbench.formats.discover import Found, Unreadable, claude_code_root, discover

FIRST_WORDS = 60


@click.command("sessions")
@click.option("--root", type=click.Path(path_type=Path), metavar="DIR", help="The folder whose folders hold sessions.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of a table.")
def command(root: Path | None, as_json: bool) -> None:
    """List the sessions that Claude Code keeps, the newest first.

    Only the two ends of each file are read. `cwb FILE` opens one of them.
    """
    folder = root or claude_code_root()
    if root and not root.is_dir():
        raise BadInput(f"{root} is no folder; name the one whose folders hold *.jsonl files.")
    results = list(discover(folder))
    found = [one for one in results if isinstance(one, Found)]
    unreadable = [one for one in results if isinstance(one, Unreadable)]
    if as_json:
        write_json(_document(folder, found, unreadable))
        return
    if not found:
        warn(f"no sessions in {folder}; name another folder with --root.")
    else:
        write_table(["changed", "bytes", "first request", "file"], [_row(one) for one in found])
    if unreadable:
        warn(f"{counted(len(unreadable), 'file')} there could not be read as a session; --json names them.")


def _row(one: Found) -> list[str]:
    words = one_line(one.title or one.request, FIRST_WORDS)
    return [_day(one.time), grouped(one.bytes), words.ljust(FIRST_WORDS), str(one.path)]


def _document(folder: Path, found: list[Found], unreadable: list[Unreadable]) -> dict[str, Any]:
    return {
        "root": str(folder),
        "sessions": [
            {
                "path": str(one.path),
                "format": one.format,
                "bytes": one.bytes,
                "time": one.time,
                "title": one.title,
                "first_request": one.request,
                "folder": one.folder,
                "model": one.model,
            }
            for one in found
        ],
        "unreadable": [{"path": str(one.path), "reason": one.reason} for one in unreadable],
    }


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
