"""Driver of a strategy's generator: passes it the answers, reports events, applies time limits, and cancels cleanly.

`drive` is for pure summarizers and stays in the caller's thread. `run` is for slow ones: the generator works in a
thread, so that an event loop that draws a screen never waits for it.
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
    """The strategy finished a step without a model."""

    step: ProgressStep


class RequestsStarted(Struct, frozen=True):
    """These requests are sent now; `first` is the number (from 0) of the first one in the run."""

    requests: Requests
    first: int


class RequestAnswered(Struct, frozen=True):
    """Request `number` is answered; the strategy receives this summary."""

    number: int
    request: SummaryRequest
    summary: Summary


class RequestFailed(Struct, frozen=True):
    """Request `number` has no summary; the strategy decides how to continue."""

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
    def answers_by_key(self) -> dict[str, Answer]:
        """Answers by request key. `recorded_answers.recorded_summarizer` repeats the run with them."""
        return {request.key: answer for request, answer in zip(self.requests, self.answers, strict=True)}


def _ignore_event(event: RunEvent) -> None:
    """Ignore an event."""


def drive(generator: Compacting, answer: PureSummarizer, on_event: OnRunEvent | None = None) -> Run:
    """Run `generator` to its end with a pure summarizer. Exceptions of both propagate."""
    report = on_event or _ignore_event
    began = time.perf_counter()
    steps: list[ProgressStep] = []
    requests: list[SummaryRequest] = []
    answers: list[Answer] = []
    received: tuple[Answer, ...] | None = None
    with closing(generator):
        while True:
            yielded = _advance(generator, received)
            if isinstance(yielded, Outcome):
                return Run(yielded, tuple(requests), tuple(answers), tuple(steps), time.perf_counter() - began)
            if isinstance(yielded, ProgressStep):
                steps.append(yielded)
                report(StepFinished(yielded))
                received = None
                continue
            first = len(requests)
            report(RequestsStarted(yielded, first))
            requests.extend(yielded)
            received = tuple(_fail_if_blank(answer(request)) for request in yielded)
            answers.extend(received)
            for number, (request, result) in enumerate(zip(yielded, received, strict=True), first):
                report(_answer_event(number, request, result))


async def run(
    generator: Compacting,
    summarizer: Summarizer,
    *,
    on_event: OnRunEvent | None = None,
    keep: Callable[[int], object] | None = None,
    at_once: int = 4,
) -> Run:
    """Run `generator` to its end with at most `at_once` requests in parallel.

    `keep` is called in a thread with the number of each answer, to save what was paid for; also when the run is
    cancelled. The next request is sent only afterwards.

    A summarizer that raises or exceeds the request's `timeout_s` gives a `SummaryFailed`. Cancelling closes the
    generator and raises CancelledError; the input is unchanged. Events are reported on the event loop.
    """
    report = on_event or _ignore_event
    gate = asyncio.Semaphore(max(1, at_once))

    async def answered(number: int, request: SummaryRequest) -> Answer:
        async with gate:
            result = await ask(summarizer, request)
            report(_answer_event(number, request, result))
            if keep:
                await run_shielded(partial(keep, number))
        return result

    async def each(yielded: Requests, first: int) -> tuple[Answer, ...]:
        return await _gather([answered(number, request) for number, request in enumerate(yielded, first)])

    return await run_turns(generator, each, report)


async def run_turns(
    generator: Compacting,
    answered: Callable[[Requests, int], Awaitable[tuple[Answer, ...]]],
    report: OnRunEvent = _ignore_event,
) -> Run:
    """Like `run`, but `answered` answers all requests of a turn; its second argument is the number of the first. Its
    exceptions close the generator, too."""
    began = time.perf_counter()
    steps: list[ProgressStep] = []
    requests: list[SummaryRequest] = []
    answers: list[Answer] = []
    received: tuple[Answer, ...] | None = None
    turn = threading.Lock()
    stopped = threading.Event()

    def advance(received: tuple[Answer, ...] | None) -> Outcome | ProgressStep | Requests:
        """Advance the generator by one turn, in a thread. After a cancel it closes the generator, because nothing can
        interrupt the thread."""
        with turn:
            yielded = _advance(generator, received)
        if stopped.is_set():
            with turn:
                generator.close()
        return yielded

    try:
        while True:
            yielded = await asyncio.to_thread(advance, received)
            if isinstance(yielded, Outcome):
                return Run(yielded, tuple(requests), tuple(answers), tuple(steps), time.perf_counter() - began)
            if isinstance(yielded, ProgressStep):
                steps.append(yielded)
                report(StepFinished(yielded))
                received = None
                continue
            first = len(requests)
            report(RequestsStarted(yielded, first))
            requests.extend(yielded)
            received = await answered(yielded, first)
            answers.extend(received)
    finally:
        stopped.set()
        if turn.acquire(blocking=False):
            try:
                generator.close()
            finally:
                turn.release()


def _advance(generator: Compacting, received: tuple[Answer, ...] | None) -> Outcome | ProgressStep | Requests:
    """Advance the generator by one turn; return its step, requests or outcome."""
    try:
        return generator.send(received)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome


async def _gather(answering: Sequence[Coroutine[None, None, Answer]]) -> tuple[Answer, ...]:
    """Return all answers in order. The first exception cancels the others and is raised itself."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in answering]
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
    return tuple(task.result() for task in tasks)


async def ask(summarizer: Summarizer, request: SummaryRequest) -> Answer:
    """Answer one request within its time limit. Only a cancel is raised."""
    began = time.perf_counter()
    try:
        async with time_limit(request.timeout_s):
            result = await summarizer(request)
    except TimeoutError:
        return SummaryFailed("timeout", f"no answer within {request.timeout_s:g} s")
    except Exception as error:
        # A failing summarizer must not lose the session: the strategy gets a failure and falls back.
        return SummaryFailed("error", error_line(f"{type(error).__name__}: {error}".rstrip(": ")))
    if isinstance(result, Summary):  # a model may write half of a surrogate pair, which cannot be exported
        result = replace(result, text=valid_unicode(result.text), seconds=result.seconds or time.perf_counter() - began)
    return _fail_if_blank(result)


def _fail_if_blank(answer: Answer) -> Answer:
    if isinstance(answer, Summary) and not answer.text.strip():
        return SummaryFailed("empty", "the answer has no text")
    return answer


def _answer_event(number: int, request: SummaryRequest, answer: Answer) -> RunEvent:
    if isinstance(answer, Summary):
        return RequestAnswered(number, request, answer)
    return RequestFailed(number, request, answer)
