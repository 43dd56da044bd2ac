"""Loader rules of Cline and Roo for a history, checked on the JSON alone: https://github.com/RooCodeInc/Roo-Code."""

from __future__ import annotations

from typing import Any

from workbench.formats.faults import Faults, Item, document, inner, objects, require_list, validator


@validator
def validate(data: bytes) -> Faults:
    """Yield faults in the sent messages: those from the newest summary on (with the first message before an assistant
    summary), without those hidden by a sliding window. Results must answer the message before; calls may be unanswered,
    because Cline records results as texts."""
    items = require_list(document(data), "messages")
    faults = list(_shape(items))
    yield from faults or _sent_faults(items)


def _shape(items: list[Any]) -> Faults:
    summaries: set[str] = set()
    for number, item in enumerate(items, 1):
        where = f"Message {number}"
        if inner(item, "role", str) not in ("user", "assistant"):
            yield f"{where} is neither a user nor an assistant message."
            continue
        if "ts" in item and not isinstance(item["ts"], int | float):
            yield f"{where} has a ts that is not a number."
        if item.get("isSummary") and "condenseId" in item:
            if str(item["condenseId"]) in summaries:
                yield f"{where} has the condenseId of another summary."
            summaries.add(str(item["condenseId"]))
        if not (isinstance(item.get("content"), str | list) or item.get("type") == "reasoning"):
            yield f"{where} has content that is neither text nor a list of blocks."


def _sent_faults(items: list[Item]) -> Faults:
    summaries = {str(item["condenseId"]) for item in items if item.get("isSummary") and "condenseId" in item}
    for number, item in enumerate(items, 1):
        parent = item.get("condenseParent")
        if parent and str(parent) not in summaries:
            yield f"Message {number} is hidden by the summary {parent}, which is not in the history."
    sent = _sent(items)
    if not sent or sent[0][1]["role"] != "user":
        yield "The first message that is sent is not the user's."
    open_calls: set[str] = set()
    for number, item in sent:
        where = f"Message {number}"
        blocks = objects(item.get("content"))
        if not item.get("content") and item.get("type") != "reasoning":
            yield f"{where} has no content."
        for block in blocks:
            kind = inner(block, "type", str)
            if not kind:
                yield f"{where} has a block without a type."
            elif kind == "tool_result" and str(block.get("tool_use_id")) not in open_calls:
                id = block.get("tool_use_id")
                yield f"{where} has the result {id}, which answers no call of the message before it."
            elif kind == "text" and not isinstance(block.get("text"), str):
                yield f"{where} has a text block without text."
            elif kind == "tool_use" and not (isinstance(block.get("id"), str) and isinstance(block.get("name"), str)):
                yield f"{where} has a call without an id or a name."
        if item["role"] == "assistant" and item.get("type") != "reasoning":
            open_calls = {str(block.get("id")) for block in blocks if block.get("type") == "tool_use"}


def _sent(items: list[Item]) -> list[tuple[int, Item]]:
    sent = list(enumerate(items, 1))
    newest = next((at for at in range(len(items) - 1, -1, -1) if items[at].get("isSummary") is True), None)
    if newest is not None:
        keeps_first = items[newest]["role"] == "assistant" and newest > 0 and items[0]["role"] == "user"
        sent = ([sent[0]] if keeps_first else []) + sent[newest:]
    windows = {str(item.get("truncationId")) for _, item in sent if item.get("isTruncationMarker")}
    return [(number, item) for number, item in sent if str(item.get("truncationParent")) not in windows]
