"""What a format is shown of a file: whatever its size, found when it is asked for, and nothing touched."""

from __future__ import annotations

import io
import json
import sqlite3
import weakref
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import zstandard

from tests.paths import SAMPLES
from workbench.formats import anthropic_messages, look, openai_chat, openai_responses, openhands, registry
from workbench.formats.files import gc_paused, load, look_at
from workbench.formats.kit.jsonl import Record, records_of
from workbench.formats.look import DECODED, FIRST, HEAD, LONE, Look

PROMPT = "You are careful. " * 10_000
"""A system prompt that alone is longer than the head."""
SAID = {"role": "user", "content": "hi"}


def encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize(
    ("document", "known"),
    [
        ({"instructions": PROMPT, "model": "m", "input": [SAID]}, openai_responses.FORMAT),
        (
            {"model": "claude-x", "system": PROMPT, "messages": [{"role": "user", "content": "hi"}]},
            anthropic_messages.FORMAT,
        ),
        (
            {"tools": [{"function": {"description": PROMPT}}], "messages": [{"role": "user", "content": ""}]},
            openai_chat.FORMAT,
        ),
        (
            [
                {"id": 0, "source": "agent", "action": "system", "args": {"content": PROMPT}, "x": PROMPT},
                {"args": {"content": PROMPT}, "id": 1, "source": "user", "action": "message"},
            ],
            openhands.FORMAT,
        ),
    ],
    ids=["responses", "anthropic", "chat", "openhands"],
)
def test_a_document_is_known_by_keys_that_stand_behind_a_long_prompt(document: Any, known: Any, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(encoded(document))
    assert registry.detect(look_at(tmp_path / "a.json"))[0] is known
    assert len(load(tmp_path / "a.json").messages) >= 1


def test_a_key_at_the_end_of_a_long_document_tells_whose_it_is() -> None:
    body = {
        "messages": [{"role": "user", "content": [{"type": "text", "text": PROMPT}]}],
        "model": "claude",
        "max_tokens": 1,
    }
    assert anthropic_messages.FORMAT.recognise(Look.of(encoded(body)))
    assert not anthropic_messages.FORMAT.recognise(Look.of(encoded({**body, "sessionId": "s"})))


def test_lines_are_shown_and_a_long_one_by_its_outline() -> None:
    lines = [{"n": 1}, {"text": PROMPT, "n": 2}, {"n": 3}]
    look = Look.of(b"\n".join(map(encoded, lines)))
    assert look.document is None
    assert [record.value["n"] for record in look.records] == [1, 2]
    assert [record.line for record in look.records] == [1, 2]
    assert look.first == {"n": 1}
    first = Look.of(b"\n".join(map(encoded, lines[1:])))
    assert (first.document, first.first["n"], len(first.records)) == (None, 2, 1)


def test_a_look_is_gone_with_the_last_that_holds_it() -> None:
    """And with it the whole file: while a session is read no garbage is collected."""
    lines = b'{"type":"user"}\n' * (FIRST + 1)
    with gc_paused():
        asked = Look.of(lines)
        assert asked.records[0].value == {"type": "user"}
        assert asked.document is None
        gone = weakref.ref(asked)
        del asked
        assert gone() is None


def test_no_line_is_decoded_that_nobody_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[int] = []

    def counting(data: bytes, end: int | None = None) -> Iterator[Record]:
        for record in records_of(data, end):
            decoded.append(record.line)
            yield record

    monkeypatch.setattr(look, "records_of", counting)
    shown = Look.of(b'{"a":1}\n{"a":2}\n{"a":3}\n').records
    assert (shown[0].value, decoded) == ({"a": 1}, [1])
    assert ([record.line for record in shown[:2]], decoded) == ([1, 2], [1, 2])
    assert (shown[-1].value, len(shown), decoded) == ({"a": 3}, 3, [1, 2, 3])


@pytest.mark.parametrize("lines", [FIRST - 1, FIRST, FIRST + 1])
def test_so_many_lines_are_shown(lines: int) -> None:
    assert len(Look.of(b'{"a":1}\n' * lines).records) == min(lines, FIRST)


@pytest.mark.parametrize("lines", [LONE, LONE + 1])
def test_a_line_that_the_head_cuts_off_is_shown_behind_few_others(lines: int) -> None:
    look = Look.of(b'{"a":1}\n' * lines + encoded({"text": PROMPT, "a": 2}))
    assert [record.value["a"] for record in look.records] == [1] * lines + [2] * (lines <= LONE)


@pytest.mark.parametrize("spare", [0, -1])
def test_a_document_that_is_too_large_to_decode_is_outlined(spare: int) -> None:
    long = {"long": [0] * 1_000_000, "last": ""}
    long["last"] = "x" * (DECODED - len(orjson.dumps(long)) - spare)
    data = orjson.dumps(long)
    assert len(data) == DECODED - spare
    found = Look.of(data).document
    assert [*found] == ["long", "last"]
    assert (len(found["long"]) == 1_000_000) is (spare == 0)


def test_one_document_on_one_line_is_its_first_record_too() -> None:
    for document in ({"a": 1}, {"text": PROMPT, "a": 1}):
        look = Look.of(encoded(document) + b"\n")
        assert look.document["a"] == look.first["a"] == look.records[0].value["a"] == 1


def test_of_a_file_no_more_is_read_than_is_asked_for(tmp_path: Path) -> None:
    read: list[int] = []

    def look(data: bytes) -> Look:
        read.clear()
        return Look(data[:HEAD], lambda: read.append(len(data)) or data)

    for data in (encoded({"a": 1}), b'{"a":1}\n' * 60 + b"x" * HEAD):
        given = look(data)
        assert given.records[0].value == given.first == {"a": 1}
        assert given.document is None or len(data) < HEAD
        assert read == []
    given = look(encoded({"text": PROMPT, "b": 1}))
    for _ in range(2):
        assert given.document["b"] == 1
        assert given.records
    assert len(read) == 1


def database(path: Path, *, logged: bool) -> sqlite3.Connection:
    base = sqlite3.connect(path)
    if logged:
        base.execute("PRAGMA journal_mode = WAL")
    base.execute("CREATE TABLE notes (id, body)")
    base.execute("CREATE TABLE 'odd name' (a)")
    base.commit()
    return base


@pytest.mark.parametrize("logged", [False, True])
def test_a_database_is_asked_for_its_tables_and_not_touched(tmp_path: Path, logged: bool) -> None:
    path = tmp_path / "a.db"
    base = database(path, logged=logged)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert len(before) == (3 if logged else 1)
    assert look_at(path).tables == {"notes": {"id", "body"}, "odd name": {"a"}}
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    base.close()


def test_a_database_in_bytes_has_its_tables_and_a_damaged_one_has_none(tmp_path: Path) -> None:
    database(tmp_path / "a.db", logged=False).close()
    data = (tmp_path / "a.db").read_bytes()
    assert Look.of(data).tables["notes"] == {"id", "body"}
    assert Look.of(data[:100] + bytes(4000)).tables == {}
    assert Look.of(b"SQLite format 2\x00").tables == {}


def test_an_archive_is_shown_by_its_names_even_an_unfinished_one(tmp_path: Path) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("a/one.json", "{}")
        archive.writestr("two.txt", "x")
    data = made.getvalue()
    assert Look.of(data).members == ("a/one.json", "two.txt")
    assert Look.of(data[: data.index(b"PK\x01\x02")]).members == ("a/one.json", "two.txt")
    assert Look.of(b"PK").members == ()


def test_what_is_compressed_is_shown_by_what_is_in_it() -> None:
    inner = Look.of(zstandard.compress(b'{"a":1}\n')).unpacked
    assert inner is not None
    assert inner.first == {"a": 1}
    assert Look.of(b"\x28\xb5\x2f\xfd" + bytes(50)).unpacked is None
    assert Look.of(b"{}").unpacked is None


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.iterdir() if path.name != "README.md"))
def test_a_sample_is_taken_alike_by_its_head_and_by_the_whole(name: str) -> None:
    data = (SAMPLES / name).read_bytes()
    assert registry.detect(Look.of(data))[0] is registry.detect(Look.of(data[:HEAD]))[0]
