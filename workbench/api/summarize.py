"""Adapt the caller's `summarize` function to a strategy."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from workbench.base.secrets import error_line
from workbench.compaction.summary_request import Answer, Summary, SummaryFailed, SummaryRequest
from workbench.summarizers.summarizer import PureSummarizer, Summarizer

Summarize = Callable[[str], str]
"""Takes the complete prompt and returns the model's text. An exception counts as a failed summary."""
AsyncSummarize = Callable[[str], str | Awaitable[str]]
"""Like `Summarize`, or async."""


def answer_with(summarize: Summarize) -> PureSummarizer:
    """Return a summarizer that calls a function synchronously."""

    def answer(request: SummaryRequest) -> Answer:
        try:
            result: Any = summarize(request.text)
        except Exception as error:  # any exception of the caller's function makes the strategy fall back
            return SummaryFailed("error", error_line(str(error)) or type(error).__name__)
        if inspect.isawaitable(result):
            if inspect.iscoroutine(result):
                result.close()
            return SummaryFailed("error", "summarize returned a coroutine; await acompact, or pass a plain function")
        return _summary(result)

    return answer


def await_with(summarize: AsyncSummarize) -> Summarizer:
    """Return a summarizer that calls a function and awaits its result if needed. The driver handles its exceptions."""

    async def answer(request: SummaryRequest) -> Answer:
        result: Any = await asyncio.to_thread(summarize, request.text)  # a sync function must not block the loop
        return _summary(await result if inspect.isawaitable(result) else result)

    return answer


def _summary(result: Any) -> Answer:
    """Return a text as a summary, and anything else as a failure."""
    if result is None:
        return SummaryFailed("empty", "summarize returned None instead of a text")
    if not isinstance(result, str):
        return SummaryFailed("error", f"summarize returned {type(result).__name__} instead of a text")
    try:
        result.encode()
    except UnicodeEncodeError:
        return SummaryFailed("error", "the text has a lone surrogate (half of a character), which no file can hold")
    return Summary(result)
