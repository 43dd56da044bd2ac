"""What every format module provides: how to recognise, read and write one kind of session file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.session import Message, Session

Progress = Callable[[int, int], None]
"""Called now and then with (bytes done, bytes in all); may raise to cancel the load."""


def no_progress(done: int, total: int) -> None:
    """For callers that do not watch."""


@dataclass(frozen=True, slots=True)
class Written:
    """A session in its new form, not yet on disk.

    `name` is the file name its tool expects; `id` the new session's id; `resume` the command that opens it in its tool
    ("" where there is none) and `home` where the file must lie for that, if it must lie somewhere; `notes` say what the
    format could not carry.
    """

    data: bytes
    name: str
    id: str = ""
    resume: str = ""
    home: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Format:
    """One on-disk format. A module of this room ends with `FORMAT = Format(...)`; `registry.py` lists them.

    recognise(head): `head` is the file's first 64 KiB; returns why it is this format (a short phrase), "" if it is not.
    read(path, data, progress): raises BadInput with one sentence when nothing can be read.
    write(session, messages): `messages` is the new context. A message whose `source` is not empty and whose session is
      of this format is copied byte for byte from `session.records` (but for links and ids that the tool's loader
      requires); any other is rendered from its blocks.
    recognise_folder(path), read_folder(path, progress): the same for a tool that keeps a session as a folder; None
      where it does not.
    validate(data): judged from the tool's own loader rules, sharing no code with `write`; returns what is wrong.
    """

    id: str
    title: str
    recognise: Callable[[bytes], str]
    read: Callable[[Path, bytes, Progress], Session]
    write: Callable[[Session, Sequence[Message]], Written]
    validate: Callable[[bytes], list[str]]
    recognise_folder: Callable[[Path], str] | None = None
    read_folder: Callable[[Path, Progress], Session] | None = None
