"""What a session is: messages as read, the branch that is live, and the epochs that recorded compactions left."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from workbench.session.message import Message

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Records(Sequence[bytes]):
    """The untouched records of a file: spans into its bytes, so that a kept message is written back byte for byte.

    A line-oriented format fills the spans while it reads; a format that is one JSON document leaves them empty and
    finds the spans of its array's elements when it writes.
    """

    __slots__ = ("data", "lines", "starts", "stops")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.starts: array[int] = array("Q")
        self.stops: array[int] = array("Q")
        self.lines: array[int] = array("Q")

    def add(self, start: int, stop: int, line: int) -> int:
        """Append the record `data[start:stop]`, which begins on 1-based `line`; returns its index."""
        self.starts.append(start)
        self.stops.append(stop)
        self.lines.append(line)
        return len(self.starts) - 1

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self.data[self.starts[index] : self.stops[index]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool definition that was sent with the session; `schema` is its definition as compact JSON text."""

    name: str
    schema: str


@dataclass(frozen=True, slots=True)
class LoadWarning:
    """Something odd in the file, survived. `line` is 1-based, None where the format has no lines."""

    text: str
    line: int | None = None

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}" if self.line else self.text


@dataclass(frozen=True, slots=True)
class Compaction:
    """A compaction that the agent itself recorded. `summary` is the id of its summary message, where there is one."""

    trigger: str = ""
    tokens_before: int | None = None
    summary: str | None = None
    time: float | None = None


@dataclass(frozen=True, slots=True)
class Epoch:
    """A stretch between recorded compactions: the context as it stood just before the one that ended it.

    `members` are indexes into `Session.messages`, in the order in which the model saw them; boundaries are left out.
    """

    number: int
    members: Sequence[int]
    ended_by: Compaction | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """A loaded session. Never changed: every compaction gives new messages beside it.

    `messages` is the *file* view. `branch` indexes the live branch after rewinds and side chains. `epochs` has at least
    one entry; the last one is what the model sees now, the *context* view.
    """

    format: str
    path: Path | None
    messages: tuple[Message, ...]
    branch: Sequence[int]
    epochs: tuple[Epoch, ...]
    records: Records
    id: str = ""
    title: str = ""
    model: str | None = None
    cwd: str | None = None
    system: str = ""
    tools: tuple[Tool, ...] = ()
    memories: str = ""
    warnings: tuple[LoadWarning, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)

    def context(self, epoch: int | None = None) -> tuple[Message, ...]:
        """The messages of an epoch by its number, the last one by default. Raises KeyError for no such epoch."""
        if epoch is None:
            chosen = self.epochs[-1]
        elif 1 <= epoch <= len(self.epochs):
            chosen = self.epochs[epoch - 1]
        else:
            raise KeyError(epoch)
        return tuple(self.messages[i] for i in chosen.members)
