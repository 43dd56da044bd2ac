"""What an export says of itself, so that it shows the tokens that a compaction promised when it is opened again.

A file that a tool goes on with holds no bill of its present context (the old ones speak of a longer one), no tokens of
a system prompt that only the tool knows, and maybe no model. `Codec.place` is where a format has room for a note of
that, which its tool passes over; the note is written and read here alone.
"""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import Any

from workbench.formats.format import Codec
from workbench.formats.kit.document import render
from workbench.formats.kit.values import dict_of
from workbench.session import Carried, Session

NO_PLACE = (
    "it has no place for the window and the tokens of a prompt that is not in it: opened again, it shows other sizes"
)
_LARGEST = 2**53


def carrying(codec: Codec, data: bytes, carried: Carried) -> bytes | None:
    """The file with the note, None where it has no room for one."""
    return codec.place.put(data, render(asdict(carried))) if codec.place else None


def with_carried(codec: Codec, session: Session) -> Session:
    """The session with what its file carries. Its own words for model and window weigh more as soon as a call of its
    newest epoch was billed: then a tool has gone on with it."""
    carried = codec.place and _known(codec.place.found(session.records.data))
    if not carried:
        return session
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
    if not (model is None or (isinstance(model, str) and model)):
        return None
    if not (window is None or (type(window) is int and 0 < window < _LARGEST)):
        return None
    if not (type(prompt) is int and 0 <= prompt < _LARGEST):
        return None
    if not (type(scale) in (int, float) and math.isfinite(scale) and 0 < scale < _LARGEST):
        return None
    return Carried(model, window, prompt, float(scale))
