"""The run journal: kept runs in one SQLite file in the user's data folder.

Several processes may use it at once. It may cost an entry, never a run: `keep` says in a sentence what went wrong, and
never raises for a disk that is full or a file that is damaged. Requests hold what the session holds, secrets masked, so
only the owner can read the file, and what is deleted is overwritten.

Of a run that goes on each answer is put down by itself (`add`), without what was asked: long requests take seconds to
mask, and an answer is paid for. At its end the whole takes the place (`keep`).
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.secrets import masked_value
from workbench.base.text import valid_unicode
from workbench.base.values import json_of
from workbench.summarizers.run_records import CallRecord, RunRecord

M = TypeVar("M", bound=BaseModel)

BUSY_SECONDS = 10.0
"""How long to wait for another program that is writing."""

_COLUMNS = (
    "id, began, seconds, end, strategy, preset, summarizer, model, session, file, status, calls, input, output, dollars"
)

_FIGURES = ("began", "seconds", "calls", "input", "output")


def _typed_column(column: str) -> str:
    """A column as it is read: another program may have written anything, and what is of no right type is none."""
    if column == "dollars":
        return "CASE WHEN typeof(dollars) IN ('integer', 'real') THEN dollars END"
    kinds, none = ("'integer', 'real'", "0") if column in _FIGURES else ("'text'", "''")
    return f"CASE WHEN typeof({column}) IN ({kinds}) THEN {column} ELSE {none} END"


_SELECT_ROWS = (
    f"SELECT {', '.join(map(_typed_column, _COLUMNS.split(', ')))} FROM runs "
    "WHERE typeof(id) = 'text' ORDER BY began DESC, id DESC LIMIT ?"
)

_RUNS_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
  id TEXT PRIMARY KEY, began REAL NOT NULL, seconds REAL NOT NULL, end TEXT NOT NULL, strategy TEXT NOT NULL,
  preset TEXT NOT NULL, summarizer TEXT NOT NULL, model TEXT NOT NULL, session TEXT NOT NULL, file TEXT NOT NULL,
  status TEXT NOT NULL, calls INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL, dollars REAL,
  document BLOB NOT NULL
)
"""

_CALLS_SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (
  run TEXT NOT NULL, number INTEGER NOT NULL, document BLOB NOT NULL, PRIMARY KEY (run, number)
)
"""
"""What has come to runs that go on, or were killed."""

_TABLE_EXISTS = "SELECT 1 FROM sqlite_master WHERE name = ?"

_STORAGE_ERRORS = (sqlite3.Error, OSError, ValueError, OverflowError)

_NO_ROOM = frozenset([sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY])

_SAVE_RUN = (
    f"INSERT INTO runs ({_COLUMNS}, document) VALUES ({', '.join('?' * 16)}) ON CONFLICT (id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in f"{_COLUMNS}, document".split(", ")[1:])
    + " WHERE runs.end = 'cancelled'"
)
"""A run that came to its end is never written over."""

_ADD_CALL = (
    f"INSERT INTO runs ({_COLUMNS}, document) VALUES ({', '.join('?' * 16)}) ON CONFLICT (id) DO UPDATE SET "
    "seconds = max(seconds, excluded.seconds), calls = calls + excluded.calls, input = input + excluded.input, "
    "output = output + excluded.output, dollars = dollars + excluded.dollars "
    "WHERE calls = (SELECT count(*) FROM calls WHERE run = runs.id)"
)
"""A run that is kept whole has no answers beside it, and takes none: one that is written down late is in it already."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """A kept run in a list: what can be told without reading its requests. Tokens are billed, all calls together."""

    id: str
    began: float
    seconds: float
    end: str
    strategy: str
    preset: str
    summarizer: str
    model: str
    session: str
    file: str
    status: str
    calls: int
    input: int
    output: int
    dollars: float | None


def save_run(run: RunRecord) -> str:
    """Save a run, in place of what was kept of it before its end; why it could not be kept, "" when it could. Never
    raises: the run itself is done."""
    try:
        run = _masked(run)
        with _writing() as base:
            written = base.execute(_SAVE_RUN, _row(run, run)).rowcount
            if written:
                base.execute("DELETE FROM calls WHERE run = ?", (run.id,))
    except _STORAGE_ERRORS as error:
        return f"The run was not saved: {_file_problem(error)}"
    return "" if written else f"The run was not saved: there is a run {run.id} already."


def save_call(begun: RunRecord, number: int, call: CallRecord) -> str:
    """Put down what has come to request `number` of a run that goes on, of which `begun` is the record without any
    calls; why it could not be put down, "" when it could, or stands there whole. Never raises."""
    try:
        begun, call = _masked(begun), _masked(call)
        with _writing() as base:
            if base.execute(_ADD_CALL, _row(begun, begun.model_copy(update={"calls": (call,)}))).rowcount:
                base.execute("INSERT INTO calls VALUES (?, ?, ?)", (begun.id, number, _packed(call)))
    except _STORAGE_ERRORS as error:
        return f"The answer was not saved: {_file_problem(error)}"
    return ""


def list_runs(limit: int | None = None) -> tuple[RunRow, ...]:
    """The newest `limit` runs, newest first. Raises BadInput for a journal that cannot be read."""
    with _reading() as base:
        return (
            tuple(RunRow(*row) for row in base.execute(_SELECT_ROWS, (-1 if limit is None else limit,))) if base else ()
        )


def load_run(id: str) -> RunRecord:
    """A kept run by its id or by a beginning of it that no other has. Raises BadInput with one sentence."""
    whole = full_run_id(id)
    with _reading() as base:
        found = base.execute("SELECT document FROM runs WHERE id = ?", (whole,)).fetchone() if base else None
        beside = _saved_calls(base, whole) if base else []
    if found is None:
        raise BadInput(_no_such_run(id))
    try:
        run = RunRecord.model_validate_json(zlib.decompress(found[0]))
        calls = tuple(CallRecord.model_validate_json(zlib.decompress(document)) for document in beside)
        return run.model_copy(update={"calls": calls}) if calls else run
    except (zlib.error, TypeError, ValidationError):
        raise BadInput(
            f"{paths.runs()}: run {whole} is damaged; remove it with `cwb list runs delete {whole}`."
        ) from None


def _saved_calls(base: sqlite3.Connection, id: str) -> list[Any]:
    """What was put down of a run that came to no end. A journal of an earlier version has no such table."""
    if not base.execute(_TABLE_EXISTS, ("calls",)).fetchone():
        return []
    return [document for (document,) in base.execute("SELECT document FROM calls WHERE run = ? ORDER BY number", (id,))]


def full_run_id(id: str) -> str:
    """The id that begins with `id`. Raises BadInput where none or several do."""
    with _reading() as base:
        ids: list[str] = (
            [name for (name,) in base.execute("SELECT id FROM runs WHERE typeof(id) = 'text'")] if base and id else []
        )
    found = [name for name in ids if name.startswith(id)]
    if id in found:
        return id
    if len(found) > 1:
        raise BadInput(f"{len(found)} runs begin with {id!r}; give more characters.")
    if not found:
        raise BadInput(_no_such_run(id))
    return found[0]


def delete_runs(ids: Sequence[str]) -> None:
    """Remove kept runs by their whole ids, all or none. Raises BadInput when one is not there."""
    known = {entry.id for entry in list_runs()}
    for id in ids:
        if id not in known:
            raise BadInput(_no_such_run(id))
    try:
        with _writing() as base:
            for of_ids in ("DELETE FROM runs WHERE id = ?", "DELETE FROM calls WHERE run = ?"):
                base.executemany(of_ids, [(id,) for id in ids])
    except (sqlite3.Error, OSError) as error:
        raise BadInput(f"Nothing was deleted: {_file_problem(error)}") from None


def _masked(record: M) -> M:
    return type(record).model_validate(masked_value(record.model_dump(mode="json")))


def _packed(record: BaseModel) -> bytes:
    return zlib.compress(json_of(record), 1)


def _row(run: RunRecord, sum_of: RunRecord) -> tuple[object, ...]:
    """A run as it is put down, with the figures of the calls in `sum_of`."""
    usage = sum_of.usage
    texts = (run.end, run.strategy, run.preset, run.summarizer, run.model, run.session, run.file, run.status)
    sent = usage.input + usage.cache_read + usage.cache_write
    figures = (len(sum_of.calls), sent, usage.output, run.dollars)
    return (run.id, run.began, run.seconds, *map(valid_unicode, texts), *figures, _packed(run))


@contextmanager
def _writing() -> Iterator[sqlite3.Connection]:
    """One transaction on the journal, which is made where it is missing. Raises sqlite3.Error and OSError."""
    file = paths.runs()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # SQLite would make it readable to others; its side files then get the mode of the file.
    os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    with closing(sqlite3.connect(file, timeout=BUSY_SECONDS, isolation_level=None)) as base:
        base.execute("PRAGMA secure_delete = ON")
        _prepare(base)
        base.execute("BEGIN IMMEDIATE")
        base.execute(_RUNS_SCHEMA)
        base.execute(_CALLS_SCHEMA)
        try:
            yield base
        except BaseException:
            base.rollback()
            raise
        base.commit()


def _prepare(base: sqlite3.Connection) -> None:
    """Readers and a writer at once. Where the file system cannot do that, or another is just doing it, so be it."""
    ((mode,),) = base.execute("PRAGMA journal_mode")
    if mode != "wal":
        try:
            base.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as busy:
            if "locked" not in str(busy):
                raise


@contextmanager
def _reading() -> Iterator[sqlite3.Connection | None]:
    """The journal, None where nothing was ever kept. Raises BadInput for one that cannot be read."""
    file = paths.runs()
    if not file.exists():
        yield None
        return
    try:
        with closing(_open_for_reading(file)) as base:
            yield base if base.execute(_TABLE_EXISTS, ("runs",)).fetchone() else None
    except (sqlite3.Error, OSError) as error:
        raise BadInput(_file_problem(error)) from None


def _open_for_reading(file: Path) -> sqlite3.Connection:
    """To be read only. SQLite makes a file beside it even for that; where it cannot, because the disk is full or the
    folder closed, a journal that nobody is writing to is read without. Raises sqlite3.Error."""
    base = sqlite3.connect(file, timeout=BUSY_SECONDS)
    try:
        base.execute(_TABLE_EXISTS, ("runs",))
    except sqlite3.OperationalError as error:
        base.close()
        log = file.with_name(f"{file.name}-wal")
        if error.sqlite_errorcode & 0xFF not in _NO_ROOM or (log.exists() and log.stat().st_size):
            raise
        return sqlite3.connect(f"{file.absolute().as_uri()}?immutable=1", uri=True)
    return base


def _file_problem(error: Exception) -> str:
    file = paths.runs()
    if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
        return f"{file} is not a run history or is damaged ({error}); move it away and a new one is created."
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"{file} cannot be used ({reason}); make room, close what holds it, or choose another data folder."


def _no_such_run(id: str) -> str:
    return f"There is no run {id!r}; `cwb list runs` lists them."
