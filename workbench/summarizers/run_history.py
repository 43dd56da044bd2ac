"""Run history: the saved run records, in one SQLite file in the user's data folder.

Several processes may use it at once. A problem with it may lose a record but never a run: `save_run` returns the
problem as a sentence and does not raise for a full disk or a damaged file. Requests hold session content with secrets
masked, so only the owner can read the file, and deleted content is overwritten.

During a run each answer is saved by itself (`save_call`) without its request, because masking long requests takes
seconds and an answer has been paid for. At its end the complete record replaces it (`save_run`).
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
"""Seconds to wait for another process that is writing."""

_COLUMNS = (
    "id, began, seconds, end, strategy, preset, summarizer, model, session, file, status, calls, input, output, dollars"
)

_FIGURES = ("began", "seconds", "calls", "input", "output")


def _typed_column(column: str) -> str:
    """Return SQL that reads a column; values of a wrong type, which another program may have written, become empty."""
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
"""Answers of runs that are in progress or were killed."""

_TABLE_EXISTS = "SELECT 1 FROM sqlite_master WHERE name = ?"

_STORAGE_ERRORS = (sqlite3.Error, OSError, ValueError, OverflowError)

_NO_ROOM = frozenset([sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY])

_SAVE_RUN = (
    f"INSERT INTO runs ({_COLUMNS}, document) VALUES ({', '.join('?' * 16)}) ON CONFLICT (id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in f"{_COLUMNS}, document".split(", ")[1:])
    + " WHERE runs.end = 'cancelled'"
)
"""Statement that never overwrites the record of a finished run."""

_ADD_CALL = (
    f"INSERT INTO runs ({_COLUMNS}, document) VALUES ({', '.join('?' * 16)}) ON CONFLICT (id) DO UPDATE SET "
    "seconds = max(seconds, excluded.seconds), calls = calls + excluded.calls, input = input + excluded.input, "
    "output = output + excluded.output, dollars = dollars + excluded.dollars "
    "WHERE calls = (SELECT count(*) FROM calls WHERE run = runs.id)"
)
"""Statement that adds an answer to the record of a run in progress. A complete record already contains it."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run record in the list, without its requests. Tokens are recorded usage, all calls together."""

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
    """Save a run record in place of its unfinished one. Returns the problem, or "". Never raises, because the run
    itself is done."""
    try:
        run = _masked(run)
        with _open_transaction() as database:
            written = database.execute(_SAVE_RUN, _row(run, run)).rowcount
            if written:
                database.execute("DELETE FROM calls WHERE run = ?", (run.id,))
    except _STORAGE_ERRORS as error:
        return f"The run was not saved: {_file_problem(error)}"
    return "" if written else f"The run was not saved: there is a run {run.id} already."


def save_call(unfinished: RunRecord, number: int, call: CallRecord) -> str:
    """Save the answer to request `number` of a run in progress; `unfinished` is its record without calls. Returns the
    problem, or "" if it was saved or the complete record exists. Never raises."""
    try:
        unfinished, call = _masked(unfinished), _masked(call)
        with _open_transaction() as database:
            if database.execute(_ADD_CALL, _row(unfinished, unfinished.model_copy(update={"calls": (call,)}))).rowcount:
                database.execute(
                    "INSERT INTO calls VALUES (?, ?, ?)", (unfinished.id, number, _compressed_record(call))
                )
    except _STORAGE_ERRORS as error:
        return f"The answer was not saved: {_file_problem(error)}"
    return ""


def list_runs(limit: int | None = None) -> tuple[RunRow, ...]:
    """Return the newest `limit` runs, newest first. Raises BadInput for an unreadable history."""
    with _open_or_none() as database:
        return (
            tuple(RunRow(*row) for row in database.execute(_SELECT_ROWS, (-1 if limit is None else limit,)))
            if database
            else ()
        )


def load_run(id: str) -> RunRecord:
    """Load a run record by its id or a unique beginning of it. Raises BadInput with one sentence."""
    whole = full_run_id(id)
    with _open_or_none() as database:
        found = database.execute("SELECT document FROM runs WHERE id = ?", (whole,)).fetchone() if database else None
        saved = _saved_calls(database, whole) if database else []
    if found is None:
        raise BadInput(_no_such_run(id))
    try:
        run = RunRecord.model_validate_json(zlib.decompress(found[0]))
        calls = tuple(CallRecord.model_validate_json(zlib.decompress(document)) for document in saved)
        return run.model_copy(update={"calls": calls}) if calls else run
    except (zlib.error, TypeError, ValidationError):
        raise BadInput(
            f"{paths.runs()}: run {whole} is damaged; remove it with `cwb list runs delete {whole}`."
        ) from None


def _saved_calls(database: sqlite3.Connection, id: str) -> list[Any]:
    """Return the answers saved of an unfinished run. A history of an earlier version lacks the table."""
    if not database.execute(_TABLE_EXISTS, ("calls",)).fetchone():
        return []
    return [
        document for (document,) in database.execute("SELECT document FROM calls WHERE run = ? ORDER BY number", (id,))
    ]


def full_run_id(id: str) -> str:
    """Return the id that begins with `id`. Raises BadInput if none or several do."""
    with _open_or_none() as database:
        ids: list[str] = (
            [name for (name,) in database.execute("SELECT id FROM runs WHERE typeof(id) = 'text'")]
            if database and id
            else []
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
    """Delete run records by their complete ids, all or none. Raises BadInput if one is missing."""
    known = {entry.id for entry in list_runs()}
    for id in ids:
        if id not in known:
            raise BadInput(_no_such_run(id))
    try:
        with _open_transaction() as database:
            for statement in ("DELETE FROM runs WHERE id = ?", "DELETE FROM calls WHERE run = ?"):
                database.executemany(statement, [(id,) for id in ids])
    except (sqlite3.Error, OSError) as error:
        raise BadInput(f"Nothing was deleted: {_file_problem(error)}") from None


def _masked(record: M) -> M:
    return type(record).model_validate(masked_value(record.model_dump(mode="json")))


def _compressed_record(record: BaseModel) -> bytes:
    return zlib.compress(json_of(record), 1)


def _row(run: RunRecord, sum_of: RunRecord) -> tuple[object, ...]:
    """Return the row of a run, with the usage of the calls in `sum_of`."""
    usage = sum_of.usage
    texts = (run.end, run.strategy, run.preset, run.summarizer, run.model, run.session, run.file, run.status)
    sent = usage.input + usage.cache_read + usage.cache_write
    figures = (len(sum_of.calls), sent, usage.output, run.dollars)
    return (run.id, run.began, run.seconds, *map(valid_unicode, texts), *figures, _compressed_record(run))


@contextmanager
def _open_transaction() -> Iterator[sqlite3.Connection]:
    """Open a transaction, creating the file if it is missing. Raises sqlite3.Error and OSError."""
    file = paths.runs()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # SQLite would make it readable by others; its side files get the mode of this file.
    os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    with closing(sqlite3.connect(file, timeout=BUSY_SECONDS, isolation_level=None)) as database:
        database.execute("PRAGMA secure_delete = ON")
        _enable_concurrent_reads(database)
        database.execute("BEGIN IMMEDIATE")
        database.execute(_RUNS_SCHEMA)
        database.execute(_CALLS_SCHEMA)
        try:
            yield database
        except BaseException:
            database.rollback()
            raise
        database.commit()


def _enable_concurrent_reads(database: sqlite3.Connection) -> None:
    """Enable readers during a write. Skipped while another process holds a lock; not every file system supports it."""
    ((mode,),) = database.execute("PRAGMA journal_mode")
    if mode != "wal":
        try:
            database.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as busy:
            if "locked" not in str(busy):
                raise


@contextmanager
def _open_or_none() -> Iterator[sqlite3.Connection | None]:
    """Open the history, or None if nothing was ever saved. Raises BadInput if it is unreadable."""
    file = paths.runs()
    if not file.exists():
        yield None
        return
    try:
        with closing(_open_for_reading(file)) as database:
            yield database if database.execute(_TABLE_EXISTS, ("runs",)).fetchone() else None
    except (sqlite3.Error, OSError) as error:
        raise BadInput(_file_problem(error)) from None


def _open_for_reading(file: Path) -> sqlite3.Connection:
    """Open the file for reading. SQLite creates a side file even then. If it cannot (full disk, read-only folder) and
    nobody is writing, the file is opened as immutable. Raises sqlite3.Error."""
    database = sqlite3.connect(file, timeout=BUSY_SECONDS)
    try:
        database.execute(_TABLE_EXISTS, ("runs",))
    except sqlite3.OperationalError as error:
        database.close()
        log = file.with_name(f"{file.name}-wal")
        if error.sqlite_errorcode & 0xFF not in _NO_ROOM or (log.exists() and log.stat().st_size):
            raise
        return sqlite3.connect(f"{file.absolute().as_uri()}?immutable=1", uri=True)
    return database


def _file_problem(error: Exception) -> str:
    file = paths.runs()
    if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
        return f"{file} is not a run history or is damaged ({error}); move it away and a new one is created."
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"{file} cannot be used ({reason}); make room, close what holds it, or choose another data folder."


def _no_such_run(id: str) -> str:
    return f"There is no run {id!r}; `cwb list runs` lists them."
