"""Requests as a Message Batch: the real client, against a server on loopback."""

from __future__ import annotations

import asyncio
import json
from inspect import GEN_CLOSED, getgeneratorstate
from typing import Any

import pytest

from tests.summarizers.fake_api import KEY, MODEL, Connection, FakeApi, Reply, document, error, usage
from tests.summarizers.live_calls import request
from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.compaction.outcome import unchanged
from workbench.compaction.strategy import Compacting
from workbench.compaction.summary_request import Answer, Summary, SummaryFailed, SummaryRequest
from workbench.summarizers import batches
from workbench.summarizers.batches import BatchProgress, upload_slots

ID = "msgbatch_01abc"


def asking(*requests: SummaryRequest) -> Compacting:
    yield requests
    return unchanged((), "nothing")


def batch(api: FakeApi, done: int, of: int, *, ended: bool, **more: Any) -> Reply:
    counts = {"processing": of - done, "succeeded": done, "errored": 0, "canceled": 0, "expired": 0}
    when = "2026-01-02T03:04:05Z"
    return document(
        {
            "id": ID, "type": "message_batch", "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts, "created_at": when, "expires_at": when, "archived_at": None,
            "cancel_initiated_at": None, "ended_at": when if ended else None,
            "results_url": f"{api.url}/v1/messages/batches/{ID}/results" if ended else None, **more,
        }
    )  # fmt: skip


def results(*lines: dict[str, Any]) -> Reply:
    async def reply(to: Connection) -> None:
        data = "".join(json.dumps(line) + "\n" for line in lines).encode()
        await to.head(200, "application/x-jsonl", content_length=str(len(data)))
        to.writer.write(data)
        await to.writer.drain()

    return reply


def succeeded(of: SummaryRequest, text: str, stop: str = "end_turn") -> dict[str, Any]:
    return answered(of.key, text, stop)


def answered(key: str, text: str, stop: str = "end_turn") -> dict[str, Any]:
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "stop_reason": stop,
        "stop_sequence": None, "content": [{"type": "text", "text": text}], "usage": usage(1_000, 42),
    }  # fmt: skip
    return {"custom_id": key, "result": {"type": "succeeded", "message": message}}


def errored(of: SummaryRequest, kind: str, message: str) -> dict[str, Any]:
    told = {"type": "error", "error": {"type": kind, "message": message}, "request_id": None}
    return {"custom_id": of.key, "result": {"type": "errored", "error": told}}


ONE, OTHER = request("the first history " * 50, temperature=0.0), request("the other history " * 50, temperature=0.0)


async def run(*requests: SummaryRequest) -> tuple[tuple[Answer, ...], list[BatchProgress]]:
    seen: list[BatchProgress] = []
    async with batches.batch_run(asking(*requests), MODEL, None, seen.append, upload_slots(), every_s=0.001) as done:
        return done.answers, seen


def texts(answers: tuple[Answer, ...]) -> list[str]:
    return [answer.text if isinstance(answer, Summary) else str(answer) for answer in answers]


async def test_a_batch_is_sent_looked_at_and_read_by_its_keys(api: FakeApi) -> None:
    api.replies = [
        batch(api, 0, 2, ended=False), batch(api, 0, 2, ended=False), batch(api, 2, 2, ended=True),
        batch(api, 2, 2, ended=True), results(succeeded(OTHER, "of the other"), succeeded(ONE, "of the first")),
    ]  # fmt: skip
    answers, seen = await run(ONE, OTHER)
    assert texts(answers) == ["of the first", "of the other"]
    assert [(one.done, one.of, one.resumed) for one in seen] == [(0, 2, False), (2, 2, False)]
    sent = api.received[0]
    assert (sent.method, sent.path) == ("POST", "/v1/messages/batches")
    assert [one["custom_id"] for one in sent.body["requests"]] == [ONE.key, OTHER.key]
    params = sent.body["requests"][0]["params"]
    assert (params["model"], params["temperature"]) == (MODEL, 0.0)
    assert params["messages"] == [{"role": "user", "content": ONE.text}]
    assert "stream" not in params
    assert sent.headers["anthropic-version"] == "2023-06-01"
    first = answers[0]
    assert isinstance(first, Summary)
    assert first.usage is not None
    assert (first.usage.input, first.usage.output) == (1_000, 42)
    assert list(paths.batches().iterdir()) == []  # nothing is under way any more


async def test_half_a_character_is_sent_and_read_as_a_sign_of_its_loss(api: FakeApi) -> None:
    """Real sessions hold lone surrogates, and a model may write one; neither is text that could be sent or kept."""
    asked = request("half a pair: \ud83d. " * 50)
    api.replies = [batch(api, 1, 1, ended=True)] * 3 + [results(succeeded(asked, "Half \ud83d done."))]
    answers, _ = await run(asked)
    (sent,) = api.received[0].body["requests"]
    assert sent["params"]["messages"] == [{"role": "user", "content": asked.text.replace("\ud83d", "?")}]
    assert texts(answers) == ["Half \ufffd done."]


async def test_the_same_asked_twice_is_sent_once(api: FakeApi) -> None:
    api.replies = [batch(api, 1, 1, ended=True)] * 3 + [results(succeeded(ONE, "it"))]
    answers, _ = await run(ONE, ONE)
    assert texts(answers) == ["it", "it"]
    assert len(api.received[0].body["requests"]) == 1


async def test_a_run_that_was_broken_off_goes_on_with_its_batch(api: FakeApi) -> None:
    api.replies = [batch(api, 0, 1, ended=False), error(401, "authentication_error", "who are you")]
    with pytest.raises(
        BadInput, match=f"Batch {ID} cannot be read now: .*the batch continues, run the same command again later"
    ):
        await run(ONE)
    (note,) = paths.batches().iterdir()
    assert note.read_text() == ID
    assert note.stat().st_mode & 0o077 == 0
    api.received.clear()
    api.replies = [batch(api, 1, 1, ended=True)] * 3 + [results(succeeded(ONE, "it"))]
    answers, seen = await run(ONE)
    assert texts(answers) == ["it"]
    assert [one.resumed for one in seen] == [True]
    assert {one.method for one in api.received} == {"GET"}  # nothing was sent again


async def test_answers_that_could_not_be_kept_are_read_again(api: FakeApi) -> None:
    api.replies = [batch(api, 1, 1, ended=True)] * 3 + [results(succeeded(ONE, "it"))]
    with pytest.raises(OSError, match="no room"):
        async with batches.batch_run(asking(ONE), MODEL, None, lambda _: None, upload_slots()):
            raise OSError("no room")
    assert [note.read_text() for note in paths.batches().iterdir()] == [ID]
    api.received.clear()
    api.replies = [batch(api, 1, 1, ended=True)] * 3 + [results(succeeded(ONE, "it"))]
    assert texts((await run(ONE))[0]) == ["it"]
    assert {one.method for one in api.received} == {"GET"}
    assert list(paths.batches().iterdir()) == []


async def test_other_questions_are_another_batch(api: FakeApi) -> None:
    api.replies = [batch(api, 0, 1, ended=False), error(401, "authentication_error", "who are you")]
    with pytest.raises(BadInput):
        await run(ONE)
    api.replies = [batch(api, 1, 1, ended=True)] * 3 + [results(succeeded(OTHER, "it"))]
    answers, _ = await run(OTHER)
    assert texts(answers) == ["it"]
    assert api.received[-4].method == "POST"


async def test_a_batch_that_the_server_forgot_is_sent_anew(api: FakeApi) -> None:
    paths.batches().mkdir(parents=True)
    api.replies = [batch(api, 0, 1, ended=False), error(401, "authentication_error", "who are you")]
    with pytest.raises(BadInput):
        await run(ONE)
    api.received.clear()
    api.replies = [error(404, "not_found_error", "no such batch")]
    api.replies += [batch(api, 1, 1, ended=True)] * 3 + [results(succeeded(ONE, "it"))]
    assert texts((await run(ONE))[0]) == ["it"]
    assert [one.method for one in api.received] == ["GET", "POST", "GET", "GET", "GET"]


async def test_a_look_that_fails_is_made_again(api: FakeApi) -> None:
    api.replies = [
        batch(api, 0, 1, ended=False),
        *[error(529, "overloaded_error", "busy")] * (batches.MAX_FAILED_LOOKS - 1),
    ]
    api.replies += [batch(api, 1, 1, ended=True)] * 2 + [results(succeeded(ONE, "it"))]
    assert texts((await run(ONE))[0]) == ["it"]


async def test_the_server_stays_away(api: FakeApi) -> None:
    api.replies = [batch(api, 0, 1, ended=False), *[error(529, "overloaded_error", "busy")] * batches.MAX_FAILED_LOOKS]
    with pytest.raises(BadInput, match="overloaded"):
        await run(ONE)
    assert len(api.received) == 1 + batches.MAX_FAILED_LOOKS


async def test_what_fails_of_a_batch_fails_alone(api: FakeApi) -> None:
    expired = {"custom_id": OTHER.key, "result": {"type": "expired"}}
    third, fourth = request("a third history " * 50), request("a fourth history " * 50)
    api.replies = [batch(api, 4, 4, ended=True)] * 3
    api.replies += [results(errored(ONE, "api_error", "broken"), expired, succeeded(third, "cut", "max_tokens"))]
    answers, _ = await run(ONE, OTHER, third, fourth)
    assert [answer.kind if isinstance(answer, SummaryFailed) else "" for answer in answers] == [
        "error", "error", "truncated", "error",
    ]  # fmt: skip
    assert "broken" in str(answers[0])
    assert "expired" in str(answers[1])
    assert "the batch has no answer to it" in str(answers[3])


async def test_a_field_that_a_model_refuses_is_left_out_of_a_second_batch(api: FakeApi) -> None:
    told = errored(ONE, "invalid_request_error", "temperature is not supported")
    api.replies = [batch(api, 2, 2, ended=True)] * 3 + [results(told, succeeded(OTHER, "of the other"))]
    api.replies += [batch(api, 1, 1, ended=True)] * 3 + [results(succeeded(ONE, "of the first"))]
    answers, _ = await run(ONE, OTHER)
    assert texts(answers) == ["of the first", "of the other"]
    first, second = [one.body["requests"] for one in api.received if one.method == "POST"]
    assert ["temperature" in one["params"] for one in first] == [True, True]
    assert [(one["custom_id"], "temperature" in one["params"]) for one in second] == [(ONE.key, False)]


async def test_a_batch_that_is_not_taken_is_told_in_a_sentence(api: FakeApi) -> None:
    api.replies = [error(400, "invalid_request_error", f"no batches for {KEY}")]
    with pytest.raises(BadInput, match="The batch was not taken: ") as refused:
        await run(ONE)
    assert KEY not in str(refused.value)
    assert not paths.batches().exists() or not list(paths.batches().iterdir())


async def test_few_batches_are_sent_at_a_time(api: FakeApi) -> None:
    arriving: list[int] = []
    under_way = 0

    async def reply(to: Connection) -> None:
        nonlocal under_way
        if api.received[-1].path.endswith("/results"):
            await results(*(succeeded(one, "it") for one in several))(to)
            return
        posted = api.received[-1].method == "POST"
        under_way += posted
        if posted:
            arriving.append(under_way)
            await pair.wait()
        await batch(api, 1, 1, ended=True)(to)
        under_way -= posted

    several = [request(f"history {number} " * 50) for number in range(8)]
    api.replies = [reply] * 40
    uploads, pair = asyncio.Semaphore(2), asyncio.Barrier(2)

    async def one(asked: SummaryRequest) -> tuple[Answer, ...]:
        async with batches.batch_run(asking(asked), MODEL, None, lambda _: None, uploads) as done:
            return done.answers

    answers = await asyncio.gather(*map(one, several))
    assert [texts(found) for found in answers] == [["it"]] * 8
    assert sorted(set(arriving)) == [1, 2]


async def test_cancelling_leaves_the_batch_under_way(api: FakeApi) -> None:
    looked = asyncio.Event()
    api.replies = [batch(api, 0, 1, ended=False)] * 2

    def on_batch(_: BatchProgress) -> None:
        looked.set()

    generator = asking(ONE)

    async def ask() -> None:
        async with batches.batch_run(generator, MODEL, None, on_batch, upload_slots(), every_s=60):
            pass

    task = asyncio.create_task(ask())
    await looked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [note.read_text() for note in paths.batches().iterdir()] == [ID]
    assert getgeneratorstate(generator) == GEN_CLOSED


async def test_what_cannot_be_noted_is_not_sent(api: FakeApi) -> None:
    """A batch of which nobody knows would be paid for once more."""
    paths.batches().parent.mkdir(parents=True, exist_ok=True)
    paths.batches().write_text("in the way")
    with pytest.raises(BadInput, match="batches"):
        await run(ONE)
    assert api.received == []
