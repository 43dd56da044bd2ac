"""The order in which a new file of lines is written, and a chain of copied lines."""

from __future__ import annotations

from pathlib import Path

from workbench.formats.kit.chain import Chain, in_file_order
from workbench.session import Message, Records, Session


def message(*source: int) -> Message:
    return Message("m", "user", (), source=source)


def test_other_records_stand_among_the_kept_messages_of_the_tail_as_they_did() -> None:
    messages = [message(2), message(), message(4, 6), message(8)]
    order = in_file_order(messages, lambda one: bool(one.source), 2, [3, 5, 7, 9])
    assert [*order] == [(0, 2), (1, -1), (-1, 3), (2, 4), (-1, 5), (2, 6), (-1, 7), (3, 8), (-1, 9)]


def test_a_copied_line_names_the_one_before_and_gets_an_id_where_its_own_is_taken() -> None:
    data = b'{"id":"a","parentId":"x","n":1.0}\n'
    records = Records(data)
    records.add(0, len(data) - 1, 1)
    ids = iter(("a", "b"))
    chain = Chain(Session("f", Path(), (), records), True, lambda: next(ids))
    chain.copy(0)
    chain.copy(0, {"n": b"2"})
    assert chain.data == b'{"id":"a","parentId":null,"n":1.0}\n{"id":"b","parentId":"a","n":2}\n'
