"""Loaded sessions: messages, records of the file, the live branch, and the epochs between recorded compactions."""

from __future__ import annotations

import hashlib
import threading
import warnings
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from workbench.base.errors import BadInput
from workbench.base.files import reason
from workbench.base.reading import open_file
from workbench.session.api_errors import ApiError, Cause
from workbench.session.message import Message

_HOLDERS_LOCK = threading.Lock()
"""Guards the count of callers that hold a file's bytes."""

DIGEST_BYTES = 16
"""Length of a file's BLAKE2b digest."""


class Records(Sequence[bytes]):
    """The unchanged records of a file, as spans of its bytes, so that a kept message is written back byte for byte.

    A format of lines fills the spans while reading. A format that is one JSON document leaves them empty and finds the
    spans of the array's elements when it writes.
    """

    __slots__ = ("_data", "_digest", "_file", "_held", "_holders", "_path", "_size", "lines", "starts", "stops")

    def __init__(self, data: bytes) -> None:
        self._data: bytes | None = data
        self._file: BinaryIO | None = None
        self._path = Path()
        self._size = 0
        self._digest = b""
        self._held: bytes | None = None
        self._holders = 0
        self.starts: array[int] = array("Q")
        self.stops: array[int] = array("Q")
        self.lines: array[int] = array("Q")

    @property
    def data(self) -> bytes:
        """The file's bytes. After `let_go` they are read again; raises BadInput if the file changed since."""
        at_hand = self._held if self._data is None else self._data
        if at_hand is not None:
            return at_hand
        if self._file is not None:
            return _read_from(self._file, 0, -1)
        try:
            with open_file(self._path) as file:
                data = file.read(self._size)
        except OSError as error:
            raise BadInput(
                f"{self._path} cannot be read any more: {reason(error)}; put the file back or make it readable."
            ) from None
        if digest_of(data) != self._digest:
            raise BadInput(
                f"{self._path} was changed after it was opened; read it again (on the bench: ctrl+p Read again)."
            )
        return data

    @classmethod
    def being_read(cls, file: BinaryIO) -> Records:
        """Records of an open file, read on demand until `let_go`."""
        records = cls(b"")
        records._data, records._file = None, file
        return records

    def let_go(self, path: Path, size: int, digest: bytes) -> None:
        """Release the bytes, or the open file; they are the first `size` bytes of `path` and have this digest. They
        take half of a large session's memory. Later appends to the file do not matter.
        """
        self._path, self._size, self._digest, self._data, self._file = path, size, digest, None, None

    @property
    def digest(self) -> bytes:
        """Digest of the file whose bytes were released; b"" while they are in memory."""
        return self._digest

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self._size if self._data is None else len(self._data)

    @classmethod
    def in_file(cls, path: Path, size: int, digest: bytes, spans: Sequence[bytes]) -> Records:
        """Records of the first `size` bytes of `path`, which have this digest; `spans` come from `packed`."""
        records = cls(b"")
        records.let_go(path, size, digest)
        for numbers, packed in zip((records.starts, records.stops, records.lines), spans, strict=True):
            numbers.frombytes(packed)
        return records

    @property
    def packed(self) -> tuple[bytes, bytes, bytes]:
        """Starts, stops and line numbers of the records, as bytes of arrays."""
        return self.starts.tobytes(), self.stops.tobytes(), self.lines.tobytes()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep released bytes in memory while many records are read. Safe in several threads."""
        data = self.data
        with _HOLDERS_LOCK:
            self._held, self._holders = data, self._holders + 1
        try:
            yield
        finally:
            with _HOLDERS_LOCK:
                self._holders -= 1
                if not self._holders:
                    self._held = None

    def add(self, start: int, stop: int, line: int) -> int:
        """Append the record `data[start:stop]`, which begins on 1-based `line`; returns its index."""
        self.starts.append(start)
        self.stops.append(stop)
        self.lines.append(line)
        return len(self.starts) - 1

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, index: Any) -> Any:
        if self._file is not None and isinstance(index, int):
            return _read_from(self._file, self.starts[index], self.stops[index] - self.starts[index])
        data = self.data
        if isinstance(index, slice):
            return [data[self.starts[i] : self.stops[i]] for i in range(*index.indices(len(self)))]
        return data[self.starts[index] : self.stops[index]]

    def __iter__(self) -> Iterator[bytes]:
        data = self.data
        return (data[start:stop] for start, stop in zip(self.starts, self.stops, strict=True))


def _read_from(file: BinaryIO, start: int, size: int) -> bytes:
    """Read `size` bytes at `start` (-1: to the end) without moving the file position."""
    here = file.tell()
    file.seek(start)
    try:
        return file.read(size)
    finally:
        file.seek(here)


def digest_of(data: bytes) -> bytes:
    """Digest that identifies a file's content."""
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).digest()


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool definition sent with the session; `schema` is the definition as compact JSON text."""

    name: str
    schema: str


@dataclass(frozen=True, slots=True)
class LoadWarning:
    """Something odd in the file that was read all the same. `line` is 1-based, None in formats without lines."""

    text: str
    line: int | None = None

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}" if self.line else self.text


Way = Literal["summary", "clearing", "removal", "empty"]
"""Effect of a recorded compaction: a summary replaced older messages; contents of messages were replaced in place;
messages were removed without replacement; nothing changed."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """A compaction that the agent recorded. `summary` is the id of its summary message, None without one.

    `tokens_before`, `tokens_after` and `seconds` are the agent's own figures. `kept_ids` are ids of earlier messages
    that stay word for word; they are members of the next epoch. Of a compaction that ran in the `background`, they are
    the messages that arrived while it ran.
    """

    trigger: str = ""
    tokens_before: int | None = None
    summary: str | None = None
    time: float | None = None
    way: Way = "summary"
    tokens_after: int | None = None
    kept_ids: tuple[str, ...] = ()
    background: bool = False
    seconds: float | None = None

    if not TYPE_CHECKING:  # a type checker reports the deprecated name

        @property
        def kept(self) -> tuple[str, ...]:
            """Former name of `kept_ids`."""
            warnings.warn("Compaction.kept is now Compaction.kept_ids", DeprecationWarning, stacklevel=2)
            return self.kept_ids


EpochChoice = int | Literal["last"] | None
"""Number of an epoch from 1, "last", or None for the epoch at which a session opens."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """A part of the session between two recorded compactions: the context just before the one that ended it.

    `members` are indexes into `Session.messages` in the order the model saw them, without boundaries. `copies` are the
    members that the previous compaction wrote again; no call of this epoch produced them. `window` is the recorded
    context window in tokens, None if not recorded.
    """

    number: int
    members: Sequence[int]
    ended_by: Compaction | None = None
    copies: frozenset[int] = frozenset()
    window: int | None = None


@dataclass(frozen=True, slots=True)
class ExportNote:
    """Size that an export of this program promised for its context; its messages do not record it.

    `window` is the context window in tokens, None if neither the session nor the user gave one. `prompt` are the tokens
    sent before the conversation: system prompt (recorded or not), tools and leading system messages. `scale` is the
    factor on the model family's figures that gives the later messages the promised tokens, until a call is billed for
    the context. `spent` counts the messages of the context with stale usage.
    """

    model: str | None
    window: int | None
    prompt: int
    scale: float
    spent: int = 0


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """Facts of the file besides the messages; None, empty or "" if not recorded.

    `part`: id of the session in a file with several. `agent`: the sub-agent whose session it is. `tokens_now`: last
    recorded size of the context in tokens; `overhead`: the system prompt and tools in it. `api_errors`: in file order.
    `cost`: of the complete session in dollars, if its messages do not record it. `exit_status`: how a run ended.
    `summary_versions`: by id of the summary message. `version`, `git_branch`, `project`, `provider` (the last asked):
    in the agent's words. `unread`: records without a message, which stay when the list is written again. `export_note`:
    the note of an export of this program. `own`: data for the format's writer, of the format's own type.
    """

    part: str = ""
    agent: str = ""
    api_errors: tuple[ApiError, ...] = ()
    tokens_now: int | None = None
    overhead: int | None = None
    cost: float | None = None
    exit_status: str = ""
    summary_versions: Mapping[str, int] = field(default_factory=dict)
    version: str = ""
    provider: str = ""
    git_branch: str = ""
    project: str = ""
    unread: tuple[int, ...] = ()
    export_note: ExportNote | None = None
    own: object = None

    @property
    def overflow_errors(self) -> tuple[ApiError, ...]:
        """The API errors about a prompt that was too long."""
        return tuple(error for error in self.api_errors if error.cause is Cause.CONTEXT_TOO_LONG)


_NO_FACTS = SessionFacts()
_EVERYTHING: Sequence[int] = range(0)


@dataclass(frozen=True, slots=True)
class Session:
    """A loaded session. It never changes: a compaction returns new messages.

    `messages` is the *file* view. `branch` indexes the live branch after rewinds and side chains, by default all
    messages. `epochs` has at least one entry, by default of all messages; the last one is the *context* view, what the
    model sees now.

    `begins_at` is 0 for a complete session. If only the end of the file was read so far, it is the byte where that
    begins; the epochs are then the newest ones, numbered from 1.
    """

    format: str
    path: Path | None
    messages: tuple[Message, ...]
    records: Records
    branch: Sequence[int] = _EVERYTHING
    epochs: tuple[Epoch, ...] = ()
    id: str = ""
    title: str = ""
    model: str | None = None
    cwd: str | None = None
    system: str = ""
    tools: tuple[Tool, ...] = ()
    memories: str = ""
    warnings: tuple[LoadWarning, ...] = ()
    facts: SessionFacts = _NO_FACTS
    begins_at: int = 0

    def __post_init__(self) -> None:
        everything = range(len(self.messages))
        if self.branch is _EVERYTHING:
            object.__setattr__(self, "branch", everything)
        if not self.epochs:
            object.__setattr__(self, "epochs", (Epoch(1, everything),))

    def context(self, epoch: int | None = None) -> tuple[Message, ...]:
        """Messages of an epoch by its number, by default of the last. Raises KeyError for an unknown number."""
        if epoch is None:
            chosen = self.epochs[-1]
        elif 1 <= epoch <= len(self.epochs):
            chosen = self.epochs[epoch - 1]
        else:
            raise KeyError(epoch)
        return tuple(self.messages[i] for i in chosen.members)
