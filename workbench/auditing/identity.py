"""By what a compaction is known again in another file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from workbench.analysis.head_index import texts_of
from workbench.analysis.retention import new_messages
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
