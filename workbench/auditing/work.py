"""What an audit has to do, file by file, and what comes of it: what goes to other processes and back. Nothing of the
analysis is loaded for it: where every row is kept, none is needed."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.auditing.rows import SessionRow


@dataclass(frozen=True, slots=True)
class Work:
    """A file whose sessions are wanted; `tool` is in words, "" where its place does not tell. `time` is when it was
    changed last, in seconds since the epoch. `known` is the digest for which its rows are known. `played`: its long
    sessions are played under several settings."""

    path: str
    bytes: int
    time: float
    tool: str = ""
    known: str | None = None
    played: bool = True


@dataclass(frozen=True, slots=True)
class Surveyed:
    """The rows of a file, one for each session in it, and the digest of its bytes, None for a folder and a file that
    cannot be read. No `rows`: they are those that are known."""

    path: str
    digest: str | None
    rows: tuple[SessionRow, ...] | None
