"""The journal of a sweep: a line for each cell that is done, so that an interrupted sweep goes on where it was.

The first line says which sweep it is; a line that was torn when the program ended is passed over. A cell counts as done
while its file is the same (size and time of change); one that failed is tried again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from workbench.analysis.sweep.axes import WINDOW
from workbench.analysis.sweep.cells import Cell, Plan, cell_fields, cell_from
from workbench.base.errors import BadInput
from workbench.base.files import refuse_special

FIGURES = 2
"""Raised when a cell's figures come to mean something else: cells noted before are then not taken for done."""

Stamp = tuple[int, int]


def key_of(plan: Plan) -> str:
    """What must be equal for a cell to be the same: the policy but for what varies, what varies, the window, the
    part of each file, what is watched, and what the figures mean. The values that are tried are not in it: a grid may
    be widened."""
    fixed: dict[str, Any] = plan.preset.policy.model_dump(mode="json")
    for axis in plan.axes:
        *groups, last = axis.field.split(".")
        inner = fixed
        for group in groups:
            inner = inner[group]
        inner.pop(last, None)
    window = None if any(axis.field == WINDOW for axis in plan.axes) else plan.window
    fields = [axis.field for axis in plan.axes]
    said: list[Any] = [
        plan.preset.strategy,
        fixed,
        fields,
        window,
        plan.retained,
        FIGURES,
        *([plan.part] if plan.part else []),
    ]
    said += [plan.watched] if plan.watched else []
    return hashlib.blake2b(json.dumps(said, sort_keys=True).encode(), digest_size=12).hexdigest()


def stamp_of(file: str) -> Stamp:
    """Size and time of change; zeros for a file that is not there."""
    try:
        found = os.stat(file)
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


def done(path: Path, plan: Plan) -> tuple[Cell, ...]:
    """The cells that the journal holds and that need not be done again; none where there is no journal yet.

    Raises BadInput for a file that is no journal, or another sweep's, and for what is no file.
    """
    refuse_special(path)
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}); name another journal.") from None
    if not lines:
        return ()
    head = _read(lines[0])
    if head is None or "sweep" not in head:
        raise BadInput(f"{path} is not the journal of a sweep; name another file; it is created.")
    if head["sweep"] != key_of(plan):
        raise BadInput(f"{path} is the journal of another sweep; name another file, or delete it to start over.")
    stamps: dict[str, Stamp] = {}
    found: dict[tuple[str, tuple[float, ...]], Cell] = {}
    for line in lines[1:]:
        fields = _read(line)
        cell = _cell(fields) if fields else None
        if fields is None or cell is None or cell.error:
            continue
        now = stamps.setdefault(cell.file, stamp_of(cell.file))
        if fields.get("stamp") == list(now):
            found[cell.file, cell.setting] = cell
    return tuple(found.values())


class Journal:
    """The journal, open for more cells. Each line is written in one piece, at once, whoever else writes to it."""

    def __init__(self, path: Path, plan: Plan) -> None:
        """Raises BadInput where nothing can be written."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise BadInput(f"{path} cannot be written ({error.strerror}); name another journal.") from None
        self._path = path
        if not path.stat().st_size:
            self._write({"sweep": key_of(plan), "strategy": plan.preset.strategy})
        elif not path.read_bytes().endswith(b"\n"):
            self._put(b"\n")

    def note(self, cells: Iterable[Cell]) -> None:
        """Raises BadInput where there is no room; what was noted before stays."""
        for cell in cells:
            self._write({**cell_fields(cell), "stamp": stamp_of(cell.file)})

    def close(self) -> None:
        self._file.close()

    def _write(self, fields: Mapping[str, Any]) -> None:
        self._put(json.dumps(fields).encode() + b"\n")

    def _put(self, line: bytes) -> None:
        try:
            written = self._file.write(line)
        except OSError as error:
            raise BadInput(
                f"{self._path} cannot be written ({error.strerror}); free some space, then continue with it."
            ) from None
        if written < len(line):
            raise BadInput(f"{self._path} cannot be written (no room is left); free some space, then continue with it.")


def _read(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _cell(fields: Mapping[str, Any]) -> Cell | None:
    try:
        return cell_from({name: value for name, value in fields.items() if name != "stamp"})
    except ValidationError:
        return None
