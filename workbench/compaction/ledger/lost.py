"""Find the user's rules and the open request that a result lacks, from its text and not from the plan."""

from __future__ import annotations

from collections.abc import Container, Iterable

from workbench.compaction.context import Context
from workbench.compaction.ledger.entries import EntryKind, LedgerEntry
from workbench.compaction.ledger.gather import OLD, ledger_entries, numbering
from workbench.compaction.ledger.queue import newest_words
from workbench.compaction.ledger.shorter import uncut
from workbench.compaction.ledger.text import read_ledger
from workbench.compaction.outcome import Lost, Outcome
from workbench.facts.typed import typed_parts


def lost_from(context: Context, outcome: Outcome) -> tuple[Lost, ...]:
    """Rules in force and the open request of `context` that `outcome` lacks, in the order of their messages. A rule is
    kept if its message is kept unchanged, or if an entry of a ledger in the result has it."""
    there = {id(message) for message in outcome.messages}
    ledgers = (read_ledger(message.text) for message in outcome.messages if message.role == "user")
    entries = [entry for ledger in ledgers if ledger is not None for entry in ledger.entries if entry.state != "gone"]
    found = list[Lost]()
    before = numbering(context.shape).ledger
    for one in sorted(ledger_entries(context), key=lambda one: one.entry.source):
        index = one.last if one.last != OLD else before
        if one.entry.kind != "instruction" or one.entry.state == "gone" or index == OLD:
            continue
        message = context.messages[index]
        if id(message) not in there and not _has(entries, one.entry.text, ("instruction",)):
            found.append(Lost(message.id, one.entry.text))
    ids = {message.id for message in outcome.messages}
    if (asked := newest_words(context.shape)) != OLD:
        message = context.shape.masked_at(asked)
        first = next(iter(typed_parts(message.user_text)), None)
        if message.id not in ids and first and not _has(entries, first.text, ("user", "document", "instruction")):
            found.append(Lost(message.id, message.user_text.strip()))
    return tuple(found)


def _has(entries: Iterable[LedgerEntry], text: str, kinds: Container[EntryKind]) -> bool:
    """True if an entry of these kinds has `text`, in full or without its middle."""
    words = " ".join(text.split())
    for entry in entries:
        parts = [" ".join(part.split()) for part in uncut(entry.text)] if entry.kind in kinds else ()
        if parts and words.startswith(parts[0]) and words.endswith(parts[-1]):
            return True
    return False
