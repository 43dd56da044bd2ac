"""`cwb audit`: effects of the compactions in every session on this machine, or below folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from workbench.auditing.advice import advise
from workbench.auditing.audit import audit_of
from workbench.auditing.cache import RowCache
from workbench.auditing.columns import TABLES, About, column, matching, sums_table, table
from workbench.auditing.files import as_csv as csv_of_rows
from workbench.auditing.files import document, form_of, save
from workbench.auditing.groups import KEYS, Key
from workbench.auditing.rows import AuditFile, SessionRow
from workbench.auditing.run import audit_files, candidates
from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.base.printable import one_line, printable
from workbench.base.tables import Column, Row
from workbench.base.text import counted
from workbench.cli.audit_quick import is_named, list_sessions
from workbench.cli.jobs import Job, Jobs
from workbench.cli.output import (
    has_a_screen,
    interrupted,
    on_a_terminal,
    over_line,
    warn,
    write_json,
    write_tables,
)

CELL = 32
PROGRESS_EVERY = 20
SHOWN: dict[About, str] = {
    "sessions": "changed agent title tokens window_share compactions lost_rules rework usd next_step file",
    "compactions": "time agent version model kind tokens_before tokens_after grew seconds usd removed_messages rework "
    "lost_rules project file",
    "unreadable": "file error",
}
"""Columns shown on a terminal; --json, --csv and --save have all."""


@click.command(
    "audit",
    cls=Jobs,
    jobs=(
        Job("", "by tool search about order limit newest saved cluster fresh on_screen as_json as_csv"),
        Job("--quick", "tool search limit root skipped as_json as_csv", "quick"),
    ),
)
@click.argument("folders", nargs=-1, metavar="[FOLDER]…", type=click.Path(path_type=Path))
@click.option("--by", multiple=True, type=click.Choice(KEYS), help="Group the sums by this; repeatable.")
@click.option("--tool", default="", metavar="NAME", help="Only sessions of this agent, such as `claude` or `codex`.")
@click.option("--search", default="", metavar="TEXT", help="Only sessions that contain every word of TEXT.")
@click.option(
    "--list",
    "about",
    type=click.Choice(list(TABLES)),
    help="List sessions, compactions or unreadable files instead of sums.",
)
@click.option("--sort", "order", default="", metavar="COLUMN", help="Sort the list by this, largest first.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="List at most N.")
@click.option(
    "--save",
    "saved",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the table to a .csv, .html, .json or .parquet file; repeatable.",
)
@click.option("--cluster", default="", metavar="tcp://HOST:PORT", help="Run on the workers of this Dask scheduler.")
@click.option("--fresh", is_flag=True, help="Read every file again and ignore the cache.")
@click.option("--quick", is_flag=True, help="List sessions, newest first; reads only the ends of each file.")
@click.option("--skipped", is_flag=True, help="List unreadable files, and why.")
@click.option("--root", type=click.Path(path_type=Path), hidden=True)
@click.option("--screen", "on_screen", is_flag=True, help="Show the table on the workbench's screen.")
@click.option("--newest", type=click.IntRange(1), metavar="N", help="Only the N most recently changed files.")
@click.option("--csv", "as_csv", is_flag=True, help="The list as CSV, with every column.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document, with every row.")
def command(folders: tuple[Path, ...], quick: bool, **options: Any) -> None:
    """Show the effects of compactions on every session that agents keep on this machine, or below FOLDERs.

    Sizes before and after, removed messages, seconds, cost, repeated work, lost rules, and the tokens sent with
    every call but recorded nowhere. Only files that have changed since the last audit are read. A file that
    cannot be read is a row that says why. No model is asked and no token counted: billed figures are exact, the
    rest is estimated. Long sessions, and those that record a compaction, are replayed at several sizes, and a
    sentence for each agent says which would have been cheapest.

    With --quick, `full` is the share of the window that the last recorded call takes. Compactions are counted at the
    ends of a file only; a + says that there may be more in between. For a FILE with several sessions, --quick lists
    these; `cwb FILE --part ID` opens one.
    """
    if quick:
        list_sessions(folders, **options)
    else:
        _audit(folders, **options)


def _audit(
    folders: tuple[Path, ...],
    *,
    by: tuple[Key, ...],
    tool: str,
    search: str,
    about: About | None,
    order: str,
    limit: int | None,
    newest: int | None,
    saved: tuple[Path, ...],
    cluster: str,
    fresh: bool,
    on_screen: bool,
    as_json: bool,
    as_csv: bool,
) -> None:
    for target in saved:
        form_of(target)
        if os.path.exists(target):
            raise BadInput(f"{target} exists; choose another name.")
    if on_screen:
        _show(folders)
        return
    listed = column(about or "sessions", order) if order else None
    rows = [row for row in audit_of(_rows(folders, cluster, newest, fresh=fresh)).rows if _is_of_agent(row, tool)]
    rows = [*matching(rows, search)]
    by = by or ("tool",)
    for target in saved:
        save(target, rows, about or "sessions", by)
        click.echo(f"Wrote {target}.", err=True)
    if as_json:
        write_json(document(rows, by))
    if as_csv:
        click.echo(csv_of_rows(rows, about or "sessions", by), nl=False)
    if as_json or as_csv or saved:
        return
    if about:
        _list(rows, about, listed, limit)
    else:
        _sums(rows, by)
    if refused := sum(bool(row.error) for row in rows):
        warn(f"{counted(refused, 'file')} could not be read as a session; --list unreadable shows why.")


def _show(folders: tuple[Path, ...]) -> None:
    if not has_a_screen():
        raise BadInput("--screen needs a full terminal; leave it out to print the table.")
    from workbench.tui.app import WorkbenchApp
    from workbench.tui.settings import read_settings

    app = WorkbenchApp("sessions", sources=folders, settings=read_settings(paths.settings()), memory=paths.state())
    app.run()
    raise click.exceptions.Exit(app.return_code or 0)


def _rows(folders: Sequence[Path], cluster: str, newest: int | None, *, fresh: bool) -> Iterator[SessionRow]:
    """Yield every row, cached ones first, and show the progress on a terminal."""
    cache = RowCache(paths.audits())
    done = 0
    try:
        with _show_progress() as report:
            for found in audit_files(_newest_files(candidates(folders), newest), cache, cluster, fresh=fresh):
                done += 1
                report(done, found.left)
                yield from found.rows
    except KeyboardInterrupt:
        left = f"Interrupted after {counted(done, 'file')}; files read so far are saved, start again to continue."
        raise interrupted(left) from None
    if cache.trouble:
        warn(cache.trouble)


def _newest_files(works: Iterator[AuditFile | SessionRow], most: int | None) -> Iterator[AuditFile | SessionRow]:
    """Return all entries for `most` None; else the `most` files that changed last, without rows of errors."""
    if most is None:
        return works
    files = (one for one in works if isinstance(one, AuditFile))
    return iter(sorted(files, key=lambda one: (-one.time, one.path))[:most])


@contextmanager
def _show_progress() -> Iterator[Callable[[int, int], None]]:
    if not on_a_terminal():
        yield lambda done, left: None
        return

    def report(done: int, left: int) -> None:
        if done % PROGRESS_EVERY == 0 or not left:
            click.echo(over_line(f"{grouped(done)} files read, {grouped(left)} to go"), err=True, nl=False)

    try:
        yield report
    finally:
        click.echo(over_line(), err=True, nl=False)


def _is_of_agent(row: SessionRow, tool: str) -> bool:
    return not tool or is_named(tool, row.tool, row.format)


def _sums(rows: Sequence[SessionRow], by: Sequence[Key]) -> None:
    if all(row.error for row in rows):
        warn("no sessions there; name another folder.")
        return
    write_tables([replace(sums_table(rows, by).without("manual_compactions", "usd"), title="")])
    if advised := advise(rows):
        click.echo()
    for advice in advised:
        click.echo(printable(str(advice)))


def _list(rows: Sequence[SessionRow], about: About, by: Column | None, limit: int | None) -> None:
    full = table(rows, about, by)
    if not rows:
        warn("no sessions there; name another folder, or see one with `cwb demo`.")
        return
    if not full.rows:
        warn("nothing to list.")
        return
    shown = full.only(*SHOWN[about].split())
    write_tables([replace(shown, title="", rows=tuple(map(_short, shown.rows[:limit])))])


def _short(row: Row) -> Row:
    """Return the row with long texts cut, except in the last cell, which holds a path or a reason."""
    *values, last = row.values
    return Row((*(one_line(one, CELL) if isinstance(one, str) else one for one in values), last))
