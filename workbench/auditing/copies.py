"""Compactions that stand in more than one file: of a session that was resumed or forked into another with its history,
and of a file that lies in two places. Each is counted in one of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from workbench.analysis.head_index import texts_of
from workbench.analysis.retention import new_messages
from workbench.auditing.rows import SessionRow
from workbench.compaction.outcome import Outcome
from workbench.session import Compaction, Message


def identity(outcome: Outcome, made: Compaction) -> str:
    """What tells a compaction from every other one, and is alike wherever it is written down: what the agent did and
    said last before it, and the summary, or the time where there is none that anybody can read. Names and times of
    messages are not: some tools give their copies others."""
    newest = next((message for message in reversed(outcome.source) if message.role == "assistant"), None)
    summaries = [message.text for message in new_messages(outcome) if message.kind == "summary" and message.text]
    digest = hashlib.blake2b(made.way.encode(), digest_size=12)
    for part in (*_words(newest), *(summaries or [str(made.time)])):
        digest.update(b"\0" + part.strip().encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _words(message: Message | None) -> Iterator[str]:
    """What a message says, and the ids of its calls, which the API draws by chance."""
    if message is not None:
        yield from texts_of(message)
        yield from (call.id for call in message.calls)


def counted_once(rows: Sequence[SessionRow]) -> tuple[SessionRow, ...]:
    """The rows, with every compaction but one of those that are the same marked as a copy. It counts in the session
    that has most calls, for there most is known of what came behind it."""
    holders: dict[str, tuple[int, str, str]] = {}
    for row in rows:
        here = _place(row)
        for one in row.compactions:
            holders[one.id] = min(here, holders.get(one.id, here))
    return tuple(_marked(row, holders) if row.compactions else row for row in rows)


def _place(row: SessionRow) -> tuple[int, str, str]:
    return -row.calls, row.path, row.part


def _marked(row: SessionRow, holders: dict[str, tuple[int, str, str]]) -> SessionRow:
    made = tuple(replace(one, copy=holders[one.id] != _place(row)) for one in row.compactions)
    return row if made == row.compactions else replace(row, compactions=made)
