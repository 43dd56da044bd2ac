"""Gemini's parts and message records, and our blocks, there and back.

A record of type `gemini` is a response with the results of its calls inside: two messages that share one record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.base.stamps import iso, seconds_of
from workbench.formats.kit.blocks import as_text, kind_of, named, texts_of
from workbench.formats.kit.mark import MARK, marked
from workbench.formats.kit.values import count_of, list_of, text_of
from workbench.session import Block, Kind, Media, Message, Opaque, Text, Thinking, ToolResult, ToolUse, Usage

ACKNOWLEDGED = "Got it. Thanks for the additional context!"
"""What stands after a compression's summary as the model's answer."""

_SNAPSHOT = "<state_snapshot>"
_IGNORED = ("/", "?", "<session_context>", "<hook_context>")
"""How user texts begin that Gemini CLI records but never sends again."""


NOWHERE = -1
"""The source of a record whose bytes could not be found."""


@dataclass(slots=True)
class Calls:
    """Calls without an id of their own, waiting for a response of their name; and the ids that were answered."""

    waiting: dict[str, list[str]] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)


def parts_of(content: Any) -> list[Any]:
    if content is None or content == "":
        return []
    return content if isinstance(content, list) else [content]


def is_sent(record: Mapping[str, Any]) -> bool:
    """Whether Gemini CLI would give a record back to the model when it resumes the session."""
    if record.get("type") == "gemini":
        return True
    if record.get("type") != "user":
        return False
    parts = parts_of(record.get("content"))
    text = "".join(_said(part) for part in parts).strip()
    if any(isinstance(part, dict) and not isinstance(part.get("text"), str) for part in parts):
        return not text.startswith(_IGNORED)
    return bool(text) and not text.startswith(_IGNORED)


def ignored(text: str) -> bool:
    """Whether Gemini CLI would pass over a user's message with this text."""
    return not text.strip() or text.strip().startswith(_IGNORED)


def messages_of(record: Mapping[str, Any], id: str, source: int, calls: Calls) -> list[Message]:
    """The messages of a record: one, or a response and its results. `source` numbers the record, or is NOWHERE."""
    sources = () if source == NOWHERE else (source,)
    kind, time = record.get("type"), seconds_of(record.get("timestamp"))
    parts = parts_of(record.get("content"))
    if kind == "gemini":
        return _response(record, id, sources, calls, parts, time)
    blocks = tuple(_request_block(part, calls) for part in parts)
    if kind == "user" and any(isinstance(block, ToolResult) for block in blocks):
        return [Message(id, "tool", blocks, time=time, source=sources)]
    if kind == "user":
        return [Message(id, "user", blocks, _user_kind(record, blocks), time, source=sources)]
    return [Message(id, "system", blocks, "meta", time, source=sources)]


def _user_kind(record: Mapping[str, Any], blocks: tuple[Block, ...]) -> Kind:
    if (kind := marked(record)) is not None:
        return kind
    if not is_sent(record):
        return "meta"
    first = next((block.text for block in blocks if isinstance(block, Text)), "")
    return "summary" if _SNAPSHOT in first[:2000] else kind_of("user", blocks)


def _response(
    record: Mapping[str, Any], id: str, source: tuple[int, ...], calls: Calls, parts: list[Any], time: float | None
) -> list[Message]:
    recorded = [call for call in list_of(record.get("toolCalls")) if isinstance(call, dict)]
    modern = any(isinstance(part, dict) and (part.get("functionCall") or part.get("thought")) for part in parts)
    blocks: list[Block] = [] if modern else [*_thoughts(record)]
    blocks += (_response_block(part, id, place, calls) for place, part in enumerate(parts))
    if not modern:
        blocks += (ToolUse(as_text(call.get("id", "")), *_name_and_args(call)) for call in recorded)
    results = [result for call in recorded if (result := _recorded_result(call)) is not None]
    calls.answered.update(result.call_id for result in results)
    kind = marked(record) or ("summary" if blocks == [Text(ACKNOWLEDGED)] else "normal")
    model = record.get("model")
    usage = _usage(record.get("tokens"))
    response = Message(
        id, "assistant", tuple(blocks), kind, time, usage, model if isinstance(model, str) else None, source
    )
    return [response, Message(f"{id}:results", "tool", tuple(results), time=time, source=source)][: 1 + bool(results)]


def _thoughts(record: Mapping[str, Any]) -> list[Thinking]:
    """Thoughts as Gemini CLI sends them again where they are not among the parts."""
    found: list[Thinking] = []
    for thought in list_of(record.get("thoughts")):
        if isinstance(thought, dict):
            subject, description = thought.get("subject"), thought.get("description")
            text = as_text(description) if description is not None else ""
            found.append(Thinking(f"**{subject}** {text}" if subject else text))
    return found


def _response_block(part: Any, id: str, place: int, calls: Calls) -> Block:
    if isinstance(part, dict) and isinstance(call := part.get("functionCall"), dict):
        name, args = _name_and_args(call)
        call_id = call.get("id")
        if not isinstance(call_id, str) or not call_id:
            call_id = f"{name}-{id}-{place}"
            calls.waiting.setdefault(name, []).append(call_id)
        return ToolUse(call_id, name, args)
    if isinstance(part, dict) and part.get("thought") is True and isinstance(part.get("text"), str):
        signature = part.get("thoughtSignature")
        return Thinking(part["text"], text_of(signature))
    return _content(part)


def _request_block(part: Any, calls: Calls) -> Block:
    if isinstance(part, dict) and isinstance(response := part.get("functionResponse"), dict):
        id, name = response.get("id"), response.get("name")
        if not isinstance(id, str) or not id:
            waiting = calls.waiting.get(name) if isinstance(name, str) else None
            id = waiting.pop(0) if waiting else as_text(name)
        return _tool_result(id, [part], failed=False)
    return _content(part)


def _content(part: Any) -> Block:
    if isinstance(part, str):
        return Text(part)
    if isinstance(part, dict):
        if isinstance(part.get("text"), str):
            return Text(part["text"])
        for key in ("inlineData", "fileData"):
            if isinstance(inner := part.get(key), dict):
                return Media(as_text(inner.get("mimeType") or "file"), len(as_text(inner.get("data", ""))))
        return Opaque(next(iter(part), ""), part)
    return Opaque(type(part).__name__, part)


def _name_and_args(call: Mapping[str, Any]) -> tuple[str, dict[str, Any] | str]:
    args = call.get("args")
    given = args if isinstance(args, dict) else "" if args is None else as_text(args)
    return as_text(call.get("name", "")), given


def _recorded_result(call: Mapping[str, Any]) -> ToolResult | None:
    result = call.get("result")
    if result is None:
        return None
    return _tool_result(as_text(call.get("id", "")), parts_of(result), failed=call.get("status") == "error")


def _tool_result(call_id: str, parts: Sequence[Any], *, failed: bool) -> ToolResult:
    content: list[Text | Media] = []
    for part in parts:
        response = part.get("functionResponse") if isinstance(part, dict) else None
        if not isinstance(response, dict):
            block = _content(part)
            content.append(block if isinstance(block, Text | Media) else Text(as_text(part)))
            continue
        said = response.get("response")
        key = next((key for key in ("output", "error") if isinstance(said, dict) and said.keys() == {key}), None)
        failed = failed or key == "error"
        text = as_text(said[key]) if key and isinstance(said, dict) else "" if said is None else as_text(said)
        content += [Text(text)] if text else []
        for inner in list_of(response.get("parts")):
            block = _content(inner)
            content.append(block if isinstance(block, Text | Media) else Text(as_text(inner)))
    return ToolResult(call_id, tuple(content), failed)


def _usage(tokens: Any) -> Usage | None:
    """What a response cost; `input` holds what came from the cache. All zero: this program reset it."""
    if not isinstance(tokens, dict):
        return None
    cached = count_of(tokens.get("cached"))
    fresh = max(0, count_of(tokens.get("input")) - cached) + count_of(tokens.get("tool"))
    return Usage(fresh, count_of(tokens.get("output")) + count_of(tokens.get("thoughts")), cached)


def _said(part: Any) -> str:
    if isinstance(part, str):
        return part
    return part["text"] if isinstance(part, dict) and isinstance(part.get("text"), str) else ""


def call_records(
    message: Message, results: Mapping[str, ToolResult], notes: list[str], status: str = "success"
) -> list[dict[str, Any]]:
    """The `toolCalls` of a response, each with its result where there is one."""
    records: list[dict[str, Any]] = []
    for call in message.calls:
        result = results.get(call.id)
        record: dict[str, Any] = {"id": call.id, "name": call.name, "args": _args(call), "result": None}
        if result is not None:
            record["result"] = result_parts(result, call.name, notes)
        failed = result is not None and result.is_error
        records.append({**record, "status": "error" if failed else status, "timestamp": iso(message.time)})
    return records


def result_parts(result: ToolResult, name: str, notes: list[str]) -> list[dict[str, Any]]:
    """A made result: the response to a call by its name, and a part for whatever it has beside its first text."""
    texts = texts_of(result, notes)
    response = {"error" if result.is_error else "output": texts[0] if texts else ""}
    first = {"functionResponse": {"id": result.call_id, "name": name, "response": response}}
    return [first, *({"text": text} for text in texts[1:] if text)]


def response_record(message: Message, notes: list[str], *, own: bool) -> dict[str, Any]:
    """Content and thoughts of a made response: a text where that says all, else parts in their order."""
    parts: list[dict[str, Any]] = []
    for block in message.blocks:
        match block:
            case ToolUse():
                parts.append({"functionCall": {"id": block.id, "name": block.name, "args": _args(block)}})
            case Thinking(text) if own:
                parts.append({"text": text, "thought": True})
            case Thinking():
                notes.append("thinking was left out: it belongs to another model")
            case _:
                parts += _said_by_either(block, notes, own=own)
    plain = [part["text"] for part in parts if part.keys() == {"text"}]
    calls = sum("functionCall" in part for part in parts)
    if len(plain) <= 1 and len(plain) + calls == len(parts) and (not plain or "text" in parts[0]):
        return {"content": "".join(plain)}
    return {"content": parts}


def request_parts(message: Message, names: Mapping[str, str], notes: list[str], *, own: bool) -> list[dict[str, Any]]:
    """The parts of a made request: what the user says, and results whose call's record is another's."""
    parts: list[dict[str, Any]] = []
    for block in message.blocks:
        match block:
            case ToolResult():
                first, *more = result_parts(block, names.get(block.call_id, "unknown_tool"), notes)
                first["functionResponse"] |= {"parts": more} if more else {}
                parts.append(first)
            case _:
                parts += _said_by_either(block, notes, own=own)
    return parts


def _said_by_either(block: Block, notes: list[str], *, own: bool) -> list[dict[str, Any]]:
    """The part of a block that user and model may both have: none where nothing of it is written."""
    match block:
        case Text(text) if text:
            return [{"text": text}]
        case Media():
            return [{"text": named(block, notes)}]
        case Opaque(_, raw) if own and isinstance(raw, dict):
            return [raw]
        case Opaque():
            notes.append("blocks that only the session's own format knows were left out")
    return []


def with_mark(record: dict[str, Any], kind: Kind) -> dict[str, Any]:
    """A made record, with its kind said where its content does not say it."""
    read = messages_of(record, "", 0, Calls())[0]
    return record if read.kind == kind else {**record, MARK: kind}


def _args(call: ToolUse) -> dict[str, Any]:
    return call.input if isinstance(call.input, dict) else {"raw": call.input}
