"""Summarizers by name, rehearsed failures, played recordings, and the recorder that hears them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.summarizers.fake_api import FakeApi, outlasting
from tests.summarizers.live_calls import ask, over, request
from workbench.base.errors import BadInput
from workbench.compaction.summary_request import Summary, SummaryFailed
from workbench.session import Usage
from workbench.summarizers.by_name import NAME_FORMS, SERVER_MODES, SummarizerName, parse_name, summarizer_named
from workbench.summarizers.call_limits import limits_of
from workbench.summarizers.driver import RequestAnswered, RequestFailed, RequestsStarted
from workbench.summarizers.extractive import extractive
from workbench.summarizers.live_events import (
    CallEnded,
    LiveEvent,
    PromptSent,
    RetryScheduled,
    TextReceived,
    UsageReported,
    partial_text,
)
from workbench.summarizers.prepared_answer import load_prepared_answer, prepared_summarizer
from workbench.summarizers.rehearsal import FAILURE_KINDS, FAILURES, rehearsal_summarizer
from workbench.summarizers.run_history import save_run
from workbench.summarizers.run_records import RunRecord, RunRecorder, call_record


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("extractive", SummarizerName("extractive")),
        (" estimate ", SummarizerName("estimate")),
        ("typed:a:b.md", SummarizerName("typed", "a:b.md")),
        ("anthropic:claude-opus-4-5", SummarizerName("anthropic", "claude-opus-4-5")),
        ("rehearse:rate-limit", SummarizerName("rehearse", "rate-limit")),
        ("server:compact:claude-opus-4-5", SummarizerName("server", "compact:claude-opus-4-5")),
        ("recording:claude-code-overflow", SummarizerName("recording", "claude-code-overflow")),
    ],
)
def test_a_name_is_taken_apart(text: str, name: SummarizerName) -> None:
    assert parse_name(text) == name
    assert str(name) == text.strip()


@pytest.mark.parametrize("text", ["", ":", "oracle", "extractive:", "estimate:x", "typed", "anthropic", "anthropic: "])
def test_what_is_no_name_is_told_what_there_is(text: str) -> None:
    with pytest.raises(BadInput, match="is not a summarizer") as caught:
        parse_name(text)
    assert all(form in str(caught.value) for form in NAME_FORMS.values())


@pytest.mark.parametrize("text", ["server:compact", "server:oracle:m", "server:compact: ", "recording:nothing"])
def test_a_way_that_is_none_is_told_what_there_is(text: str) -> None:
    there = "recording" if text.startswith("recording") else "server:clear-tool-uses:MODEL"
    with pytest.raises(BadInput, match=there):
        parse_name(text)


def test_only_what_asks_a_model_names_one_and_is_kept() -> None:
    assert [parse_name(f"server:{way}:m").model for way in SERVER_MODES] == ["m"] * 3
    assert parse_name("server:compact:m").has_run_record
    demo = parse_name("recording:claude-code-overflow")
    assert (demo.model, demo.has_run_record) == ("", False)
    with pytest.raises(BadInput, match="open the session first"):
        summarizer_named("server:compact:m")


async def test_pure_ones_answer_as_they_do_without_waiting(tmp_path: Path) -> None:
    asked = request()
    assert await summarizer_named("extractive")(asked) == extractive(asked)
    file = tmp_path / "summary.md"
    file.write_text("By hand.\n")
    assert await summarizer_named(f"typed:{file}")(asked) == Summary("By hand.", model="typed")


async def test_a_recorded_run_is_found_by_the_beginning_of_its_id() -> None:
    asked, given = request(), Summary("The parser was fixed.", "m", Usage(3, 4), 1.0)
    calls = (call_record(asked, given),)
    save_run(RunRecord(id="20260101-aaa", began=0, seconds=1, end="finished", strategy="s", calls=calls))
    assert await summarizer_named("recorded:20260101")(asked) == given
    with pytest.raises(BadInput, match="There is no run"):
        summarizer_named("recorded:1999")


@pytest.mark.parametrize("kind", FAILURE_KINDS)
async def test_a_rehearsal_ends_as_it_is_named(kind: str) -> None:
    events: list[LiveEvent] = []
    asked = request(max_chars=500)
    got = await rehearsal_summarizer(kind, events.append)(asked)
    if kind == "garbage":
        assert isinstance(got, Summary)
        assert 0 < len(got.text) <= 500
    else:
        assert isinstance(got, SummaryFailed)
        assert got.kind == FAILURES[kind][0]
        assert "rehearsed" in got.detail
    assert isinstance(events[0], PromptSent)
    assert isinstance(events[-1], CallEnded)


@pytest.mark.parametrize("protocol", ["messages", "chat", "responses"])
async def test_a_rehearsed_time_out_is_what_a_live_call_ends_with(protocol: str, api: FakeApi) -> None:
    """By a connection of which the settings say nothing."""
    whom = over(protocol, api)
    api.replies = [outlasting(whom.first_token)]
    live, _ = await ask(request(timeout_s=None), limits_of(whom), whom)
    assert isinstance(live, SummaryFailed)
    rehearsed = await rehearsal_summarizer("timeout")(request())
    assert rehearsed == SummaryFailed("timeout", f"{live.detail} (rehearsed)")


async def test_a_recording_is_written_word_by_word_at_its_pace() -> None:
    events: list[LiveEvent] = []
    waited: list[float] = []

    async def pause(seconds: float) -> None:
        waited.append(seconds)

    recording, asked = load_prepared_answer(), request()
    got = await prepared_summarizer(recording, events.append, pause)(asked)
    assert isinstance(got, Summary)
    assert got.text == recording.answer == partial_text(events, asked.key)
    words = [event for event in events if isinstance(event, TextReceived)]
    assert len(words) == len(recording.answer.split()) == len(waited) - 1
    assert waited[0] == recording.first_token_s
    assert 10 < sum(waited) < 60
    assert f"the first word after {waited[0]:g} s, then {round(1 / min(waited))} a second" in recording.pace


def test_the_recorder_keeps_what_ended_and_what_did_not() -> None:
    one, two, three = (request(text) for text in ("one", "two", "three"))
    recorder = RunRecorder()
    recorder.on_run_event(RequestsStarted((one, two, three), 0))
    for event in (
        PromptSent(one.key, "m", 1, 10),
        UsageReported(one.key, Usage(5, 1)),
        RetryScheduled(one.key, 1, 0.1, "overloaded"),
        PromptSent(one.key, "m", 2, 10),
        UsageReported(one.key, Usage(5, 1)),
        UsageReported(one.key, Usage(5, 9)),
        PromptSent(three.key, "m", 1, 10),
        TextReceived(three.key, "half"),
    ):
        recorder.on_live_event(event)
    recorder.on_run_event(RequestAnswered(0, one, Summary("Done.", "m", Usage(5, 9))))
    assert not recorder.failed
    recorder.on_run_event(RequestFailed(1, two, SummaryFailed("timeout", "no first token")))
    assert recorder.failed
    assert [(call.text, call.failure) for call in recorder.calls()] == [
        ("Done.", None), ("", "timeout"), ("half", "error"),
    ]  # fmt: skip
    assert recorder.calls()[2].detail == "cancelled"
    assert recorder.usage == Usage(10, 10)
