"""The class that readers of lines share."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from workbench.base.errors import BadInput
from workbench.formats.format import no_progress
from workbench.formats.kit.transcript import Transcript
from workbench.session import Compaction, LoadWarning, Message, Records, Session, Text


class _Reader(Transcript):
    """Lines that are a text each; `/compact` ends an epoch and takes the line before off the branch."""

    empty = "a diary without entries; open another one"

    def take(self, value: dict[str, Any], index: int, line: int) -> None:
        if value["say"] == "/compact":
            self.warn("compacted", line)
            self.copies = frozenset(self.sent[-1:])
            self.end_epoch(Compaction("manual"))
            self.sent = []
        else:
            id = self.unique_id("m")
            self.sent.append(self.add(Message(id, "user", (Text(value["say"]),), source=(index,))))

    def finish(self) -> None:
        self.window.tokens = 1000
        self.end_epoch()

    def session(self) -> Session:
        return self._session("diary", tuple(self.messages), branch=self.branch_without({1}), title="Diary")


def _read(*texts: str) -> Session:
    lines = "".join(f'{{"say": "{text}"}}\n' for text in texts)
    return _Reader.read(Path("diary.jsonl"), lines.encode(), no_progress)


def test_session_holds_messages_branch_epochs_and_warnings() -> None:
    session = _read("one", "two", "/compact", "three")
    assert [(message.id, message.text, message.source) for message in session.messages] == [
        ("m", "one", (0,)),
        ("m'2", "two", (1,)),
        ("m'3", "three", (3,)),
    ]
    assert list(session.branch) == [0, 2]
    first, last = session.epochs
    assert (first.number, list(first.members), first.ended_by, first.copies) == (
        1,
        [0, 1],
        Compaction("manual"),
        frozenset({1}),
    )
    assert (last.number, list(last.members), last.ended_by, last.window) == (2, [2], None, 1000)
    assert session.warnings == (LoadWarning("compacted", 3),)
    assert len(session.records) == 4
    assert session.title == "Diary"


def test_an_odd_line_is_warned_of_and_not_taken() -> None:
    session = _Reader.read(Path("diary.jsonl"), b'{"say": "one"}\n[]\n', no_progress)
    assert session.warnings == (LoadWarning("not a JSON object; kept in the file, not shown", 2),)


def test_a_file_without_messages_is_refused() -> None:
    with pytest.raises(BadInput) as refused:
        _read()
    assert str(refused.value) == "diary.jsonl is a diary without entries; open another one."


def test_a_reader_begins_with_nothing() -> None:
    records = Records(b"")
    reader = _Reader(Path("diary.jsonl"), records)
    assert (reader.path, reader.records) == (Path("diary.jsonl"), records)
    assert (reader.messages, reader.sent, reader.epochs, reader.warnings, reader.errors) == ([], [], [], [], [])
    assert (reader.copies, reader.model, reader.title, reader.window.tokens) == (frozenset(), None, "", None)
    assert reader.unknown == Counter()
    assert [reader.branch_without(removed) for removed in ((), {0})] == [range(0), []]


def test_a_session_holds_the_file_and_each_epoch_its_copies() -> None:
    done, first = list[tuple[int, int]](), frozenset([0])
    data = b'{"say": "one"}\n{"say": "/compact"}\n{"say": "two"}\n'
    session = _Reader.read(Path("diary.jsonl"), data, lambda at, size: done.append((at, size)))
    assert (session.format, session.path, session.records.data) == ("diary", Path("diary.jsonl"), data)
    assert [(epoch.copies, epoch.window) for epoch in session.epochs] == [(first, None), (first, 1000)]
    assert done == [(0, len(data)), (len(data), len(data))]
    assert session.branch == [0]
