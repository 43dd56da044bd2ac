"""Write Augment sessions in the three forms in which its clients read a summary.

The summary that opens a context has one of three forms:

`write`           an ordinary text exchange: auggie 0.36 does not send entries flagged `isHistorySummary`
`write_flagged`   flagged, as the client of document 000 writes it
`write_inserted`  flagged, and inserted into the complete loaded history

No client sends entries before a summary, so a summary after other messages gets a label instead of one of these forms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from uuid import uuid4

from workbench.base.stamps import iso
from workbench.formats.augment import ID
from workbench.formats.augment.entries import Exchange, LoadedHistory, entry_of, group_exchanges, new_entry
from workbench.formats.augment.nodes import without_model_data
from workbench.formats.augment.sequence import recorded_sequence_id, sequence_ids, with_sequence_id
from workbench.formats.augment.summaries import current_version
from workbench.formats.format import Written
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.document import elements, render, splice
from workbench.formats.kit.folder import agent_home, folder_of
from workbench.formats.kit.json_spans import field_of, replace_fields
from workbench.formats.kit.jsonl import loads
from workbench.formats.kit.marks import STALE_USAGE
from workbench.formats.kit.settle import settled, system_prompt
from workbench.formats.kit.values import dict_of
from workbench.formats.loss import Loss, LossKind
from workbench.session import Message, Session

_BOM = b"\xef\xbb\xbf"


def write(session: Session, messages: Sequence[Message]) -> Written:
    """Replace the history of the loaded document, under a new session id; keep the document if nothing changed. For a
    session of another format, write a new document."""
    return _replace_history(session, messages, flag=False)


def write_flagged(session: Session, messages: Sequence[Message]) -> Written:
    """Write as `write`, with the summary that opens the context flagged `isHistorySummary`, as in document 000.

    The flag belongs to an exchange: a summary in an exchange with another answer of the model is not flagged.
    """
    return _replace_history(session, messages, flag=True)


def write_inserted(session: Session, messages: Sequence[Message]) -> Written:
    """Keep the complete loaded history and insert the flagged summary after the exchanges that it replaces, as the
    client of document 000 does. Kept messages that are not at the end of the loaded history follow the summary as
    copies. Write as `write_flagged` does if the session is of another format, nothing changed, or the context does not
    begin with a summary."""
    if session.format != ID or list(messages) == list(session.context()):
        return write_flagged(session, messages)
    exchanges = group_exchanges(messages, own=True)
    if not exchanges or not exchanges[0].is_summary:
        written = write_flagged(session, messages)
        return replace(written, losses=(*written.losses, Loss(LossKind.OLDER_EXCHANGES)))
    source = _load_history(session, flag=True)
    tail = _tail(session, source, exchanges)
    new_exchanges = exchanges[: len(exchanges) - len(tail)]
    at = tail[0].entry if tail and tail[0].entry is not None else len(source.raws)
    recorded = [recorded_sequence_id(raw) for raw in source.raws]
    ids = sequence_ids([*recorded[:at], *[None] * len(new_exchanges), *recorded[at:]])
    pieces: list[int | bytes] = [with_sequence_id(source.raws, index, ids[index]) for index in range(at)]
    for place, (exchange, id) in enumerate(zip(new_exchanges, ids[at:], strict=False)):
        pieces.append(
            entry_of(source, replace(exchange, copy=True), id, first=place == 0, last=exchange is exchanges[-1])
        )
    pieces += [
        with_sequence_id(source.raws, index, ids[index + len(new_exchanges)]) for index in range(at, len(source.raws))
    ]
    return _with_history(session, pieces, source.losses)


def _replace_history(session: Session, messages: Sequence[Message], *, flag: bool) -> Written:
    if session.format != ID:
        return _new_session(session, messages, flag=flag)
    if list(messages) == list(session.context()):
        return _with_history(session, None, [])
    exchanges = group_exchanges(messages, own=True)
    source = _load_history(session, flag=flag)
    source.losses.extend(_losses(session, messages))
    old = [None if one.entry is None else recorded_sequence_id(source.raws[one.entry]) for one in exchanges]
    pieces = [
        entry_of(source, exchange, id, first=place == 0, last=place == len(exchanges) - 1)
        for place, (exchange, id) in enumerate(zip(exchanges, sequence_ids(old), strict=True))
    ]
    if not (
        exchanges and exchanges[0].is_summary and exchanges[0].has_new
    ):  # a new summary's time shows which usage is stale
        _mark_stale_usage(source, pieces)
    return _with_history(session, pieces, source.losses)


def _with_history(session: Session, pieces: Sequence[int | bytes] | None, losses: Sequence[Loss]) -> Written:
    """Return the loaded document with this history and the session's memories, under a new session id if anything
    changed. `pieces` are indexes of loaded entries and new entries as JSON; None keeps the loaded history."""
    data = session.records.data
    memory_fields = _with_memories(field_of(data.removeprefix(_BOM), "agentState") or b"{}", session.memories)
    if pieces is None and not memory_fields:
        return addressed(session, data, session.id, [Loss(LossKind.UNCHANGED)])
    if pieces is not None:
        data = splice(data, "chatHistory", pieces)
    new_id = str(uuid4())
    changes = {"sessionId": render(new_id), "modified": render(iso()), **memory_fields}
    return addressed(session, replace_fields(data.removeprefix(_BOM), changes), new_id, losses)


def _with_memories(state: bytes, memories: str) -> dict[str, bytes]:
    """Return the field `agentState` with these memories; no field if it has them already."""
    if as_text(dict_of(loads(state)).get("agentMemories") or "") == memories:
        return {}
    return {
        "agentState": replace_fields(state if state.startswith(b"{") else b"{}", {"agentMemories": render(memories)})
    }


def _load_history(session: Session, *, flag: bool) -> LoadedHistory:
    parts: dict[int, list[str]] = {}
    for message in session.messages:
        parts.setdefault(message.source[0], []).append(message.id)
    version = current_version(session.facts.summary_versions.values())
    return LoadedHistory(elements(session.records.data, "chatHistory"), parts, flag, version)


def _losses(session: Session, messages: Sequence[Message]) -> Iterator[Loss]:
    """Yield losses for loaded exchanges that the new session lacks: unfinished ones, and those replaced earlier."""
    live = {m.source[0] for m in messages if m.source}
    context = {m.source[0] for m in session.context()}
    sent = {session.messages[at].source[0] for epoch in session.epochs for at in epoch.members}
    if unfinished := {m.source[0] for m in session.messages} - sent - live:
        yield Loss(LossKind.UNFINISHED_EXCHANGES, len(unfinished))
    if replaced := sent - context - live:
        yield Loss(LossKind.REPLACED_EXCHANGES, len(replaced))


def _tail(session: Session, source: LoadedHistory, exchanges: Sequence[Exchange]) -> Sequence[Exchange]:
    """Return the exchanges at the end that are also the unchanged end of the loaded context; never the first
    exchange."""
    loaded = list(dict.fromkeys(message.source[0] for message in session.context()))
    start = len(exchanges)
    while start > 1 and loaded and _is_whole(source, exchanges[start - 1], loaded[-1]):
        start -= 1
        loaded.pop()
    return exchanges[start:]


def _is_whole(source: LoadedHistory, exchange: Exchange, entry: int) -> bool:
    if exchange.entry != entry or any(message.kind == "summary" for message in exchange.messages):
        return False
    return [message.id for message in exchange.messages if message.source] == source.parts[
        entry
    ] and not exchange.has_new


def _mark_stale_usage(source: LoadedHistory, pieces: list[int | bytes]) -> None:
    """Mark the last entry: usage up to it was billed for another context."""
    if pieces:
        newest = pieces[-1]
        raw = source.raws[newest] if isinstance(newest, int) else newest
        if "exchange" in dict_of(loads(raw)):
            pieces[-1] = replace_fields(raw, {STALE_USAGE: b"true"})


def _new_session(session: Session, messages: Sequence[Message], *, flag: bool) -> Written:
    """Write a new session file. The system prompt becomes user guidelines: auggie has no other place for it."""
    system, rest = system_prompt(session, messages)
    rest, losses = settled(rest, "anthropic-messages")
    if system:
        losses.append(Loss(LossKind.PROMPT_AS_GUIDELINES, details=("auggie",)))
    if session.tools:
        losses.append(Loss(LossKind.TOOL_DEFINITIONS, len(session.tools), ("auggie",)))
    exchanges = group_exchanges([without_model_data(message, losses) for message in rest], own=False)
    source = LoadedHistory((), {}, flag, losses=losses)
    history = [
        new_entry(source, exchange, float(place), first=place == 0, last=place == len(exchanges) - 1)
        for place, exchange in enumerate(exchanges)
    ]
    id, now = str(uuid4()), iso()
    state = {"userGuidelines": system, "workspaceGuidelines": "", "agentMemories": session.memories}
    document = {"sessionId": id, "created": now, "modified": now, "chatHistory": history, "agentState": state}
    return addressed(session, render(document), id, losses)


def addressed(session: Session, data: bytes, id: str, losses: Sequence[Loss]) -> Written:
    """Return a document with its name, its place in auggie's folder and the command that resumes it."""
    if b'"userEmail"' in data:
        losses = [*losses, Loss(LossKind.EMAIL_KEPT)]
    home = f"{agent_home('AUGMENT_CACHE_DIR', otherwise='~/.augment')}/sessions/{id}.json"
    return Written(data, f"{id}.json", id, home, folder_of(session), (("auggie", "--resume", id),), losses=losses)
