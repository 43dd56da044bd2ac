"""Files with several sessions: which one is read, and what the file is refused with."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from workbench.base.errors import BadInput
from workbench.formats.format import Part, Progress
from workbench.formats.kit.several import Numbered, entry_by_number, newest, one_of, sessions_of
from workbench.session import LoadWarning, Message, Records, Session, Text

HERE = Path("notes.txt")


class Notes(Numbered[str]):
    """Each line is a session."""

    what = "note"
    which = "the top one"

    def read_entries(self, progress: Progress) -> Sequence[str]:
        progress(1, len(self.data))
        self.warnings.append(LoadWarning("has notes"))
        return self.data.decode().split("\n")

    def describe(self, entry: str) -> tuple[str, int]:
        return entry.title(), len(entry)

    def session(self, entry: str) -> Session:
        message = Message("m", "user", (Text(entry),))
        return Session("notes", self.path, (message,), Records(self.data), warnings=tuple(self.warnings))


def told(session: Session) -> tuple[str, list[str]]:
    return session.messages[0].text, [warning.text for warning in session.warnings]


def test_sessions_have_numbers_from_one() -> None:
    assert Notes.sessions_in(HERE, b"one\nfour") == (Part("1", "One", 3), Part("2", "Four", 4))


@pytest.mark.parametrize(
    ("data", "warnings"),
    [(b"one", ["has notes"]), (b"one\ntwo", ["holds 2 notes; this is the top one", "has notes"])],
)
def test_the_first_is_read_and_others_are_told(data: bytes, warnings: list[str]) -> None:
    done: list[tuple[int, int]] = []
    session = Notes.read(HERE, data, lambda at, size: done.append((at, size)))
    assert (told(session), session.path) == (("one", warnings), HERE)
    assert done == [(0, len(data)), (1, len(data)), (len(data), len(data))]


def test_one_is_read_by_its_number() -> None:
    done: list[tuple[int, int]] = []
    session = Notes.read_part(HERE, b"one\ntwo", "2", lambda at, size: done.append((at, size)))
    assert told(session) == ("two", ["has notes"])
    assert done == [(0, 7), (1, 7), (7, 7)]


@pytest.mark.parametrize("number", ["0", "3", "-1", "x", "", "1.0"])
def test_a_number_that_no_session_has_is_refused(number: str) -> None:
    with pytest.raises(BadInput) as raised:
        Notes.read_part(HERE, b"one\ntwo", number, lambda at, size: None)
    assert str(raised.value) == f"notes.txt has no note {number}; choose one of 1 to 2."
    with pytest.raises(BadInput, match=r"^notes\.txt has no conversation 3; choose one of 1 to 2\.$"):
        entry_by_number(HERE, "ab", "3")
    assert [entry_by_number(HERE, "ab", number) for number in "12"] == ["a", "b"]


def test_a_session_among_others_has_a_warning_before_its_own() -> None:
    session = Session("f", HERE, (), Records(b""), warnings=(LoadWarning("own"),))
    assert one_of(1, "chat", session) is session
    assert [warning.text for warning in one_of(2, "chat", session).warnings] == [
        "holds 2 chats; this is the first",
        "own",
    ]


def test_of_a_database_the_newest_is_read() -> None:
    parts = (Part("b", "", 1), Part("a", "", 1))
    session = newest(HERE, parts, "chat", lambda id: Session("f", Path(id), (), Records(b"")))
    assert session.path == Path("b")
    assert [warning.text for warning in session.warnings] == ["holds 2 chats; this is the most recently used one"]
    with pytest.raises(BadInput, match=r"^notes\.txt has no chat with a message; open another database\.$"):
        newest(HERE, (), "chat", lambda id: session)


def test_sessions_of_a_database_are_listed_newest_first_and_sub_agents_last() -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE chats (id, title, name, changed, parent)")
        database.execute("CREATE TABLE said (session_id)")
        chats = [
            ("a", "One", None, 1, None),
            ("b", "", "Two", 3, ""),
            ("c", None, None, 3, None),
            ("d", "Sub", "x", 9, "a"),
            ("empty", "None", None, 5, None),
            (7, "Seven", None, 6, None),
        ]
        database.executemany("INSERT INTO chats VALUES (?, ?, ?, ?, ?)", chats)
        database.executemany("INSERT INTO said VALUES (?)", [(id,) for id in "aabcd"])
        database.execute("INSERT INTO said VALUES (7)")
        assert sessions_of(database, "chats", "said", "changed", "parent", ("title", "name")) == (
            Part("c", "", 1),
            Part("b", "Two", 1),
            Part("a", "One", 2),
            Part("d", "sub-agent: Sub", 1),
        )
        assert [part.id for part in sessions_of(database, "chats", "said", "changed")] == ["d", "c", "b", "a"]
        assert [part.title for part in sessions_of(database, "chats", "said", "id")] == ["Sub", "", "", "One"]
