"""The order in which a new file of lines is written, and a chain of copied lines."""

from __future__ import annotations

from pathlib import Path

from workbench.formats.kit.line_writer import ChainWriter
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
