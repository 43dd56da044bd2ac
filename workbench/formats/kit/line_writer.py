"""Base classes of writers of JSON lines: order of records, and chains in which each line names the one before.

Kept records are copied byte for byte, except for their link to the previous record.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from workbench.formats.kit.document import render
from workbench.formats.kit.json_spans import field_of, replace_fields
from workbench.formats.kit.jsonl import loads
from workbench.formats.loss import Losses
from workbench.session import Message, Session


class LineWriter(ABC):
    """The file while it is written; each format has a subclass. `own`: the session already has the format to write."""

    def __init__(self, session: Session, *, own: bool) -> None:
        self.session, self.own = session, own
        self.lines: list[bytes] = []
        self.losses: Losses = []

    @property
    def data(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)

    def write_messages(self, messages: Sequence[Message], tail: int, others: Iterable[int]) -> None:
        """Write messages. `others` are non-message records, copied to their position among the messages from index
        `tail` on."""
        waiting = deque(others)
        for index, message in enumerate(messages):
            if not self.is_copied(message):
                self.make(message)
                continue
            for record in message.source:
                while index >= tail and waiting and waiting[0] < record:
                    self.copy(waiting.popleft())
                self.keep(message, record)
            if index < tail:
                self.show(message)
        for record in waiting:
            self.copy(record)

    def is_copied(self, message: Message) -> bool:
        """Return True if the message's records are copied unchanged."""
        return self.own and bool(message.source)

    @abstractmethod
    def keep(self, message: Message, record: int) -> None:
        """Copy one record of a kept message."""

    @abstractmethod
    def make(self, message: Message) -> None:
        """Write a message as a new record."""

    @abstractmethod
    def copy(self, record: int) -> None:
        """Write a record that is not a message."""

    def show(self, message: Message) -> None:  # noqa: B027
        """Write the records that display a kept message on the agent's screen, if they are not copied."""


class ChainWriter(LineWriter):
    """Writer of lines that each have an id, and name the id of the previous line in `parentId`."""

    def __init__(self, session: Session, *, own: bool) -> None:
        super().__init__(session, own=own)
        self.parent: str | None = None
        self.ids: set[str] = set()

    @abstractmethod
    def make_id(self) -> str: ...

    def new_id(self) -> str:
        while (id := self.make_id()) in self.ids:
            continue
        return id

    def link(self, line: bytes, id: str) -> None:
        """Append a line that already names `parent`."""
        self.lines.append(line)
        self.ids.add(id)
        self.parent = id

    def copy(self, record: int, changes: Mapping[str, bytes] | None = None) -> None:
        """Append a record of the session under its own id, or under a new one if that id is in use."""
        raw: bytes = self.session.records[record]
        id = loads(raw).get("id")
        changes = dict(changes or {})
        if not isinstance(id, str) or not id or id in self.ids:
            id = self.new_id()
            changes["id"] = render(id)
        self.link(replace_fields(raw, {**changes, "parentId": render(self.parent)}), id)


def tail_of(messages: Sequence[Message]) -> int:
    """Return the index of the first message of the unbroken run of kept messages at the context's end."""
    start = len(messages)
    while start and messages[start - 1].source:
        if start < len(messages) and messages[start - 1].source[0] > messages[start].source[0]:
            break
        start -= 1
    return start


def usage_reset(raw: bytes, zeros: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the change that sets a record's usage to `zeros`: agents compact by the last recorded usage."""
    body = field_of(raw, "message") or b""
    usage = field_of(body, "usage") if body.startswith(b"{") else None
    if usage is None or not usage.startswith(b"{"):
        return {}
    return {"message": replace_fields(body, {"usage": replace_fields(usage, zeros)})}
