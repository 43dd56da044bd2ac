"""Journal of a sweep: a line per finished cell, so that an interrupted sweep can continue.

The first line identifies the sweep; an incomplete last line is skipped. A cell counts as finished while its file has
the same size and modification time; failed cells are computed again.
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
from workbench.analysis.sweep.cells import SweepCell, SweepPlan, cell_fields, cell_from
from workbench.base.errors import BadInput
from workbench.base.files import refuse_special

FIGURES = 2
"""Version of the figures; raise it when their meaning changes, so that older cells are computed again."""

Stamp = tuple[int, int]
"""Size and modification time in ns."""


def sweep_key(plan: SweepPlan) -> str:
    """Return a key of everything that a cell depends on: fixed policy fields, varying fields, window, part, watched
    rules and `FIGURES`. The values are not included, so that a grid can be widened."""
    fixed: dict[str, Any] = plan.preset.policy.model_dump(mode="json")
    for axis in plan.axes:
        *groups, last = axis.field.split(".")
        inner = fixed
        for group in groups:
            inner = inner[group]
        inner.pop(last, None)
    window = None if any(axis.field == WINDOW for axis in plan.axes) else plan.window
    fields = [axis.field for axis in plan.axes]
    parts: list[Any] = [
        plan.preset.strategy,
        fixed,
        fields,
        window,
        plan.retained,
        FIGURES,
        *([plan.part] if plan.part else []),
    ]
    parts += [plan.watched] if plan.watched else []
    return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=12).hexdigest()


def stamp_of(file: str) -> Stamp:
    """Return size and modification time; zeros for a missing file."""
    try:
        found = os.stat(file)
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


def finished_cells(path: Path, plan: SweepPlan) -> tuple[SweepCell, ...]:
    """Return the finished cells of a journal; () if it does not exist. Raises BadInput for a file that is not regular,
    not a journal, or the journal of another sweep.
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
    if head["sweep"] != sweep_key(plan):
        raise BadInput(f"{path} is the journal of another sweep; name another file, or delete it to start over.")
    stamps: dict[str, Stamp] = {}
    found: dict[tuple[str, tuple[float, ...]], SweepCell] = {}
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
    """Journal open for more cells. Each line is one atomic append, so several writers may share it."""

    def __init__(self, path: Path, plan: SweepPlan) -> None:
        """Open or create the journal. Raises BadInput if it cannot be written."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise BadInput(f"{path} cannot be written ({error.strerror}); name another journal.") from None
        self._path = path
        if not path.stat().st_size:
            self._write({"sweep": sweep_key(plan), "strategy": plan.preset.strategy})
        elif not path.read_bytes().endswith(b"\n"):
            self._put(b"\n")

    def note(self, cells: Iterable[SweepCell]) -> None:
        """Append cells. Raises BadInput on a full disk; earlier lines stay."""
        for cell in cells:
            self._write({**cell_fields(cell), "stamp": stamp_of(cell.file)})

    def close(self) -> None:
        """Close the file."""
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


def _cell(fields: Mapping[str, Any]) -> SweepCell | None:
    try:
        return cell_from({name: value for name, value in fields.items() if name != "stamp"})
    except ValidationError:
        return None
