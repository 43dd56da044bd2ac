"""Read captures of API calls."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.stamps import seconds_of
from workbench.formats.bodies import ApiRequest, request_in, response_in, summary_in
from workbench.formats.capture import ID
from workbench.formats.format import Progress
from workbench.formats.kit.calls import RecordedCall, RecordedConversation, conversations
from workbench.formats.kit.document import parse
from workbench.formats.kit.jsonl import objects_of, records_of
from workbench.formats.kit.names import first_words
from workbench.formats.kit.several import Numbered
from workbench.formats.kit.values import dict_of, list_of, text_of
from workbench.formats.streams import response_of
from workbench.session import LoadWarning, Message, Records, Session, SessionFacts, leading_system


class Reader(Numbered[RecordedConversation]):
    """Reader of the conversations, the longest first. `bodies` are the parsed requests of all calls, in their order."""

    which = "the longest"

    def read_entries(self, progress: Progress) -> list[RecordedConversation]:
        calls: list[RecordedCall] = []
        self.bodies: list[ApiRequest] = []
        stored: dict[str, tuple[Message, ...]] = {}
        for request, response, time in _exchanges(self.path, self.data, self.warnings):
            body = request_in(request, response)
            if body is not None:
                messages = _with_stored_response(
                    body, stored.get(text_of(dict_of(request).get("previous_response_id")), ())
                )
                if (compacted := summary_in(response)) is not None:
                    summary, response = compacted
                    self.bodies.append(body)
                    calls.append(RecordedCall(messages, replace(summary, time=time)))
                    messages = (*messages[: leading_system(messages)], summary)
                self.bodies.append(body)
                answer = _answer(response, body, time)
                calls.append(RecordedCall(messages, answer))
                if answer is not None and (id := text_of(dict_of(response).get("id"))):
                    stored[id] = (*messages[leading_system(messages) :], answer)
        if not calls:
            raise BadInput(f"{self.path}: it contains no request to a model; capture an agent's calls and open that.")
        return sorted(conversations(calls), key=_largest_context, reverse=True)

    def describe(self, entry: RecordedConversation) -> tuple[str, int]:
        return first_words(entry.messages), len(entry.messages)

    def session(self, entry: RecordedConversation) -> Session:
        last = self.bodies[entry.calls[-1]]
        return Session(
            format=ID,
            path=self.path,
            messages=entry.messages,
            records=Records(self.data),
            branch=entry.branch,
            epochs=entry.epochs,
            title=first_words(entry.messages),
            model=last.model or next((one.model for one in reversed(entry.messages) if one.model), None),
            tools=last.tools,
            warnings=tuple(self.warnings),
            facts=SessionFacts(own=entry.sent),
        )


def _largest_context(one: RecordedConversation) -> int:
    """Return the number of messages in the largest context: many small requests make no long conversation."""
    return max(len(epoch.members) for epoch in one.epochs)


def _with_stored_response(request: ApiRequest, before: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages of a request after `before`, those of the stored response that it continues."""
    messages = tuple(replace(message, source=()) for message in request.messages)
    leading = leading_system(messages)
    return (*messages[:leading], *before, *messages[leading:])


def _answer(response: Any, request: ApiRequest, time: float | None) -> Message | None:
    answer = response_in(response, request.items)
    return replace(answer, time=time, model=answer.model or request.model) if answer is not None else None


def _exchanges(path: Path, data: bytes, warnings: list[LoadWarning]) -> Iterator[tuple[Any, Any, float | None]]:
    """Yield (request body, response, seconds since 1970) of each exchange, except requests that only count
    tokens."""
    problems: list[LoadWarning] = []
    lines = [
        line
        for line, _, _ in objects_of(records_of(data), len(data), Records(data), problems, lambda done, total: None)
    ]
    if lines and "request" in lines[0]:
        warnings += problems
        yield from (_trace_exchange(line) for line in lines if _may_ask_model(line))
        return
    document, problems = parse(path, data)
    warnings += problems
    entries = map(dict_of, list_of(dict_of(dict_of(document).get("log")).get("entries")))
    yield from (_har_exchange(entry) for entry in entries if _may_ask_model(entry))


def _may_ask_model(exchange: dict[str, Any]) -> bool:
    """False for a request that counts tokens: its body looks like one to a model."""
    address = text_of(dict_of(exchange.get("request")).get("url")).partition("?")[0]
    return not address.endswith(("/count_tokens", ":countTokens"))


def _trace_exchange(line: dict[str, Any]) -> tuple[Any, Any, float | None]:
    """Return the exchange of a line of claude-trace, whose bodies are JSON or the text of a stream."""
    request, response = dict_of(line.get("request")), dict_of(line.get("response"))
    body, response_body = request.get("body"), response.get("body")
    time = seconds_of(response.get("timestamp")) or seconds_of(request.get("timestamp"))
    return (
        body if isinstance(body, dict) else response_of(text_of(body)),
        response_body
        if isinstance(response_body, dict)
        else response_of(text_of(response_body) or text_of(response.get("body_raw"))),
        time,
    )


def _har_exchange(entry: dict[str, Any]) -> tuple[Any, Any, float | None]:
    """Return the exchange of an entry of a HAR log, whose bodies are text or base64."""
    request_text = text_of(dict_of(dict_of(entry.get("request")).get("postData")).get("text"))
    content = dict_of(dict_of(entry.get("response")).get("content"))
    response_text = text_of(content.get("text"))
    if content.get("encoding") == "base64":
        response_text = _decode_base64(response_text)
    return response_of(request_text), response_of(response_text), seconds_of(entry.get("startedDateTime"))


def _decode_base64(text: str) -> str:
    try:
        return base64.b64decode(text).decode(errors="replace")
    except (binascii.Error, ValueError):
        return ""
