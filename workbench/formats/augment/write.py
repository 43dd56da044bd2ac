"""Write Augment sessions in the three forms in which its clients read a summary.

Messages are grouped into exchanges again. A complete exchange keeps its bytes; an incomplete one keeps the parts that
are left. The summary that opens a context has one of three forms:

`write`           an ordinary text exchange: auggie 0.36 does not send entries flagged `isHistorySummary`
`write_flagged`   flagged, as the client of document 000 writes it
`write_inserted`  flagged, and inserted into the complete loaded history

No client sends entries before a summary, so a summary after other messages gets a label instead of one of these forms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from workbench.base.stamps import iso
from workbench.formats.agent_texts import SUMMARY_ANSWERS, is_augments_summary, is_summary
from workbench.formats.augment import ID
from workbench.formats.augment.nodes import (
    STRAY,
    add_label,
    is_node,
    is_summary_node,
    nodes_of,
    request_nodes,
    response_nodes,
    without_model_data,
)
from workbench.formats.augment.sequence import (
    compact_number,
    recorded_sequence_id,
    sequence_id_of,
    sequence_ids,
    with_sequence_id,
)
from workbench.formats.augment.summaries import VERSION, current_version
from workbench.formats.format import Written
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.document import elements, render, splice
from workbench.formats.kit.folder import agent_home, folder_of
from workbench.formats.kit.json_spans import field_of, replace_fields
from workbench.formats.kit.jsonl import loads
from workbench.formats.kit.marks import COPY, STALE_USAGE
from workbench.formats.kit.settle import as_user_text, settled, system_prompt
from workbench.formats.kit.values import dict_of
from workbench.formats.loss import Loss, Losses, LossKind, loss_of
from workbench.session import Block, Message, Opaque, Session, Text

CONTINUES = f"{SUMMARY_ANSWERS[0]} the conversation from this point."
_BOM = b"\xef\xbb\xbf"


@dataclass
class _Exchange:
    """Consecutive messages that become one entry. `entry`: index of the loaded entry from which some come, None if all
    are new. `copy`: the loaded entry also stays in the file, so that this one needs an id of its own."""

    entry: int | None = None
    requests: list[Message] = field(default_factory=list)
    responses: list[Message] = field(default_factory=list)
    copy: bool = False

    @property
    def messages(self) -> list[Message]:
        return [*self.requests, *self.responses]

    @property
    def has_new(self) -> bool:
        """True if some messages do not come from a loaded entry."""
        return self.entry is None or any(not message.source for message in self.messages)

    @property
    def is_summary(self) -> bool:
        """True for a summary with or without its answer, and nothing else."""
        return bool(self.requests) and all(message.kind == "summary" for message in self.messages)


@dataclass(frozen=True, slots=True)
class _LoadedHistory:
    """Loaded entries as JSON (`raws`), and the message ids of each by index (`parts`). `flag`: flag the summary that
    opens the context, with `version`. Writing appends to `losses`."""

    raws: Sequence[bytes]
    parts: Mapping[int, Sequence[str]]
    flag: bool
    version: int = VERSION
    losses: Losses = field(default_factory=list)


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
    client of document 000 does. Messages that stay but are not at the end of the loaded history follow the summary as
    copies. Without a loaded history, a change or a summary at the start, write as `write_flagged` does."""
    if session.format != ID or list(messages) == list(session.context()):
        return write_flagged(session, messages)
    exchanges = _group_exchanges(messages, own=True)
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
            _entry(source, replace(exchange, copy=True), id, first=place == 0, last=exchange is exchanges[-1])
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
    exchanges = _group_exchanges(messages, own=True)
    source = _load_history(session, flag=flag)
    source.losses.extend(_losses(session, messages))
    old = [None if one.entry is None else recorded_sequence_id(source.raws[one.entry]) for one in exchanges]
    pieces = [
        _entry(source, exchange, id, first=place == 0, last=place == len(exchanges) - 1)
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
    remembered = _with_memories(field_of(data.removeprefix(_BOM), "agentState") or b"{}", session.memories)
    if pieces is None and not remembered:
        return addressed(session, data, session.id, [Loss(LossKind.UNCHANGED)])
    if pieces is not None:
        data = splice(data, "chatHistory", pieces)
    new_id = str(uuid4())
    changes = {"sessionId": render(new_id), "modified": render(iso()), **remembered}
    return addressed(session, replace_fields(data.removeprefix(_BOM), changes), new_id, losses)


def _with_memories(state: bytes, memories: str) -> dict[str, bytes]:
    """Return the field `agentState` with these memories; no field if it has them already."""
    if as_text(dict_of(loads(state)).get("agentMemories") or "") == memories:
        return {}
    return {
        "agentState": replace_fields(state if state.startswith(b"{") else b"{}", {"agentMemories": render(memories)})
    }


def _load_history(session: Session, *, flag: bool) -> _LoadedHistory:
    parts: dict[int, list[str]] = {}
    for message in session.messages:
        parts.setdefault(message.source[0], []).append(message.id)
    version = current_version(session.facts.summary_versions.values())
    return _LoadedHistory(elements(session.records.data, "chatHistory"), parts, flag, version)


def _losses(session: Session, messages: Sequence[Message]) -> Iterator[Loss]:
    """Yield losses for loaded exchanges that the new session lacks: unfinished ones, and those replaced earlier."""
    live = {m.source[0] for m in messages if m.source}
    context = {m.source[0] for m in session.context()}
    sent = {session.messages[at].source[0] for epoch in session.epochs for at in epoch.members}
    if unfinished := {m.source[0] for m in session.messages} - sent - live:
        yield Loss(LossKind.UNFINISHED_EXCHANGES, len(unfinished))
    if replaced := sent - context - live:
        yield Loss(LossKind.REPLACED_EXCHANGES, len(replaced))


def _tail(session: Session, source: _LoadedHistory, exchanges: Sequence[_Exchange]) -> Sequence[_Exchange]:
    """Return the exchanges at the end that are also the unchanged end of the loaded context; never the first
    exchange."""
    loaded = list(dict.fromkeys(message.source[0] for message in session.context()))
    start = len(exchanges)
    while start > 1 and loaded and _is_whole(source, exchanges[start - 1], loaded[-1]):
        start -= 1
        loaded.pop()
    return exchanges[start:]


def _is_whole(source: _LoadedHistory, exchange: _Exchange, entry: int) -> bool:
    if exchange.entry != entry or any(message.kind == "summary" for message in exchange.messages):
        return False
    return [message.id for message in exchange.messages if message.source] == source.parts[
        entry
    ] and not exchange.has_new


def _entry(source: _LoadedHistory, exchange: _Exchange, sequence_id: float, *, first: bool, last: bool) -> int | bytes:
    """Return an exchange as an entry: the index of the loaded one if that is unchanged, else JSON."""
    place = exchange.entry
    if place is None:
        return render(_new_entry(source, exchange, sequence_id, first=first, last=last))
    if _is_stray(exchange.messages[0]):
        return place
    raw = source.raws[place]
    entry = loads(raw)
    if not first:
        exchange = _with_new_label(exchange)
    changes = (
        {}
        if sequence_id_of(entry.get("sequenceId")) == sequence_id
        else {"sequenceId": render(compact_number(sequence_id))}
    )
    if [m.id for m in exchange.messages if m.source] != source.parts[place] or exchange.has_new:
        changes["exchange"] = render(_edit_exchange(entry, exchange, source, first=first))
    if exchange.copy:
        body = changes.get("exchange") or field_of(raw, "exchange") or b"{}"
        changes |= {"exchange": replace_fields(body, {"request_id": render(str(uuid4()))}), COPY: b"true"}
    if source.flag and first and exchange.is_summary:
        changes |= {key: render(value) for key, value in _flags(source).items()} | {"finishedAt": render(iso())}
    elif entry.get("isHistorySummary") and any(message.kind == "summary" for message in exchange.messages):
        changes["isHistorySummary"] = b"false"
        source.losses.append(Loss(LossKind.SUMMARIES_UNFLAGGED))
    return replace_fields(raw, changes) if changes else place


def _mark_stale_usage(source: _LoadedHistory, pieces: list[int | bytes]) -> None:
    """Mark the last entry: usage up to it was billed for another context."""
    if pieces:
        newest = pieces[-1]
        raw = source.raws[newest] if isinstance(newest, int) else newest
        if "exchange" in dict_of(loads(raw)):
            pieces[-1] = replace_fields(raw, {STALE_USAGE: b"true"})


def _with_new_label(exchange: _Exchange) -> _Exchange:
    """Return the exchange with its summary as a new message, which is written with a label because others precede
    it."""
    requests = [replace(m, source=()) if m.kind == "summary" else m for m in exchange.requests]
    return replace(exchange, requests=requests)


def _flags(source: _LoadedHistory) -> dict[str, Any]:
    source.losses.append(Loss(LossKind.SUMMARY_FLAGGED))
    return {"isHistorySummary": True, "historySummaryVersion": source.version}


def _new_session(session: Session, messages: Sequence[Message], *, flag: bool) -> Written:
    """Write a new session file. The system prompt becomes user guidelines: auggie has no other place for it."""
    system, rest = system_prompt(session, messages)
    rest, losses = settled(rest, "anthropic-messages")
    if system:
        losses.append(Loss(LossKind.PROMPT_AS_GUIDELINES, details=("auggie",)))
    if session.tools:
        losses.append(Loss(LossKind.TOOL_DEFINITIONS, len(session.tools), ("auggie",)))
    exchanges = _group_exchanges([without_model_data(message, losses) for message in rest], own=False)
    source = _LoadedHistory((), {}, flag, losses=losses)
    history = [
        _new_entry(source, exchange, float(place), first=place == 0, last=place == len(exchanges) - 1)
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


def _group_exchanges(messages: Sequence[Message], *, own: bool) -> list[_Exchange]:
    """Group messages into exchanges: requests and the response that follows. `own`: sources are entries of this
    format."""
    exchanges: list[_Exchange] = []
    for place, message in enumerate(messages):
        if place and message.id.endswith(":summary"):
            message = replace(message, source=())  # after other messages it cannot be a summary node
        if message.kind == "boundary" or not (message.blocks or (own and message.source)):
            continue
        entry = message.source[0] if own and message.source else None
        current = exchanges[-1] if exchanges else None
        if current is None or not _continues(message, entry, current):
            current = _Exchange()
            exchanges.append(current)
        current.entry = entry if current.entry is None else current.entry
        (current.responses if message.role == "assistant" else current.requests).append(message)
    return exchanges


def _continues(message: Message, entry: int | None, current: _Exchange) -> bool:
    """True for a message that continues the current exchange.

    A strategy may shorten one half of an exchange, so a new response may follow a loaded request, and a loaded response
    a new request. A loaded request never follows new requests. A new request never joins a summary, and a new summary
    never joins a request.
    """
    if _is_stray(message) or _is_stray(current.messages[0]):
        return False
    if entry is not None and current.entry is not None:
        return entry == current.entry and not (message.role != "assistant" and current.responses)
    if message.role == "assistant":
        return not current.responses or (entry is None and current.entry is None)
    if current.responses or entry is not None:
        return False
    return message.kind != "summary" and all(request.kind != "summary" for request in current.requests)


def _edit_exchange(
    entry: dict[str, Any], exchange: _Exchange, source: _LoadedHistory, *, first: bool
) -> dict[str, Any]:
    """Return the exchange of a loaded entry: the parts whose messages stay, and new messages instead of the others."""
    kept_parts = {message.id.rpartition(":")[2] for message in exchange.messages if message.source}
    new = _render_messages(
        [m for m in exchange.requests if not m.source],
        [m for m in exchange.responses if not m.source],
        source.losses,
        first=first,
    )
    old = dict(entry["exchange"])
    request = [
        n for n in nodes_of(old, "request_nodes") if ("summary" if is_summary_node(n) else "request") in kept_parts
    ]
    response = nodes_of(old, "response_nodes") if "response" in kept_parts else []
    texts = {
        "request_message": as_text(old.get("request_message") or "") if "request" in kept_parts else "",
        "response_text": as_text(old.get("response_text") or "") if "response" in kept_parts else "",
    }
    return {
        **old,
        **{key: "\n".join(filter(None, [text, new[key]])) for key, text in texts.items()},
        "request_nodes": new["request_nodes"] + request,
        "response_nodes": response + new["response_nodes"],
    }


def _new_entry(
    source: _LoadedHistory, exchange: _Exchange, sequence_id: float, *, first: bool, last: bool
) -> dict[str, Any]:
    flag = source.flag and first and exchange.is_summary
    responses = exchange.responses
    summary_last = bool(exchange.requests) and exchange.requests[-1].kind == "summary"
    if summary_last and not responses and not last:
        responses = [Message("", "assistant", (Text(CONTINUES),), "summary")]
        source.losses.append(Loss(LossKind.ANSWER_INSERTED, 1, ("an exchange has a response",), CONTINUES))
    rendered = _render_messages(exchange.requests, responses, source.losses, first=first)
    if flag:  # the nodes hold everything; auggie 0.36 reads the texts, but sends no flagged entry
        rendered |= {"request_message": "", "response_text": ""}
    return {
        "exchange": {"request_id": str(uuid4()), **rendered},
        "completed": True,
        "sequenceId": compact_number(sequence_id),
        # A summary is as old as this export: usage of older exchanges was billed for another context.
        "finishedAt": iso() if summary_last else iso(responses[-1].time if responses else None),
        "changedFiles": [],
        "changedFilesSkipped": [],
        "changedFilesSkippedCount": 0,
        **(_flags(source) if flag else {}),
        "source": "local",
    }


def _render_messages(
    requests: Sequence[Message], responses: Sequence[Message], losses: Losses, *, first: bool
) -> dict[str, Any]:
    """Return the fields of an exchange for new messages: two texts, two lists of nodes. `request_message` holds all
    texts but those that the agent added (`meta`)."""
    request_parts = [(message, block) for message in requests for block in _request_blocks(message, first=first)]
    response_parts = [block for message in responses for block in message.blocks if not _is_empty(block)]
    blocks = (*(block for _, block in request_parts), *response_parts)
    losses += [loss_of(block) for block in blocks if isinstance(block, Opaque) and not is_node(block)]
    texts = [block.text for message, block in request_parts if message.kind != "meta" and isinstance(block, Text)]
    return {
        "request_message": "\n".join(texts),
        "response_text": "\n".join(block.text for block in response_parts if isinstance(block, Text)),
        "request_nodes": request_nodes((block for _, block in request_parts), losses),
        "response_nodes": response_nodes(response_parts, losses),
    }


def _request_blocks(message: Message, *, first: bool) -> list[Block]:
    blocks = [block for block in message.blocks if not _is_empty(block)]
    if message.kind != "summary":
        return [Text(as_user_text(message))] if message.role == "system" else blocks
    if first and is_augments_summary(message.text):
        return blocks
    text = _as_summary_text(message.text) if first and not is_summary(message.text) else add_label(message.text)
    return [Text(text), *(block for block in blocks if not isinstance(block, Text))]


def _as_summary_text(text: str) -> str:
    """Return a summary in the form that makes auggie drop older exchanges."""
    return f"<supervisor>\n<summary>\n{text}\n</summary>\n</supervisor>"


def _is_stray(message: Message) -> bool:
    """True for a message made from an entry that is no exchange; it is copied unchanged."""
    return bool(message.blocks) and isinstance(message.blocks[0], Opaque) and message.blocks[0].type == STRAY


def _is_empty(block: object) -> bool:
    return isinstance(block, Text) and not block.text
