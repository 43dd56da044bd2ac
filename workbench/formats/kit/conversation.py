"""Base readers of a JSON document: they collect messages, and make one session or several."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from workbench.base.errors import BadInput
from workbench.formats.format import Part, Progress
from workbench.formats.kit.document import parse
from workbench.formats.kit.names import first_words, unique_id
from workbench.formats.kit.values import dict_of
from workbench.session import LoadWarning, Message, Opaque, Records, Session


class Document(ABC):
    """A document's value and the warnings so far; each format has a subclass.

    format: the format's id. needs: sentence about a document without messages, with a remedy.
    """

    format: ClassVar[str]
    needs: ClassVar[str]

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        self.data = data
        self.warnings: list[LoadWarning]
        self.document, self.warnings = parse(path, data)
        self.body: dict[str, Any] = dict_of(self.document)
        self._ids: dict[str, int] = {}

    @classmethod
    def read(cls, path: Path, data: bytes, progress: Progress) -> Session:
        """Read a file. Raises BadInput for invalid JSON or a document without messages."""
        progress(0, len(data))
        session = cls(path, data).session()
        progress(len(data), len(data))
        return session

    @abstractmethod
    def session(self) -> Session:
        """Read the messages. Raises BadInput if there are none."""

    def items(self, found: Any) -> list[Any]:
        """Return `found`, the list of messages. Raises BadInput if it is not a list."""
        if isinstance(found, list):
            return found
        raise self.lacking()

    def lacking(self) -> BadInput:
        """Return the error for a file without messages."""
        return BadInput(f"{self.path}: {self.needs}.")

    def warn(self, text: str) -> None:
        self.warnings.append(LoadWarning(text))

    def unique_id(self, id: str) -> str:
        return unique_id(id, self._ids)

    def not_an_object(self, index: int, item: Any, what: str = "message", id: str = "") -> Message:
        """Return the message of a list item that is not an object, and warn."""
        self.warn(f"{what} {index + 1} is not an object; shown unchanged")
        return Message(id or f"m{index + 1}", "user", (Opaque(type(item).__name__, item),), "meta", source=(index,))

    def _session(self, messages: Sequence[Message], title: str | None = None, **fields: Any) -> Session:
        """Return the session; without a `title` it is titled by its first words."""
        return Session(
            self.format,
            self.path,
            tuple(messages),
            Records(self.data),
            title=first_words(messages) if title is None else title,
            warnings=tuple(self.warnings),
            **fields,
        )


class MultiSessionDocument(Document):
    """A document that may hold several sessions with ids. what: noun for one session."""

    what: ClassVar[str]

    @abstractmethod
    def parts(self) -> Sequence[Part]:
        """Return the sessions in document order."""

    @abstractmethod
    def part(self, id: str) -> Session:
        """Read one of `parts`."""

    @classmethod
    def sessions_in(cls, path: Path, data: bytes) -> tuple[Part, ...]:
        """Return the sessions; empty if there is only one."""
        parts = tuple(cls(path, data).parts())
        return parts if len(parts) > 1 else ()

    @classmethod
    def read_part(cls, path: Path, data: bytes, part_id: str, progress: Progress) -> Session:
        """Read one session. Raises BadInput if no session has this id."""
        progress(0, len(data))
        reader = cls(path, data)
        if all(part.id != part_id for part in reader.parts()):
            raise BadInput(f"{path} has no {cls.what} {part_id!r}; choose a listed one.")
        session = reader.part(part_id)
        progress(len(data), len(data))
        return session
