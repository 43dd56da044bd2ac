"""The run screen: the real client against a server on loopback, drafts, commit, undo, cancel, failures."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input, Static

from tests.summarizers.fake_api import KEY, MODEL, FakeApi, answer, document, error, fake_api, outlasting, stalling
from tests.summarizers.live_calls import QUICK, client_talks_to
from tests.tui.app import (
    app_of,
    bench_screen,
    brought,
    failing_story,
    notes,
    on_bench,
    press,
    settled,
    story,
    until,
)
from workbench.base import paths
from workbench.bench import with_summarizer
from workbench.compaction.summary_request import Summary, SummaryFailed
from workbench.runs.drafts import requests_without_draft
from workbench.summarizers import run_history
from workbench.summarizers.call_limits import CallLimits
from workbench.tui.bench.other_screens import run_with
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.screens.run import RunScreen
from workbench.tui.widgets.draft_editor import DraftEditor
from workbench.tui.widgets.text_list import TextList
from workbench.tui.widgets.text_view import TextView
from workbench.tui.widgets.watched_lines import WatchedLines, line_cells

WIDE = (140, 40)
DRAFT = (
    "## Goal\nFix the token refresh bug in src/auth/session.ts.\n\n## Files\n- src/auth/invented.ts\n\n"
    "## Commands\nNone.\n"
)


async def ready(pilot: Pilot[None], name: str, limits: CallLimits | None = None) -> RunScreen:
    """The run screen before anything is sent, as it opens for a session with this summarizer."""
    await settled(pilot)
    bench = bench_screen(pilot)
    bench.store.everywhere(partial(with_summarizer, name=name))
    run_with(bench, limits)
    await settled(pilot)
    screen = await brought(pilot, RunScreen)
    assert str(screen.writer) == name
    return screen


def text_of(screen: Screen[Any], selector: str) -> str:
    widget = screen.query_one(selector)
    if isinstance(widget, TextList):
        return "\n".join(option.plain for option in widget.rows)
    assert isinstance(widget, Static)
    return str(widget.content)


def journal_bytes() -> bytes:
    return b"".join(path.read_bytes() for path in paths.runs().parent.iterdir())


async def cancelled_while_it_is_written(pilot: Pilot[None], screen: RunScreen, api: FakeApi) -> None:
    """It is asked for once more, and sent."""
    await pilot.press("enter")
    await until(lambda: isinstance(pilot.app.screen, ConfirmScreen))
    await pilot.press("y")
    await until(lambda: "half a sum" in screen.query_one(TextView).text)
    assert screen.phase == "running"
    assert "~" in text_of(screen, "#progress")
    screen.action_leave()
    await until(lambda: screen.phase != "running")
    await api.gone.wait()
    await settled(pilot)
    assert "cancelled; nothing was changed" in text_of(screen, "#note")
    assert "cancelled" in text_of(screen, "#steps")
    (kept,) = run_history.list_runs()
    assert kept.end == "cancelled"
    assert run_history.load_run(kept.id).calls[0].text == "## Goal\nhalf a sum"


async def test_cancelled_then_streamed_edited_committed_and_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    again = answer("## Files\n- src/auth/part0_0.ts\n", output=9)
    stalls = stalling("## Goal\n", "half a sum")
    async with fake_api(stalls, answer(DRAFT[:30], DRAFT[30:], output=50), again) as api:
        client_talks_to(api, monkeypatch)
        async with app_of(failing_story()).run_test(size=WIDE) as pilot:
            screen = await ready(pilot, f"anthropic:{MODEL}")
            before, untouched = bench_screen(pilot).bench, failing_story().messages
            assert not api.received
            assert screen.estimates is not None
            (estimate,) = screen.estimates
            shown = screen.query_one(TextView).text
            assert estimate.request.text.splitlines()[-2][:60] in shown
            assert f"to {MODEL} at {api.url}: nothing is sent before you press enter" in shown
            assert "about $" in shown
            assert "models.toml" in shown

            paths.settings().parent.mkdir(parents=True, exist_ok=True)
            paths.settings().write_text("max_cost = 0.001")
            await pilot.press("enter")
            await until(lambda: isinstance(pilot.app.screen, ConfirmScreen))
            assert re.fullmatch(r"This may cost \$0\.\d+, more than \$0\.001\.", text_of(pilot.app.screen, "#sentence"))
            await press(pilot, "enter")  # what is marked sends nothing
            assert pilot.app.screen is screen
            assert text_of(screen, "#note").startswith("This may cost $")
            assert (screen.phase, api.received) == ("ready", [])

            await cancelled_while_it_is_written(pilot, screen, api)
            paths.settings().unlink()
            assert bench_screen(pilot).bench is before
            await press(pilot, "enter")
            assert [one.prompt for one in api.received] == [estimate.request.text] * 2
            assert screen.phase == "draft"
            editor = screen.query_one(DraftEditor)
            assert editor.text == DRAFT.strip()
            assert editor.underlined == ("src/auth/invented.ts",)
            assert "50 tokens" in text_of(screen, "#steps")
            assert "spent" in text_of(screen, "#progress")
            assert "Goal" in text_of(screen, "#sections")
            assert bench_screen(pilot).bench is before

            # A section written anew, by an instruction; then one key inserts what was lost, another pins it.
            editor.go_to(DRAFT.index("- src/auth/invented"))
            await press(pilot, "ctrl+g")
            pilot.app.screen.query_one(Input).value = "real"
            await press(pilot, "enter")
            assert "<instruction>real</instruction>" in api.received[2].prompt
            assert api.received[2].prompt.startswith(estimate.request.text)
            assert editor.text == DRAFT.strip().replace("invented", "part0_0")
            assert editor.underlined == ()
            assert "written again" in text_of(screen, "#sections")
            assert screen.found is not None
            lost = next(n for n, line in enumerate(screen.facts) if getattr(line.fact, "kind", "") == "error")
            screen.query_one("#facts", TextList).go(lost)
            await settled(pilot)
            assert screen.assessment is not None
            losses = len(screen.assessment.lost or ())
            screen.query_one("#facts", TextList).focus()
            await press(pilot, "i")
            assert "KeyError: 'refresh'" in editor.text
            assert len(screen.assessment.lost or ()) == losses - 1
            screen.query_one("#facts", TextList).go(2)
            await settled(pilot)
            assert screen.loss is not None
            pinned = screen.loss.message
            await press(pilot, "p")
            assert screen.bench.pins == {pinned}
            assert screen.assessment is not None
            assert not requests_without_draft(screen.assessment.run)

            editor.go_to(0)
            editor.focus()
            await press(pilot, "X", "f8")
            assert editor.text.startswith("X## Goal")
            assert "accepted" in text_of(screen, "#note")
            screenshot = pilot.app.export_screenshot()

            await press(pilot, "ctrl+s")
            bench = bench_screen(pilot).bench
            assert pilot.app.screen is bench_screen(pilot)
            assert bench.result is not None
            assert any("X## Goal" in message.text for message in bench.result.outcome.messages)
            assert any(message.id == pinned for message in bench.result.outcome.messages)
            assert bench.session.messages == untouched
            assert bench.summarizer == f"anthropic:{MODEL}"
            await press(pilot, "u", "u")
            assert bench_screen(pilot).bench.result is None
            assert not bench_screen(pilot).bench.pins
            await press(pilot, "U", "U")
            assert bench_screen(pilot).bench.result is bench.result

    kept = run_history.list_runs()
    assert [(run.summarizer, run.end) for run in kept] == [
        ("typed", "finished"),
        (f"anthropic:{MODEL}", "finished"),
        (f"anthropic:{MODEL}", "finished"),
        (f"anthropic:{MODEL}", "cancelled"),
    ]
    edited = run_history.load_run(kept[0].id)
    assert edited.calls[0].text.startswith("X## Goal")
    assert KEY not in screenshot
    assert KEY.encode() not in journal_bytes()
    assert all(KEY not in run_history.load_run(run.id).model_dump_json() for run in kept)


async def test_failures_are_told_apart_and_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    replies = {
        "truncated": answer("The user asked for", stop="max_tokens"),
        "refused": answer("No.", stop="refusal"),
        "empty": answer(),
        "inflated": answer("long " * 20_000),
        "timeout": outlasting(QUICK.stall_s, "a beginning"),
        "error": error(401, "authentication_error", f"invalid x-api-key {KEY}"),
    }
    busy = error(429, "rate_limit_error", "slow down", retry_after="0.001")
    async with fake_api(*replies.values(), busy, answer(DRAFT)) as api:
        client_talks_to(api, monkeypatch)
        async with app_of(story()).run_test(size=WIDE) as pilot:
            screen = await ready(pilot, f"anthropic:{MODEL}", QUICK)
            before = bench_screen(pilot).bench
            await press(pilot, "enter")
            for kind in replies:
                (draft,) = screen.drafts
                assert isinstance(draft.answer, SummaryFailed)
                assert draft.answer.kind == kind
                assert text_of(screen, "#note").startswith(f"{kind}: "), kind
                assert "unchanged" in text_of(screen, "#steps")
                assert kind != "error" or KEY not in pilot.app.export_screenshot()
                assert bench_screen(pilot).bench is before
                if kind == "truncated":
                    assert screen.query_one(DraftEditor).text == "The user asked for"
                await press(pilot, "ctrl+r")
            (draft,) = screen.drafts
            assert isinstance(draft.answer, Summary)
            assert len(api.received) == len(replies) + 2
            assert bench_screen(pilot).bench is before
    assert [run.end for run in run_history.list_runs()] == ["finished", *["failed"] * len(replies)]
    assert KEY.encode() not in journal_bytes()


async def test_without_a_key_by_hand_and_rehearsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the smallest terminal, with a journal that cannot be used; a model's name is asked for and typed first."""
    model = {"type": "model", "id": "claude-brand-new", "display_name": "New", "created_at": "2026-01-01T00:00:00Z"}
    paths.runs().parent.mkdir(parents=True, exist_ok=True)
    paths.runs().write_bytes(b"no database " * 1_000)
    async with (
        fake_api(document({"data": [model], "has_more": False, "first_id": "x", "last_id": "x"})) as api,
        app_of(story()).run_test(size=(80, 24)) as pilot,
    ):
        client_talks_to(api, monkeypatch)
        await settled(pilot)
        await press(pilot, "R", "m", "f5")
        assert [one.path.partition("?")[0] for one in api.received] == ["/v1/models"]
        pilot.app.screen.query_one(Input).value = "brand"
        screen = await brought(pilot, RunScreen, "enter")
        assert str(screen.writer) == "anthropic:claude-brand-new"
        monkeypatch.delenv("ANTHROPIC_API_KEY")
        assert "price unknown" in screen.query_one(TextView).text
        await press(pilot, "enter")
        assert screen.phase == "ready"
        assert "ANTHROPIC_API_KEY" in text_of(screen, "#note")
        assert "price unknown" in screen.query_one(TextView).text, "what would be sent is shown again"

        await press(pilot, "m")
        pilot.app.screen.query_one(Input).value = "rehearse:truncated"
        await press(pilot, "enter", "enter")
        assert screen.query_one(DraftEditor).text == "The user asked for"
        assert any("is not a run history or is damaged" in note for note in notes(pilot))
        assert screen.assessment is not None
        assert screen.assessment.run.outcome.status == "unchanged"
        await press(pilot, "f8")
        assert screen.assessment.run.outcome.status == "compacted"
        assert screen.query_one("#editor").display
        assert screen.query_one("#centre").size.width > 70
        await press(pilot, "f6")
        assert screen.query_one("#right").size.width > 70
        assert not screen.query_one("#centre").size.width
        await brought(pilot, RunScreen, "escape")
        await press(pilot, "escape")
        assert bench_screen(pilot).bench.result is None
        assert bench_screen(pilot).bench.summarizer == "rehearse:truncated"

        screen = await ready(pilot, "typed")
        await press(pilot, "enter")
        screen.query_one(DraftEditor).insert("By me.")
        await press(pilot, "ctrl+s")
        result = bench_screen(pilot).bench.result
        assert result is not None
        assert any("By me." in message.text for message in result.outcome.messages)


async def test_an_edit_that_changes_later_calls_has_them_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    replies = [answer(f"{word} " * 3_000) for word in ("word", "next", "last", "more", "done")]
    async with fake_api(*replies) as api:
        client_talks_to(api, monkeypatch)
        async with on_bench(story(10), preset="progressive", window=4_500, size=WIDE) as (pilot, _):
            screen = await ready(pilot, f"anthropic:{MODEL}")
            await press(pilot, "enter")
            assert len(screen.drafts) == len(api.received) == 3
            steps = screen.query_one("#steps", TextList)
            steps.go(next(n for n, line in enumerate(screen.lines) if line.number == 0))
            await settled(pilot)
            assert screen.at == 0
            screen.query_one(DraftEditor).change("edit " * 3_000)
            await settled(pilot)
            assert "more to send" in text_of(screen, "#progress")
            await press(pilot, "ctrl+s")
            assert pilot.app.screen is screen
            assert len(api.received) > 3
            assert "edit edit" in api.received[3].prompt
            assert screen.drafts[0].text == "edit " * 3_000
            await press(pilot, "ctrl+s")
            result = bench_screen(pilot).bench.result
            assert result is not None
            assert [isinstance(one, Summary) for one in result.answers] == [True] * len(result.answers)


async def test_a_watched_sentence_is_judged_in_the_draft_while_that_is_edited() -> None:
    rule = "ValueError: the token is bad"
    async with on_bench(failing_story(rounds=12), size=WIDE, watched=(rule,)) as (pilot, _):
        screen = await ready(pilot, "rehearse:garbage")
        lines, editor = screen.query_one(WatchedLines), screen.query_one(DraftEditor)
        assert lines.watching.watched == ()  # nothing is drafted yet
        await press(pilot, "enter")
        assert "".join(text for text, _ in line_cells(lines.watching, 0, 1, 140)).split(rule)[1].split() == [
            "now",
            "✔",
            "after",
            "○",
        ]
        editor.change(f"{editor.text}\n- {rule}")
        await settled(pilot)
        assert [(one.now, one.after) for one in lines.watching.rule_states] == [("verbatim", "verbatim")]
