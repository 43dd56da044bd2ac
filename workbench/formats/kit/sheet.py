"""A session file under repair: its records as in the file, each unchanged until a rule changes it.

An entry keeps its bytes; a change replaces only the bytes of the wrong value. `RepairSheet.data` joins the entries
again: as lines, or between the bytes around the list of messages of a JSON document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from workbench.formats.fixes import Branch, Fault, Fix
from workbench.formats.kit.document import render
from workbench.formats.kit.json_spans import array_items, byte_items, replace_fields
from workbench.formats.kit.jsonl import loads
from workbench.session import Session

Path = tuple[str | int, ...]
"""Keys and indexes that lead from a record to a value in it."""


@dataclass(slots=True, eq=False)
class SheetEntry:
    """A record: its bytes, its decoded value (None for invalid JSON), and its 1-based place in the damaged file.

    `lead` holds the bytes between it and the previous element of a document.
    """

    raw: bytes
    value: Any
    place: int
    lead: bytes = b""
    changed: bool = False

    @property
    def object(self) -> dict[str, Any]:
        """The value if it is an object, else {}."""
        return self.value if isinstance(self.value, dict) else {}

    def put(self, path: Path, value: Any) -> None:
        """Set the value at `path`; every other byte is unchanged. A missing last key is added."""
        self.raw = _spliced(self.raw, path, render(value)) if path else render(value)
        self.value = loads(self.raw)
        self.changed = True

    def remove(self, path: Path, at: Iterable[int]) -> None:
        """Remove elements from the list at `path`."""
        removed = set(at)
        self.put(path, [item for number, item in enumerate(value_at(self.value, path)) if number not in removed])


def new_entry(value: Any, place: int) -> SheetEntry:
    """Return a new record, with the place of an old one."""
    return SheetEntry(render(value), value, place, changed=True)


def value_at(value: Any, path: Path) -> Any:
    """Return the value at `path`; None if the path does not exist."""
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def _spliced(raw: bytes, path: Path, new: bytes) -> bytes:
    step, *rest = path
    if isinstance(step, str) and not rest:
        return replace_fields(raw, {step: new})
    if isinstance(step, str):
        start, stop = byte_items(raw)[step]
    else:
        start, stop = array_items(raw.decode("latin-1"))[step]  # one character per byte
    inner = _spliced(raw[start:stop], tuple(rest), new) if rest else new
    return raw[:start] + inner + raw[stop:]


@dataclass(slots=True)
class RepairSheet:
    """The file while it is repaired.

    `head` and `tail` are the bytes around the list of a document, for which `lines` is False. `name` and `folder` are
    those of the file; some agents derive the session's id from them. `branch` is the line of the newest record of the
    branch that the user chose, None for the proposed one. `inherited` is the number of lines that the session takes
    from the file it was forked from: they are read after the first line and are not in this file.
    """

    entries: list[SheetEntry]
    lines: bool = True
    head: bytes = b""
    tail: bytes = b""
    name: str = ""
    folder: FilePath = FilePath()
    branch: int | None = None
    inherited: int = 0
    fixes: list[Fix] = field(default_factory=list)
    left: list[Fix] = field(default_factory=list)
    branches: list[Branch] = field(default_factory=list)

    @property
    def data(self) -> bytes:
        """Current bytes of the file."""
        if self.lines:
            return b"".join(entry.raw + b"\n" for entry in self.entries)
        parts = [self.head]
        for number, entry in enumerate(self.entries):
            lead = entry.lead or b","
            parts += lead.replace(b",", b"", 1) if number == 0 else lead if b"," in lead else b"," + lead, entry.raw
        return b"".join([*parts, self.tail])

    def fixed(self, fault: Fault, entry: SheetEntry | None = None, subject: object = "") -> None:
        """Record a fix of an entry, or of the entire file."""
        self.fixes.append(self._at(fault, entry, subject))

    def unrepaired(self, fault: Fault, entry: SheetEntry | None = None, subject: object = "") -> None:
        """Record a fault that could not be repaired."""
        self.left.append(self._at(fault, entry, subject))

    def _at(self, fault: Fault, entry: SheetEntry | None, subject: object) -> Fix:
        place = entry.place if entry else None
        return Fix(fault, place if self.lines else None, None if self.lines else place, str(subject))

    def named(self, entry: SheetEntry) -> str:
        """Return the place of an entry in words: "line 12"."""
        return f"{'line' if self.lines else 'entry'} {entry.place}"

    def index(self, entry: SheetEntry) -> int:
        """Return the index of an entry, compared by identity."""
        return next(number for number, one in enumerate(self.entries) if one is entry)

    def insert_after(self, entry: SheetEntry, new: SheetEntry) -> None:
        self.entries.insert(self.index(entry) + 1, new)

    def move_header(self, header: SheetEntry) -> None:
        """Move a header that is further down to the first line."""
        self.drop(lambda entry: entry is header)
        self.entries.insert(0, header)
        self.fixed(Fault.MISSING_HEADER, header, "it was further down")

    def drop(self, matches: Callable[[SheetEntry], bool]) -> None:
        self.entries = [entry for entry in self.entries if not matches(entry)]


def entry_of(sheet: RepairSheet, entries: Sequence[SheetEntry], session: Session, record: int) -> SheetEntry | None:
    """Return the entry that holds a record of the session read from `entries`; None if another file holds it. Several
    records may share a line."""
    place = session.records.lines[record] - 1 if record < len(session.records) else record
    if 0 < place <= sheet.inherited:
        return None
    own = place - sheet.inherited if place else 0
    return entries[own] if own < len(entries) else None
