"""Reading: capture of API calls."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.stamps import seconds_of
from workbench.formats.bodies import Asked, answered_in, asked_in, compacted_in
from workbench.formats.capture.signature import ID
from workbench.formats.format import Progress
from workbench.formats.kit.calls import RecordedCall, RecordedConversation, conversations
from workbench.formats.kit.document import parse
from workbench.formats.kit.jsonl import objects_of, records_of
from workbench.formats.kit.several import Numbered
from workbench.formats.kit.titles import first_words
from workbench.formats.kit.values import dict_of, list_of, text_of
from workbench.formats.streams import response_of
from workbench.session import LoadWarning, Message, Records, Session, SessionFacts, leading_system


class Reader(Numbered[RecordedConversation]):
    """The conversations, the longest first. `asked` is what each call asked."""

    which = "the longest"

    def read_entries(self, progress: Progress) -> list[RecordedConversation]:
        calls: list[RecordedCall] = []
        self.asked: list[Asked] = []
        kept: dict[str, tuple[Message, ...]] = {}
        for request, response, time in _exchanges(self.path, self.data, self.warnings):
            found = asked_in(request, response)
            if found is not None:
                messages = _whole(found, kept.get(text_of(dict_of(request).get("previous_response_id")), ()))
                if (compacted := compacted_in(response)) is not None:
                    summary, response = compacted
                    self.asked.append(found)
                    calls.append(RecordedCall(messages, replace(summary, time=time)))
                    messages = (*messages[: leading_system(messages)], summary)
                self.asked.append(found)
                answer = _answer(response, found, time)
                calls.append(RecordedCall(messages, answer))
                if answer is not None and (id := text_of(dict_of(response).get("id"))):
                    kept[id] = (*messages[leading_system(messages) :], answer)
        if not calls:
            raise BadInput(f"{self.path}: it contains no request to a model; capture an agent's calls and open that.")
        return sorted(conversations(calls), key=_longest, reverse=True)

    def describe(self, entry: RecordedConversation) -> tuple[str, int]:
        return first_words(entry.messages), len(entry.messages)

    def session(self, entry: RecordedConversation) -> Session:
        last = self.asked[entry.calls[-1]]
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


def _longest(one: RecordedConversation) -> int:
    """Messages of its largest context: an agent asks small things between, some of them again and again."""
    return max(len(epoch.members) for epoch in one.epochs)


def _whole(asked: Asked, before: Sequence[Message]) -> tuple[Message, ...]:
    """The messages of a request, behind those of the response that it goes on from, which the server kept."""
    messages = tuple(replace(message, source=()) for message in asked.messages)
    leading = leading_system(messages)
    return (*messages[:leading], *before, *messages[leading:])


def _answer(response: Any, asked: Asked, time: float | None) -> Message | None:
    answer = answered_in(response, asked.items)
    return replace(answer, time=time, model=answer.model or asked.model) if answer is not None else None


def _exchanges(path: Path, data: bytes, warnings: list[LoadWarning]) -> Iterator[tuple[Any, Any, float | None]]:
    """The body of each request, what came back, and when, in seconds since the epoch; what only counts left out."""
    odd: list[LoadWarning] = []
    lines = [
        line for line, _, _ in objects_of(records_of(data), len(data), Records(data), odd, lambda done, total: None)
    ]
    if lines and "request" in lines[0]:
        warnings += odd
        yield from (_traced(line) for line in lines if _asks(line))
        return
    document, odd = parse(path, data)
    warnings += odd
    entries = map(dict_of, list_of(dict_of(dict_of(document).get("log")).get("entries")))
    yield from (_logged(entry) for entry in entries if _asks(entry))


def _asks(exchange: dict[str, Any]) -> bool:
    """Whether a request may ask a model; those that count a prompt's tokens hold the same body."""
    address = text_of(dict_of(exchange.get("request")).get("url")).partition("?")[0]
    return not address.endswith(("/count_tokens", ":countTokens"))


def _traced(line: dict[str, Any]) -> tuple[Any, Any, float | None]:
    """A line of claude-trace: bodies as JSON, or as the text of a stream."""
    request, response = dict_of(line.get("request")), dict_of(line.get("response"))
    body, came = request.get("body"), response.get("body")
    time = seconds_of(response.get("timestamp")) or seconds_of(request.get("timestamp"))
    return (
        body if isinstance(body, dict) else response_of(text_of(body)),
        came if isinstance(came, dict) else response_of(text_of(came) or text_of(response.get("body_raw"))),
        time,
    )


def _logged(entry: dict[str, Any]) -> tuple[Any, Any, float | None]:
    """An entry of a HAR log: bodies as texts, one of other bytes in base64."""
    asked = text_of(dict_of(dict_of(entry.get("request")).get("postData")).get("text"))
    content = dict_of(dict_of(entry.get("response")).get("content"))
    came = text_of(content.get("text"))
    if content.get("encoding") == "base64":
        came = _unpacked(came)
    return response_of(asked), response_of(came), seconds_of(entry.get("startedDateTime"))


def _unpacked(text: str) -> str:
    try:
        return base64.b64decode(text).decode(errors="replace")
    except (binascii.Error, ValueError):
        return ""
