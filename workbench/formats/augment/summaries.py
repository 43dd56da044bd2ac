"""What recorded summaries make of an Augment history: which of them the client sends, and the epochs they leave.

A summary stands in one of three forms: an entry flagged `isHistorySummary`, with a version (the client of document
000); a node of its own in the request that follows it (auggie 0.36); an ordinary request whose text has the form of a
summary. Each takes the place of all that stands before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.session import Compaction, Epoch, Message

VERSION = 3
"""The version of the summaries that the client of document 000 writes; flagged ones of another it leaves out."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A completed summary: messages `start`..`stop` of the file, the first of them the summary itself.

    `version` is that of a flagged one (0 where none is given), None for the other forms, which have none and are always
    sent. `time` is in seconds since the epoch.
    """

    start: int
    stop: int
    version: int | None
    time: float | None


def current_version(versions: Iterable[int]) -> int:
    """The version of the client that goes on with a session of these: a newer summary is a newer client's."""
    return max(VERSION, *versions, 0)


def epochs_of(
    messages: Sequence[Message], completed: Sequence[int], times: Sequence[float | None], recorded: Sequence[Recorded]
) -> tuple[Epoch, ...]:
    """The epochs of a file: one that each summary ended, where anything stood before it, and what the model sees now.

    `times[i]` is when the entry of message i was finished. A summary is put in front of the exchanges that stay, so
    what is older than the summary but stands behind it was there when it was made.
    """
    epochs: list[Epoch] = []
    owner = {at: number for number, one in enumerate(recorded) for at in range(one.start, one.stop)}
    since, opened = 0, None
    for number, one in enumerate(recorded):
        there = (at for at in completed if at >= since and owner.get(at, -1) < number)
        members = [at for at in there if at < one.start or _is_older(times[at], one.time)]
        if members and members[0] < one.start:
            billed = [at for at in members if not _is_older(times[at], opened)]
            ended_by = Compaction(
                tokens_before=_newest_bill(messages, billed), summary=messages[one.start].id, time=one.time
            )
            epochs.append(Epoch(len(epochs) + 1, members, ended_by))
        since, opened = one.start, one.time
    current = current_version(one.version for one in recorded if one.version is not None)
    sent = [one for one in recorded if one.version in (None, current)]
    since = sent[-1].start if sent else 0
    left_out = {at for at, number in owner.items() if recorded[number].version not in (None, current)}
    members = [at for at in completed if at >= since and at not in left_out]
    return (*epochs, Epoch(len(epochs) + 1, members))


def _newest_bill(messages: Sequence[Message], indexes: Sequence[int]) -> int | None:
    """Tokens of the newest billed call and of its answer."""
    usages = (messages[index].usage for index in reversed(indexes))
    return next((usage.context + usage.output for usage in usages if usage and usage.context), None)


def _is_older(time: float | None, than: float | None) -> bool:
    return time is not None and than is not None and time < than
