"""Base reader of a file of lines: collects messages and epochs, and makes the session."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, ClassVar

from workbench.base.errors import BadInput
from workbench.formats.format import Progress
from workbench.formats.kit.jsonl import Lines, lines_of, objects_of
from workbench.formats.kit.names import unique_id
from workbench.formats.kit.usage import RecordedWindow
from workbench.session import ApiError, Compaction, Epoch, LoadWarning, Message, Records, Session


class Transcript(ABC):
    """Messages and epochs read so far; each format has a subclass.

    empty: description of a file without messages, with a remedy. sent: numbers of the messages in the next request.
      copies: those of them that the newest compaction repeated in the file.
    """

    empty: ClassVar[str]

    def __init__(self, path: Path, records: Records) -> None:
        self.path, self.records = path, records
        self.messages: list[Message] = []
        self.sent: list[int] = []
        self.copies: frozenset[int] = frozenset()
        self.epochs: list[Epoch] = []
        self.window = RecordedWindow()
        self.model: str | None = None
        self.title = ""
        self.warnings: list[LoadWarning] = []
        self.errors: list[ApiError] = []
        self.unknown: Counter[str] = Counter()
        self._ids: dict[str, int] = {}

    @classmethod
    def read(cls, path: Path, data: bytes, progress: Progress) -> Session:
        """Read a file. Raises BadInput if it has no message."""
        return cls.read_lines(path, lines_of(data), progress)

    @classmethod
    def read_lines(cls, path: Path, lines: Lines, progress: Progress) -> Session:
        return cls(path, lines.records).follow(lines, progress)

    def follow(self, lines: Lines, progress: Progress) -> Session:
        for value, index, line in objects_of(lines.found, lines.size, self.records, self.warnings, progress):
            self.take(value, index, line)
        return self.done()

    def done(self) -> Session:
        """Return the session after all lines were taken. Raises BadInput if there is no message."""
        self.finish()
        if not self.messages:
            raise BadInput(f"{self.path} is {self.empty}.")
        return self.session()

    @abstractmethod
    def take(self, value: dict[str, Any], index: int, line: int) -> None:
        """Read the object on a line; `index` is the index of its record."""

    def finish(self) -> None:  # noqa: B027
        """Complete the session with facts that depend on the entire file."""

    @abstractmethod
    def session(self) -> Session: ...

    def warn(self, text: str, line: int | None = None) -> None:
        self.warnings.append(LoadWarning(text, line))

    def unique_id(self, id: str) -> str:
        return unique_id(id, self._ids)

    def add(self, message: Message) -> int:
        """Append a message; return its number."""
        self.messages.append(message)
        return len(self.messages) - 1

    def end_epoch(self, ended_by: Compaction | None = None) -> None:
        """Append an epoch with the messages that are sent now."""
        members = array("q", self.sent)
        self.epochs.append(Epoch(len(self.epochs) + 1, members, ended_by, self.copies, self.window.tokens))

    def branch_without(self, removed: Collection[int]) -> Sequence[int]:
        everything = range(len(self.messages))
        return [number for number in everything if number not in removed] if removed else everything

    def _session(self, format: str, messages: tuple[Message, ...], **fields: Any) -> Session:
        """Return the session. `fields` are fields of `Session`. By default, all messages are on the branch."""
        epochs, warnings = tuple(self.epochs), tuple(self.warnings)
        return Session(format, self.path, messages, self.records, epochs=epochs, warnings=warnings, **fields)
