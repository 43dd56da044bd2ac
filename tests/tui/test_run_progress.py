"""A run as it is watched: its lines, several calls at once, failures; the editor's underlines move with the text."""

from __future__ import annotations

from workbench.compaction.strategy import ProgressStep
from workbench.compaction.summary_request import Summary, SummaryFailed, SummaryRequest, TextBody
from workbench.session import Usage
from workbench.summarizers.driver import RequestAnswered, RequestFailed, RequestsStarted, StepFinished
from workbench.summarizers.live_events import PromptSent, RetryScheduled, TextReceived, UsageReported
from workbench.tui.screens.run_progress import RunProgress, planned_lines
from workbench.tui.screens.run_words import stream_parts
from workbench.tui.widgets.draft_editor import common, location


def request(name: str) -> SummaryRequest:
    return SummaryRequest(name, (), "", TextBody(lambda: name))


def test_calls_at_once_are_each_shown_with_state_time_and_tokens() -> None:
    now = [0.0]
    watch = RunProgress(lambda: now[0])
    one, two, three = request("first"), request("second"), request("third")
    now[0] = 2.0
    watch.on_run_event(StepFinished(ProgressStep("tidy", "12 fewer")))
    watch.on_run_event(RequestsStarted((one, two, three), 0))
    for asked in (one, two):
        watch.request_sent(asked, asked.text)
        watch.on_live_event(PromptSent(asked.text, "m", 1, 10))
    watch.on_live_event(TextReceived("first", "x" * 40))
    watch.on_live_event(TextReceived("second", "lost"))
    watch.on_live_event(RetryScheduled("second", 1, 1.0, "the rate limit is reached"))
    now[0] = 5.0
    assert [watch.words(line) for line in watch.lines] == [
        ("✔ tidy", "done · 2.0 s · 12 fewer"),
        ("✎ first", "writing · 3.0 s · ~10 tokens"),
        ("↻ second", "retrying · 3.0 s · the rate limit is reached; trying again in 1.0 s"),
        ("· third", "waiting · 3.0 s"),
    ]
    shown = [part.text for part in stream_parts(watch.active_calls, 5)]
    assert shown == ["1 · first · writing", "x" * 40, "2 · second · retrying", "…", "3 · third · waiting", "…"]
    watch.on_live_event(UsageReported("first", Usage(input=9, output=30)))
    watch.on_run_event(RequestAnswered(0, one, Summary("x" * 40, usage=Usage(9, 31))))
    watch.on_run_event(RequestFailed(1, two, SummaryFailed("timeout", "too late")))
    watch.note_cancellation()
    assert [watch.words(line)[1] for line in watch.calls] == [
        "done · 3.0 s · 31 tokens",
        "failed · 3.0 s · timeout: too late",
        "cancelled · 3.0 s",
    ]
    assert [line.text for line in watch.calls] == ["x" * 40, "", ""]


def test_an_answer_is_counted_as_its_draft_is() -> None:
    watch = RunProgress(lambda: 0.0, count=lambda text: 7 * len(text))
    one = request("first")
    watch.on_run_event(RequestsStarted((one,), 0))
    watch.request_sent(one, one.text)
    watch.on_live_event(TextReceived("first", "x" * 40))
    assert watch.words(watch.calls[0])[1] == "writing · 0.0 s · ~10 tokens"
    watch.on_run_event(RequestAnswered(0, one, Summary("x" * 40)))
    assert watch.words(watch.calls[0])[1] == "done · 0.0 s · ~280 tokens"


def test_a_plan_has_neither_times_nor_figures() -> None:
    watch = RunProgress()
    lines = planned_lines([StepFinished(ProgressStep("tidy")), RequestsStarted((request("sum"),), 0)])
    assert [watch.words(line) for line in lines] == [("○ tidy", "planned"), ("○ sum", "planned")]


def test_what_two_texts_share() -> None:
    assert common("abcd", "abXcd") == (2, 2)
    assert common("aaa", "aaaa") == (3, 0)
    assert common("", "x") == (0, 0)
    assert location("ab\ncd", 4) == (1, 1)
