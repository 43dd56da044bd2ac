"""Drafts: a run told again with edited answers, pins, and what would have to be sent."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.tui.app import story
from workbench.bench import Bench, choose_preset, open_bench, set_policy, toggle_pin
from workbench.compaction.preset import default_preset
from workbench.compaction.summary_request import Answer, Summary, SummaryFailed, SummaryRequest
from workbench.runs.cost_estimate import request_costs
from workbench.runs.drafts import draft_summarizer, drafts_of, requests_without_draft, rerun_with_drafts
from workbench.session import Usage
from workbench.summarizers.by_name import SummarizerName
from workbench.summarizers.driver import drive, run
from workbench.tokens import Counter


@pytest.fixture
def bench() -> Bench:
    return open_bench(story(), Counter())


def progressive(window: int | None = None, **fields: object) -> Bench:
    bench = choose_preset(open_bench(story(10), Counter(), window=window), default_preset("progressive"))
    return set_policy(bench, bench.policy.with_(**fields))


def answer(request: SummaryRequest) -> Answer:
    return Summary("## Goal\r\nfix it", "some-model", Usage(output=7))


def test_untouched_drafts_give_the_run_again(bench: Bench) -> None:
    done = drive(bench.compacting(), answer)
    drafts = drafts_of(done, [""] * len(done.answers))
    reading = rerun_with_drafts(bench, drafts)
    assert reading.run.outcome.messages == done.outcome.messages
    assert reading.run.answers == done.answers
    assert not requests_without_draft(reading.run)
    assert reading.after == bench.context.outcome_size(done.outcome)


def test_an_edit_a_pin_and_a_blank() -> None:
    bench = progressive(manual_runs="full")
    (draft,) = drafts_of(drive(bench.compacting(), answer), [""])
    edited = replace(draft, text="## Goal\nedited")
    made = rerun_with_drafts(bench, (edited,)).run
    assert made.answers == (Summary("## Goal\nedited", "some-model", Usage(output=7)),)
    assert any("edited" in message.text for message in made.outcome.messages)

    pinned = toggle_pin(bench, draft.request.messages[1].id)
    reading = rerun_with_drafts(pinned, (edited,))
    assert reading.run.requests[0].key != draft.request.key
    assert not requests_without_draft(reading.run)
    assert any("edited" in message.text for message in reading.run.outcome.messages)

    blank = rerun_with_drafts(bench, (replace(draft, text="  "),)).run
    assert [type(a) for a in blank.answers] == [SummaryFailed]


def test_what_a_failed_call_wrote_counts_once_it_is_accepted(bench: Bench) -> None:
    failed = drive(bench.compacting(), lambda request: SummaryFailed("truncated", "cut off"))
    (draft,) = drafts_of(failed, ["half a summary"])
    assert rerun_with_drafts(bench, (draft,)).run.answers == failed.answers
    assert draft.final_answer is draft.answer
    taken = replace(draft, accepted=True).final_answer
    assert isinstance(taken, Summary)
    assert taken.text == "half a summary"


def test_a_later_request_that_an_edit_changes_has_to_be_sent() -> None:
    bench = progressive(window=8_000)
    done = drive(bench.compacting(), lambda request: Summary("word " * 3_000))
    drafts = drafts_of(done, [""] * len(done.answers))
    assert len(drafts) == 3
    assert not requests_without_draft(rerun_with_drafts(bench, drafts).run)
    edited = replace(drafts[0], text="another " * 3_000)
    reading = rerun_with_drafts(bench, (edited, *drafts[1:]))
    assert requests_without_draft(reading.run)
    assert any("another another" in request.text for request in requests_without_draft(reading.run))
    assert reading.run.requests[0].key == drafts[0].request.key


async def test_only_what_no_draft_answers_is_asked(bench: Bench) -> None:
    calls: list[str] = []

    async def ask(request: SummaryRequest) -> Answer:
        calls.append(await asyncio.to_thread(lambda: request.key))
        return answer(request)

    done = await run(bench.compacting(), draft_summarizer((), ask))
    drafts = drafts_of(done, [""])
    again = await run(bench.compacting(), draft_summarizer(drafts, ask))
    assert len(calls) == 1
    assert again.answers == done.answers


def test_a_quote(bench: Bench) -> None:
    (quote,) = request_costs(bench, SummarizerName("anthropic", "claude-opus-4-5"))
    meter = bench.context.layout.sizes.meter
    assert quote.tokens == meter.text_tokens(quote.request.text)
    assert quote.cost.dollars == pytest.approx((quote.tokens * 5 + quote.expected * 25) / 1e6)
    assert quote.at_most.dollars == pytest.approx((quote.tokens * 5 + quote.most * 25) / 1e6)
    (unknown,) = request_costs(bench, SummarizerName("anthropic", "no-such-model"))
    assert unknown.cost.dollars is None
