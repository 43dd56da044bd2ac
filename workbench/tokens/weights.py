"""What the messages of a large session weigh, kept for the next time it is opened: its texts are then neither hashed
nor looked up nor counted. It holds for the same bytes, the same program and the same counts (`base/disk_cache.py`)."""

from __future__ import annotations

from array import array
from typing import BinaryIO

from workbench.base import disk_cache
from workbench.session import Session
from workbench.tokens.counting import Counter, Weight
from workbench.tokens.engine import FAMILY

_FIGURES = 6
"""Kept of each message: what `Weight` has but for `counted`; −1 in the first of them where it is not counted."""

_UNKNOWN = (-1, 0, 0, 0, 0, 0)


def keep(session: Session, counter: Counter) -> None:
    """Keep what is counted of a session that was read from a large file, if that is more than is kept."""
    counter.save()
    if session.path is None or not session.records.digest:
        return
    before, known = _kept(session), sum(counter.known(message) is not None for message in session.messages)
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
    """Tell the counter what is kept of the session, if anything is."""
    rows = iter(_kept(session))
    for message, row in zip(session.messages, zip(*[rows] * _FIGURES, strict=True), strict=False):
        text, media, signature, calls, results, exact = row
        if text >= 0:
            counter.know(message, Weight(text, media, signature, calls, results, exact=bool(exact)))


def _kept(session: Session) -> array[int]:
    """The figures of all messages, none where they are not kept."""
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
