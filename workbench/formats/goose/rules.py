"""What goose's import, and its repair of conversations before they are sent, ask of a session (formats.md §2.12).

Written from those rules and from the standard library alone: it judges the writer, so it shares nothing with it.
"""

from __future__ import annotations

import json
from typing import Any

_MOST = 20
_KNOWN = frozenset(
    [
        "text", "image", "toolRequest", "toolResponse", "toolConfirmationRequest", "actionRequired", "reasoning",
        "frontendToolRequest", "thinking", "redactedThinking", "systemNotification", "conversationCompacted",
    ]
)  # fmt: skip

Entry = tuple[str, dict[str, Any]]
"""A message and what to call it in a sentence."""


def validate(data: bytes) -> list[str]:
    """What is wrong with a session, a sentence each; nothing when goose would import it and send it as it is."""
    if data.startswith(b"SQLite format 3"):
        return ["It is a database, which only goose itself may write; export a session of it."]
    faults: list[str] = []
    about, entries = _loaded(data, faults)
    if about is not None:
        faults += [f"It has no {key}, which the import demands." for key in _missing(about)]
    visible: list[Entry] = []
    for name, entry in entries:
        faults += _shape(name, entry, whole=about is not None)
        metadata = entry.get("metadata")
        if not (isinstance(metadata, dict) and metadata.get("agentVisible") is False):
            visible.append((name, entry))
    if not visible:
        return [*faults[:_MOST], "There is no message that the agent would see."]
    if visible[0][1].get("role") == "assistant":
        faults.append(f"{visible[0][0]} is an assistant's and the first that the agent would see, so goose removes it.")
    faults += _pairs(visible)
    return [*faults[:_MOST], f"{len(faults) - _MOST} more faults."] if len(faults) > _MOST else faults


def _loaded(data: bytes, faults: list[str]) -> tuple[dict[str, Any] | None, list[Entry]]:
    """The session's own fields (None for the lines of an earlier version) and its messages."""
    text = data.decode("utf-8-sig", "replace")
    try:
        whole = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, dict) and isinstance(whole.get("conversation"), list):
        entries = enumerate(whole["conversation"], 1)
        return whole, [(f"Message {n}", entry) for n, entry in entries if isinstance(entry, dict)]
    found: list[Entry] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line, strict=False)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            faults.append(f"Line {number} is not a JSON object, so goose would pass over it.")
        elif number > 1 or "role" in value:
            found.append((f"Line {number}", value))
    return None, found


def _missing(about: dict[str, Any]) -> list[str]:
    demanded = {
        "id": str,
        "working_dir": str,
        "created_at": str,
        "updated_at": str,
        "extension_data": dict,
        "message_count": int,
    }
    missing = [key for key, kind in demanded.items() if not isinstance(about.get(key), kind)]
    return missing if isinstance(about.get("name", about.get("description")), str) else [*missing, "name"]


def _shape(name: str, entry: dict[str, Any], *, whole: bool) -> list[str]:
    faults: list[str] = []
    if entry.get("role") not in ("user", "assistant"):
        faults.append(f"{name} is neither a user's nor an assistant's.")
    if type(entry.get("created")) is not int:
        faults.append(f"{name} has no time of creation in whole seconds.")
    if whole and not isinstance(entry.get("metadata"), dict):
        faults.append(f"{name} does not say who sees it.")
    content = entry.get("content")
    if not isinstance(content, list) or not content:
        return [*faults, f"{name} has no content."]
    for item in content:
        kind = item.get("type") if isinstance(item, dict) else None
        if not isinstance(kind, str) or kind not in _KNOWN:
            faults.append(f"{name} has content of a type that goose does not know.")
        elif kind == "text" and not isinstance(item.get("text"), str):
            faults.append(f"{name} has a text without text.")
        elif kind in ("toolRequest", "toolResponse"):
            inner = item.get("toolCall" if kind == "toolRequest" else "toolResult")
            if not isinstance(item.get("id"), str) or not isinstance(inner, dict) or "status" not in inner:
                faults.append(f"{name} has a {kind} without an id or a status.")
    return faults


def _pairs(visible: list[Entry]) -> list[str]:
    """Each request answered, but for those of the last message; each response to a request before it."""
    faults: list[str] = []
    waiting: dict[str, str] = {}
    for name, entry in visible:
        content = entry.get("content")
        for item in content if isinstance(content, list) else ():
            kind, id = (item.get("type"), str(item.get("id"))) if isinstance(item, dict) else ("", "")
            if kind == "toolRequest" and entry.get("role") == "assistant":
                waiting[id] = name
            elif kind == "toolResponse" and waiting.pop(id, None) is None:
                faults.append(f"{name} has a response without a request before it, so goose removes it.")
    last = visible[-1][0]
    faults += [
        f"A request of {name} has no response, so goose removes it." for name in waiting.values() if name != last
    ]
    return faults
