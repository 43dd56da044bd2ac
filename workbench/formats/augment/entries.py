"""Make the entries of an Augment history: messages grouped into exchanges, each exchange an entry.

An unchanged exchange stays the loaded entry; a changed one keeps the parts that are left; a new one is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from workbench.base.stamps import iso
from workbench.formats.agent_texts import SUMMARY_ANSWERS, is_augments_summary, is_summary
from workbench.formats.augment.nodes import (
    STRAY,
    add_label,
    is_node,
    is_summary_node,
    nodes_of,
    request_nodes,
    response_nodes,
)
from workbench.formats.augment.sequence import compact_number, sequence_id_of
from workbench.formats.augment.summaries import VERSION
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.document import render
from workbench.formats.kit.json_spans import field_of, replace_fields
from workbench.formats.kit.jsonl import loads
from workbench.formats.kit.marks import COPY
from workbench.formats.kit.settle import as_user_text
from workbench.formats.loss import Loss, Losses, LossKind, loss_of
from workbench.session import Block, Message, Opaque, Text

CONTINUES = f"{SUMMARY_ANSWERS[0]} the conversation from this point."


@dataclass
class Exchange:
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


def group_exchanges(messages: Sequence[Message], *, own: bool) -> list[Exchange]:
    """Group messages into exchanges: requests and the response that follows. `own`: sources are entries of this
    format."""
    exchanges: list[Exchange] = []
    for place, message in enumerate(messages):
        if place and message.id.endswith(":summary"):
            message = replace(message, source=())  # after other messages it cannot be a summary node
        if message.kind == "boundary" or not (message.blocks or (own and message.source)):
            continue
        entry = message.source[0] if own and message.source else None
        current = exchanges[-1] if exchanges else None
        if current is None or not _continues(message, entry, current):
            current = Exchange()
            exchanges.append(current)
        current.entry = entry if current.entry is None else current.entry
        (current.responses if message.role == "assistant" else current.requests).append(message)
    return exchanges


def _continues(message: Message, entry: int | None, current: Exchange) -> bool:
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


@dataclass(frozen=True, slots=True)
class LoadedHistory:
    """Loaded entries as JSON (`raws`), and the message ids of each by index (`parts`). `flag`: flag the summary that
    opens the context, with `version`. Writing appends to `losses`."""

    raws: Sequence[bytes]
    parts: Mapping[int, Sequence[str]]
    flag: bool
    version: int = VERSION
    losses: Losses = field(default_factory=list)


def entry_of(source: LoadedHistory, exchange: Exchange, sequence_id: float, *, first: bool, last: bool) -> int | bytes:
    """Return an exchange as an entry: the index of the loaded one if that is unchanged, else JSON. `first` and `last`:
    its place in the written history."""
    place = exchange.entry
    if place is None:
        return render(new_entry(source, exchange, sequence_id, first=first, last=last))
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


def _with_new_label(exchange: Exchange) -> Exchange:
    """Return the exchange with its summary as a new message, which is written with a label because others precede
    it."""
    requests = [replace(m, source=()) if m.kind == "summary" else m for m in exchange.requests]
    return replace(exchange, requests=requests)


def _flags(source: LoadedHistory) -> dict[str, Any]:
    source.losses.append(Loss(LossKind.SUMMARY_FLAGGED))
    return {"isHistorySummary": True, "historySummaryVersion": source.version}


def _edit_exchange(entry: dict[str, Any], exchange: Exchange, source: LoadedHistory, *, first: bool) -> dict[str, Any]:
    """Return the exchange of a loaded entry: parts whose messages are kept, and new messages instead of the others."""
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


def new_entry(
    source: LoadedHistory, exchange: Exchange, sequence_id: float, *, first: bool, last: bool
) -> dict[str, Any]:
    """Return the entry of an exchange that is not in the loaded history."""
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
