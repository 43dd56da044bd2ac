"""Find the user's rules and the open request that a result lacks, from its text and not from the plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.compaction.context import Context
from workbench.compaction.ledger.entries import EntryKind, LedgerEntry
from workbench.compaction.ledger.gather import OLD, ledger_entries, numbering
from workbench.compaction.ledger.queue import newest_words
from workbench.compaction.ledger.shorter import uncut
from workbench.compaction.ledger.text import is_ledger, read_ledger
from workbench.compaction.outcome import Lost, Outcome
from workbench.facts.typed import typed_parts


def lost_from(context: Context, outcome: Outcome) -> tuple[Lost, ...]:
    """Rules in force and the open request of `context` that `outcome` lacks, in the order of their messages. A rule is
    kept if its message is kept unchanged, or if an entry of a ledger in the result has it."""
    there = {id(message) for message in outcome.messages}
    ledgers = (read_ledger(message.text) for message in outcome.messages if is_ledger(message))
    entries = [entry for ledger in ledgers if ledger is not None for entry in ledger.entries]
    found = list[Lost]()
    before = numbering(context.shape).ledger
    for one in sorted(ledger_entries(context), key=lambda one: one.entry.source):
        index = one.last if one.last != OLD else before
        if one.entry.kind != "instruction" or one.entry.state == "gone" or index is None:
            continue
        message = context.messages[index]
        if id(message) not in there and not _is_in_ledger("instruction", one.entry.text, entries):
            found.append(Lost(message.id, one.entry.text))
    ids = {message.id for message in outcome.messages}
    if (asked := newest_words(context.shape)) != OLD:
        message = context.shape.masked_at(asked)
        text = message.user_text
        if message.id not in ids and text.strip() and not _is_request_in_ledger(text, entries):
            found.append(Lost(message.id, text.strip()))
    return tuple(found)


def _is_in_ledger(kind: EntryKind, text: str, entries: Iterable[LedgerEntry]) -> bool:
    """True if an entry of this kind, in force, has `text`, in full or without its middle."""
    words = _collapsed(text)
    return any(entry.kind == kind and entry.state != "gone" and _begins(words, entry.text) for entry in entries)


def _is_request_in_ledger(text: str, entries: Sequence[LedgerEntry]) -> bool:
    """True if the ledger has the beginning of what the user typed, as the user's sentence or as a rule."""
    first = next(iter(typed_parts(text)), None)
    return first is None or any(
        _is_in_ledger(kind, first.text, entries) for kind in ("user", "document", "instruction")
    )


def _begins(words: str, entry_text: str) -> bool:
    parts = [_collapsed(part) for part in uncut(entry_text)]
    return bool(parts) and words.startswith(parts[0]) and words.endswith(parts[-1])


def _collapsed(text: str) -> str:
    return " ".join(text.split())
