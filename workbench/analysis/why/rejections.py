"""Requests that the API rejected as too long, recognized by the error texts of many providers; and the epoch that
overflowed."""

from __future__ import annotations

from msgspec import Struct

from workbench.compaction.opening import epoch_of
from workbench.session import EpochChoice, Message, Session
from workbench.session.api_errors import TOO_LONG
from workbench.tokens.window import window_of

SHORT = 800
"""Longest error text, in characters; a longer text only mentions an error."""


class RejectedRequest(Struct, frozen=True):
    """Recorded rejection. `member` is the index in `Session.messages` of the error, or of the newest message before it
    if the error is no message; None if unknown."""

    text: str
    message: str | None = None
    member: int | None = None
    time: float | None = None


def rejected_requests(session: Session) -> tuple[RejectedRequest, ...]:
    """Return every rejection that the session records, in order.

    Sources: the format's list of such errors, the run's exit status, and short texts that neither the user typed nor a
    tool returned.
    """
    place = {message.id: index for index, message in enumerate(session.messages)}
    found: dict[str, RejectedRequest] = {}
    for error in session.facts.overflow_errors:
        at = _place_of(session, place.get(error.id), error.time)
        named = session.messages[at].id if at is not None else None
        found[error.id or str(len(found))] = RejectedRequest(" ".join(error.text.split()), named, at, error.time)
    for index, message in enumerate(session.messages):
        if message.id not in found and _is_error(message):
            found[message.id] = RejectedRequest(" ".join(message.text.split()), message.id, index, message.time)
    status = session.facts.exit_status
    if TOO_LONG.search(status) and session.messages:
        found["exit status"] = RejectedRequest(
            f"exit status {status}", session.messages[-1].id, len(session.messages) - 1
        )
    return tuple(sorted(found.values(), key=lambda one: len(place) if one.member is None else one.member))


def overflowed_epoch(session: Session) -> int:
    """Return the number of the newest epoch that ended in a compaction, had a rejected request, or exceeded the window;
    of the last epoch if none did."""
    refused = {one.member for one in rejected_requests(session)}
    for epoch in reversed(session.epochs):
        window = window_of(session, epoch.number)
        largest = max((session.messages[index].bill for index in epoch.members), default=0)
        over = window is not None and largest > window.tokens
        if epoch.ended_by is not None or over or (refused and not refused.isdisjoint(epoch.members)):
            return epoch.number
    return len(session.epochs)


def epoch_named(session: Session, epoch: EpochChoice) -> int:
    """Return the number of a chosen epoch. None, the default of the screen and the commands, means `overflowed_epoch`;
    "last" means the newest, in which the agent continues. Raises BadInput if there is no such epoch."""
    if epoch is None:
        return overflowed_epoch(session)
    return epoch_of(session, None if epoch == "last" else epoch)


def _is_error(message: Message) -> bool:
    if message.usage is not None or message.starts_round or message.calls or message.results:
        return False
    text = message.text
    return message.kind in ("normal", "meta") and 0 < len(text) <= SHORT and TOO_LONG.search(text[:300]) is not None


def _place_of(session: Session, known: int | None, time: float | None) -> int | None:
    """Return `known`, the index of an error, or the index of the newest message before `time`; None if unknown."""
    if known is not None or time is None:
        return known
    before = [i for i, message in enumerate(session.messages) if message.time is not None and message.time <= time]
    return before[-1] if before else None
