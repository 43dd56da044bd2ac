"""What the messages of a large session weigh, kept for the next time it is opened: its texts are then neither hashed
nor looked up nor counted. It holds for the same bytes, the same program and the same counts (`base/shelf.py`)."""

from __future__ import annotations

from array import array
from typing import BinaryIO

from workbench.base import shelf
from workbench.session import Session
from workbench.tokens.counting import Counter, Weight
from workbench.tokens.engine import FAMILY

_FIGURES = 6
"""Kept of each message: what `Weight` has but for `counted`; −1 in the first of them where it is not counted."""

_UNKNOWN = (-1, 0, 0, 0, 0, 0)


def keep(session: Session, counter: Counter) -> None:
    """Keep what is counted of a session that was read from a large file."""
    counter.save()
    if session.path is None or not session.records.digest:
        return
    figures = array("q")
    for message in session.messages:
        weight = counter.known(message)
        if weight is None:
            figures.extend(_UNKNOWN)
        else:
            figures.extend((weight.text, weight.media, weight.signature, weight.calls, weight.results, weight.exact))
    place = shelf.place(session.path, "weights", session.facts.part)
    shelf.put(place, _about(session), lambda file: file.write(figures.tobytes()))


def recall(session: Session, counter: Counter) -> None:
    """Tell the counter what is kept of the session, if anything is."""
    if session.path is None or not session.records.digest:
        return
    with shelf.opened(shelf.place(session.path, "weights", session.facts.part), _about(session)) as file:
        figures = _read(file) if file else array("q")
    if len(figures) != _FIGURES * len(session.messages):
        return
    rows = iter(figures)
    for message, row in zip(session.messages, zip(*[rows] * _FIGURES, strict=True), strict=True):
        text, media, signature, calls, results, exact = row
        if text >= 0:
            counter.know(message, Weight(text, media, signature, calls, results, exact=bool(exact)))


def _read(file: BinaryIO) -> array[int]:
    try:
        data = file.read()
    except OSError:
        data = b""
    figures = array("q")
    figures.frombytes(data[: len(data) // figures.itemsize * figures.itemsize])
    return figures


def _about(session: Session) -> shelf.About:
    return {
        "of": str(session.path.resolve()) if session.path else "",
        "digest": session.records.digest.hex(),
        "family": FAMILY.decode(),
        "messages": len(session.messages),
        "program": shelf.program("base", "session", "formats", "tokens"),
    }
