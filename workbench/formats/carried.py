"""What an export says of itself, so that it shows the tokens that a compaction promised when it is opened again.

A file that a tool goes on with holds no bill of its present context (the old ones speak of a longer one), no tokens of
a system prompt that only the tool knows, and maybe no model. `Codec.note` is where a format has room for a note of
that, which its tool passes over. A file without room for one, such as the body of a request to an API that refuses what
it does not know, has it in a small file beside it, under its whole name and `.workbench`. The note is written and read
here alone.
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
from workbench.formats.kit.mark import CARRIED
from workbench.formats.kit.values import dict_of
from workbench.session import Carried, Session

_LARGEST = 2**53
_LONGEST = 10_000
"""Bytes: no note beside a file is longer."""


def carrying(codec: Codec, data: bytes, carried: Carried) -> bytes | None:
    """The file with the note, None where it has no room for one."""
    return codec.note.put(data, render(asdict(carried))) if codec.note else None


def beside(path: Path) -> Path:
    """Where the note on a file lies that has no room for it."""
    return path.with_name(f"{path.name}.workbench")


def told_beside(data: bytes, carried: Carried) -> bytes:
    """What the note beside a file says: of which bytes it is, so that none is believed of others, and the rest."""
    return render({"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), CARRIED: asdict(carried)}) + b"\n"


def found_beside(path: Path, data: bytes) -> Carried | None:
    """What the note beside this file says of it; None where there is none, or one of other bytes."""
    note = _note(beside(path))
    if note.get("bytes") != len(data) or note.get("sha256") != hashlib.sha256(data).hexdigest():
        return None
    return _known(note.get(CARRIED))


def is_note(path: Path) -> bool:
    """Whether a note of this program's lies there, of whatever file."""
    return _known(_note(path).get(CARRIED)) is not None


def _note(path: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError, RecursionError, orjson.JSONDecodeError):
        if path.is_file() and path.stat().st_size <= _LONGEST:
            return dict_of(loads_bounded(read_file(path)))
    return {}


def spent_in(session: Session) -> int:
    """How many messages of an export's context, as it is read, bear a bill: each was for the context before."""
    return len(_billed(session))


def _billed(session: Session) -> list[int]:
    return [number for number in session.epochs[-1].members if session.messages[number].bill]


def carried_in(codec: Codec, data: bytes) -> Carried | None:
    """What a file says of itself; None where it says nothing that this program would have written."""
    return _known(codec.note.found(data)) if codec.note else None


def with_carried(session: Session, carried: Carried | None) -> Session:
    """The session with what its file carries. Its own words for model and window weigh more as soon as a call of its
    newest epoch was billed: then a tool has gone on with it."""
    if not carried:
        return session
    if carried.spent and len(billed := _billed(session)) >= carried.spent:
        forget = frozenset(billed[: carried.spent])
        messages = (replace(m, usage=None) if n in forget else m for n, m in enumerate(session.messages))
        session = replace(session, messages=tuple(messages))
    *older, newest = session.epochs
    model, window = session.model, newest.window
    if any(message.bill for message in session.context()):
        model, window = model or carried.model, window or carried.window
    else:
        model, window = carried.model or model, carried.window or window
    epochs = (*older, replace(newest, window=window))
    return replace(session, model=model, epochs=epochs, facts=replace(session.facts, carried=carried))


def _known(value: Any) -> Carried | None:
    """The note, None for what this program would not have written."""
    told: list[Any] = [dict_of(value).get(key) for key in ("model", "window", "prompt", "scale")]
    model, window, prompt, scale = told
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
    return Carried(model, window, prompt, float(scale), spent)
