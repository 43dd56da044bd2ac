"""Prompts, A/B, kept runs and exact counts, from the bench and back."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from textual.widgets import Input, Static, TextArea

from tests.summarizers.fake_api import KEY, MODEL, document, error, fake_api, stalling
from tests.summarizers.live_calls import client_talks_to
from tests.tui.app import (
    app_of,
    bench_screen,
    brought,
    failing_story,
    on_bench,
    press,
    settled,
    story,
    story_file,
    until,
)
from workbench.base import paths
from workbench.bench import choose_preset
from workbench.compaction.preset import load_preset
from workbench.summarizers import journal
from workbench.summarizers.named import Name
from workbench.tokens import scales
from workbench.tui.bench.host import take
from workbench.tui.screens.ab import AbScreen
from workbench.tui.screens.exact import ExactScreen
from workbench.tui.screens.prompts import PromptsScreen
from workbench.tui.screens.runs import RunsScreen
from workbench.tui.widgets.prompt_editor import PromptEditor
from workbench.tui.widgets.text_list import TextList
from workbench.tui.widgets.text_view import TextView

SIZE = (150, 44)


def words(place: Static) -> str:
    return str(place.content)


async def test_a_prompt_is_seen_as_sent_edited_in_a_copy_and_taken() -> None:
    async with on_bench(story(), size=SIZE) as (pilot, _):
        screen = await brought(pilot, PromptsScreen, "M")
        assert screen.here is not None
        assert screen.here.file == "exchange-summary.en.md"
        view = screen.query_one(TextView)
        assert "Never log the token" not in view.text
        await press(pilot, "v")
        assert "Never log the token" in view.text
        await press(pilot, "v", "e")
        editor = screen.query_one(PromptEditor)
        area = editor.query_one(TextArea)
        lines = area.text.count("\n")
        area.text = f"{area.text.rstrip()}\n{{mood}}\n"
        await press(pilot, "ctrl+s")
        assert screen.query(PromptEditor)
        assert f"line {lines + 1}: unknown placeholder 'mood'" in words(editor.query_one("#doubts", Static))
        assert area.cursor_location[0] == lines
        area.text = area.text.replace("{mood}", "As a ballad.")
        await press(pilot, "escape")
        assert screen.query(PromptEditor), "a changed text is left by a second escape"
        await press(pilot, "ctrl+s")
        assert not screen.query(PromptEditor)
        assert "As a ballad." in (paths.prompts() / "exchange-summary.en.md").read_text()
        assert "As a ballad." in view.text
        assert screen.here.found is not None
        assert screen.here.found.own
        (paths.prompts() / "exchange-summary.zh.md").write_text("---\nid: exchange-summary\n---\n{mood}\n")
        screen.list_them()
        await press(pilot, "down")
        assert "unknown placeholder" in view.text
        await press(pilot, "up", "u")
        bench = bench_screen(pilot)
        assert pilot.app.screen is bench
        assert bench.bench.policy.model_dump()["prompt"].endswith("As a ballad.")
        assert any("As a ballad." in request.text for request in bench.bench.plan.requests)
        await press(pilot, "u")
        assert "As a ballad." not in bench.bench.policy.model_dump()["prompt"]


async def test_two_sides_stream_in_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    async with (
        fake_api(stalling("Half a"), stalling("Half a")) as api,
        app_of(story(rounds=30)).run_test(size=SIZE) as pilot,
    ):
        client_talks_to(api, monkeypatch)
        await settled(pilot)
        bench, before = bench_screen(pilot), repr(bench_screen(pilot).bench.messages)
        screen = await brought(pilot, AbScreen, "B")
        for half in screen.halves:
            half.name = Name("anthropic", MODEL)
        screen.draw()
        for number in (0, 1):
            assert f"{MODEL} at {api.url}" in words(screen.query_one(f"#figures-{number}", Static))
        assert api.received == []
        await pilot.press("r")
        await until(lambda: all(half.written for half in screen.halves))
        screen.draw()
        assert screen.query_one("#draft-1", TextView).text == "Half a"
        await press(pilot, "escape")
        assert not screen.running
        assert [(entry.end, entry.calls) for entry in journal.kept()] == [("cancelled", 1)] * 2
        assert journal.load(journal.kept()[0].id).calls[0].text == "Half a"
        assert KEY.encode() not in paths.runs().read_bytes()
        await press(pilot, "escape")
        assert repr(bench.bench.messages) == before
        assert bench.bench.result is None


async def test_two_sides_are_written_kept_compared_and_played_again() -> None:
    async with on_bench(failing_story(rounds=30), size=SIZE, watched=("ValueError: the token is bad",)) as (pilot, _):
        screen = await brought(pilot, AbScreen, "B")
        assert "offline neither prompt is read" in words(screen.query_one("#title", Static))
        screen.halves[0].name, screen.halves[1].name = Name("rehearse", "truncated"), Name("rehearse", "garbage")
        await press(pilot, "r")
        first, second = (words(screen.query_one(f"#figures-{number}", Static)) for number in (0, 1))
        drafts = [screen.query_one(f"#draft-{number}", TextView).text for number in (0, 1)]
        assert "unchanged" in first
        assert "◉ ✔ verbatim: ValueError: the token is bad" in first
        assert "◉ ○ gone: ValueError: the token is bad" in second
        assert "the summarizer failed (truncated)" in drafts[0]
        assert "compacted" in second
        assert "weather in Lisbon" in drafts[1]
        assert "◉ ValueError: the token is bad  ✔ verbatim → ✔ verbatim" in drafts[0]
        assert "◉ ValueError: the token is bad  ✔ verbatim → ○ gone" in drafts[1]
        assert "error message: E ValueError: the token is bad" in drafts[1]
        assert {entry.summarizer for entry in journal.kept()} == {"rehearse:truncated", "rehearse:garbage"}
        await press(pilot, "b")
        assert screen.halves[1].done is None
        runs = await brought(pilot, RunsScreen, "escape", "H")
        view = runs.query_one(TextView)
        assert len(runs.entries) == 2
        garbage = next(n for n, entry in enumerate(runs.entries) if entry.summarizer == "rehearse:garbage")
        runs.query_one(TextList).go(garbage)
        await settled(pilot)
        assert "weather in Lisbon" in view.text
        assert "Fix the token refresh bug" in view.text
        await press(pilot, "m")
        runs.query_one(TextList).go(1 - garbage)
        await press(pilot, "d")
        assert "summarizer: rehearse:garbage → rehearse:truncated" in view.text
        assert "-Sure! Here is the summary" in view.text
        await press(pilot, "s")
        assert view.text.startswith("by day")
        await press(pilot, "s", "delete", "m")
        assert len(journal.kept()) == 2
        runs.action_delete()
        runs.action_mark()  # at once: lists the runs anew while one is being deleted
        await settled(pilot)
        assert len(runs.entries) == 1
        (left,) = journal.kept()
        assert left.summarizer == "rehearse:garbage"
        await press(pilot, "r")
        assert bench_screen(pilot).bench.summarizer == f"recorded:{left.id}"


async def test_exact_counts_stand_beside_the_local_ones_and_calibrate(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    replies = [error(401, "authentication_error", f"bad {KEY}")]
    replies += [document({"input_tokens": tokens}) for tokens in (40_000, 3_000)]
    async with fake_api(*replies) as api, app_of(story_file(tmp_path)).run_test(size=SIZE) as pilot:
        client_talks_to(api, monkeypatch)
        await settled(pilot)
        bench = bench_screen(pilot)
        before = bench.bench.context.total.tokens
        screen = await brought(pilot, ExactScreen, "equals_sign")
        assert screen.query_one(Input).value == "claude-sonnet-4-5"
        screen.query_one(Input).value = MODEL
        await settled(pilot)
        where = "Sends the whole context to {} to be counted; it costs nothing."
        assert words(screen.query_one("#about", Static)) == where.format(api.url)
        screen.query_one(Input).value = "ollama/qwen3"
        await settled(pilot)
        assert words(screen.query_one("#about", Static)) == where.format("http://127.0.0.1:11434/v1")
        screen.query_one(Input).value = MODEL
        assert api.received == []
        await press(pilot, "enter")
        said = words(screen.query_one("#counts", Static))
        assert "The exact count failed" in said
        assert KEY not in said
        await press(pilot, "enter")
        said = words(screen.query_one("#counts", Static)).replace("\u00a0", " ").replace("\u202f", " ")
        assert "40 000" in said
        assert "3 000" in said
        assert f"an exact count by {MODEL}" in said
        assert [got.body["model"] for got in api.received] == [MODEL] * 3
        await press(pilot, "escape")
        scale = bench.bench.scale
        assert scale is not None
        assert scales.recall(bench.bench.session) in (None, scale)
        assert bench.bench.context.total.tokens == pytest.approx(before * scale.value, rel=0.01)
        assert f"an exact count by {MODEL}" in str(bench.query_one("#title").tooltip)
        take(bench, partial(choose_preset, preset=load_preset("codex")))
        await press(pilot, "u", "u")
        assert bench.bench.scale == scale
        screen = await brought(pilot, ExactScreen, "equals_sign")
        await press(pilot, "ctrl+r")
        said = words(screen.query_one("#counts", Static))
        assert said == f"forgotten: × {scale.value:.2f} from an exact count by {MODEL}"
        await press(pilot, "escape")
        assert bench.bench.scale is None
        assert scales.recall(bench.bench.session) is None
        assert bench.bench.context.total.tokens == before
