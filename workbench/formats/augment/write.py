"""Writing an Augment session so that auggie 0.36 sends the model what it should see.

Messages are grouped into exchanges again. An exchange whose parts are all there keeps its bytes; of another stays what
is there; a new one is an ordinary text exchange, never flagged `isHistorySummary`: auggie does not send those.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any
from uuid import uuid4

from workbench.base.stamps import iso
from workbench.formats.augment.nodes import STRAY, is_node, is_summary_node, nodes_of, request_nodes, response_nodes
from workbench.formats.augment.signature import ID
from workbench.formats.format import Written
from workbench.formats.kit.blocks import RESUMED, as_text, is_summary
from workbench.formats.kit.document import elements, loads, render, splice
from workbench.formats.kit.json_spans import replace_fields
from workbench.formats.kit.settle import as_user_text, settled, system_prompt
from workbench.formats.kit.values import dict_of
from workbench.session import Message, Opaque, Session, Text, Thinking

CONTINUES = f"{RESUMED} the conversation from this point."
_BOM = b"\xef\xbb\xbf"


@dataclass
class _Exchange:
    """Consecutive messages that become one entry. `entry` is the loaded entry that some of them come from."""

    entry: int | None = None
    requests: list[Message] = field(default_factory=list)
    responses: list[Message] = field(default_factory=list)

    @property
    def messages(self) -> list[Message]:
        return [*self.requests, *self.responses]

    @property
    def made(self) -> bool:
        """Whether some of them are new."""
        return self.entry is None or any(not message.source for message in self.messages)


def write(session: Session, messages: Sequence[Message]) -> Written:
    """The loaded document with its history replaced, under a new session id; unchanged if nothing changed."""
    if session.format != ID:
        return _fresh(session, messages)
    if list(messages) == list(session.context()):
        notes = ["nothing changed: this is the loaded session, its id included"]
        return _written(session.records.data, session.id, notes)
    exchanges = _exchanges(messages, own=True)
    notes = _losses(session, messages, exchanges)
    data = splice(session.records.data, "chatHistory", _pieces(session, exchanges, notes)).removeprefix(_BOM)
    new_id = str(uuid4())
    data = replace_fields(data, {"sessionId": render(new_id), "modified": render(iso())})
    return _written(data, new_id, notes)


def flagged(session: Session, messages: Sequence[Message]) -> Written:
    """The same with every summary flagged `isHistorySummary`, an exchange with a version of its own.

    A summary that stands in an exchange with an answer of the model's own stays without the flag, which is the
    exchange's.
    """
    written = write(session, messages)
    data = written.data.removeprefix(_BOM)
    versions = session.facts.summary_versions.values() if session.format == ID else ()
    version = max(versions, default=0)
    pieces: list[int | bytes] = []
    for index, raw in enumerate(elements(data, "chatHistory")):
        entry = loads(raw)
        if _is_summary_alone(entry) and not entry.get("isHistorySummary"):
            version += 1
            changes = {"isHistorySummary": b"true", "historySummaryVersion": render(version)}
            pieces.append(replace_fields(raw, changes))
        else:
            pieces.append(index)
    notes = tuple(note for note in written.notes if "isHistorySummary" not in note)
    told = "auggie 0.36 does not send entries with the flag isHistorySummary; other versions do"
    return replace(written, data=splice(data, "chatHistory", pieces), notes=(*notes, told))


def _is_summary_alone(entry: Any) -> bool:
    exchange = entry.get("exchange") if isinstance(entry, dict) else None
    if not isinstance(exchange, dict) or not is_summary(str(exchange.get("request_message"))):
        return False
    said = exchange.get("response_text")
    return not exchange.get("response_nodes") or (isinstance(said, str) and said.startswith(RESUMED))


def _losses(session: Session, messages: Sequence[Message], exchanges: Sequence[_Exchange]) -> list[str]:
    """What of the loaded session the new one does not hold, or auggie will not send of it."""
    notes: list[str] = []
    accounted = {m.source[0] for m in (*session.context(), *messages) if m.source}
    if unfinished := {m.source[0] for m in session.messages} - accounted:
        notes.append(
            f"{len(unfinished)} exchanges that never completed were left out: they are not part of the context"
        )
    if any(message.kind == "summary" for exchange in exchanges[1:] for message in exchange.requests):
        notes.append("auggie sends nothing that stands before the last summary")
    return notes


def _pieces(session: Session, exchanges: Sequence[_Exchange], notes: list[str]) -> list[int | bytes]:
    """The new history: an entry that stays as it is by its number, any other as JSON."""
    raws = elements(session.records.data, "chatHistory")
    parts: dict[int, list[str]] = {}
    for message in session.messages:
        parts.setdefault(message.source[0], []).append(message.id)
    recorded = [dict_of(loads(raw)).get("sequenceId") for raw in raws]
    old = [None if exchange.entry is None else _number(recorded[exchange.entry]) for exchange in exchanges]
    pieces: list[int | bytes] = []
    for exchange, was, sequence_id in zip(exchanges, old, sequence_ids(old), strict=True):
        if exchange.entry is None:
            pieces.append(render(_new_entry(exchange, sequence_id, notes, last=exchange is exchanges[-1])))
            continue
        if _is_stray(exchange.messages[0]):
            pieces.append(exchange.entry)
            continue
        raw = raws[exchange.entry]
        changes = {} if was == sequence_id else {"sequenceId": render(_short(sequence_id))}
        if [message.id for message in exchange.messages if message.source] != parts[exchange.entry] or exchange.made:
            changes["exchange"] = render(_edited(loads(raw), exchange, notes))
        if any(message.kind == "summary" for message in exchange.messages) and loads(raw).get("isHistorySummary"):
            changes["isHistorySummary"] = b"false"
            notes.append("earlier summaries lost their flag isHistorySummary: auggie does not send flagged entries")
        pieces.append(replace_fields(raw, changes) if changes else exchange.entry)
    return pieces


def _fresh(session: Session, messages: Sequence[Message]) -> Written:
    """A new session file. The system prompt becomes user guidelines: auggie has no other place for it."""
    system, rest = system_prompt(session, messages)
    rest, notes = settled(rest)
    if system:
        notes.append("the system prompt became user guidelines: auggie sends a system prompt of its own")
    if session.tools:
        notes.append("tool definitions were left out: auggie sends its own")
    exchanges = _exchanges([_portable(message, notes) for message in rest], own=False)
    history = [
        _new_entry(exchange, sequence_id, notes, last=exchange is exchanges[-1])
        for exchange, sequence_id in zip(exchanges, sequence_ids([None] * len(exchanges)), strict=True)
    ]
    id, now = str(uuid4()), iso()
    state = {"userGuidelines": system, "workspaceGuidelines": "", "agentMemories": session.memories}
    document = {"sessionId": id, "created": now, "modified": now, "chatHistory": history, "agentState": state}
    return _written(render(document), id, notes)


def _written(data: bytes, id: str, notes: Sequence[str]) -> Written:
    if b'"userEmail"' in data:
        notes = [*notes, "the file still holds the user's e-mail address (agentState.userEmail)"]
    return Written(data, f"{id}.json", id, f"auggie --resume {id}", "~/.augment/sessions", tuple(dict.fromkeys(notes)))


def _portable(message: Message, notes: list[str]) -> Message:
    """A message of another format without what only that format's model takes back."""
    blocks = tuple(block for block in message.blocks if not isinstance(block, Thinking | Opaque))
    if len(blocks) < len(message.blocks):
        notes.append("thinking and blocks that only the session's own format knows were left out")
    return replace(message, blocks=blocks)


def _exchanges(messages: Sequence[Message], *, own: bool) -> list[_Exchange]:
    """Messages grouped into requests with the response that follows. Sources count only in a session of this format."""
    exchanges: list[_Exchange] = []
    for message in messages:
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


def _edited(entry: dict[str, Any], exchange: _Exchange, notes: list[str]) -> dict[str, Any]:
    """The exchange of a loaded entry with the parts that were kept, and the made messages in place of the others."""
    kept = {message.id.rpartition(":")[2] for message in exchange.messages if message.source}
    new = _rendered(
        [m for m in exchange.requests if not m.source], [m for m in exchange.responses if not m.source], notes
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


def _new_entry(exchange: _Exchange, sequence_id: float, notes: list[str], *, last: bool) -> dict[str, Any]:
    responses = exchange.responses
    summary_last = bool(exchange.requests) and exchange.requests[-1].kind == "summary"
    if summary_last and not responses and not last:
        responses = [Message("", "assistant", (Text(CONTINUES),), "summary")]
        notes.append(f"a summary was answered with {CONTINUES!r}, because an exchange has a response")
    return {
        "exchange": {"request_id": str(uuid4()), **_rendered(exchange.requests, responses, notes)},
        "completed": True,
        "sequenceId": _short(sequence_id),
        # A summary is as old as this export: whatever usage an older exchange records was billed for another context.
        "finishedAt": iso() if summary_last else iso(responses[-1].time if responses else None),
        "changedFiles": [],
        "changedFilesSkipped": [],
        "changedFilesSkippedCount": 0,
        "source": "local",
    }


def _rendered(requests: Sequence[Message], responses: Sequence[Message], notes: list[str]) -> dict[str, Any]:
    """Nodes and texts of made messages. Only what the user said goes into `request_message` (and a summary, which opens
    an exchange as the user would)."""
    asked = [block for message in requests for block in _request_blocks(message)]
    said = [block for message in responses for block in message.blocks if not _is_empty(block)]
    if any(isinstance(block, Opaque) and not is_node(block) for block in (*asked, *said)):
        notes.append("blocks that are no nodes of this format were left out")
    spoken = [message for message in requests if message.kind != "meta"]
    texts = [block.text for message in spoken for block in _request_blocks(message) if isinstance(block, Text)]
    return {
        "request_message": "\n".join(texts),
        "response_text": "\n".join(block.text for block in said if isinstance(block, Text)),
        "request_nodes": request_nodes(asked, notes),
        "response_nodes": response_nodes(said, notes),
    }


def _request_blocks(message: Message) -> list[Any]:
    if message.role == "system":
        return [Text(_as_supervisor(message.text) if message.kind == "summary" else as_user_text(message))]
    if message.kind == "summary" and not is_summary(message.text):
        return [Text(_as_supervisor(message.text)), *(b for b in message.blocks if not isinstance(b, Text))]
    return [block for block in message.blocks if not _is_empty(block)]


def _as_supervisor(text: str) -> str:
    """A summary in the form at which auggie cuts older exchanges off."""
    return f"<supervisor>\n<summary>\n{text}\n</summary>\n</supervisor>"


def _is_stray(message: Message) -> bool:
    """Whether a message stands for an entry that is no exchange."""
    return bool(message.blocks) and isinstance(message.blocks[0], Opaque) and message.blocks[0].type == STRAY


def _is_empty(block: object) -> bool:
    return isinstance(block, Text) and not block.text


def sequence_ids(existing: Sequence[float | None]) -> list[float]:
    """Sequence ids that rise strictly; None asks for a new one, every other stays if it can.

    One new id is the mean of its neighbours rounded to 6 decimals, with 0 before the first; several share the gap
    evenly. At the end an id is its place. Where they would not rise (the 21st insertion in one gap), all are numbered
    from 0.
    """
    ids: list[float] = []
    following = _next_known(existing)
    for place, known in enumerate(existing):
        before = ids[-1] if ids else 0.0
        after = following[place]
        if known is not None:
            ids.append(known)
        elif after is None:
            ids.append(float(max(place, math.floor(before) + 1 if ids else 0)))
        else:
            where, value = after
            ids.append(round(before + (value - before) / (where - place + 1), 6))
    if all(a < b for a, b in pairwise(ids)):
        return ids
    return [float(place) for place in range(len(ids))]


def _next_known(ids: Sequence[float | None]) -> list[tuple[int, float] | None]:
    """For each place the first known id from there on, with its place."""
    found: list[tuple[int, float] | None] = []
    after: tuple[int, float] | None = None
    for place in range(len(ids) - 1, -1, -1):
        known = ids[place]
        after = after if known is None else (place, known)
        found.append(after)
    return found[::-1]


def _number(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) and math.isfinite(value) else None


def _short(value: float) -> float:
    """A whole number without its point, as auggie writes it."""
    return int(value) if value.is_integer() else value
