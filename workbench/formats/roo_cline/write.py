"""Write a task's history with Roo's own tags.

A new summary that opens the context is flagged `isSummary`; the messages it replaces stay before it in the file, tagged
`condenseParent`, as Roo does. Cline has no such tags, so its histories lose the replaced messages. Kept messages are
copied byte for byte, except for the tags and a mark of stale usage in the last record: the chat next to the history
still records the usage of the longer context.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from workbench.formats.format import Written
from workbench.formats.kit.blocks import to_anthropic, writable
from workbench.formats.kit.document import elements, render, splice
from workbench.formats.kit.json_spans import replace_fields
from workbench.formats.kit.jsonl import loads
from workbench.formats.kit.marks import MARK, STALE_USAGE
from workbench.formats.kit.settle import adopted, as_user_text
from workbench.formats.loss import Loss, Losses, LossKind
from workbench.formats.roo_cline import ID
from workbench.formats.roo_cline.blocks import blocks_of, kind_of, with_own_words
from workbench.session import Block, Message, Session, Text, Thinking

_OPENED = re.compile(r"<(?:task|feedback|answer|user_message)>\s*\Z")
_CLOSED = re.compile(r"\s*</(?:task|feedback|answer|user_message)>")
NAME = "api_conversation_history.json"
_NEEDS = "replace the file in a copy of the task folder with it: the task list is stored elsewhere"


def write(session: Session, messages: Sequence[Message]) -> Written:
    """Write the task's history. Never raises; content that could not be written is in `losses`."""
    native = session.format == ID
    losses: Losses = []
    messages = [message for message in messages if message.kind != "boundary" and message.blocks]
    if native and session.facts.own is None and messages == list(session.context()):
        return Written(session.records.data, NAME, by_hand=_NEEDS)
    if not native:
        messages, losses = adopted(session, messages, "the extension", "anthropic-messages")
    raws = elements(session.records.data, None) if native else []
    opening = messages[0] if messages and messages[0].kind == "summary" and messages[0].role == "user" else None
    condense_id = str(uuid4())
    pieces: list[bytes] = []
    if native and opening is not None and not _is_clines(session):
        pieces += _older(raws, messages, condense_id)
    in_front = bool(pieces)
    for index, message in enumerate(messages):
        if native and message.source:
            stays_summary = index == 0 or (index == 1 and message.role == "assistant" and not in_front)
            pieces.append(_copied_record(raws[message.source[0]], message, stays_summary=stays_summary))
        elif message is opening:
            after = next((other.time for other in messages[1:] if other.time is not None), message.time)
            flags = {"isSummary": True, "condenseId": condense_id}
            pieces.append(_new_record(message, None if after is None else after - 0.001, flags, losses, native=native))
        else:
            pieces.append(_new_record(message, message.time, {}, losses, native=native))
    if (
        native
        and (last := max((n for n, piece in enumerate(pieces) if piece.startswith(b"{")), default=None)) is not None
    ):
        pieces[last] = replace_fields(pieces[last], {STALE_USAGE: b"true"})
    data = splice(session.records.data, None, pieces) if native else b"[" + b",".join(filter(None, pieces)) + b"]"
    return Written(data, NAME, by_hand=_NEEDS, losses=losses)


def _is_clines(session: Session) -> bool:
    """Return True if Cline recorded the task: Roo does not record the model of an answer."""
    return any(message.model for message in session.messages)


def _older(raws: Sequence[bytes], messages: Sequence[Message], condense_id: str) -> list[bytes]:
    """Return the records hidden by a summary that opens the context. A recorded summary hides those before it. A new
    one hides every record not kept after it; these are tagged as replaced, unless an older summary tagged them."""
    if messages[0].source:
        return list(raws[: messages[0].source[0]])
    kept_records = {message.source[0] for message in messages if message.source}
    older: list[bytes] = []
    for index, raw in enumerate(raws):
        if index in kept_records or not raw.startswith(b"{"):
            continue
        tagged = loads(raw).get("condenseParent")
        older.append(raw if tagged else replace_fields(raw, {"condenseParent": render(condense_id)}))
    return older


def _copied_record(raw: bytes, message: Message, *, stays_summary: bool) -> bytes:
    """Return a record unchanged, except for tags that would hide it or earlier messages."""
    value = loads(raw)
    if not isinstance(value, dict):
        return raw
    changes = {key: b"null" for key in ("condenseParent", "truncationParent") if value.get(key)}
    if value.get("isSummary") is True and not stays_summary:
        changes |= {"isSummary": b"false", MARK: render(message.kind)}
    return replace_fields(raw, changes)


def _new_record(
    message: Message, seconds: float | None, flags: dict[str, Any], losses: Losses, *, native: bool
) -> bytes:
    role = "assistant" if message.role == "assistant" else "user"
    if message.role == "system":
        content = [{"type": "text", "text": as_user_text(message)}]
    else:
        blocks = writable(_rejoined(message.blocks), losses, lambda block: native)
        content = [_reasoning(block) or to_anthropic(block, losses) for block in blocks]
    if not content:
        losses.append(Loss(LossKind.EMPTY_MESSAGES))
        return b""
    stamp = round((time.time() if seconds is None else seconds) * 1000)
    item: dict[str, Any] = {"role": role, "content": content, "ts": stamp, **flags}
    if not flags and kind_of(role, with_own_words(role, blocks_of(item, ()))) != message.kind:
        item[MARK] = message.kind
    return render(item)


def _rejoined(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks with the user's words joined with the extension's tags around them."""
    joined: list[Block] = []
    for block in blocks:
        before = joined[-1] if joined else None
        if (
            isinstance(before, Text)
            and isinstance(block, Text)
            and (
                (before.injected and not block.injected and _OPENED.search(before.text))
                or (block.injected and not before.injected and _CLOSED.match(block.text))
            )
        ):
            joined[-1] = Text(before.text + block.text)
        else:
            joined.append(block)
    return joined


def _reasoning(block: Block) -> dict[str, Any] | None:
    """Return Roo's own form of reasoning without a signature; None for any other block."""
    return {"type": "reasoning", "text": block.text} if isinstance(block, Thinking) and not block.signature else None
