"""Files that hold several sessions: choice of one session, and the warning that there are more."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from sqlite3 import Connection
from typing import ClassVar, Generic, TypeVar

from workbench.base.errors import BadInput
from workbench.base.figures import whole_number
from workbench.formats.format import Part, Progress, no_progress
from workbench.formats.kit.database import rows
from workbench.session import LoadWarning, Session

T = TypeVar("T")


class Numbered(ABC, Generic[T]):
    """Base reader of a file whose sessions have no ids and are chosen by number from 1.

    what: noun for one session. which: words for the session read by default, the first.
    """

    what: ClassVar[str] = "conversation"
    which: ClassVar[str] = "the first"

    def __init__(self, path: Path, data: bytes, progress: Progress) -> None:
        self.path = path
        self.data = data
        self.warnings: list[LoadWarning] = []
        self.entries = self.read_entries(progress)

    @abstractmethod
    def read_entries(self, progress: Progress) -> Sequence[T]:
        """Return the sessions' raw content, one entry each. Raises BadInput if there is none."""

    @abstractmethod
    def describe(self, entry: T) -> tuple[str, int]:
        """Return title and number of messages of a session."""

    @abstractmethod
    def session(self, entry: T) -> Session: ...

    @classmethod
    def sessions_in(cls, path: Path, data: bytes) -> tuple[Part, ...]:
        """Return the sessions in file order. Raises BadInput if there is none."""
        reader = cls(path, data, no_progress)
        return tuple(Part(str(n), *reader.describe(entry)) for n, entry in enumerate(reader.entries, 1))

    @classmethod
    def read(cls, path: Path, data: bytes, progress: Progress) -> Session:
        """Read the first session. Raises BadInput if there is none."""
        progress(0, len(data))
        reader = cls(path, data, progress)
        session = reader.session(reader.entries[0])
        progress(len(data), len(data))
        return one_of(len(reader.entries), cls.what, session, cls.which)

    @classmethod
    def read_part(cls, path: Path, data: bytes, part_id: str, progress: Progress) -> Session:
        """Read one session by its number. Raises BadInput if there is no such session."""
        progress(0, len(data))
        reader = cls(path, data, progress)
        session = reader.session(entry_by_number(path, reader.entries, part_id, cls.what))
        progress(len(data), len(data))
        return session


def entry_by_number(path: Path, found: Sequence[T], number: str, what: str = "conversation") -> T:
    """Return the entry of a number, from 1. Raises BadInput if there is none."""
    place = whole_number(number)
    if place is None or not 1 <= place <= len(found):
        raise BadInput(f"{path} has no {what} {number}; choose one of 1 to {len(found)}.")
    return found[place - 1]


def one_of(count: int, what: str, session: Session, which: str = "the first") -> Session:
    """Return the session, with a warning if its file holds more than one.

    what: noun for one session. which: words for the session that was read.
    """
    if count == 1:
        return session
    return replace(session, warnings=(LoadWarning(f"holds {count} {what}s; this is {which}"), *session.warnings))


def newest(path: Path, parts: Sequence[Part], what: str, read: Callable[[str], Session]) -> Session:
    """Read the first session of a database, whose parts are sorted newest first. Raises BadInput if it has none."""
    if not parts:
        raise BadInput(f"{path} has no {what} with a message; open another database.")
    return one_of(len(parts), what, read(parts[0].id), "the most recently used one")


def sessions_of(
    database: Connection,
    sessions: str,
    messages: str,
    changed: str,
    parent: str = "",
    titles: Sequence[str] = ("title",),
) -> tuple[Part, ...]:
    """Return the sessions of a database that have messages, newest first, sub-agents last.

    sessions, messages: table names; `messages` has a column `session_id`. changed, parent, titles: columns of
      `sessions`. Raises sqlite3.Error.
    """
    counts = dict(database.execute(f"SELECT session_id, COUNT(*) FROM {messages} GROUP BY session_id").fetchall())
    found = rows(database, f"SELECT * FROM {sessions} ORDER BY {changed} DESC, id DESC")
    found.sort(key=lambda row: bool(row.get(parent)))
    return tuple(
        Part(id, "sub-agent: " * bool(row.get(parent)) + str(next(filter(None, map(row.get, titles)), "")), counts[id])
        for row in found
        if isinstance(id := row.get("id"), str) and counts.get(id)
    )
