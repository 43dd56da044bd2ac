"""Saved token counts of a large session's messages, so that its texts need not be hashed, looked up and counted again
when it is reopened. They are valid for the same bytes and the same version of this program (`base/disk_cache.py`)."""

from __future__ import annotations

from array import array
from typing import BinaryIO

from workbench.base import disk_cache
from workbench.session import Session
from workbench.tokens.counting import Counter, Weight
from workbench.tokens.engine import FAMILY

_FIGURES = 6
"""Figures per message: all fields of `Weight` except `counted`. The first is −1 if the message is not counted."""

_UNKNOWN = (-1, 0, 0, 0, 0, 0)


def keep(session: Session, counter: Counter) -> None:
    """Save the counts of a session that was read from a large file, if more are known than were saved before."""
    counter.save()
    if session.path is None or not session.records.digest:
        return
    before, known = _saved_figures(session), sum(counter.known(message) is not None for message in session.messages)
    if known <= sum(text >= 0 for text in before[::_FIGURES]):
        return
    figures = array("q")
    for message in session.messages:
        weight = counter.known(message)
        if weight is None:
            figures.extend(_UNKNOWN)
        else:
            figures.extend((weight.text, weight.media, weight.signature, weight.calls, weight.results, weight.exact))
    place = disk_cache.cache_file(session.path, "weights", session.facts.part)
    disk_cache.store(place, _about(session), lambda file: file.write(figures.tobytes()), replace=True)


def recall(session: Session, counter: Counter) -> None:
    """Load the session's saved counts into the counter."""
    rows = iter(_saved_figures(session))
    for message, row in zip(session.messages, zip(*[rows] * _FIGURES, strict=True), strict=False):
        text, media, signature, calls, results, exact = row
        if text >= 0:
            counter.know(message, Weight(text, media, signature, calls, results, exact=bool(exact)))


def _saved_figures(session: Session) -> array[int]:
    """Saved figures of all messages; empty if none are saved."""
    figures = array("q")
    if session.path is None or not session.records.digest:
        return figures
    with disk_cache.open_cached(
        disk_cache.cache_file(session.path, "weights", session.facts.part), _about(session)
    ) as file:
        data = _read(file) if file else b""
    if len(data) == figures.itemsize * _FIGURES * len(session.messages):
        figures.frombytes(data)
    return figures


def _read(file: BinaryIO) -> bytes:
    try:
        return file.read()
    except OSError:
        return b""


def _about(session: Session) -> disk_cache.About:
    return {
        "of": disk_cache.real_path(session.path) if session.path else "",
        "digest": session.records.digest.hex(),
        "family": FAMILY.decode(),
        "messages": len(session.messages),
        "program": disk_cache.code_digest("base", "session", "formats", "tokens"),
    }
