"""Writing a new file of lines: in which order, and as a chain in which each line names the one before.

What is kept is copied byte for byte, but for its place in the chain.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.formats.kit.document import render
from workbench.formats.kit.json_spans import replace_fields
from workbench.formats.kit.jsonl import loads
from workbench.formats.loss import Losses
from workbench.session import Message, Session


def in_file_order(
    messages: Sequence[Message], is_kept: Callable[[Message], bool], tail: int, others: Iterable[int]
) -> Iterator[tuple[int, int]]:
    """Lines to write, one after the other: (index, record) copies a record of a kept message, (index, -1) renders a
    message, (-1, record) copies one of `others`, which stand among the messages from `tail` on as they did."""
    waiting = deque(others)
    for index, message in enumerate(messages):
        if not is_kept(message):
            yield index, -1
            continue
        for record in message.source:
            while index >= tail and waiting and waiting[0] < record:
                yield -1, waiting.popleft()
            yield index, record
    yield from ((-1, record) for record in waiting)


@dataclass(slots=True)
class Chain:
    """The file as it grows. `own`: the session is of the format that is written. `make_id` makes an id of a line, which
    names the one before in `parentId`."""

    session: Session
    own: bool
    make_id: Callable[[], str]
    lines: list[bytes] = field(default_factory=list)
    parent: str | None = None
    ids: set[str] = field(default_factory=set)
    losses: Losses = field(default_factory=list)

    @property
    def data(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)

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
