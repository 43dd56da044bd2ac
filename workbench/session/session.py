"""What a session is: messages as read, the branch that is live, and the epochs that recorded compactions left."""

from __future__ import annotations

import hashlib
import threading
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal

from workbench.base.errors import BadInput
from workbench.base.files import reason
from workbench.base.reading import open_file
from workbench.session.api_errors import ApiError, Cause
from workbench.session.message import Message

_TURN = threading.Lock()
"""For the thread that counts who holds a file's bytes."""

DIGEST_BYTES = 16
"""Of a file's digest, by BLAKE2b."""


class Records(Sequence[bytes]):
    """The untouched records of a file: spans into its bytes, so that a kept message is written back byte for byte.

    A line-oriented format fills the spans while it reads; a format that is one JSON document leaves them empty and
    finds the spans of its array's elements when it writes.
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
        """The file's bytes. After `let_go` they are read again: raises BadInput if they are not what they were."""
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
        """Of a file that is open, and of which no more is at hand than what is asked for; `let_go` ends that."""
        made = cls(b"")
        made._data, made._file = None, file
        return made

    def let_go(self, path: Path, size: int, digest: bytes) -> None:
        """Forget the bytes, or the open file: they are the first `size` of the file `path` and have this digest. They
        are half of what a large session costs in memory.

        What is appended to the file later does no harm.
        """
        self._path, self._size, self._digest, self._data, self._file = path, size, digest, None, None

    @property
    def digest(self) -> bytes:
        """Of the file whose bytes were let go; b"" while they are at hand."""
        return self._digest

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self._size if self._data is None else len(self._data)

    @classmethod
    def in_file(cls, path: Path, size: int, digest: bytes, spans: Sequence[bytes]) -> Records:
        """The records of the file `path`, whose first `size` bytes have this digest; `spans` as `packed` gives them."""
        made = cls(b"")
        made.let_go(path, size, digest)
        for numbers, packed in zip((made.starts, made.stops, made.lines), spans, strict=True):
            numbers.frombytes(packed)
        return made

    @property
    def packed(self) -> tuple[bytes, bytes, bytes]:
        """Where the records begin and stop, and on which lines."""
        return self.starts.tobytes(), self.stops.tobytes(), self.lines.tobytes()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep the bytes at hand while many records are read, if they were let go; several threads may do so."""
        data = self.data
        with _TURN:
            self._held, self._holders = data, self._holders + 1
        try:
            yield
        finally:
            with _TURN:
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
    """So many bytes of a file that is being read, all with -1; it goes on where it was."""
    here = file.tell()
    file.seek(start)
    try:
        return file.read(size)
    finally:
        file.seek(here)


def digest_of(data: bytes) -> bytes:
    """By which a file is known again."""
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).digest()


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


Way = Literal["summary", "clearing", "removal", "empty"]
"""Effect of a recorded compaction: a summary took the place of older messages; the contents of messages were replaced
in place; messages were left out, with nothing in their place; nothing, so that the context stayed as it was."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """A compaction that the agent itself recorded. `summary` is the id of its summary message, where there is one.

    `tokens_before` and `tokens_after` are its own figures, and so are the `seconds` that it took. `kept` are the ids of
    messages before it that it says stay in the context word for word; the members of the next epoch hold them. One that
    worked in the `background` began when what came before them was all there was: they came while it worked.
    """

    trigger: str = ""
    tokens_before: int | None = None
    summary: str | None = None
    time: float | None = None
    way: Way = "summary"
    tokens_after: int | None = None
    kept: tuple[str, ...] = ()
    background: bool = False
    seconds: float | None = None


EpochChoice = int | Literal["last"] | None
"""An epoch's number from 1, the newest one, or None for the one that a session opens at."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """A stretch between recorded compactions: the context as it stood just before the one that ended it.

    `members` are indexes into `Session.messages`, in the order in which the model saw them; boundaries are left out.
    `copies` are those of them that the compaction before wrote down again: what the agent said and got in an earlier
    epoch, in a message of its own. No call of the model gave them here.
    `window` is the context window in tokens that the file records for its calls, None where it records none.
    """

    number: int
    members: Sequence[int]
    ended_by: Compaction | None = None
    copies: frozenset[int] = frozenset()
    window: int | None = None


@dataclass(frozen=True, slots=True)
class Carried:
    """What an export of this program says of the context that it holds, as its messages do not: its size as promised.

    `window` is its context window in tokens, None where neither the session nor the person had said one. `prompt` are
    the tokens that are sent before the conversation: the system prompt, recorded or not, the tools, and the session's
    own system messages in front. `scale` is the factor on the figures of the model's family by which the messages
    behind those have the tokens that were promised. It holds until a call of the model is billed for the context.
    `spent` is how many messages of the context bear a bill from before, which was for a longer one.
    """

    model: str | None
    window: int | None
    prompt: int
    scale: float
    spent: int = 0


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What a file says of its session beside the messages; None, nothing or "" where it does not say.

    `part` names the session among several of its file, `agent` the sub-agent whose session it is. `tokens_now` is the
    size of the context in tokens, as the tool last told it, and `overhead` that of the system prompt and the tools in
    it. `api_errors` are those that the file records, in its order. `cost` is the whole session's in dollars, as
    recorded, where its answers do not say all. `exit_status` is how a run ended. `summary_versions` are the versions
    of summaries by the ids of their messages. `version`, `git_branch` and `project` are the tool's own; `provider` is
    by which one it asked the model last, in the tool's words.
    `unread` are the records that hold no message and stay where the list is written anew. `carried` is what an export
    of this program says of itself. `own` is what only the format's writer needs, of the format's own type.
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
    carried: Carried | None = None
    own: object = None

    @property
    def overflow_errors(self) -> tuple[ApiError, ...]:
        """The API errors that say a prompt was too long."""
        return tuple(error for error in self.api_errors if error.cause is Cause.CONTEXT_TOO_LONG)


_NO_FACTS = SessionFacts()
_EVERYTHING: Sequence[int] = range(0)


@dataclass(frozen=True, slots=True)
class Session:
    """A loaded session. Never changed: every compaction gives new messages beside it.

    `messages` is the *file* view. `branch` indexes the live branch after rewinds and side chains: all messages if
    it is not given. `epochs` has at least one entry, of all messages if none is given; the last one is what the model
    sees now, the *context* view.

    `begins_at` is 0 but for a session of whose file only the end is read yet: the byte at which that begins. Its epochs
    are the newest, numbered from 1, and nothing that is told of the whole can be told of it.
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
        """The messages of an epoch by its number, the last one by default. Raises KeyError for no such epoch."""
        if epoch is None:
            chosen = self.epochs[-1]
        elif 1 <= epoch <= len(self.epochs):
            chosen = self.epochs[epoch - 1]
        else:
            raise KeyError(epoch)
        return tuple(self.messages[i] for i in chosen.members)
