"""Facts from the extension's chat view (`ui_messages.json`): usage of each request, and times of condensations."""

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
class Condensation:
    """A condensation: its time in seconds since 1970, and the tokens of the context before it."""

    time: float | None
    tokens: int | None


@dataclass(frozen=True, slots=True)
class Request:
    """A model request. `time` is in seconds since 1970. `answer` is the index of its answer in the history, which
    only Cline records, else None. `usage` is None if the request failed."""

    time: float
    answer: int | None
    usage: Usage | None


@dataclass(frozen=True, slots=True)
class Chat:
    """Facts of a chat. `condensed` is keyed by the text of the summary; `requests` are sorted by time."""

    condensed: dict[str, Condensation] = field(default_factory=dict)
    requests: tuple[Request, ...] = ()


def chat_of(entries: Any) -> Chat:
    """Return the facts of a task's chat entries; none if `entries` is not a list."""
    condensed: dict[str, Condensation] = {}
    requests: list[Request] = []
    for entry in map(dict_of, list_of(entries)):
        time = seconds_of(entry.get("ts"))
        about = entry.get("contextCondense")
        if isinstance(about, dict):
            tokens = about.get("prevContextTokens")
            condensed[as_text(about.get("summary"))] = Condensation(time, tokens if type(tokens) is int else None)
        if entry.get("say") == "api_req_started" and time is not None:
            last = entry.get("conversationHistoryIndex")  # of the last message before the request
            requests.append(Request(time, last + 2 if type(last) is int else None, _usage(entry.get("text"))))
    return Chat(condensed, tuple(sorted(requests, key=lambda request: request.time)))


def _usage(text: Any) -> Usage | None:
    """Return the usage in the JSON text of a request.

    Cline, and older Roo versions without `apiProtocol`, count cached tokens separately from `tokensIn`; Roo with
    OpenAI's protocol, and lately with Anthropic's, includes them.
    """
    counts = dict_of(json_value(text))
    prompt, read, written = (count_of(counts.get(key)) for key in ("tokensIn", "cacheReads", "cacheWrites"))
    if "apiProtocol" in counts and prompt >= read + written:
        prompt -= read + written
    usage = Usage(prompt, count_of(counts.get("tokensOut")), read, written, cost=dollars_of(counts.get("cost")))
    return usage if usage.context else None


def with_usage(messages: Sequence[Message], requests: Sequence[Request]) -> Iterator[Message]:
    """Yield the messages. An answer without usage gets that of its request: the one that records the answer's index,
    else the last one between the previous answer and this one."""
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
