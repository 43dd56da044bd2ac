"""Loader rules of goose: those of its import, and of its repair of a conversation before a request.

Source: https://github.com/block/goose.
"""

from __future__ import annotations

import json
from typing import Any

from workbench.formats.faults import Faults, Item, StopValidation, inner, lines, objects, validator

_KNOWN = frozenset(
    [
        "text", "image", "toolRequest", "toolResponse", "toolConfirmationRequest", "actionRequired", "reasoning",
        "frontendToolRequest", "thinking", "redactedThinking", "systemNotification", "conversationCompacted",
    ]
)  # fmt: skip
_REQUIRED = {
    "id": str,
    "working_dir": str,
    "created_at": str,
    "updated_at": str,
    "extension_data": dict,
    "message_count": int,
}


@validator
def validate(data: bytes) -> Faults:
    """Yield faults by which goose would refuse the session or change it before a request."""
    if data.startswith(b"SQLite format 3"):
        raise StopValidation("It is a database, which only goose may write; export a session from it.")
    export = _document(data)
    entries: list[tuple[str, Item]] = []  # (name of a message in a sentence, message)
    if export is not None:
        entries = [(f"Message {n}", e) for n, e in enumerate(export["conversation"], 1) if isinstance(e, dict)]
        missing = [key for key, kind in _REQUIRED.items() if not isinstance(export.get(key), kind)]
        missing += [] if isinstance(export.get("name", export.get("description")), str) else ["name"]
        yield from (f"It has no {key}, which the import requires." for key in missing)
    else:
        for number, value in lines(data.removeprefix(b"\xef\xbb\xbf")):
            if value is None:
                yield f"Line {number} is not a JSON object, so goose would skip it."
            elif number > 1 or "role" in value:
                entries.append((f"Line {number}", value))
    for where, entry in entries:
        yield from _check_shape(where, entry, is_export=export is not None)
    visible = [entry for entry in entries if inner(entry[1], "metadata", dict).get("agentVisible") is not False]
    if not visible:
        raise StopValidation("There is no message that the agent would see.")
    if visible[0][1].get("role") == "assistant":
        yield f"{visible[0][0]} is the first message the agent would see and an assistant's, so goose removes it."
    yield from _check_pairs(visible)


def _document(data: bytes) -> Item | None:
    """Return an exported session; None for the lines of an earlier version."""
    try:
        document: Any = json.loads(data.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) and isinstance(document.get("conversation"), list) else None


def _check_shape(where: str, entry: Item, *, is_export: bool) -> Faults:
    if entry.get("role") not in ("user", "assistant"):
        yield f"{where} is neither a user nor an assistant message."
    if type(entry.get("created")) is not int:
        yield f"{where} has no time of creation in whole seconds."
    if is_export and not isinstance(entry.get("metadata"), dict):
        yield f"{where} does not say who sees it."
    content = inner(entry, "content", list)
    if not content:
        yield f"{where} has no content."
    for item in content:
        kind = inner(item, "type", str)
        if kind not in _KNOWN:
            yield f"{where} has content of a type that goose does not know."
        elif kind == "text" and not isinstance(item.get("text"), str):
            yield f"{where} has a text part without a text."
        elif kind in ("toolRequest", "toolResponse"):
            call_or_result = inner(item, "toolCall" if kind == "toolRequest" else "toolResult", dict)
            if not isinstance(item.get("id"), str) or "status" not in call_or_result:
                yield f"{where} has a {kind} without an id or a status."


def _check_pairs(visible: list[tuple[str, Item]]) -> Faults:
    """Check that each request but the last message's is answered, and each response has a request before it."""
    open_requests: dict[str, str] = {}
    for where, entry in visible:
        for item in objects(entry.get("content")):
            kind, id = item.get("type"), str(item.get("id"))
            if kind == "toolRequest" and entry.get("role") == "assistant":
                open_requests[id] = where
            elif kind == "toolResponse" and open_requests.pop(id, None) is None:
                yield f"{where} has a response without a request before it, so goose removes it."
    for where in open_requests.values():
        if where != visible[-1][0]:
            yield f"{where} has a request without a response, so goose removes it."
