"""Writing a new file of lines: in which order, and as a chain in which each line names the one before.

What is kept is copied byte for byte, but for its place in the chain.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from workbench.formats.kit.document import render
from workbench.formats.kit.json_spans import replace_fields
from workbench.formats.kit.jsonl import loads
from workbench.formats.loss import Losses
from workbench.session import Message, Session


class LineWriter(ABC):
    """The file as it grows; a format's writer is a subclass. `own`: the session is of the format that is written."""

    def __init__(self, session: Session, *, own: bool) -> None:
        self.session, self.own = session, own
        self.lines: list[bytes] = []
        self.losses: Losses = []

    @property
    def data(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)

    def write_messages(self, messages: Sequence[Message], tail: int, others: Iterable[int]) -> None:
        """Write messages, and `others`: records that stand among the messages from `tail` on as they did."""
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
        """True for a message whose records are copied."""
        return self.own and bool(message.source)

    @abstractmethod
    def keep(self, message: Message, record: int) -> None:
        """Write a record of a kept message."""

    @abstractmethod
    def make(self, message: Message) -> None:
        """Render a message."""

    @abstractmethod
    def copy(self, record: int) -> None:
        """Write a record that is no message."""

    def show(self, message: Message) -> None:  # noqa: B027
        """Write what shows a kept message on the agent's screen, where that is not copied."""


class ChainWriter(LineWriter):
    """Each line has an id, and names that of the line before in `parentId`."""

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
        """Add a line that names `parent` already."""
        self.lines.append(line)
        self.ids.add(id)
        self.parent = id

    def copy(self, record: int, changes: Mapping[str, bytes] | None = None) -> None:
        """Add a record of the session, under its own id where that is free."""
        raw: bytes = self.session.records[record]
        id = loads(raw).get("id")
        changes = dict(changes or {})
        if not isinstance(id, str) or not id or id in self.ids:
            id = self.new_id()
            changes["id"] = render(id)
        self.link(replace_fields(raw, {**changes, "parentId": render(self.parent)}), id)
