"""What the extension's chat view (`ui_messages.json`) tells of a task beside its history: what each request was billed,
and when the history was condensed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.base.values import json_value
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.values import count_of, dict_of, dollars_of, list_of
from workbench.session import Message, Usage


@dataclass(frozen=True, slots=True)
class Condensed:
    """A condensation: its time in seconds since the epoch, and the tokens of the context before it."""

    time: float | None
    tokens: int | None


@dataclass(frozen=True, slots=True)
class Request:
    """A request to the model: its time in seconds since the epoch, the place of its answer in the history where the
    chat says so (Cline), and what was billed for it, None where it failed."""

    time: float
    answer: int | None
    usage: Usage | None


@dataclass(frozen=True, slots=True)
class Chat:
    """`condensed` is found by the text of the summary; `requests` are in the order of their time."""

    condensed: dict[str, Condensed] = field(default_factory=dict)
    requests: tuple[Request, ...] = ()


def chat_of(entries: Any) -> Chat:
    """The chat of a task. What is none is an empty one."""
    condensed: dict[str, Condensed] = {}
    requests: list[Request] = []
    for entry in map(dict_of, list_of(entries)):
        time = seconds_of(entry.get("ts"))
        about = entry.get("contextCondense")
        if isinstance(about, dict):
            tokens = about.get("prevContextTokens")
            condensed[as_text(about.get("summary"))] = Condensed(time, tokens if type(tokens) is int else None)
        if entry.get("say") == "api_req_started" and time is not None:
            last = entry.get("conversationHistoryIndex")  # of the last message before the request's own
            requests.append(Request(time, last + 2 if type(last) is int else None, _usage(entry.get("text"))))
    return Chat(condensed, tuple(sorted(requests, key=lambda request: request.time)))


def _usage(text: Any) -> Usage | None:
    """What was billed, as it stands in the JSON text of a request.

    Cline, and Roo before it named the API's protocol, count what the cache holds beside `tokensIn`; Roo with OpenAI's
    protocol, and of late with Anthropic's, too, counts it among them.
    """
    said = dict_of(json_value(text))
    sent, read, written = (count_of(said.get(key)) for key in ("tokensIn", "cacheReads", "cacheWrites"))
    if "apiProtocol" in said and sent >= read + written:
        sent -= read + written
    usage = Usage(sent, count_of(said.get("tokensOut")), read, written, cost=dollars_of(said.get("cost")))
    return usage if usage.context else None


def billed(messages: Sequence[Message], requests: Sequence[Request]) -> Iterator[Message]:
    """The messages of a history, each answer that records no usage with that of its request: the one that the chat
    says it answers, else the last one between the answer before and itself."""
    places = {request.answer: request for request in requests if request.answer is not None}
    times = [request.time for request in requests]
    before = float("-inf")
    for index, message in enumerate(messages):
        if message.role != "assistant" or message.kind != "normal":
            yield message
            continue
        request = places.get(index)
        if message.time is not None:
            last = bisect_left(times, message.time) - 1
            if request is None and last >= 0 and times[last] >= before:
                request = requests[last]
            before = message.time
        yield replace(message, usage=request.usage) if request and message.usage is None else message
