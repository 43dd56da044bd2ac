"""Assembly of a streamed API response from its server-sent events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.formats.kit.jsonl import loads_text
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of

_FINAL = frozenset(["response.completed", "response.incomplete", "response.failed"])


def response_of(text: str) -> Any:
    """Return the response in a text: a JSON document, or the one that the events of a stream make up; None for neither.

    Anthropic Messages, OpenAI Chat, OpenAI Responses and Gemini are supported.
    """
    try:
        whole = loads_text(text)
    except ValueError:
        whole = list(_events(text))
    if not isinstance(whole, list):
        return whole
    pieces = [piece for piece in whole if isinstance(piece, dict)]
    for piece in pieces:
        if piece.get("type") in _FINAL:
            return piece.get("response")
    if any(piece.get("type") == "message_start" for piece in pieces):
        return _anthropic(pieces)
    if any("choices" in piece for piece in pieces):
        return _chat(pieces)
    if any("candidates" in piece or "response" in piece for piece in pieces):
        return _gemini([dict_of(piece.get("response", piece)) for piece in pieces])
    return None


def _events(text: str) -> Iterator[Any]:
    """Yield the JSON data of each event, whose data may span several lines."""
    for event in text.replace("\r\n", "\n").split("\n\n"):
        lines = [line[len("data:") :].lstrip() for line in event.split("\n") if line.startswith("data:")]
        try:
            yield loads_text("\n".join(lines))
        except ValueError:
            continue


def _anthropic(pieces: list[dict[str, Any]]) -> dict[str, Any]:
    message: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    inputs: dict[int, str] = {}
    for piece in pieces:
        at = count_of(piece.get("index"))
        match piece.get("type"):
            case "message_start":
                message = dict(dict_of(piece.get("message")))
            case "content_block_start":
                blocks[at] = dict(dict_of(piece.get("content_block")))
            case "content_block_delta" if at in blocks:
                delta = dict_of(piece.get("delta"))
                inputs[at] = inputs.get(at, "") + text_of(delta.get("partial_json"))
                for key in ("text", "thinking", "signature", "content"):
                    if isinstance(delta.get(key), str):
                        blocks[at][key] = text_of(blocks[at].get(key)) + delta[key]
            case "message_delta":
                message |= dict_of(piece.get("delta"))
                counts = {key: value for key, value in dict_of(piece.get("usage")).items() if value is not None}
                message["usage"] = {**dict_of(message.get("usage")), **counts}
    for at, text in inputs.items():
        if text:
            blocks[at]["input"] = _decoded(text)
    return {**message, "type": "message", "content": [*blocks.values()]}


def _decoded(text: str) -> Any:
    try:
        return loads_text(text)
    except ValueError:
        return text


def _chat(pieces: list[dict[str, Any]]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None}
    calls: dict[int, dict[str, Any]] = {}
    for piece in pieces:
        delta = dict_of(next((one.get("delta") for one in map(dict_of, list_of(piece.get("choices")))), None))
        for key in ("content", "refusal", "reasoning_content", "reasoning"):
            if isinstance(delta.get(key), str):
                message[key] = text_of(message.get(key)) + delta[key]
        for part in map(dict_of, list_of(delta.get("tool_calls"))):
            call = calls.setdefault(count_of(part.get("index")), {"id": "", "type": "function", "function": {}})
            call["id"] = text_of(part.get("id")) or call["id"]
            for key in ("name", "arguments"):
                addition = text_of(dict_of(part.get("function")).get(key))
                call["function"][key] = text_of(call["function"].get(key)) + addition
    if calls:
        message["tool_calls"] = [*calls.values()]
    model = next((piece["model"] for piece in pieces if isinstance(piece.get("model"), str)), None)
    usage = next((piece["usage"] for piece in reversed(pieces) if isinstance(piece.get("usage"), dict)), None)
    return {"object": "chat.completion", "model": model, "choices": [{"message": message}], "usage": usage}


def _gemini(pieces: list[dict[str, Any]]) -> dict[str, Any]:
    parts: list[Any] = []
    whole: dict[str, Any] = {}
    for piece in pieces:
        whole |= piece
        for part in _parts(piece):
            last = dict_of(parts[-1]) if parts else {}
            if {*last} == {*dict_of(part)} <= {"text", "thought"} and last.get("thought") == part.get("thought"):
                parts[-1] = {**last, "text": text_of(last.get("text")) + text_of(part.get("text"))}
            else:
                parts.append(part)
    return {**whole, "candidates": [{"content": {"role": "model", "parts": parts}}]}


def _parts(piece: dict[str, Any]) -> list[Any]:
    first = next(iter(list_of(piece.get("candidates"))), None)
    return list_of(dict_of(dict_of(first).get("content")).get("parts"))
