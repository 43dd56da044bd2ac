"""The driver: parallel answers, time-outs, cancelling, the editing gate."""

from __future__ import annotations

import asyncio
import threading

import pytest

from tests.facts.talk import user
from workbench.compaction.outcome import Outcome, unchanged
from workbench.compaction.strategy import Compacting, ProgressStep
from workbench.compaction.summary_request import Answer, Summary, SummaryRequest, TextBody
from workbench.summarizers.driver import (
    RequestAnswered,
    RequestFailed,
    RequestsStarted,
    RunEvent,
    StepFinished,
    drive,
    run,
)
from workbench.summarizers.extractive import extractive
from workbench.summarizers.recorded_answers import recorded_summarizer
from workbench.summarizers.summarizer import in_thread

MESSAGES = (user("hello"),)


def request(purpose: str, timeout_s: float = 5.0) -> SummaryRequest:
    return SummaryRequest(purpose, MESSAGES, "sum up", TextBody(lambda: f"sum up {purpose}"), timeout_s=timeout_s)


class Told(list[str]):
    """What a generator saw: its answers, and whether it was closed before its end."""


def two_rungs(told: Told, *batches: tuple[SummaryRequest, ...]) -> Compacting:
    try:
        got = yield ProgressStep("light", "drops old results")
        assert got is None
        for batch in batches:
            answers = yield batch
            assert answers is not None
            told.extend(a.text if isinstance(a, Summary) else f"{a.kind}: {a.detail}" for a in answers)
        return unchanged(MESSAGES, "the end")
    except GeneratorExit:
        told.append("closed")
        raise


def echo(asked: SummaryRequest) -> Answer:
    return Summary(f"<{asked.purpose}>")


def test_drive_feeds_answers_in_order() -> None:
    told, events = Told(), list[RunEvent]()
    done = drive(two_rungs(told, (request("a"), request("b")), (request("c"),)), echo, events.append)
    assert told == ["<a>", "<b>", "<c>"]
    assert isinstance(done.outcome, Outcome)
    assert [r.purpose for r in done.requests] == ["a", "b", "c"]
    assert [s.name for s in done.steps] == ["light"]
    assert [type(e) for e in events] == [
        StepFinished,
        RequestsStarted,
        RequestAnswered,
        RequestAnswered,
        RequestsStarted,
        RequestAnswered,
    ]
    assert [e.first for e in events if isinstance(e, RequestsStarted)] == [0, 2]


def test_blank_answers_are_failures() -> None:
    told, events = Told(), list[RunEvent]()
    drive(two_rungs(told, (request("a"),)), lambda asked: Summary(" \n"), events.append)
    assert told == ["empty: the answer has no text"]
    assert isinstance(events[-1], RequestFailed)


def test_a_recording_gives_the_same_again() -> None:
    first = drive(two_rungs(Told(), (request("a"), request("b"))), echo)
    told = Told()
    drive(two_rungs(told, (request("b"), request("a")), (request("new"),)), recorded_summarizer(first.answers_by_key))
    assert told[:2] == ["<b>", "<a>"]
    assert told[2].startswith("error: no recorded answer")


def test_drive_closes_the_generator_when_the_summarizer_raises() -> None:
    def broken(asked: SummaryRequest) -> Answer:
        raise ZeroDivisionError

    told = Told()
    with pytest.raises(ZeroDivisionError):
        drive(two_rungs(told, (request("a"),)), broken)
    assert told == ["closed"]


async def test_requests_of_a_batch_are_answered_together() -> None:
    everyone = asyncio.Barrier(3)

    async def summarizer(asked: SummaryRequest) -> Answer:
        await everyone.wait()
        return echo(asked)

    told = Told()
    done = await run(two_rungs(told, (request("a"), request("b"), request("c"))), summarizer, at_once=3)
    assert told == ["<a>", "<b>", "<c>"]
    assert all(isinstance(a, Summary) and a.seconds > 0 for a in done.answers)


async def test_no_more_than_at_once() -> None:
    busy, most = 0, 0

    async def summarizer(asked: SummaryRequest) -> Answer:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        for _ in range(5):
            await asyncio.sleep(0)
        busy -= 1
        return echo(asked)

    await run(two_rungs(Told(), tuple(request(str(n)) for n in range(7))), summarizer, at_once=2)
    assert most == 2


async def test_a_timeout_is_a_failure_and_the_strategy_goes_on() -> None:
    never = asyncio.Event()

    async def summarizer(asked: SummaryRequest) -> Answer:
        if asked.purpose == "slow":
            await never.wait()
        return echo(asked)

    told, events = Told(), list[RunEvent]()
    batch = (request("slow", timeout_s=0.01), request("fast"))
    await run(two_rungs(told, batch, (request("next"),)), summarizer, on_event=events.append)
    assert told == ["timeout: no answer within 0.01 s", "<fast>", "<next>"]
    assert [e.number for e in events if isinstance(e, RequestFailed)] == [0]


async def test_an_exception_becomes_one_sentence_without_secrets() -> None:
    async def summarizer(asked: SummaryRequest) -> Answer:
        raise RuntimeError("401 for api_key=abcdef123456 and sk-ant-REDACTED\nsecond line")

    told = Told()
    await run(two_rungs(told, (request("a"),)), summarizer)
    assert told == ["error: RuntimeError: 401 for api_key=[masked] and [masked]"]


async def test_cancelling_while_a_summary_is_awaited_closes_the_generator() -> None:
    waiting, never = asyncio.Event(), asyncio.Event()

    async def summarizer(asked: SummaryRequest) -> Answer:
        waiting.set()
        await never.wait()
        return echo(asked)

    told = Told()
    task = asyncio.create_task(run(two_rungs(told, (request("a"), request("b"))), summarizer))
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert told == ["closed"]


async def test_cancelling_does_not_wait_for_the_generators_thread() -> None:
    working, go_on, closed = threading.Event(), threading.Event(), threading.Event()

    def busy() -> Compacting:
        try:
            working.set()
            go_on.wait(10)
            yield ProgressStep("never seen")
        finally:
            closed.set()
        return unchanged(MESSAGES, "the end")

    generator = busy()  # held here: it is closed, not only collected
    task = asyncio.create_task(run(generator, in_thread(echo)))
    await asyncio.to_thread(working.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not closed.is_set()
    go_on.set()
    assert await asyncio.to_thread(closed.wait, 10)


async def test_what_a_listener_raises_is_raised_as_itself() -> None:
    def listens(event: RunEvent) -> None:
        match event:
            case RequestAnswered():
                raise LookupError("the screen is gone")

    told = Told()
    with pytest.raises(LookupError, match="the screen is gone"):
        await run(two_rungs(told, (request("a"),)), in_thread(echo), on_event=listens)
    assert told == ["closed"]


async def test_what_the_strategy_raises_propagates() -> None:
    def broken() -> Compacting:
        yield ProgressStep("one")
        raise KeyError("bug")

    with pytest.raises(KeyError, match="bug"):
        await run(broken(), in_thread(echo))


async def test_drive_and_run_agree() -> None:
    batch = (request("a"), request("b"))
    driven = drive(two_rungs(Told(), batch), extractive)
    awaited_run = await run(two_rungs(Told(), batch), in_thread(extractive))
    assert [a.text for a in driven.answers if isinstance(a, Summary)] == [
        a.text for a in awaited_run.answers if isinstance(a, Summary)
    ]
    assert driven.outcome == awaited_run.outcome
