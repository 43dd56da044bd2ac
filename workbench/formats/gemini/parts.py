"""Gemini's parts and message records, and our blocks, there and back.

A record of type `gemini` is a response with its thoughts and the results of its calls inside: up to three messages
that share one record. The thoughts are never sent, live or resumed (`stripThoughts` of Gemini CLI's
`historyHardening.ts`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.base.stamps import iso, seconds_of
from workbench.formats.agent_texts import kind_of
from workbench.formats.gemini.injected import own_and_injected
from workbench.formats.kit.blocks import as_object, as_text, named, texts_of
from workbench.formats.kit.contents import Calls, model_block, name_and_args, parts_of, tool_result, user_block
from workbench.formats.kit.mark import MARK, marked
from workbench.formats.kit.user_text import is_injected
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of
from workbench.formats.loss import Losses, loss_of
from workbench.session import Block, Kind, Media, Message, Opaque, Text, Thinking, ToolResult, ToolUse, Usage

ACKNOWLEDGED = "Got it. Thanks for the additional context!"
"""What stands after a compression's summary as the model's answer."""

_MASKED = "<tool_output_masked>"
_SNAPSHOT = "<state_snapshot>"
_ENVIRONMENT = "<session_context>"
_IGNORED = ("/", "?", _ENVIRONMENT, "<hook_context>")
"""How user texts begin that Gemini CLI records, and passes over when it resumes a session."""

NOWHERE = -1
"""The source of a record whose bytes could not be found."""


def is_sent(record: Mapping[str, Any]) -> bool:
    """Whether Gemini CLI would give a record back to the model when it resumes the session."""
    if record.get("type") == "gemini":
        return True
    if record.get("type") != "user":
        return False
    parts = parts_of(record.get("content"))
    text = _text(parts)
    if any(isinstance(part, dict) and not isinstance(part.get("text"), str) for part in parts):
        return not text.startswith(_IGNORED)
    return bool(text) and not text.startswith(_IGNORED)


def is_environment(record: Mapping[str, Any]) -> bool:
    """Whether a record holds the date, the folders and the memory, with which every request begins.

    Gemini CLI passes over the recorded one when it resumes, and puts a new one in its place.
    """
    return record.get("type") == "user" and _text(parts_of(record.get("content"))).startswith(_ENVIRONMENT)


def ignored(text: str) -> bool:
    """Whether Gemini CLI would pass over a user's message with this text."""
    return not text.strip() or text.strip().startswith(_IGNORED)


def count_masked(record: Mapping[str, Any]) -> int:
    """How many outputs of tools in a record Gemini CLI put a note in place of, to make room."""
    return as_text(record).count(_MASKED)


def messages_of(record: Mapping[str, Any], id: str, source: int, calls: Calls) -> list[Message]:
    """The messages of a record: one, or thoughts, response and results. `source` numbers the record, or is NOWHERE."""
    sources = () if source == NOWHERE else (source,)
    kind, time = record.get("type"), seconds_of(record.get("timestamp"))
    parts = parts_of(record.get("content"))
    if kind == "gemini":
        return _response(record, id, sources, calls, parts, time)
    blocks = tuple(user_block(part, calls) for part in answered_once(parts))
    if kind == "user" and any(isinstance(block, ToolResult) for block in blocks):
        return [Message(id, "tool", blocks, time=time, source=sources)]
    if kind == "user":
        said_as = _user_kind(record, blocks)
        blocks = blocks if said_as == "summary" else own_and_injected(blocks)
        meta = said_as == "normal" and is_injected(blocks)
        return [Message(id, "user", blocks, "meta" if meta else said_as, time, source=sources)]
    return [Message(id, "system", blocks, "meta", time, source=sources)]


def _user_kind(record: Mapping[str, Any], blocks: tuple[Block, ...]) -> Kind:
    if (kind := marked(record)) is not None:
        return kind
    if not is_sent(record):
        return "meta"
    first = next((block.text for block in blocks if isinstance(block, Text)), "")
    if _SNAPSHOT in (first if first.startswith("<scratchpad>") else first[:2000]):
        return "summary"
    return kind_of("user", blocks)


def _response(
    record: Mapping[str, Any], id: str, source: tuple[int, ...], calls: Calls, parts: list[Any], time: float | None
) -> list[Message]:
    recorded = [call for call in list_of(record.get("toolCalls")) if isinstance(call, dict)]
    thoughts = [Thinking(part["text"], text_of(part.get("thoughtSignature"))) for part in parts if _is_thought(part)]
    modern = bool(thoughts) or any(isinstance(part, dict) and part.get("functionCall") for part in parts)
    blocks = [model_block(part, id, place, calls) for place, part in enumerate(parts) if not _is_thought(part)]
    if not modern:
        thoughts = _thoughts(record)
        blocks += (ToolUse(as_text(call.get("id", "")), *name_and_args(call)) for call in recorded)
    results = [result for call in recorded if (result := _recorded_result(call)) is not None]
    kind = marked(record) or ("summary" if blocks == [Text(ACKNOWLEDGED)] else "normal")
    model = record.get("model")
    usage = _usage(record.get("tokens"))
    response = Message(
        id, "assistant", tuple(blocks), kind, time, usage, model if isinstance(model, str) else None, source
    )
    return [
        *([Message(f"{id}:thoughts", "assistant", tuple(thoughts), "meta", time, source=source)] if thoughts else []),
        response,
        *([Message(f"{id}:results", "tool", tuple(results), time=time, source=source)] if results else []),
    ]


def are_thoughts(message: Message) -> bool:
    """Whether a message is what the model thought before a response: Gemini CLI shows it and never sends it."""
    return bool(message.blocks) and all(isinstance(block, Thinking) for block in message.blocks)


def _is_thought(part: Any) -> bool:
    return isinstance(part, dict) and part.get("thought") is True and isinstance(part.get("text"), str)


def _thoughts(record: Mapping[str, Any]) -> list[Thinking]:
    """Thoughts that stand beside the parts."""
    found: list[Thinking] = []
    for thought in list_of(record.get("thoughts")):
        if isinstance(thought, dict):
            subject, description = thought.get("subject"), thought.get("description")
            text = as_text(description) if description is not None else ""
            found.append(Thinking(f"**{subject}** {text}" if subject else text))
    return found


def _recorded_result(call: Mapping[str, Any]) -> ToolResult | None:
    result = call.get("result")
    if result is None:
        return None
    id = as_text(call.get("id", ""))
    return tool_result(id, _own_parts(id, parts_of(result)), failed=call.get("status") == "error")


def answered_once(parts: list[Any]) -> list[Any]:
    """A request's parts without responses that are there already: what was sent twice, a compression merges."""
    return [part for at, part in enumerate(parts) if not (_is_response(part) and part in parts[:at])]


def _is_response(part: Any) -> bool:
    return isinstance(part, dict) and bool(part.get("functionResponse"))


def with_own_result(call: Any) -> Any:
    """A recorded call with what answers it alone as its result."""
    result = dict_of(call).get("result")
    return {**call, "result": _own_parts(as_text(call.get("id", "")), result)} if isinstance(result, list) else call


def _own_parts(id: str, parts: list[Any]) -> list[Any]:
    """Of a recorded result what answers the call: Gemini CLI puts the responses of a whole turn beside each call."""
    starts = [place for place, part in enumerate(parts) if _is_response(part)]
    own = next((place for place in starts if dict_of(parts[place]["functionResponse"]).get("id") == id), None)
    if own is None:
        return parts
    return parts[own : next((place for place in starts if place > own), len(parts))]


def _usage(tokens: Any) -> Usage | None:
    """What a response cost; `input` holds what came from the cache. None for zeros, which no call costs."""
    if not isinstance(tokens, dict):
        return None
    cached = count_of(tokens.get("cached"))
    fresh = max(0, count_of(tokens.get("input")) - cached) + count_of(tokens.get("tool"))
    usage = Usage(fresh, count_of(tokens.get("output")) + count_of(tokens.get("thoughts")), cached)
    return usage if usage.context else None


def _text(parts: Sequence[Any]) -> str:
    """The texts of a record's parts, as Gemini CLI looks at their beginning."""
    return "".join(part if isinstance(part, str) else text_of(dict_of(part).get("text")) for part in parts).strip()


def call_records(
    message: Message, answer: Message | None, losses: Losses, status: str = "success"
) -> list[dict[str, Any]]:
    """The `toolCalls` of a response, each with its result in `answer`, and the time of that, where there is one."""
    results = {result.call_id: result for result in answer.results} if answer else {}
    records: list[dict[str, Any]] = []
    for call in message.calls:
        result = results.get(call.id)
        record: dict[str, Any] = {"id": call.id, "name": call.name, "args": _args(call), "result": None}
        if result is not None:
            record["result"] = result_parts(result, call.name, losses)
        failed = result is not None and result.is_error
        time = message.time if answer is None or result is None or answer.time is None else answer.time
        records.append({**record, "status": "error" if failed else status, "timestamp": iso(time)})
    return records


def result_parts(result: ToolResult, name: str, losses: Losses) -> list[dict[str, Any]]:
    """A made result: the response to a call by its name, and a part for whatever it has beside its first text."""
    texts = texts_of(result, losses)
    response = {"error" if result.is_error else "output": texts[0] if texts else ""}
    first = {"functionResponse": {"id": result.call_id, "name": name, "response": response}}
    return [first, *({"text": text} for text in texts[1:] if text)]


def response_record(message: Message, losses: Losses, *, own: bool) -> dict[str, Any]:
    """The content of a made response: a text where that says all, else parts in their order."""
    parts: list[dict[str, Any]] = []
    for block in message.blocks:
        match block:
            case ToolUse():
                parts.append({"functionCall": {"id": block.id, "name": block.name, "args": _args(block)}})
            case Thinking():
                losses.append(loss_of(block))
            case _:
                parts += _said_by_either(block, losses, own=own)
    plain = [part["text"] for part in parts if part.keys() == {"text"}]
    calls = sum("functionCall" in part for part in parts)
    if len(plain) <= 1 and len(plain) + calls == len(parts) and (not plain or "text" in parts[0]):
        return {"content": "".join(plain)}
    return {"content": parts}


def request_parts(message: Message, names: Mapping[str, str], losses: Losses, *, own: bool) -> list[dict[str, Any]]:
    """The parts of a made request: what the user says, and results whose call's record is another's."""
    parts: list[dict[str, Any]] = []
    for block in message.blocks:
        match block:
            case ToolResult():
                first, *more = result_parts(block, names.get(block.call_id, "unknown_tool"), losses)
                first["functionResponse"] |= {"parts": more} if more else {}
                parts.append(first)
            case _:
                parts += _said_by_either(block, losses, own=own)
    return parts


def _said_by_either(block: Block, losses: Losses, *, own: bool) -> list[dict[str, Any]]:
    """The part of a block that user and model may both have: none where nothing of it is written."""
    match block:
        case Text(text) if text:
            return [{"text": text}]
        case Media():
            return [{"text": named(block, losses)}]
        case Opaque(_, raw) if own and isinstance(raw, dict):
            return [raw]
        case Opaque():
            losses.append(loss_of(block))
    return []


def with_mark(record: dict[str, Any], kind: Kind) -> dict[str, Any]:
    """A made record, with its kind said where its content does not say it."""
    read = messages_of(record, "", 0, Calls())[0]
    return record if read.kind == kind else {**record, MARK: kind}


def _args(call: ToolUse) -> dict[str, Any]:
    return as_object(call.input)
