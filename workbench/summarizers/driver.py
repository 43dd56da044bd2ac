"""Runs a strategy's generator: feeds it answers, tells what happens, times out, and cancels without harm.

`drive` is for pure summarizers and stays in the caller's thread. `run` is for those that take time: the generator's own
work happens in a thread, so that an event loop that draws a screen never waits for it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from msgspec import Struct

from workbench.base.secrets import error_line
from workbench.base.shielded import run_shielded
from workbench.base.text import valid_unicode
from workbench.compaction.outcome import Outcome
from workbench.compaction.strategy import Compacting, ProgressStep
from workbench.compaction.summary_request import Answer, Requests, Summary, SummaryFailed, SummaryRequest
from workbench.summarizers.summarizer import PureSummarizer, Summarizer
from workbench.summarizers.time_limits import time_limit


class StepFinished(Struct, frozen=True):
    """A rung that needed no model."""

    step: ProgressStep


class RequestsStarted(Struct, frozen=True):
    """These requests are about to be answered; `first` is the number (from 0) of the first of them in the whole run."""

    requests: Requests
    first: int


class RequestAnswered(Struct, frozen=True):
    """Request `number` is answered; the strategy receives this summary."""

    number: int
    request: SummaryRequest
    summary: Summary


class RequestFailed(Struct, frozen=True):
    """Request `number` has no summary; the strategy decides what follows."""

    number: int
    request: SummaryRequest
    failure: SummaryFailed


RunEvent = StepFinished | RequestsStarted | RequestAnswered | RequestFailed
OnRunEvent = Callable[[RunEvent], None]


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run. `answers[i]` answers `requests[i]`; `seconds` is the wall time."""

    outcome: Outcome
    requests: tuple[SummaryRequest, ...]
    answers: tuple[Answer, ...]
    steps: tuple[ProgressStep, ...]
    seconds: float

    @property
    def recording(self) -> dict[str, Answer]:
        """The answers by request key, for `recorded`: a rerun gives the same outcome without asking again."""
        return {request.key: answer for request, answer in zip(self.requests, self.answers, strict=True)}


def _ignore_event(event: RunEvent) -> None:
    """For runs that nobody watches."""


def drive(generator: Compacting, answer: PureSummarizer, on_event: OnRunEvent | None = None) -> Run:
    """Run `generator` to its end with a pure summarizer. What the generator or the summarizer raises propagates."""
    tell = on_event or _ignore_event
    began = time.perf_counter()
    steps: list[ProgressStep] = []
    requests: list[SummaryRequest] = []
    answers: list[Answer] = []
    given: tuple[Answer, ...] | None = None
    with closing(generator):
        while True:
            asked = _advance(generator, given)
            if isinstance(asked, Outcome):
                return Run(asked, tuple(requests), tuple(answers), tuple(steps), time.perf_counter() - began)
            if isinstance(asked, ProgressStep):
                steps.append(asked)
                tell(StepFinished(asked))
                given = None
                continue
            first = len(requests)
            tell(RequestsStarted(asked, first))
            requests.extend(asked)
            given = tuple(_fail_if_blank(answer(request)) for request in asked)
            answers.extend(given)
            for number, (request, got) in enumerate(zip(asked, given, strict=True), first):
                tell(_answer_event(number, request, got))


async def run(
    generator: Compacting,
    summarizer: Summarizer,
    *,
    on_event: OnRunEvent | None = None,
    keep: Callable[[int], object] | None = None,
    at_once: int = 4,
) -> Run:
    """Run `generator` to its end, at most `at_once` requests being answered at a time.

    `keep` is called after each answer with its number, in a thread, to write down what was paid for; where the run is
    cancelled, too. Only then is the next request sent.

    A summarizer that raises or outlives the request's `timeout_s` gives a `SummaryFailed`. Cancelling closes the
    generator and raises CancelledError: the input is as it was. Events are told on the event loop.
    """
    tell = on_event or _ignore_event
    gate = asyncio.Semaphore(max(1, at_once))

    async def answered(number: int, request: SummaryRequest) -> Answer:
        async with gate:
            got = await ask(summarizer, request)
            tell(_answer_event(number, request, got))
            if keep:
                await run_shielded(partial(keep, number))
        return got

    async def each(asked: Requests, first: int) -> tuple[Answer, ...]:
        return await _gather([answered(number, request) for number, request in enumerate(asked, first)])

    return await run_turns(generator, each, tell)


async def run_turns(
    generator: Compacting,
    answered: Callable[[Requests, int], Awaitable[tuple[Answer, ...]]],
    tell: OnRunEvent = _ignore_event,
) -> Run:
    """The same where `answered` answers all requests of a turn; it is told the number of the first. What it raises
    closes the generator, too."""
    began = time.perf_counter()
    steps: list[ProgressStep] = []
    requests: list[SummaryRequest] = []
    answers: list[Answer] = []
    given: tuple[Answer, ...] | None = None
    turn = threading.Lock()
    stopped = threading.Event()

    def turned(given: tuple[Answer, ...] | None) -> Outcome | ProgressStep | Requests:
        """One turn of the generator, in a thread. After a cancel it closes up itself: no one can interrupt it."""
        with turn:
            asked = _advance(generator, given)
        if stopped.is_set():
            with turn:
                generator.close()
        return asked

    try:
        while True:
            asked = await asyncio.to_thread(turned, given)
            if isinstance(asked, Outcome):
                return Run(asked, tuple(requests), tuple(answers), tuple(steps), time.perf_counter() - began)
            if isinstance(asked, ProgressStep):
                steps.append(asked)
                tell(StepFinished(asked))
                given = None
                continue
            first = len(requests)
            tell(RequestsStarted(asked, first))
            requests.extend(asked)
            given = await answered(asked, first)
            answers.extend(given)
    finally:
        stopped.set()
        if turn.acquire(blocking=False):
            try:
                generator.close()
            finally:
                turn.release()


def _advance(generator: Compacting, given: tuple[Answer, ...] | None) -> Outcome | ProgressStep | Requests:
    """One turn of a generator: what it asks, or its outcome."""
    try:
        return generator.send(given)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome


async def _gather(answering: Sequence[Coroutine[None, None, Answer]]) -> tuple[Answer, ...]:
    """All answers, in order. The first exception cancels the others and is raised as itself."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in answering]
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
    return tuple(task.result() for task in tasks)


async def ask(summarizer: Summarizer, request: SummaryRequest) -> Answer:
    """One request answered in its time, whatever the summarizer does; only a cancel is raised."""
    began = time.perf_counter()
    try:
        async with time_limit(request.timeout_s):
            got = await summarizer(request)
    except TimeoutError:
        return SummaryFailed("timeout", f"no answer within {request.timeout_s:g} s")
    except Exception as error:
        # Whatever a summarizer raises, the session is not lost: the strategy hears of it and falls back.
        return SummaryFailed("error", error_line(f"{type(error).__name__}: {error}".rstrip(": ")))
    if isinstance(got, Summary):  # a model may write half of a character, which no export would give back
        got = replace(got, text=valid_unicode(got.text), seconds=got.seconds or time.perf_counter() - began)
    return _fail_if_blank(got)


def _fail_if_blank(answer: Answer) -> Answer:
    if isinstance(answer, Summary) and not answer.text.strip():
        return SummaryFailed("empty", "the answer has no text")
    return answer


def _answer_event(number: int, request: SummaryRequest, answer: Answer) -> RunEvent:
    if isinstance(answer, Summary):
        return RequestAnswered(number, request, answer)
    return RequestFailed(number, request, answer)
