"""Note that an export carries about itself, so that it shows the expected token counts when it is opened again.

An exported file has no usage for its current context (recorded usage is of a longer one), no token count of a system
prompt that only the agent knows, and perhaps no model. `Codec.note` is the slot for such a note, which the agent
ignores. A file without a slot, such as a request body for an API that rejects unknown keys, gets a sidecar file named
after it with the suffix `.workbench`. Only this module reads and writes the note.
"""

from __future__ import annotations

import hashlib
import math
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import orjson

from workbench.base.reading import read_file
from workbench.formats.format import Codec
from workbench.formats.kit.document import render
from workbench.formats.kit.jsonl import loads_bounded
from workbench.formats.kit.marks import EXPORT_NOTE
from workbench.formats.kit.values import dict_of
from workbench.session import ExportNote, Session

_LARGEST = 2**53
_LONGEST = 10_000
"""Largest size of a sidecar file in bytes."""


def put_note(codec: Codec, data: bytes, export_note: ExportNote) -> bytes | None:
    """Return the file with the note, None if it has no slot."""
    return codec.note.put(data, render(asdict(export_note))) if codec.note else None


def sidecar_of(path: Path) -> Path:
    """Return the path of a file's sidecar file."""
    return path.with_name(f"{path.name}.workbench")


def sidecar_bytes(data: bytes, export_note: ExportNote) -> bytes:
    """Return the contents of the sidecar file: size and hash of the file it belongs to, and the note."""
    return (
        render({"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), EXPORT_NOTE: asdict(export_note)})
        + b"\n"
    )


def read_sidecar_note(path: Path, data: bytes) -> ExportNote | None:
    """Return the note in a file's sidecar file; None without one, or if it belongs to other bytes."""
    note = _note(sidecar_of(path))
    if note.get("bytes") != len(data) or note.get("sha256") != hashlib.sha256(data).hexdigest():
        return None
    return _known(note.get(EXPORT_NOTE))


def is_note(path: Path) -> bool:
    """Return True if the path is a sidecar file of this program, whatever file it belongs to."""
    return _known(_note(path).get(EXPORT_NOTE)) is not None


def _note(path: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError, RecursionError, orjson.JSONDecodeError):
        if path.is_file() and path.stat().st_size <= _LONGEST:
            return dict_of(loads_bounded(read_file(path)))
    return {}


def count_stale_usage(session: Session) -> int:
    """Return the number of messages in an export's context with usage, which is stale: it counted an earlier
    context."""
    return len(_billed(session))


def _billed(session: Session) -> list[int]:
    return [number for number in session.epochs[-1].members if session.messages[number].bill]


def note_in(codec: Codec, data: bytes) -> ExportNote | None:
    """Return the note in a file; None if there is no valid one."""
    return _known(codec.note.found(data)) if codec.note else None


def with_note(session: Session, export_note: ExportNote | None) -> Session:
    """Return the session with its note. The file's own model and window take precedence as soon as a call of the newest
    epoch has usage: then the agent has continued the session."""
    if not export_note:
        return session
    if export_note.spent and len(billed := _billed(session)) >= export_note.spent:
        stale = frozenset(billed[: export_note.spent])
        messages = (replace(m, usage=None) if n in stale else m for n, m in enumerate(session.messages))
        session = replace(session, messages=tuple(messages))
    *older, newest = session.epochs
    model, window = session.model, newest.window
    if any(message.bill for message in session.context()):
        model, window = model or export_note.model, window or export_note.window
    else:
        model, window = export_note.model or model, export_note.window or window
    epochs = (*older, replace(newest, window=window))
    return replace(session, model=model, epochs=epochs, facts=replace(session.facts, export_note=export_note))


def _known(value: Any) -> ExportNote | None:
    """Return the note, None for a value that this program would not have written."""
    fields: list[Any] = [dict_of(value).get(key) for key in ("model", "window", "prompt", "scale")]
    model, window, prompt, scale = fields
    spent = dict_of(value).get("spent", 0)
    if not (model is None or (isinstance(model, str) and model)):
        return None
    if not (window is None or (type(window) is int and 0 < window < _LARGEST)):
        return None
    if not (type(prompt) is int and 0 <= prompt < _LARGEST):
        return None
    if not (type(scale) in (int, float) and math.isfinite(scale) and 0 < scale < _LARGEST):
        return None
    if not (type(spent) is int and 0 <= spent < _LARGEST):
        return None
    return ExportNote(model, window, prompt, float(scale), spent)
