"""Convert between Gemini's parts and message records and our blocks.

A record of type `gemini` holds a response, its thoughts and the results of its calls: up to three messages. Thoughts
are never sent, live or resumed (`stripThoughts` of Gemini CLI's `historyHardening.ts`).

In a user's record, Gemini CLI's text is separated from the user's. Files named with `@` follow the request in separate
parts, between two marker lines. An editor's open files, a warning of a loop and the end of a background command are
separate records. Hints that the user typed while the model worked are inside an instruction.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from workbench.base.stamps import iso, seconds_of
from workbench.formats.agent_texts import kind_of
from workbench.formats.kit.blocks import as_object, as_text, named, texts_of
from workbench.formats.kit.google_parts import Calls, model_block, name_and_args, parts_of, tool_result, user_block
from workbench.formats.kit.marks import MARK, marked
from workbench.formats.kit.user_text import is_injected
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of
from workbench.formats.loss import Losses, loss_of
from workbench.session import Block, Kind, Media, Message, Opaque, Text, Thinking, ToolResult, ToolUse, Usage

ACKNOWLEDGED = "Got it. Thanks for the additional context!"
"""The model's answer to a compression's summary, written by Gemini CLI."""

_MASKED = "<tool_output_masked>"
_SNAPSHOT = "<state_snapshot>"
_ENVIRONMENT = "<session_context>"
_IGNORED = ("/", "?", _ENVIRONMENT, "<hook_context>")
"""Beginnings of recorded user texts that Gemini CLI ignores when it resumes a session."""

_FILES = "--- Content from referenced files ---"
_FILES_END = "--- End of content ---"
_INJECTED = (
    "<session_context>",
    "Here is the user's editor context as a JSON object",
    "Here is a summary of changes in the user's editor context",
    "System: Potential loop detected.",
    "Background execution update:\n<background_output>",
)
_HINTS = re.compile(r"(User (?:hints|steering update):\n<user_input>\n)(.*)(\n</user_input>.*)", re.DOTALL)

NOWHERE = -1
"""Source of a record whose bytes were not found in the file."""


def is_sent(record: Mapping[str, Any]) -> bool:
    """Return True for a record that Gemini CLI sends when it resumes the session."""
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
    """Return True for the record with date, folders and memory, with which every request begins.

    Gemini CLI replaces it with a new one when it resumes.
    """
    return record.get("type") == "user" and _text(parts_of(record.get("content"))).startswith(_ENVIRONMENT)


def is_ignored(text: str) -> bool:
    """Return True for the text of a user's message that Gemini CLI would ignore."""
    return not text.strip() or text.strip().startswith(_IGNORED)


def count_masked(record: Mapping[str, Any]) -> int:
    """Return the number of tool outputs in a record that Gemini CLI masked to save context."""
    return as_text(record).count(_MASKED)


def messages_of(record: Mapping[str, Any], id: str, source: int, calls: Calls) -> list[Message]:
    """Return the messages of a record: one, or thoughts, response and results. `source`: its number, or NOWHERE."""
    sources = () if source == NOWHERE else (source,)
    kind, time = record.get("type"), seconds_of(record.get("timestamp"))
    parts = parts_of(record.get("content"))
    if kind == "gemini":
        return _response(record, id, sources, calls, parts, time)
    blocks = tuple(user_block(part, calls) for part in without_repeated_results(parts))
    if kind == "user" and any(isinstance(block, ToolResult) for block in blocks):
        return [Message(id, "tool", blocks, time=time, source=sources)]
    if kind == "user":
        user_kind = _user_kind(record, blocks)
        blocks = blocks if user_kind == "summary" else split_injected(blocks)
        meta = user_kind == "normal" and is_injected(blocks)
        return [Message(id, "user", blocks, "meta" if meta else user_kind, time, source=sources)]
    return [Message(id, "system", blocks, "meta", time, source=sources)]


def split_injected(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Split each text of a user's record into the user's and the agent's parts; the latter are marked as injected."""
    recorded = list(blocks)
    ends = [place for place, block in enumerate(recorded) if isinstance(block, Text) and _FILES_END in block.text]
    result: list[Block] = []
    inside = False
    for place, block in enumerate(recorded):
        if not isinstance(block, Text):
            result.append(block)
            continue
        own, injected, rest = "" if inside else block.text, block.text if inside else "", ""
        if not inside and (start := _files_start(own)) >= 0:
            own, injected, inside = own[:start], own[start:], True
        if inside and place == (ends[-1] if ends else -1):
            stop = injected.rindex(_FILES_END) + len(_FILES_END)
            injected, rest, inside = injected[:stop], injected[stop:], False
        result += [*_split_hints(own), *([Text(injected, injected=True)] if injected else []), *_split_hints(rest)]
    return tuple(result)


def _files_start(text: str) -> int:
    """Return the index of the line break before the contents of files; -1 without any."""
    return 0 if text.startswith(_FILES) else text.find("\n" + _FILES)


def _split_hints(text: str) -> Iterator[Text]:
    if hints := _HINTS.fullmatch(text):
        before, own, after = hints.groups()
        yield from (Text(before, injected=True), Text(own), Text(after, injected=True))
    elif text:
        yield Text(text, injected=text.startswith(_INJECTED))


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
    """Return True for a message of thoughts, which Gemini CLI shows and never sends."""
    return bool(message.blocks) and all(isinstance(block, Thinking) for block in message.blocks)


def _is_thought(part: Any) -> bool:
    return isinstance(part, dict) and part.get("thought") is True and isinstance(part.get("text"), str)


def _thoughts(record: Mapping[str, Any]) -> list[Thinking]:
    """Return the thoughts of a record that are not among its parts."""
    thoughts: list[Thinking] = []
    for thought in list_of(record.get("thoughts")):
        if isinstance(thought, dict):
            subject, description = thought.get("subject"), thought.get("description")
            text = as_text(description) if description is not None else ""
            thoughts.append(Thinking(f"**{subject}** {text}" if subject else text))
    return thoughts


def _recorded_result(call: Mapping[str, Any]) -> ToolResult | None:
    result = call.get("result")
    if result is None:
        return None
    id = as_text(call.get("id", ""))
    return tool_result(id, _parts_of_call(id, parts_of(result)), failed=call.get("status") == "error")


def without_repeated_results(parts: list[Any]) -> list[Any]:
    """Return a request's parts without repeated tool results: compression merges results that were sent twice."""
    return [part for at, part in enumerate(parts) if not (_is_response(part) and part in parts[:at])]


def _is_response(part: Any) -> bool:
    return isinstance(part, dict) and bool(part.get("functionResponse"))


def with_own_result(call: Any) -> Any:
    """Return a recorded call without the results of other calls in its `result`."""
    result = dict_of(call).get("result")
    return {**call, "result": _parts_of_call(as_text(call.get("id", "")), result)} if isinstance(result, list) else call


def _parts_of_call(id: str, parts: list[Any]) -> list[Any]:
    """Return the parts of a recorded result that answer the call: Gemini CLI stores those of the entire turn."""
    starts = [place for place, part in enumerate(parts) if _is_response(part)]
    own = next((place for place in starts if dict_of(parts[place]["functionResponse"]).get("id") == id), None)
    if own is None:
        return parts
    return parts[own : next((place for place in starts if place > own), len(parts))]


def _usage(tokens: Any) -> Usage | None:
    """Return a response's usage, None for zeros. `input` includes cached tokens."""
    if not isinstance(tokens, dict):
        return None
    cached = count_of(tokens.get("cached"))
    fresh = max(0, count_of(tokens.get("input")) - cached) + count_of(tokens.get("tool"))
    usage = Usage(fresh, count_of(tokens.get("output")) + count_of(tokens.get("thoughts")), cached)
    return usage if usage.context else None


def _text(parts: Sequence[Any]) -> str:
    """Return the joined texts of a record's parts; Gemini CLI classifies a record by their beginning."""
    return "".join(part if isinstance(part, str) else text_of(dict_of(part).get("text")) for part in parts).strip()


def call_records(
    message: Message, answer: Message | None, losses: Losses, status: str = "success"
) -> list[dict[str, Any]]:
    """Render the `toolCalls` of a response, each with its result from `answer`, if any. Answered calls have the time of
    `answer`, others that of the response."""
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
    """Render a result: a functionResponse with its first text, and a part for each further text."""
    texts = texts_of(result, losses)
    response = {"error" if result.is_error else "output": texts[0] if texts else ""}
    first = {"functionResponse": {"id": result.call_id, "name": name, "response": response}}
    return [first, *({"text": text} for text in texts[1:] if text)]


def response_record(message: Message, losses: Losses, *, own: bool) -> dict[str, Any]:
    """Render the content of a response: one text if only calls follow it, else parts in order."""
    parts: list[dict[str, Any]] = []
    for block in message.blocks:
        match block:
            case ToolUse():
                parts.append({"functionCall": {"id": block.id, "name": block.name, "args": _args(block)}})
            case Thinking():
                losses.append(loss_of(block))
            case _:
                parts += _shared_parts(block, losses, own=own)
    plain = [part["text"] for part in parts if part.keys() == {"text"}]
    calls = sum("functionCall" in part for part in parts)
    if len(plain) <= 1 and len(plain) + calls == len(parts) and (not plain or "text" in parts[0]):
        return {"content": "".join(plain)}
    return {"content": parts}


def request_parts(message: Message, names: Mapping[str, str], losses: Losses, *, own: bool) -> list[dict[str, Any]]:
    """Render the parts of a request: the user's content, and results that are not in the record of their call."""
    parts: list[dict[str, Any]] = []
    for block in message.blocks:
        match block:
            case ToolResult():
                first, *more = result_parts(block, names.get(block.call_id, "unknown_tool"), losses)
                first["functionResponse"] |= {"parts": more} if more else {}
                parts.append(first)
            case _:
                parts += _shared_parts(block, losses, own=own)
    return parts


def _shared_parts(block: Block, losses: Losses, *, own: bool) -> list[dict[str, Any]]:
    """Render a block that both user and model may have; empty for one that cannot be written."""
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
    """Return a new record, marked with its kind if the content does not show it."""
    read = messages_of(record, "", 0, Calls())[0]
    return record if read.kind == kind else {**record, MARK: kind}


def _args(call: ToolUse) -> dict[str, Any]:
    return as_object(call.input)
