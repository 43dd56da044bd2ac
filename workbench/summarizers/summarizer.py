"""What answers a summary request: a model, a person, or a rule. Each is a function from a request to an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from workbench.compaction.summary_request import Answer, SummaryRequest

PureSummarizer = Callable[[SummaryRequest], Answer]
"""A pure summarizer: no I/O, the same answer for the same request. Previews and the command line use these."""

Summarizer = Callable[[SummaryRequest], Awaitable[Answer]]
"""A summarizer that takes its time: a live model, a person at an editor. The driver times and cancels it."""


def in_thread(answer: PureSummarizer) -> Summarizer:
    """A pure summarizer for those who await one; it works in a thread, for a head may be 100 MB."""

    async def summarize(request: SummaryRequest) -> Answer:
        return await asyncio.to_thread(answer, request)

    return summarize
