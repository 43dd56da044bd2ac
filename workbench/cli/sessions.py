"""`cwb sessions`: the sessions that lie where the tools keep them, below a folder, or in one file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import click

from workbench.analysis.fullness import fullness, glanced_window
from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.base.printable import one_line, printable
from workbench.base.stamps import shown
from workbench.base.text import counted
from workbench.cli.output import only, plain, warn, write_json, write_table
from workbench.finding.discover import discover
from workbench.finding.glances import Found, Unreadable
from workbench.finding.places import Place, places
from workbench.formats.files import load, parts_of

FIRST_WORDS = 48
PROJECT = 20


@click.command("sessions")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--root", type=click.Path(path_type=Path), metavar="DIR", help="Look in this folder and below instead.")
@click.option("--tool", metavar="NAME", help="Only sessions of this tool, as `claude` or `roo`.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most so many, the newest.")
@click.option("--search", default="", metavar="TEXT", help="Only those in which every word of TEXT occurs.")
@click.option("--skipped", is_flag=True, help="List what could not be read as a session, and why.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of a table.")
def command(
    file: Path | None, root: Path | None, tool: str | None, limit: int | None, search: str, skipped: bool, as_json: bool
) -> None:
    """List the sessions that agents keep on this machine, the newest first; with FILE, the sessions in that file.

    Only the two ends of each file are read. `full` is the context of the last recorded call against the window, with
    who says so; compactions are those seen at the ends, marked + where there may be more between. `cwb FILE` opens one
    of them, `--part ID` one of several in a file.
    """
    if file is not None:
        _list_parts(file, as_json=as_json)
        return
    if root and not root.is_dir():
        raise BadInput(f"{root} is no folder; name one in which to look for sessions.")
    unreadable: list[Unreadable] = []
    looked_at = places() if tool is None or root else _places_of(tool)
    found = list(islice(_wanted(looked_at, root, tool, search, unreadable), limit))
    if as_json:
        write_json({"root": root, "sessions": found, "unreadable": unreadable})
        return
    if found:
        heads = ["changed", "tool", "bytes", "tokens", "full", "compactions", "project", "first request", "file"]
        write_table(heads, map(_row, found), {"project": PROJECT, "first request": FIRST_WORDS})
    else:
        warn(f"no such sessions {f'in {root}' if root else 'where the tools keep them'}; look elsewhere with --root.")
    if skipped:
        for one in unreadable:
            click.echo(f"{printable(str(one.path))}: {printable(one.reason)}", err=True)
    elif unreadable:
        warn(f"{counted(len(unreadable), 'file')} there could not be read as a session; --skipped tells why.")


def _wanted(
    looked_at: tuple[Place, ...], root: Path | None, tool: str | None, search: str, unreadable: list[Unreadable]
) -> Iterator[Found]:
    """What was asked for, as it is found; files that are no sessions are put into `unreadable`."""
    for one in discover(looked_at, root):
        if isinstance(one, Unreadable):
            unreadable.append(one)
        elif (tool is None or is_named(tool, one.tool, one.format)) and one.matches(search):
            yield one


def is_named(wanted: str, *names: str) -> bool:
    return any(_bare(wanted) in _bare(name) for name in names)


def _bare(name: str) -> str:
    return re.sub(r"\W", "", name.casefold())


def _places_of(tool: str) -> tuple[Place, ...]:
    known = places()
    chosen = tuple(place for place in known if is_named(tool, place.tool, place.format))
    if not chosen:
        names = ", ".join(sorted({place.tool for place in known}))
        raise BadInput(f"There is no tool {tool!r} with a usual place; choose one of {names}, or look with --root DIR.")
    return chosen


def _row(one: Found) -> list[str]:
    share, limit = fullness(one), glanced_window(one)
    name = str(one.path) + (f" --part {one.part}" if one.part else "")
    return [
        shown(one.time),
        one.tool,
        grouped(one.bytes),
        grouped(one.tokens) if one.tokens else "",
        "" if share is None or limit is None else f"{100 * share:.0f} % of {grouped(limit.tokens)} ({limit.source})",
        _compactions(one),
        one_line(Path(one.folder).name, PROJECT),
        one_line(one.title or one.request, FIRST_WORDS),
        printable(name),
    ]


def _compactions(one: Found) -> str:
    """How many are seen, with a + where more may lie between the ends; "" for none in a file that was read whole."""
    return "" if one.complete and not one.compactions else f"{one.compactions}{'' if one.complete else '+'}"


@plain.register
def _(one: Found) -> dict[str, Any]:
    return {
        "path": one.path,
        "part": one.part or None,
        **only(one, "tool", "format", "bytes", "time", "title"),
        "first_request": one.request,
        **only(one, "folder", "model", "tokens"),
        **_window(one),
        **only(one, "compactions", "complete"),
    }


def _window(one: Found) -> dict[str, Any]:
    found = glanced_window(one)
    return {"window": found.tokens if found else None, "window_source": found.source if found else None}


def _list_parts(file: Path, *, as_json: bool) -> None:
    parts = parts_of(file)
    if as_json:
        rows = [{"part": part.id, "title": part.title, "messages": part.messages} for part in parts]
        write_json({"path": file, "parts": rows})
    elif parts:
        write_table(["part", "messages", "title"], [[p.id, grouped(p.messages), printable(p.title)] for p in parts])
    else:
        session = load(file)
        warn(f"{file} holds one session, {counted(len(session.messages), 'message')} long.")
