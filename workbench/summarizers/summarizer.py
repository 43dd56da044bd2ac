"""Contract of a summarizer: an async function from a summary request to an answer.

A summarizer is any callable `async (SummaryRequest) -> Answer`; a closure is enough. To add one, write a function that
returns such a callable, and give it a name in `by_name.py`.

The request (`workbench.compaction.summary_request`)
    `text` is the complete request, prompt included. `messages` are the messages to summarize, `masked` the same without
    secrets. `sections`, `marks`, `language`, `max_chars` and `max_lines` are what the strategy asks of the answer; the
    strategy checks the answer, so a summarizer may miss them. `key` is a hash that identifies the request.

The answer
    `Summary` with a text that is not blank; `model`, `usage` and `origins` if known. Otherwise `SummaryFailed` with the
    kind of the failure and a reason in one sentence without secrets. The strategy then falls back, so the session is
    never lost.

What a summarizer must do
    Return an answer for every failure that it expects; the driver turns any other exception into `SummaryFailed`.
    Accept cancellation at each `await`, and release what it holds. Never change the request or the session. Do no slow
    work on the event loop: rendering `text` can take seconds, so it belongs in a thread. Accept parallel requests.

What the driver does (`driver.run`)
    Calls the summarizer once per request, up to four at a time; applies the request's `timeout_s` and cancels; turns a
    blank text into a failure; replaces broken characters; measures the time; reports events.

Summarizers in this room
    pure     `extractive`, `estimate`, `by_name.typed_summarizer`, `recorded_answers.recorded_summarizer`
    slow     `live.live_summarizer`, `server_compaction.server_summarizer`, `command.command_summarizer`,
             `prepared_answer.prepared_summarizer`, `rehearsal.rehearsal_summarizer`
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Protocol

from workbench.compaction.summary_request import Answer, SummaryRequest


class Summarizer(Protocol):
    """A summarizer that takes time, such as a live model or a program."""

    def __call__(self, request: SummaryRequest, /) -> Awaitable[Answer]: ...


class PureSummarizer(Protocol):
    """A summarizer without I/O that gives equal requests equal answers. Previews use it through `driver.drive`."""

    def __call__(self, request: SummaryRequest, /) -> Answer: ...


def in_thread(summarizer: PureSummarizer) -> Summarizer:
    """Return a pure summarizer as one to await. It works in a thread, because the text may have 100 MB."""

    async def summarize(request: SummaryRequest) -> Answer:
        return await asyncio.to_thread(summarizer, request)

    return summarize
