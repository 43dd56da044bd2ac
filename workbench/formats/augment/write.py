"""Writing an Augment session, in the three forms in which its clients take a summary.

Messages are grouped into exchanges again. An exchange whose parts are all there keeps its bytes; of another stays what
is there. The summary that opens a context is an ordinary text exchange for auggie 0.36, which does not send entries
flagged `isHistorySummary`; or it is flagged, as the client of document 000 writes it; or it is flagged and put into
the loaded history, of which nothing goes. No client sends what stands before a summary, so one that stands behind
another is given a label, by which it is none to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from workbench.base.stamps import iso
from workbench.formats.agent_texts import is_summary
from workbench.formats.augment.nodes import (
    STRAY,
    is_node,
    is_summary_node,
    labelled,
    nodes_of,
    request_nodes,
    response_nodes,
)
from workbench.formats.augment.sequence import sequence_id_of, sequence_ids, short
from workbench.formats.augment.signature import ID
from workbench.formats.augment.summaries import VERSION, current_version
from workbench.formats.augment.texts import RESUMED, is_supervisors
from workbench.formats.format import Written
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.document import elements, render, splice
from workbench.formats.kit.folder import agent_home, folder_of
from workbench.formats.kit.json_spans import field_of, replace_fields
from workbench.formats.kit.jsonl import loads
from workbench.formats.kit.mark import COPY, SPENT
from workbench.formats.kit.settle import as_user_text, settled, system_prompt
from workbench.formats.kit.values import dict_of
from workbench.formats.loss import Loss, Losses, LossKind, loss_of
from workbench.session import Block, Message, Opaque, Session, Text, Thinking

CONTINUES = f"{RESUMED[0]} the conversation from this point."
_BOM = b"\xef\xbb\xbf"


@dataclass
class _Exchange:
    """Consecutive messages that become one entry. `entry` is the loaded entry that some of them come from, `copy` that
    this entry itself stays in the file, too."""

    entry: int | None = None
    requests: list[Message] = field(default_factory=list)
    responses: list[Message] = field(default_factory=list)
    copy: bool = False

    @property
    def messages(self) -> list[Message]:
        return [*self.requests, *self.responses]

    @property
    def made(self) -> bool:
        """Whether some of them are new."""
        return self.entry is None or any(not message.source for message in self.messages)

    @property
    def is_summary(self) -> bool:
        """Whether this is a summary and the answer to it, and nothing else."""
        return bool(self.requests) and all(message.kind == "summary" for message in self.messages)


@dataclass(frozen=True, slots=True)
class _Sheet:
    """The loaded entries as JSON, the ids of the messages of each, and whether the summary that opens the context is to
    be flagged, and of which version it is then."""

    raws: Sequence[bytes]
    parts: Mapping[int, Sequence[str]]
    flag: bool
    version: int = VERSION
    losses: Losses = field(default_factory=list)


def write(session: Session, messages: Sequence[Message]) -> Written:
    """The loaded document with its history replaced, under a new session id; unchanged if nothing changed."""
    return _replaced(session, messages, flag=False)


def flagged(session: Session, messages: Sequence[Message]) -> Written:
    """The same with the summary that opens the context flagged `isHistorySummary`, as document 000 has it.

    A summary that stands in an exchange with an answer of the model's own stays without the flag, which is the
    exchange's.
    """
    return _replaced(session, messages, flag=True)


def inserted(session: Session, messages: Sequence[Message]) -> Written:
    """The loaded history whole, with the flagged summary where the client of document 000 puts it: behind the exchanges
    that it stands for. What else of the context is not at the end of the loaded history follows it as copies."""
    if session.format != ID or list(messages) == list(session.context()):
        return flagged(session, messages)
    exchanges = _exchanges(messages, own=True)
    if not exchanges or not exchanges[0].is_summary:
        written = flagged(session, messages)
        return replace(written, losses=(*written.losses, Loss(LossKind.OLDER_EXCHANGES)))
    sheet = _sheet(session, flag=True)
    tail = _tail(session, sheet, exchanges)
    made = exchanges[: len(exchanges) - len(tail)]
    at = tail[0].entry if tail and tail[0].entry is not None else len(sheet.raws)
    recorded = [_recorded_id(raw) for raw in sheet.raws]
    ids = sequence_ids([*recorded[:at], *[None] * len(made), *recorded[at:]])
    pieces: list[int | bytes] = [_renumbered(sheet.raws, index, ids[index]) for index in range(at)]
    for place, (exchange, id) in enumerate(zip(made, ids[at:], strict=False)):
        pieces.append(_entry(sheet, replace(exchange, copy=True), id, first=place == 0, last=exchange is exchanges[-1]))
    pieces += [_renumbered(sheet.raws, index, ids[index + len(made)]) for index in range(at, len(sheet.raws))]
    return _saved(session, pieces, sheet.losses)


def _replaced(session: Session, messages: Sequence[Message], *, flag: bool) -> Written:
    if session.format != ID:
        return _fresh(session, messages, flag=flag)
    if list(messages) == list(session.context()):
        return _saved(session, None, [])
    exchanges = _exchanges(messages, own=True)
    sheet = _sheet(session, flag=flag)
    sheet.losses.extend(_losses(session, messages))
    old = [None if one.entry is None else _recorded_id(sheet.raws[one.entry]) for one in exchanges]
    pieces = [
        _entry(sheet, exchange, id, first=place == 0, last=place == len(exchanges) - 1)
        for place, (exchange, id) in enumerate(zip(exchanges, sequence_ids(old), strict=True))
    ]
    if not (exchanges and exchanges[0].is_summary and exchanges[0].made):  # whose age tells which bills speak of it
        _spend(sheet, pieces)
    return _saved(session, pieces, sheet.losses)


def _saved(session: Session, pieces: Sequence[int | bytes] | None, losses: Sequence[Loss]) -> Written:
    """The loaded document with this history, None for its own, and the session's memories, under a new session id; with
    its own where nothing changed."""
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
    """The document's `agentState` with these memories, nothing where it has them."""
    if as_text(dict_of(loads(state)).get("agentMemories") or "") == memories:
        return {}
    return {
        "agentState": replace_fields(state if state.startswith(b"{") else b"{}", {"agentMemories": render(memories)})
    }


def _sheet(session: Session, *, flag: bool) -> _Sheet:
    parts: dict[int, list[str]] = {}
    for message in session.messages:
        parts.setdefault(message.source[0], []).append(message.id)
    version = current_version(session.facts.summary_versions.values())
    return _Sheet(elements(session.records.data, "chatHistory"), parts, flag, version)


def _losses(session: Session, messages: Sequence[Message]) -> Iterator[Loss]:
    """What of the loaded session the new one does not hold."""
    live = {m.source[0] for m in messages if m.source}
    context = {m.source[0] for m in session.context()}
    sent = {session.messages[at].source[0] for epoch in session.epochs for at in epoch.members}
    if unfinished := {m.source[0] for m in session.messages} - sent - live:
        yield Loss(LossKind.UNFINISHED_EXCHANGES, len(unfinished))
    if replaced := sent - context - live:
        yield Loss(LossKind.REPLACED_EXCHANGES, len(replaced))


def _tail(session: Session, sheet: _Sheet, exchanges: Sequence[_Exchange]) -> Sequence[_Exchange]:
    """The exchanges at the end that stand just so at the end of what the loaded history sends."""
    loaded = list(dict.fromkeys(message.source[0] for message in session.context()))
    start = len(exchanges)
    while start > 1 and loaded and _is_whole(sheet, exchanges[start - 1], loaded[-1]):
        start -= 1
        loaded.pop()
    return exchanges[start:]


def _is_whole(sheet: _Sheet, exchange: _Exchange, entry: int) -> bool:
    if exchange.entry != entry or any(message.kind == "summary" for message in exchange.messages):
        return False
    return [message.id for message in exchange.messages if message.source] == sheet.parts[entry] and not exchange.made


def _recorded_id(raw: bytes) -> float | None:
    return sequence_id_of(dict_of(loads(raw)).get("sequenceId"))


def _renumbered(raws: Sequence[bytes], index: int, sequence_id: float) -> int | bytes:
    """A loaded entry as it stands, but for a sequence id that would not rise."""
    value = loads(raws[index])
    if not isinstance(value, dict) or sequence_id_of(value.get("sequenceId")) == sequence_id:
        return index
    return replace_fields(raws[index], {"sequenceId": render(short(sequence_id))})


def _entry(sheet: _Sheet, exchange: _Exchange, sequence_id: float, *, first: bool, last: bool) -> int | bytes:
    """An exchange as an entry: one that stays as it is by its number, any other as JSON."""
    place = exchange.entry
    if place is None:
        return render(_new_entry(sheet, exchange, sequence_id, first=first, last=last))
    if _is_stray(exchange.messages[0]):
        return place
    raw = sheet.raws[place]
    entry = loads(raw)
    if not first:
        exchange = _relabelled(exchange)
    changes = (
        {} if sequence_id_of(entry.get("sequenceId")) == sequence_id else {"sequenceId": render(short(sequence_id))}
    )
    if [m.id for m in exchange.messages if m.source] != sheet.parts[place] or exchange.made:
        changes["exchange"] = render(_edited(entry, exchange, sheet, first=first))
    if exchange.copy:
        body = changes.get("exchange") or field_of(raw, "exchange") or b"{}"
        changes |= {"exchange": replace_fields(body, {"request_id": render(str(uuid4()))}), COPY: b"true"}
    if sheet.flag and first and exchange.is_summary:
        changes |= {key: render(value) for key, value in _flags(sheet).items()} | {"finishedAt": render(iso())}
    elif entry.get("isHistorySummary") and any(message.kind == "summary" for message in exchange.messages):
        changes["isHistorySummary"] = b"false"
        sheet.losses.append(Loss(LossKind.SUMMARIES_UNFLAGGED))
    return replace_fields(raw, changes) if changes else place


def _spend(sheet: _Sheet, pieces: list[int | bytes]) -> None:
    """Mark the newest entry: what was billed up to there was billed for another context."""
    if pieces:
        newest = pieces[-1]
        raw = sheet.raws[newest] if isinstance(newest, int) else newest
        if "exchange" in dict_of(loads(raw)):
            pieces[-1] = replace_fields(raw, {SPENT: b"true"})


def _relabelled(exchange: _Exchange) -> _Exchange:
    """An exchange that stands behind others, its summary to be written anew with a label."""
    requests = [replace(m, source=()) if m.kind == "summary" else m for m in exchange.requests]
    return replace(exchange, requests=requests)


def _flags(sheet: _Sheet) -> dict[str, Any]:
    sheet.losses.append(Loss(LossKind.SUMMARY_FLAGGED))
    return {"isHistorySummary": True, "historySummaryVersion": sheet.version}


def _fresh(session: Session, messages: Sequence[Message], *, flag: bool) -> Written:
    """A new session file. The system prompt becomes user guidelines: auggie has no other place for it."""
    system, rest = system_prompt(session, messages)
    rest, losses = settled(rest, "anthropic-messages")
    if system:
        losses.append(Loss(LossKind.PROMPT_AS_GUIDELINES, details=("auggie",)))
    if session.tools:
        losses.append(Loss(LossKind.TOOL_DEFINITIONS, len(session.tools), ("auggie",)))
    exchanges = _exchanges([_portable(message, losses) for message in rest], own=False)
    sheet = _Sheet((), {}, flag, losses=losses)
    history = [
        _new_entry(sheet, exchange, float(place), first=place == 0, last=place == len(exchanges) - 1)
        for place, exchange in enumerate(exchanges)
    ]
    id, now = str(uuid4()), iso()
    state = {"userGuidelines": system, "workspaceGuidelines": "", "agentMemories": session.memories}
    document = {"sessionId": id, "created": now, "modified": now, "chatHistory": history, "agentState": state}
    return addressed(session, render(document), id, losses)


def addressed(session: Session, data: bytes, id: str, losses: Sequence[Loss]) -> Written:
    if b'"userEmail"' in data:
        losses = [*losses, Loss(LossKind.EMAIL_KEPT)]
    home = f"{agent_home('AUGMENT_CACHE_DIR', otherwise='~/.augment')}/sessions/{id}.json"
    return Written(data, f"{id}.json", id, home, folder_of(session), (("auggie", "--resume", id),), losses=losses)


def _portable(message: Message, losses: Losses) -> Message:
    """A message of another format without what only that format's model takes back."""
    hidden = [block for block in message.blocks if isinstance(block, Thinking | Opaque)]
    losses += map(loss_of, hidden)
    return replace(message, blocks=tuple(block for block in message.blocks if block not in hidden))


def _exchanges(messages: Sequence[Message], *, own: bool) -> list[_Exchange]:
    """Messages grouped into requests with the response that follows. Sources count only in a session of this format."""
    exchanges: list[_Exchange] = []
    for place, message in enumerate(messages):
        if place and message.id.endswith(":summary"):
            message = replace(message, source=())  # behind others it cannot stand in a node of its own
        if message.kind == "boundary" or not (message.blocks or (own and message.source)):
            continue
        entry = message.source[0] if own and message.source else None
        current = exchanges[-1] if exchanges else None
        if current is None or not _belongs(message, entry, current):
            current = _Exchange()
            exchanges.append(current)
        current.entry = entry if current.entry is None else current.entry
        (current.responses if message.role == "assistant" else current.requests).append(message)
    return exchanges


def _belongs(message: Message, entry: int | None, current: _Exchange) -> bool:
    """Whether a message goes on with the current exchange.

    A made response may answer a kept request and the other way round (a strategy that shortens one of the two), but a
    kept request never joins made ones, and nothing joins a summary but its answer.
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


def _edited(entry: dict[str, Any], exchange: _Exchange, sheet: _Sheet, *, first: bool) -> dict[str, Any]:
    """The exchange of a loaded entry with the parts that were kept, and the made messages in place of the others."""
    kept = {message.id.rpartition(":")[2] for message in exchange.messages if message.source}
    new = _rendered(
        [m for m in exchange.requests if not m.source],
        [m for m in exchange.responses if not m.source],
        sheet.losses,
        first=first,
    )
    old = dict(entry["exchange"])
    request = [n for n in nodes_of(old, "request_nodes") if ("summary" if is_summary_node(n) else "request") in kept]
    response = nodes_of(old, "response_nodes") if "response" in kept else []
    texts = {
        "request_message": as_text(old.get("request_message") or "") if "request" in kept else "",
        "response_text": as_text(old.get("response_text") or "") if "response" in kept else "",
    }
    return {
        **old,
        **{key: "\n".join(filter(None, [text, new[key]])) for key, text in texts.items()},
        "request_nodes": new["request_nodes"] + request,
        "response_nodes": response + new["response_nodes"],
    }


def _new_entry(sheet: _Sheet, exchange: _Exchange, sequence_id: float, *, first: bool, last: bool) -> dict[str, Any]:
    flag = sheet.flag and first and exchange.is_summary
    responses = exchange.responses
    summary_last = bool(exchange.requests) and exchange.requests[-1].kind == "summary"
    if summary_last and not responses and not last:
        responses = [Message("", "assistant", (Text(CONTINUES),), "summary")]
        sheet.losses.append(Loss(LossKind.ANSWER_INSERTED, 1, ("an exchange has a response",), CONTINUES))
    rendered = _rendered(exchange.requests, responses, sheet.losses, first=first)
    if flag:  # its nodes say everything; auggie 0.36, which asks for the texts, is not sent it anyway
        rendered |= {"request_message": "", "response_text": ""}
    return {
        "exchange": {"request_id": str(uuid4()), **rendered},
        "completed": True,
        "sequenceId": short(sequence_id),
        # A summary is as old as this export: whatever usage an older exchange records was billed for another context.
        "finishedAt": iso() if summary_last else iso(responses[-1].time if responses else None),
        "changedFiles": [],
        "changedFilesSkipped": [],
        "changedFilesSkippedCount": 0,
        **(_flags(sheet) if flag else {}),
        "source": "local",
    }


def _rendered(
    requests: Sequence[Message], responses: Sequence[Message], losses: Losses, *, first: bool
) -> dict[str, Any]:
    """Nodes and texts of made messages. Only what the user said goes into `request_message` (and a summary, which opens
    an exchange as the user would)."""
    asked = [(message, block) for message in requests for block in _request_blocks(message, first=first)]
    said = [block for message in responses for block in message.blocks if not _is_empty(block)]
    blocks = (*(block for _, block in asked), *said)
    losses += [loss_of(block) for block in blocks if isinstance(block, Opaque) and not is_node(block)]
    texts = [block.text for message, block in asked if message.kind != "meta" and isinstance(block, Text)]
    return {
        "request_message": "\n".join(texts),
        "response_text": "\n".join(block.text for block in said if isinstance(block, Text)),
        "request_nodes": request_nodes((block for _, block in asked), losses),
        "response_nodes": response_nodes(said, losses),
    }


def _request_blocks(message: Message, *, first: bool) -> list[Block]:
    blocks = [block for block in message.blocks if not _is_empty(block)]
    if message.kind != "summary":
        return [Text(as_user_text(message))] if message.role == "system" else blocks
    if first and is_supervisors(message.text):
        return blocks
    text = _as_supervisor(message.text) if first and not is_summary(message.text) else labelled(message.text)
    return [Text(text), *(block for block in blocks if not isinstance(block, Text))]


def _as_supervisor(text: str) -> str:
    """A summary in the form at which auggie cuts older exchanges off."""
    return f"<supervisor>\n<summary>\n{text}\n</summary>\n</supervisor>"


def _is_stray(message: Message) -> bool:
    """Whether a message stands for an entry that is no exchange."""
    return bool(message.blocks) and isinstance(message.blocks[0], Opaque) and message.blocks[0].type == STRAY


def _is_empty(block: object) -> bool:
    return isinstance(block, Text) and not block.text
