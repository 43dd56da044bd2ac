"""What auggie demands of a session file it loads and sends, judged on the JSON alone."""

from __future__ import annotations

from typing import Any

from workbench.formats.faults import Faults, Hopeless, document, inner, objects, some, validator


def _rules(data: bytes, *, flagged: bool) -> Faults:
    """Judged is what auggie sends: completed entries of `chatHistory`. Calls of the last one may be open."""
    body = document(data)
    if not isinstance(body, dict):
        raise Hopeless("The document is no object.")
    for key in ("sessionId", "created", "modified"):
        if not inner(body, key, str):
            yield f"It has no {key} as text."
    before = -float("inf")
    open_calls: dict[str, int] = {}
    for number, entry in enumerate(some(body.get("chatHistory"), "entries in chatHistory"), 1):
        where = f"Entry {number}"
        exchange = entry.get("exchange") if isinstance(entry, dict) else None
        if not isinstance(exchange, dict):
            yield f"{where} has no exchange."
            continue
        sequence_id = entry.get("sequenceId")
        if not isinstance(sequence_id, int | float) or not sequence_id > before:
            yield f"{where} has the sequenceId {sequence_id}, which does not rise."
        else:
            before = sequence_id
        if not entry.get("completed"):
            continue
        if entry.get("isHistorySummary") and not flagged:
            yield f"{where} is flagged isHistorySummary, and auggie 0.36 does not send such."
        results = _ids(exchange.get("request_nodes"), 1, "tool_result_node")
        for id in results:
            if id not in open_calls:
                yield f"{where} has the result {id}, which answers no call of the entry before it."
        for id, asked in open_calls.items():
            if id not in results:
                yield f"{where} has no result for the call {id} of entry {asked}."
        open_calls = dict.fromkeys(_ids(exchange.get("response_nodes"), 5, "tool_use"), number)
        if not any(exchange.get(k) for k in ("request_message", "request_nodes", "response_text", "response_nodes")):
            yield f"{where} is empty."


@validator
def validate(data: bytes) -> Faults:
    return _rules(data, flagged=False)


@validator
def validate_flagged(data: bytes) -> Faults:
    """For versions that send entries flagged isHistorySummary."""
    return _rules(data, flagged=True)


def _ids(nodes: Any, kind: int, holder: str) -> list[str]:
    """Ids of the calls or results among nodes."""
    held = (node.get(holder) for node in objects(nodes) if node.get("type") == kind)
    return [str(each.get("tool_use_id")) for each in held if isinstance(each, dict)]
