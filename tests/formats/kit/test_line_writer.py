"""The order in which a new file of lines is written, and a chain of copied lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.formats.kit.line_writer import ChainWriter, tail_of, usage_reset
from workbench.session import Message, Records, Session


class _Writer(ChainWriter):
    """Writes what it is asked to write."""

    def __init__(self, session: Session, *ids: str) -> None:
        super().__init__(session, own=True)
        self.free = iter(ids)
        self.order: list[tuple[str, object]] = []

    def make_id(self) -> str:
        return next(self.free)

    def keep(self, message: Message, record: int) -> None:
        self.order.append(("keep", record))

    def make(self, message: Message) -> None:
        self.order.append(("make", message.id))

    def show(self, message: Message) -> None:
        self.order.append(("show", message.id))


class _Order(_Writer):
    def copy(self, record: int, changes: object = None) -> None:
        self.order.append(("copy", record))


def message(*source: int) -> Message:
    return Message("m", "user", (), source=source)


def test_other_records_stand_among_the_kept_messages_of_the_tail_as_they_did() -> None:
    messages = [message(9), message(), message(4, 6), message(8)]
    writer = _Order(Session("f", Path(), (), Records(b"")))
    writer.write_messages(messages, 2, [3, 5, 7, 10])
    assert writer.order == [
        ("keep", 9),
        ("show", "m"),
        ("make", "m"),
        ("copy", 3),
        ("keep", 4),
        ("copy", 5),
        ("keep", 6),
        ("copy", 7),
        ("keep", 8),
        ("copy", 10),
    ]


def test_a_copied_line_names_the_one_before_and_gets_an_id_where_its_own_is_taken() -> None:
    data = b'{"id":"a","parentId":"x","n":1.0}\n'
    records = Records(data)
    records.add(0, len(data) - 1, 1)
    writer = _Writer(Session("f", Path(), (), records), "a", "b")
    writer.copy(0)
    writer.copy(0, {"n": b"2"})
    assert writer.data == b'{"id":"a","parentId":null,"n":1.0}\n{"id":"b","parentId":"a","n":2}\n'


@pytest.mark.parametrize("id", ["5", "null", '""', '["a"]'])
def test_a_copied_line_without_a_usable_id_gets_one(id: str) -> None:
    data = f'{{"id":{id},"parentId":null}}'.encode()
    records = Records(data)
    records.add(0, len(data), 1)
    writer = _Writer(Session("f", Path(), (), records), "a", "a", "b")
    writer.copy(0)
    writer.copy(0)
    assert writer.data == b'{"id":"a","parentId":null}\n{"id":"b","parentId":"a"}\n'
    assert (writer.parent, writer.ids, writer.new_id.__name__) == ("b", {"a", "b"}, "new_id")


def test_a_linked_line_is_the_parent_of_the_next() -> None:
    writer = _Writer(Session("f", Path(), (), Records(b"")), "y")
    writer.link(b'{"id":"x"}', "x")
    assert (writer.lines, writer.parent, writer.ids, writer.new_id()) == ([b'{"id":"x"}'], "x", {"x"}, "y")


@pytest.mark.parametrize(("own", "source", "copied"), [(True, (1,), True), (True, (), False), (False, (1,), False)])
def test_only_messages_of_the_own_format_with_records_are_copied(
    own: bool, source: tuple[int, ...], copied: bool
) -> None:
    writer = _Writer(Session("f", Path(), (), Records(b"")))
    writer.own = own
    assert writer.is_copied(message(*source)) is copied


def test_messages_that_are_made_do_not_advance_the_other_records() -> None:
    writer = _Order(Session("f", Path(), (), Records(b"")))
    writer.write_messages([message(1), message(), message(3)], 0, [2, 3, 4])
    assert writer.order == [
        ("keep", 1),
        ("make", "m"),
        ("copy", 2),
        ("keep", 3),
        ("copy", 3),
        ("copy", 4),
    ]


@pytest.mark.parametrize(
    ("sources", "start"),
    [
        ([], 0),
        ([(1,)], 0),
        ([()], 1),
        ([(1,), (), (2,), (3,)], 2),
        ([(1,), (2,), ()], 3),
        ([(5,), (2,), (3,)], 1),
        ([(2,), (2,), (3,)], 0),
        ([(1, 9), (2,)], 0),
    ],
)
def test_the_tail_is_the_unbroken_run_of_kept_messages_in_file_order(
    sources: list[tuple[int, ...]], start: int
) -> None:
    assert tail_of([message(*source) for source in sources]) == start


@pytest.mark.parametrize(
    ("raw", "change"),
    [
        (b'{"message": {"usage": {"in": 5, "x": 1}, "a": 2}}', b'{"usage": {"in": 0, "x": 1}, "a": 2}'),
        (b'{"message": {"usage": {}}}', b'{"usage": {"in":0}}'),
        (b'{"message": {"usage": null}}', None),
        (b'{"message": {"a": 2}}', None),
        (b'{"message": [1]}', None),
        (b'{"message": "{"}', None),
        (b'{"a": 1}', None),
    ],
)
def test_the_usage_of_a_record_is_set_to_zero(raw: bytes, change: bytes | None) -> None:
    assert usage_reset(raw, {"in": b"0"}) == ({} if change is None else {"message": change})


def test_a_copied_line_keeps_its_own_id() -> None:
    data = b'{"id":"own","parentId":"x"}'
    records = Records(data)
    records.add(0, len(data), 1)
    writer = _Writer(Session("f", Path(), (), records), "new")
    writer.copy(0)
    assert (writer.data, writer.losses) == (b'{"id":"own","parentId":null}\n', [])


def test_each_record_of_a_kept_message_is_copied_with_it() -> None:
    kept: list[tuple[str, int]] = []

    class Keeper(_Order):
        def keep(self, message: Message, record: int) -> None:
            kept.append((message.id, record))

    Keeper(Session("f", Path(), (), Records(b""))).write_messages([message(1, 2)], 0, [])
    assert kept == [("m", 1), ("m", 2)]
