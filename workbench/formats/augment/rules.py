"""Loader rules of auggie, checked on the JSON alone."""

from __future__ import annotations

from typing import Any

from workbench.formats.faults import Faults, StopValidation, document, inner, objects, require_list, validator


@validator
def validate(data: bytes) -> Faults:
    """Check the completed entries from the newest flagged summary of a current version on, or all without one; other
    flagged summaries are not sent. Calls of the last entry may be open."""
    body = document(data)
    if not isinstance(body, dict):
        raise StopValidation("The document is not an object.")
    for key in ("sessionId", "created", "modified"):
        if not inner(body, key, str):
            yield f"It has no {key} as text."
    entries = require_list(body.get("chatHistory"), "entries in chatHistory")
    newest = max((number for number, entry in enumerate(entries, 1) if _is_current(entry)), default=0)
    before = -float("inf")
    open_calls: dict[str, int] = {}
    for number, entry in enumerate(entries, 1):
        where = f"Entry {number}"
        exchange = entry.get("exchange") if isinstance(entry, dict) else None
        if not isinstance(exchange, dict):
            yield f"{where} has no exchange."
            continue
        sequence_id = entry.get("sequenceId")
        if not isinstance(sequence_id, int | float) or not sequence_id > before:
            yield f"{where} has the sequenceId {sequence_id}, which does not increase."
        else:
            before = sequence_id
        if not entry.get("completed") or number < newest or (entry.get("isHistorySummary") and number != newest):
            continue
        results = _ids(exchange.get("request_nodes"), 1, "tool_result_node")
        for id in results:
            if id not in open_calls:
                yield f"{where} has the result {id}, which answers no call of the entry before it."
        for id, caller in open_calls.items():
            if id not in results:
                yield f"{where} has no result for the call {id} of entry {caller}."
        open_calls = dict.fromkeys(_ids(exchange.get("response_nodes"), 5, "tool_use"), number)
        if not any(exchange.get(k) for k in ("request_message", "request_nodes", "response_text", "response_nodes")):
            yield f"{where} is empty."


def _is_current(entry: Any) -> bool:
    """True for a completed flagged summary of version 3 or later: no entry before it is sent."""
    return (
        isinstance(entry, dict)
        and bool(entry.get("completed") and entry.get("isHistorySummary"))
        and isinstance(version := entry.get("historySummaryVersion"), int)
        and version >= 3
    )


def _ids(nodes: Any, kind: int, holder: str) -> list[str]:
    """Return the ids of the calls or results among nodes."""
    holders = (node.get(holder) for node in objects(nodes) if node.get("type") == kind)
    return [str(each.get("tool_use_id")) for each in holders if isinstance(each, dict)]
