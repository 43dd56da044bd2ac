"""What an export says of itself, so that it shows the tokens that a compaction promised when it is opened again.

A file that a tool goes on with holds no bill of its present context (the old ones speak of a longer one), no tokens of
a system prompt that only the tool knows, and maybe no model. `Codec.place` is where a format has room for a note of
that, which its tool passes over; the note is written and read here alone.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.formats.format import Codec, no_progress
from workbench.formats.kit.document import render
from workbench.formats.kit.values import dict_of
from workbench.session import Carried, Session

NO_PLACE = (
    "it has no place for the window and the tokens of a prompt that is not in it: opened again, it shows other sizes"
)
_LARGEST = 2**53


def spent_in(codec: Codec, name: str, data: bytes) -> int:
    """How many messages of an export's context bear a bill: each was for the context before."""
    with suppress(BadInput):  # one that cannot be read again is refused where it is put on disk
        return len(_billed(codec.read(Path(name), data, no_progress)))
    return 0


def _billed(session: Session) -> list[int]:
    return [number for number in session.epochs[-1].members if session.messages[number].bill]


def carrying(codec: Codec, data: bytes, carried: Carried) -> bytes | None:
    """The file with the note, None where it has no room for one."""
    return codec.place.put(data, render(asdict(carried))) if codec.place else None


def with_carried(codec: Codec, session: Session) -> Session:
    """The session with what its file carries. Its own words for model and window weigh more as soon as a call of its
    newest epoch was billed: then a tool has gone on with it."""
    carried = codec.place and _known(codec.place.found(session.records.data))
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
