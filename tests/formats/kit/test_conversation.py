"""Documents with a list of messages: what is wrong with them, and the title."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.base.errors import BadInput
from workbench.formats.format import Part, no_progress
from workbench.formats.kit.conversation import Document, MultiSessionDocument
from workbench.session import Message, Opaque, Session, Text


class Notes(Document):
    format = "notes"
    needs = "has no notes; open another file"

    def session(self) -> Session:
        items = self.items(self.body.get("notes"))
        messages = [
            Message(self.unique_id("n"), "user", (Text(item["said"]),))
            if isinstance(item, dict)
            else self.not_an_object(index, item, "note")
            for index, item in enumerate(items)
        ]
        return self._session(messages, self.body.get("title"))


def _read(value: Any) -> Session:
    return Notes.read(Path("notes.json"), json.dumps(value).encode(), no_progress)


def test_a_document_without_the_list_is_refused_with_what_to_open() -> None:
    with pytest.raises(BadInput, match=r"notes\.json: has no notes; open another file\.$"):
        _read({"notes": 5})


def test_an_item_that_is_no_object_is_shown_unchanged_with_a_warning() -> None:
    session = _read({"notes": [{"said": "one"}, 7, {"said": "two"}]})
    assert len({message.id for message in session.messages}) == 3
    assert session.messages[1].blocks == (Opaque("int", 7),)
    assert session.messages[1].source == (1,)
    assert [warning.text for warning in session.warnings] == ["note 2 is not an object; shown unchanged"]


@pytest.mark.parametrize(("title", "shown"), [(None, "one"), ("", ""), ("Own", "Own")])
def test_a_session_without_a_title_is_titled_by_its_first_words(title: str | None, shown: str) -> None:
    assert _read({"notes": [{"said": "one"}], "title": title}).title == shown


def test_a_session_holds_the_file_its_messages_and_its_warnings() -> None:
    data, done = b'\xef\xbb\xbf{"notes": [{"said": "one"}, {"said": "two"}]}', list[tuple[int, int]]()
    session = Notes.read(Path("notes.json"), data, lambda at, size: done.append((at, size)))
    assert (session.format, session.path, session.records.data) == ("notes", Path("notes.json"), data)
    assert [message.id for message in session.messages] == ["n", "n'2"]
    assert [warning.text for warning in session.warnings] == ["begins with a byte order mark, which was skipped"]
    assert done == [(0, len(data)), (len(data), len(data))]


def test_an_item_that_is_no_object_is_a_message_of_its_own() -> None:
    reader = Notes(Path("notes.json"), b"[7]")
    assert (reader.document, reader.body, reader.data) == ([7], {}, b"[7]")
    assert reader.not_an_object(0, None) == Message("m1", "user", (Opaque("NoneType", None),), "meta", source=(0,))
    assert reader.not_an_object(4, "a", "entry", "own") == Message(
        "own", "user", (Opaque("str", "a"),), "meta", source=(4,)
    )
    assert [warning.text for warning in reader.warnings] == [
        "message 1 is not an object; shown unchanged",
        "entry 5 is not an object; shown unchanged",
    ]
    assert str(reader.lacking()) == "notes.json: has no notes; open another file."


class Books(MultiSessionDocument):
    """A session for each key."""

    format = "books"
    needs = "has no books; open another file"
    what = "book"

    def parts(self) -> list[Part]:
        return [Part(id, id.title(), len(words)) for id, words in self.body.items()]

    def part(self, id: str) -> Session:
        return self._session([Message("m", "user", (Text(self.body[id]),))], id, id=id)

    def session(self) -> Session:
        return self.part(next(iter(self.body)))


BOOKS = b'{"a": "one", "b": "three"}'
SHELF = Path("shelf.json")


def test_several_sessions_are_listed_and_one_is_not() -> None:
    assert Books.sessions_in(SHELF, BOOKS) == (Part("a", "A", 3), Part("b", "B", 5))
    assert Books.sessions_in(SHELF, b'{"a": "one"}') == ()


def test_one_of_several_is_read_by_its_id() -> None:
    done: list[tuple[int, int]] = []
    session = Books.read_part(SHELF, BOOKS, "b", lambda at, size: done.append((at, size)))
    assert (session.id, session.title, session.messages[0].text, session.path) == ("b", "b", "three", SHELF)
    assert session.records.data == BOOKS
    assert done == [(0, len(BOOKS)), (len(BOOKS), len(BOOKS))]
    with pytest.raises(BadInput) as raised:
        Books.read_part(SHELF, BOOKS, "c", no_progress)
    assert str(raised.value) == "shelf.json has no book 'c'; choose a listed one."
