"""Derive the epochs of an Augment history from its recorded summaries.

A summary has one of three forms: an entry flagged `isHistorySummary` with a version (the client of document 000); a
node in the request that follows it (auggie 0.36); an ordinary request whose text has the form of a summary. Each
replaces all earlier entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.session import Compaction, Epoch, Message

VERSION = 3
"""Version of the summaries that the client of document 000 writes; it ignores flagged summaries of other versions."""


@dataclass(frozen=True, slots=True)
class RecordedSummary:
    """A completed summary: messages `start`..`stop` of the file, the first of them the summary itself.

    `version` is set for flagged summaries (0 if it is missing) and None for the other forms, which are always sent.
    `time` is in seconds since 1970.
    """

    start: int
    stop: int
    version: int | None
    time: float | None


def current_version(versions: Iterable[int]) -> int:
    """Return the version of the client that continues a session with these summaries: the newest one's, at least
    VERSION."""
    return max(VERSION, *versions, 0)


def epochs_of(
    messages: Sequence[Message],
    completed: Sequence[int],
    times: Sequence[float | None],
    recorded: Sequence[RecordedSummary],
) -> tuple[Epoch, ...]:
    """Return the epochs of a file: one ended by each summary that replaced anything, and the current context.

    `times[i]` is when the entry of message i finished, in seconds since 1970. A summary is inserted before the
    exchanges that stay, so an older exchange after it was part of the epoch that it ended.
    """
    epochs: list[Epoch] = []
    owner = {at: number for number, one in enumerate(recorded) for at in range(one.start, one.stop)}
    start, opening_time = 0, None
    for number, one in enumerate(recorded):
        candidates = (at for at in completed if at >= start and owner.get(at, -1) < number)
        members = [at for at in candidates if at < one.start or _is_older(times[at], one.time)]
        if members and members[0] < one.start:
            billed = [at for at in members if not _is_older(times[at], opening_time)]
            ended_by = Compaction(
                tokens_before=_newest_size(messages, billed), summary=messages[one.start].id, time=one.time
            )
            epochs.append(Epoch(len(epochs) + 1, members, ended_by))
        start, opening_time = one.start, one.time
    current = current_version(one.version for one in recorded if one.version is not None)
    sent = [one for one in recorded if one.version in (None, current)]
    start = sent[-1].start if sent else 0
    ignored = {at for at, number in owner.items() if recorded[number].version not in (None, current)}
    members = [at for at in completed if at >= start and at not in ignored]
    return (*epochs, Epoch(len(epochs) + 1, members))


def _newest_size(messages: Sequence[Message], indexes: Sequence[int]) -> int | None:
    """Return the context and output tokens of the newest usage, None without one."""
    usages = (messages[index].usage for index in reversed(indexes))
    return next((usage.context + usage.output for usage in usages if usage and usage.context), None)


def _is_older(time: float | None, than: float | None) -> bool:
    return time is not None and than is not None and time < than
