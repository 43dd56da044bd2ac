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
    done,
    failing_story,
    notes,
    on_bench,
    press,
    settled,
    story,
    story_file,
    until,
    write_down,
)
from workbench.analysis.prompt_use import prompt_by_id
from workbench.base import paths
from workbench.bench import choose_preset
from workbench.compaction.preset import load_preset
from workbench.compaction.prompts import file_of, write_own
from workbench.runs.variants import Variant
from workbench.summarizers import run_history
from workbench.summarizers.by_name import SummarizerName
from workbench.tokens import scales
from workbench.tui.bench.host import take_step
from workbench.tui.middle.pager import Pager
from workbench.tui.screens.ask import AskScreen
from workbench.tui.screens.compare import CompareScreen
from workbench.tui.screens.prompt_editors import PromptEditor
from workbench.tui.screens.prompts import PromptFile, PromptsScreen
from workbench.tui.screens.run import RunScreen
from workbench.tui.screens.run_history import RunHistory
from workbench.tui.widgets.table import TextTable
from workbench.tui.widgets.text_list import TextList
from workbench.tui.widgets.text_view import TextView

SIZE = (150, 44)


def words(place: Static) -> str:
    return str(place.content)


async def test_a_prompt_that_is_deleted_while_it_is_listed_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "true")
    path = write_own("mine.en.md", file_of("exchange-summary.en.md").read_text("utf-8").replace("id: ", "id: my-", 1))
    async with on_bench(story(), size=SIZE) as (pilot, _):
        screen = await brought(pilot, PromptsScreen, "E", "escape")
        place = next(at for at, one in enumerate(screen.every) if isinstance(one, PromptFile) and one.file == path.name)
        screen.query_one(TextList).go(place)
        await settled(pilot)
        path.unlink()
        for action in ("edit", "outside"):
            await pilot.app.run_action(action, screen)
            await settled(pilot)
            assert "mine.en.md cannot be read any more: No such file or directory" in notes(pilot)[-1]
        assert not screen.has_class("-editing")


async def test_a_prompt_is_seen_as_sent_edited_in_a_copy_and_taken() -> None:
    async with on_bench(story(), size=SIZE) as (pilot, _):
        screen = await brought(pilot, PromptsScreen, "E", "escape")
        first = next(
            at
            for at, one in enumerate(screen.every)
            if isinstance(one, PromptFile) and one.file == "exchange-summary.en.md"
        )
        screen.query_one(TextList).go(first)
        await settled(pilot)
        assert isinstance(screen.here, PromptFile)
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


def waiting(screen: CompareScreen, *names: SummarizerName) -> None:
    """Rows of the bench's own settings by these summarizers."""
    screen._wait([Variant(f"{number} {name}", screen.bench.as_preset, name) for number, name in enumerate(names)])


async def test_models_are_asked_at_once_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    async with (
        fake_api(stalling("Half a"), stalling("Half a")) as api,
        app_of(story(rounds=30)).run_test(size=SIZE) as pilot,
    ):
        client_talks_to(api, monkeypatch)
        await settled(pilot)
        bench, before = bench_screen(pilot), repr(bench_screen(pilot).bench.messages)
        screen = await brought(pilot, CompareScreen, "C")
        waiting(screen, *[SummarizerName("anthropic", MODEL)] * 2)
        await settled(pilot)
        assert words(screen.query_one("#note", Static)).startswith("Compare  r asks 2 variants")
        assert f"{MODEL} at {api.url}: r asks." in words(screen.query_one("#details", Static))
        assert api.received == []
        await pilot.press("r")
        await until(lambda: len([text for text in screen.rows.queue.written.values() if text]) == 2)
        screen._show_row()
        assert words(screen.query_one("#details", Static)).endswith("\nHalf a")
        await press(pilot, "escape")
        assert not screen.rows.queue.is_running
        assert len(screen.rows.queue.waiting) == 2, "they can be asked again"
        assert [(entry.end, entry.calls) for entry in run_history.list_runs()] == [("cancelled", 1)] * 2
        assert run_history.load_run(run_history.list_runs()[0].id).calls[0].text == "Half a"
        assert KEY.encode() not in paths.runs().read_bytes()
        await press(pilot, "x", "x", "x")
        assert screen.rows.queue.waiting == ()
        await press(pilot, "escape")
        assert pilot.app.screen is bench
        assert repr(bench.bench.messages) == before
        assert bench.bench.result is None


async def test_prompts_and_models_are_rows_whose_runs_are_kept_compared_and_played_again() -> None:
    async with on_bench(failing_story(rounds=12), size=(200, 60), watched=("ValueError: the token is bad",)) as (
        pilot, bench,
    ):  # fmt: skip
        screen = await brought(pilot, CompareScreen, "C")
        table, told = screen.query_one(TextTable), screen.query_one("#details", Static)
        await press(pilot, "p", "down", "enter")
        await write_down(pilot, "rehearse truncated", "enter", "m")
        await write_down(pilot, "rehearse garbage", "enter")
        labels = [one.label for one in screen.rows.queue.waiting]
        assert labels == ["exchange-summary.zh · rehearse:truncated", "rehearse:garbage"]
        await press(pilot, "r")
        assert screen.rows.queue.waiting == ()
        names = [one.name for one in screen.rows.ranked]
        assert names.index(labels[1]) < names.index(labels[0]), "a run without a summary frees nothing and comes last"
        for label, sign, expected in (
            (labels[0], "✔", ("the summarizer failed (truncated)",)),
            (labels[1], "○", ("weather in Lisbon", "ValueError: the token is bad")),
        ):
            table.move_cursor(row=names.index(label))
            await settled(pilot)
            assert str(table.get_cell(label, "watched")) == sign
            assert [part for part in expected if part not in words(told)] == [], words(told)
        await press(pilot, "space", "home", "d", "d")
        assert "Sure! Here is the summary" in screen.query_one(Pager).text
        await press(pilot, "escape")
        assert {entry.summarizer for entry in run_history.list_runs()} == {"rehearse:truncated", "rehearse:garbage"}
        # Opened, a row brings its prompt and its summarizer along.
        table.move_cursor(row=names.index(labels[0]))
        await press(pilot, "enter")
        assert bench.bench.summarizer == "rehearse:truncated"
        assert bench.bench.policy.model_dump()["prompt"] == prompt_by_id("exchange-summary.zh").prompt.text
        await press(pilot, "u")
        run = await brought(pilot, RunScreen, "R", "H")
        runs = run.query_one(RunHistory)
        view = runs.query_one(TextView)
        assert len(runs.entries) == 2
        garbage = next(n for n, entry in enumerate(runs.entries) if entry.summarizer == "rehearse:garbage")
        runs.query_one(TextList).go(garbage)
        await settled(pilot)
        assert "weather in Lisbon" in view.text
        assert "Fix the token refresh bug" in view.text
        await press(pilot, "space")
        runs.query_one(TextList).go(1 - garbage)
        await press(pilot, "d")
        assert "summarizer: rehearse:garbage → rehearse:truncated" in view.text
        assert "-Sure! Here is the summary" in view.text
        await press(pilot, "b")
        assert view.text.startswith("by day")
        await press(pilot, "b", "x", "space")
        assert len(run_history.list_runs()) == 2
        runs.action_delete()
        runs.action_mark()  # at once: lists the runs anew while one is being deleted
        await settled(pilot)
        assert len(runs.entries) == 1
        (left,) = run_history.list_runs()
        assert left.summarizer == "rehearse:garbage"
        await press(pilot, "r")
        assert pilot.app.screen is run
        assert not runs.display
        await press(pilot, "escape")
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
        await done(pilot, "exact")
        screen = await brought(pilot, AskScreen)
        assert screen.query_one(Input).value == "claude-sonnet-4-5"
        screen.query_one(Input).value = MODEL
        await settled(pilot)
        where = "Sends the whole context to {} to be counted; it costs nothing. · enter accepts, esc cancels"
        assert words(screen.query_one("#understood", Static)) == where.format(api.url)
        screen.query_one(Input).value = "ollama/qwen3"
        await settled(pilot)
        assert words(screen.query_one("#understood", Static)) == where.format("http://127.0.0.1:11434/v1")
        screen.query_one(Input).value = MODEL
        assert api.received == []
        await press(pilot, "enter")
        said = words(screen.query_one("#understood", Static))
        assert "The exact count failed" in said
        assert KEY not in said
        await press(pilot, "enter")
        said = words(screen.query_one("#understood", Static)).replace("\u00a0", " ").replace("\u202f", " ")
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
        take_step(bench, partial(choose_preset, preset=load_preset("codex")))
        await press(pilot, "u", "u")
        assert bench.bench.scale == scale
        await done(pilot, "exact")
        screen = await brought(pilot, AskScreen)
        screen.query_one(Input).value = ""
        await press(pilot, "enter")
        said = words(screen.query_one("#understood", Static))
        assert said == f"forgotten: × {scale.value:.2f} from an exact count by {MODEL}"
        await press(pilot, "escape")
        assert bench.bench.scale is None
        assert scales.recall(bench.bench.session) is None
        assert bench.bench.context.total.tokens == before
