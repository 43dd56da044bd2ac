"""Functions of the caller's that summarize: what they give, or fail to give, as an answer to a strategy."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from workbench.base.secrets import error_line
from workbench.compaction.summary_request import Answer, Summary, SummaryFailed, SummaryRequest
from workbench.summarizers.summarizer import PureSummarizer, Summarizer

Summarize = Callable[[str], str]
"""Gets a prompt as it is to be sent, gives the model's text. What it raises counts as a failed summary."""
AsyncSummarize = Callable[[str], str | Awaitable[str]]
"""The same, or one whose text is awaited."""


def answered_by(summarize: Summarize) -> PureSummarizer:
    """What a function gives for a request, at once."""

    def answer(request: SummaryRequest) -> Answer:
        try:
            given: Any = summarize(request.text)
        except Exception as error:  # whatever the caller's function raises, the strategy hears of it and falls back
            return SummaryFailed("error", error_line(str(error)) or type(error).__name__)
        if inspect.isawaitable(given):
            if inspect.iscoroutine(given):
                given.close()
            return SummaryFailed("error", "summarize gave a coroutine; await acompact, or give a plain function")
        return _summary(given)

    return answer


def awaited_from(summarize: AsyncSummarize) -> Summarizer:
    """What a function gives for a request, awaited where it is to be; what it raises is the driver's to tell."""

    async def answer(request: SummaryRequest) -> Answer:
        given: Any = await asyncio.to_thread(summarize, request.text)  # one that is not async must not hold up the loop
        return _summary(await given if inspect.isawaitable(given) else given)

    return answer


def _summary(given: Any) -> Answer:
    """A text is a summary; anything else is said to be none."""
    if given is None:
        return SummaryFailed("empty", "summarize gave None and no text")
    if not isinstance(given, str):
        return SummaryFailed("error", f"summarize gave {type(given).__name__} and no text")
    try:
        given.encode()
    except UnicodeEncodeError:
        return SummaryFailed("error", "the text has half of a character in it (a lone surrogate), which no file holds")
    return Summary(given)
