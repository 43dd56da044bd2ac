"""`cwb audit --quick`: list of sessions on this machine, below a folder or in one file. On the machine and in a
folder only the ends of files are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import click

from workbench.base.errors import BadInput
from workbench.base.printable import one_line, printable
from workbench.base.tables import Row, Table, columns, csv
from workbench.base.text import counted
from workbench.cli.output import only, plain, warn, write_json, write_tables
from workbench.finding.discover import discover, is_session_folder
from workbench.finding.glances import Unreadable
from workbench.formats.files import load, parts_of
from workbench.formats.glance import SessionGlance
from workbench.formats.machine import Place
from workbench.formats.registry import places
from workbench.tokens.window import fullness, glanced_window

FIRST_WORDS = 48
PROJECT = 20


def list_sessions(
    folders: Sequence[Path], root: Path | None, tool: str, search: str, limit: int | None, *, skipped: bool,
    as_json: bool, as_csv: bool,
) -> None:  # fmt: skip
    """Write the sessions of this machine, below a folder, or in a file with several sessions, newest first."""
    if len(folders) + bool(root) > 1:
        raise click.UsageError("--quick lists one place; name one FOLDER or FILE.")
    if folders and (not folders[0].is_dir() or is_session_folder(folders[0])):
        _list_parts(folders[0], as_json=as_json, as_csv=as_csv)
        return
    root = root or next(iter(folders), None)
    if root and not root.is_dir():
        raise BadInput(f"{root} is not a folder; name a folder with sessions.")
    unreadable: list[Unreadable] = []
    looked_at = _places_of(tool) if tool and not root else places()
    found = list(islice(_matching_sessions(looked_at, root, tool, search, unreadable), limit))
    if as_json:
        write_json({"root": root, "sessions": found, "unreadable": unreadable})
        return
    if as_csv:
        click.echo(csv(_table(found)), nl=False)
    elif found:
        write_tables([_table(found)])
    else:
        where = f"in {root}" if root else "in the agents' usual folders"
        warn(f"no such sessions {where}; name a FOLDER to look elsewhere.")
    if skipped:
        for one in unreadable:
            click.echo(f"{printable(str(one.path))}: {printable(one.reason)}", err=True)
    elif unreadable:
        warn(f"{counted(len(unreadable), 'file')} could not be read as a session; --skipped shows why.")


def _matching_sessions(
    looked_at: tuple[Place, ...], root: Path | None, tool: str, search: str, unreadable: list[Unreadable]
) -> Iterator[SessionGlance]:
    """Yield the matching sessions as they are found; add unreadable files to `unreadable`."""
    for one in discover(looked_at, root):
        if isinstance(one, Unreadable):
            unreadable.append(one)
        elif (not tool or is_named(tool, one.tool, one.format)) and one.matches(search):
            yield one


def is_named(query: str, *names: str) -> bool:
    return any(_bare(query) in _bare(name) for name in names)


def _bare(name: str) -> str:
    return re.sub(r"\W", "", name.casefold())


def _places_of(tool: str) -> tuple[Place, ...]:
    known = places()
    chosen = tuple(place for place in known if is_named(tool, place.agent, place.format))
    if not chosen:
        names = ", ".join(sorted({place.agent for place in known}))
        raise BadInput(f"No usual folder is known for {tool!r}; choose one of {names}, or name a FOLDER.")
    return chosen


def _table(found: Iterable[SessionGlance]) -> Table:
    spec = (
        "changed:time agent bytes:count tokens:tokens window_share:share:full window_tokens:tokens:window "
        "window_source compactions project first_request file"
    )
    return Table("sessions", "", columns(spec), tuple(map(_row, found)))


def _row(one: SessionGlance) -> Row:
    limit = glanced_window(one)
    return Row(
        (
            one.time,
            one.tool,
            one.bytes,
            one.tokens or None,
            fullness(one),
            limit.tokens if limit else None,
            limit.source if limit else None,
            _compactions(one),
            one_line(Path(one.folder).name, PROJECT),
            one_line(one.title or one.request, FIRST_WORDS),
            str(one.path) + (f" --part {one.part}" if one.part else ""),
        )
    )


def _compactions(one: SessionGlance) -> str:
    """Return the number of compactions seen, `+` added if the middle of the file was not read; "" if there are none."""
    return "" if one.complete and not one.compactions else f"{one.compactions}{'' if one.complete else '+'}"


@plain.register
def _(one: SessionGlance) -> dict[str, Any]:
    return {
        "file": one.path,
        "part": one.part or None,
        **only(one, "agent=tool", "format", "bytes", "changed=time", "title", "first_request=request"),
        **only(one, "project=folder", "model", "tokens"),
        **_window(one),
        **only(one, "compactions", "complete"),
    }


def _window(one: SessionGlance) -> dict[str, Any]:
    found = glanced_window(one)
    return {"window_tokens": found.tokens if found else None, "window_source": found.source if found else None}


def _list_parts(file: Path, *, as_json: bool, as_csv: bool) -> None:
    parts = parts_of(file)
    if as_json:
        document = [{"part": part.id, "title": part.title, "messages": part.messages} for part in parts]
        write_json({"file": file, "parts": document})
    elif parts:
        rows = (Row((one.id, one.messages, one.title)) for one in parts)
        table = Table("parts", "", columns("part messages:count title"), tuple(rows))
        click.echo(csv(table), nl=False) if as_csv else write_tables([table])
    else:
        session = load(file)
        warn(f"{file} holds one session, {counted(len(session.messages), 'message')} long.")
