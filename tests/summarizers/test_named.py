"""Summarizers by name, rehearsed failures, played recordings, and the recorder that hears them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.summarizers.fake_api import FakeApi, outlasting
from tests.summarizers.live_calls import ask, over, request
from workbench.base.errors import BadInput
from workbench.compaction.summary_request import Summary, SummaryFailed
from workbench.session import Usage
from workbench.summarizers.driver import Answered, Failed, RequestsMade
from workbench.summarizers.extractive import extractive
from workbench.summarizers.journal import keep
from workbench.summarizers.live_events import Ended, LiveEvent, Retrying, Sent, Used, Wrote, heard
from workbench.summarizers.named import FORMS, SERVER_WAYS, Name, named, parsed
from workbench.summarizers.patience import limits_of
from workbench.summarizers.recorder import Recorder
from workbench.summarizers.recording import load_recording, played
from workbench.summarizers.rehearsal import FAILURES, KINDS, rehearse
from workbench.summarizers.runs import Run, call_record


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("extractive", Name("extractive")),
        (" estimate ", Name("estimate")),
        ("typed:a:b.md", Name("typed", "a:b.md")),
        ("anthropic:claude-opus-4-5", Name("anthropic", "claude-opus-4-5")),
        ("rehearse:rate-limit", Name("rehearse", "rate-limit")),
        ("server:compact:claude-opus-4-5", Name("server", "compact:claude-opus-4-5")),
        ("recording:claude-code-overflow", Name("recording", "claude-code-overflow")),
    ],
)
def test_a_name_is_taken_apart(text: str, name: Name) -> None:
    assert parsed(text) == name
    assert str(name) == text.strip()


@pytest.mark.parametrize("text", ["", ":", "oracle", "extractive:", "estimate:x", "typed", "anthropic", "anthropic: "])
def test_what_is_no_name_is_told_what_there_is(text: str) -> None:
    with pytest.raises(BadInput, match="is not a summarizer") as caught:
        parsed(text)
    assert all(form in str(caught.value) for form in FORMS.values())


@pytest.mark.parametrize("text", ["server:compact", "server:oracle:m", "server:compact: ", "recording:nothing"])
def test_a_way_that_is_none_is_told_what_there_is(text: str) -> None:
    there = "recording" if text.startswith("recording") else "server:clear-tool-uses:MODEL"
    with pytest.raises(BadInput, match=there):
        parsed(text)


def test_only_what_asks_a_model_names_one_and_is_kept() -> None:
    assert [parsed(f"server:{way}:m").model for way in SERVER_WAYS] == ["m"] * 3
    assert parsed("server:compact:m").is_kept
    demo = parsed("recording:claude-code-overflow")
    assert (demo.model, demo.is_kept) == ("", False)
    with pytest.raises(BadInput, match="open the session first"):
        named("server:compact:m")


async def test_pure_ones_answer_as_they_do_without_waiting(tmp_path: Path) -> None:
    asked = request()
    assert await named("extractive")(asked) == extractive(asked)
    file = tmp_path / "summary.md"
    file.write_text("By hand.\n")
    assert await named(f"typed:{file}")(asked) == Summary("By hand.", model="typed")


async def test_a_recorded_run_is_found_by_the_beginning_of_its_id() -> None:
    asked, given = request(), Summary("The parser was fixed.", "m", Usage(3, 4), 1.0)
    calls = (call_record(asked, given),)
    keep(Run(id="20260101-aaa", began=0, seconds=1, end="finished", strategy="s", calls=calls))
    assert await named("recorded:20260101")(asked) == given
    with pytest.raises(BadInput, match="There is no run"):
        named("recorded:1999")


@pytest.mark.parametrize("kind", KINDS)
async def test_a_rehearsal_ends_as_it_is_named(kind: str) -> None:
    events: list[LiveEvent] = []
    asked = request(max_chars=500)
    got = await rehearse(kind, events.append)(asked)
    if kind == "garbage":
        assert isinstance(got, Summary)
        assert 0 < len(got.text) <= 500
    else:
        assert isinstance(got, SummaryFailed)
        assert got.kind == FAILURES[kind][0]
        assert "rehearsed" in got.detail
    assert isinstance(events[0], Sent)
    assert isinstance(events[-1], Ended)


@pytest.mark.parametrize("protocol", ["messages", "chat", "responses"])
async def test_a_rehearsed_time_out_is_what_a_live_call_ends_with(protocol: str, api: FakeApi) -> None:
    """By a connection of which the settings say nothing."""
    whom = over(protocol, api)
    api.replies = [outlasting(whom.first_token)]
    live, _ = await ask(request(timeout_s=None), limits_of(whom), whom)
    assert isinstance(live, SummaryFailed)
    rehearsed = await rehearse("timeout")(request())
    assert rehearsed == SummaryFailed("timeout", f"{live.detail} (rehearsed)")


async def test_a_recording_is_written_word_by_word_at_its_pace() -> None:
    events: list[LiveEvent] = []
    waited: list[float] = []

    async def pause(seconds: float) -> None:
        waited.append(seconds)

    recording, asked = load_recording(), request()
    got = await played(recording, events.append, pause)(asked)
    assert isinstance(got, Summary)
    assert got.text == recording.answer == heard(events, asked.key)
    words = [event for event in events if isinstance(event, Wrote)]
    assert len(words) == len(recording.answer.split()) == len(waited) - 1
    assert waited[0] == recording.first_token_s
    assert 10 < sum(waited) < 60
    assert f"the first word after {waited[0]:g} s, then {round(1 / min(waited))} a second" in recording.pace


def test_the_recorder_keeps_what_ended_and_what_did_not() -> None:
    one, two, three = (request(text) for text in ("one", "two", "three"))
    recorder = Recorder()
    recorder.told(RequestsMade((one, two, three), 0))
    for event in (
        Sent(one.key, "m", 1, 10),
        Used(one.key, Usage(5, 1)),
        Retrying(one.key, 1, 0.1, "overloaded"),
        Sent(one.key, "m", 2, 10),
        Used(one.key, Usage(5, 1)),
        Used(one.key, Usage(5, 9)),
        Sent(three.key, "m", 1, 10),
        Wrote(three.key, "half"),
    ):
        recorder.heard(event)
    recorder.told(Answered(0, one, Summary("Done.", "m", Usage(5, 9))))
    assert not recorder.failed
    recorder.told(Failed(1, two, SummaryFailed("timeout", "no first token")))
    assert recorder.failed
    assert [(call.text, call.failure) for call in recorder.calls()] == [
        ("Done.", None), ("", "timeout"), ("half", "error"),
    ]  # fmt: skip
    assert recorder.calls()[2].detail == "cancelled"
    assert recorder.usage == Usage(10, 10)
