"""What auggie demands of a session file it loads and sends, judged on the JSON alone (formats.md §2.4)."""

from __future__ import annotations

import json
from typing import Any

_NOT_SENT = "auggie 0.36 does not send it"


def validate(data: bytes) -> list[str]:
    """What is wrong, one sentence each, naming entries of `chatHistory` by their place from 1.

    Judged is what auggie sends: completed entries. Calls of the last one may be open.
    """
    try:
        document = json.loads(data.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError) as error:
        return [f"not a JSON document: {error}"]
    if not isinstance(document, dict):
        return ["the document is no object"]
    faults = [
        f"{key} is missing or no text"
        for key in ("sessionId", "created", "modified")
        if not (isinstance(document.get(key), str) and document[key])
    ]
    history = document.get("chatHistory")
    if not isinstance(history, list) or not history:
        return [*faults, "chatHistory has no entries"]
    before = -float("inf")
    open_calls: dict[str, int] = {}
    for number, entry in enumerate(history, 1):
        exchange = entry.get("exchange") if isinstance(entry, dict) else None
        if not isinstance(exchange, dict):
            faults.append(f"entry {number} has no exchange")
            continue
        sequence_id = entry.get("sequenceId")
        if not isinstance(sequence_id, int | float) or not sequence_id > before:
            faults.append(f"entry {number}: sequenceId {sequence_id} does not rise")
        else:
            before = sequence_id
        if not entry.get("completed"):
            continue
        if entry.get("isHistorySummary"):
            faults.append(f"entry {number} is flagged isHistorySummary: {_NOT_SENT}")
        results = _ids(exchange.get("request_nodes"), 1, "tool_result_node")
        faults += [
            f"entry {number}: the result {id} answers no call of the entry before"
            for id in results
            if id not in open_calls
        ]
        faults += [
            f"entry {number}: call {id} of entry {asked} has no result here"
            for id, asked in open_calls.items()
            if id not in results
        ]
        open_calls = dict.fromkeys(_ids(exchange.get("response_nodes"), 5, "tool_use"), number)
        if not any(exchange.get(k) for k in ("request_message", "request_nodes", "response_text", "response_nodes")):
            faults.append(f"entry {number} is empty")
    return faults


def validate_flagged(data: bytes) -> list[str]:
    """The same for versions that send entries flagged isHistorySummary."""
    return [fault for fault in validate(data) if not fault.endswith(_NOT_SENT)]


def _ids(nodes: Any, kind: int, inner: str) -> list[str]:
    """Ids of the calls or results among nodes."""
    holders = [
        node.get(inner)
        for node in (nodes if isinstance(nodes, list) else ())
        if isinstance(node, dict) and node.get("type") == kind
    ]
    return [str(holder.get("tool_use_id")) for holder in holders if isinstance(holder, dict)]
