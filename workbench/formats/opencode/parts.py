"""Conversion between opencode's parts and our blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.formats.kit.blocks import as_text, input_of
from workbench.formats.kit.document import render
from workbench.formats.kit.json_spans import replace_fields
from workbench.formats.kit.jsonl import loads
from workbench.formats.kit.marks import MARK, STALE_USAGE, marked
from workbench.formats.kit.values import dict_of
from workbench.session import Block, Kind, Media, Opaque, Text, Thinking, ToolResult, ToolUse
from workbench.session.images import media_of

Part = dict[str, Any]

QUESTION = "What did we do so far?"
"""Text that a compaction's request sends to the model."""

CLEARED = "[Old tool result content cleared]"
INTERRUPTED = "[Tool execution was interrupted]"

_FEEDBACK = re.compile(
    r"\AThe user rejected permission to use this specific tool call with .*? feedback: (.*)", re.DOTALL
)
_LINKS = ("id", "sessionID", "messageID")
_PROVIDER = "workbench"
_SUBTASK = "The following tool was executed by the user"
_BOOKKEEPING = frozenset(["step-start", "step-finish", "snapshot", "patch", "agent", "retry"])
_SENT_AS_TEXT = ("text/plain", "application/x-directory")
_SIGNATURES = ("signature", "reasoningOpaque", "reasoningEncryptedContent", "encrypted_content")


def is_bookkeeping(part: Any) -> bool:
    """Return True if opencode does not send a part. It sends text files as separate text parts."""
    if not isinstance(part, dict):
        return False
    if part.get("type") == "file":
        return part.get("mime") in _SENT_AS_TEXT
    return as_text(part.get("type")) in _BOOKKEEPING or (part.get("type") == "text" and part.get("ignored") is True)


def block_of(part: Any) -> tuple[Block, ...]:
    """Return the block of a part other than a tool's, or none."""
    kind = part.get("type") if isinstance(part, dict) else None
    match kind:
        case "text" if isinstance(part.get("text"), str):
            return (Text(part["text"], injected=is_synthetic(part)),) if part["text"] else ()
        case "reasoning" if isinstance(part.get("text"), str):
            signature = _signature(part.get("metadata"))
            return (Thinking(part["text"], signature),) if part["text"] or signature else ()
        case "file":
            return (_media(part),)
        case "compaction":
            return (Text(QUESTION),)
        case "subtask":
            return (Text(_SUBTASK),)
    # Ids differ in every export.
    own = {key: value for key, value in part.items() if key not in _LINKS} if isinstance(part, dict) else part
    return (Opaque(kind if isinstance(kind, str) else "part", own),)


def is_synthetic(part: Any) -> bool:
    """Return True if opencode added a text part to a user message: an attached file, the open file of an editor, a
    reminder.

    This program writes its own summaries and system messages in that form, too, and stores their kind.
    """
    return dict_of(part).get("synthetic") is True and noted_kind(part) is None


def cleared_at(part: Any) -> float | None:
    """Return the time at which opencode replaced a tool's output by a note; None if it did not.

    The file still has the output.
    """
    time = seconds_of(_at(dict_of(dict_of(part).get("state")), "compacted") or None)
    return time if time is not None and tool_blocks(part) else None


def uncleared(part: Part) -> Part:
    """Return a tool's part as it was before opencode cleared its output."""
    state = part["state"]
    return {**part, "state": {**state, "time": {key: at for key, at in state["time"].items() if key != "compacted"}}}


def tool_blocks(part: Any) -> tuple[ToolUse, ToolResult] | None:
    """Return the call and the result of a tool's part as they are sent; None for any other part."""
    if not isinstance(part, dict) or part.get("type") != "tool" or not isinstance(part.get("state"), dict):
        return None
    if not isinstance(part.get("callID"), str) or not isinstance(part.get("tool"), str):
        return None
    state, id = part["state"], part["callID"]
    arguments = state.get("input")
    call = ToolUse(id, part["tool"], input_of(arguments))
    content: tuple[Text | Media, ...]
    match state.get("status"):
        case "completed" if _at(state, "compacted"):
            content, failed = (Text(CLEARED),), False
        case "completed":
            attached = state.get("attachments")
            media = [_media(item) for item in attached if isinstance(item, dict)] if isinstance(attached, list) else []
            content, failed = (*_text(state.get("output")), *media), False
        case "error":
            about = state.get("metadata")
            interrupted = (
                isinstance(about, dict) and about.get("interrupted") is True and isinstance(about.get("output"), str)
            )
            content, failed = _text(about["output"] if interrupted else state.get("error")), not interrupted
        case _:
            content, failed = (Text(INTERRUPTED),), True
    feedback = _FEEDBACK.search("".join(part.text for part in content if isinstance(part, Text))) if failed else None
    return call, ToolResult(id, content, failed, feedback[1].strip() if feedback else "")


def noted_kind(part: Any) -> Kind | None:
    """Return the message kind that this program stored in a text part; None without one."""
    return marked(_notes(part)) if isinstance(part, dict) and part.get("type") == "text" else None


def with_kind(part: Part, kind: Kind) -> Part:
    """Return a text part with its message's kind stored."""
    return _with_notes(part, {MARK: kind})


def has_stale_usage(part: Any) -> bool:
    """Return True if this program marked the usage up to this part's record as stale."""
    return _notes(part).get(STALE_USAGE) is True


def with_stale_usage(part: Part) -> Part:
    """Return a part, for which `can_note` is True, with the mark for stale usage."""
    return _with_notes(part, {STALE_USAGE: True})


def can_note(part: Any) -> bool:
    """Return True if the import keeps the metadata of a part of this type; it drops unknown keys."""
    return isinstance(part, dict) and part.get("type") in ("text", "reasoning", "tool")


def _notes(part: Any) -> Part:
    """Return the notes of this program in a part's metadata, which are grouped by provider."""
    return dict_of(dict_of(dict_of(part).get("metadata")).get(_PROVIDER))


def _with_notes(part: Part, notes: Part) -> Part:
    return {**part, "metadata": {**dict_of(part.get("metadata")), _PROVIDER: {**_notes(part), **notes}}}


def _at(state: Part, key: str) -> Any:
    time = state.get("time")
    return time.get(key) if isinstance(time, dict) else None


def _text(value: Any) -> tuple[Text, ...]:
    return (Text(as_text(value)),) if value not in (None, "") else ()


def _media(part: Part) -> Media:
    mime, url = part.get("mime"), part.get("url")
    encoded = url.partition(",")[2] if isinstance(url, str) and url.startswith("data:") else ""
    return media_of(mime if isinstance(mime, str) and mime else "file", encoded)


def _signature(metadata: Any) -> str:
    """Return the signature or encrypted content of reasoning, which each provider stores under its own key; "" without
    one."""
    for about in metadata.values() if isinstance(metadata, dict) else ():
        for key in _SIGNATURES if isinstance(about, dict) else ():
            if isinstance(about.get(key), str):
                return str(about[key])
    return ""


def with_output(raw: bytes) -> bytes:
    """Return a part with the output that opencode cleared later, for a message kept as first sent."""
    part = loads(raw)
    return replace_fields(raw, {"state": render(uncleared(part)["state"])}) if cleared_at(part) else raw


def mark_stale_usage(parts: Sequence[bytes]) -> list[bytes]:
    """Return the parts of the newest answer, with one of them marking the usage up to here as stale."""
    values = [loads(raw) for raw in parts]
    at = next((n for n, value in enumerate(values) if can_note(value)), -1)
    return [
        render(with_stale_usage(value)) if n == at else raw
        for n, (value, raw) in enumerate(zip(values, parts, strict=True))
    ]


def is_among(attachment: Any, result: ToolResult) -> bool:
    kinds = {part.media_type for part in result.content if isinstance(part, Media)}
    return isinstance(attachment, dict) and attachment.get("mime") in kinds


def text_part(text: str, **flags: bool) -> Part:
    return {"type": "text", "text": text, **flags}
