"""The dialog that asks for money: its keys, and where it stands in the way of a run, of two variants, of questions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from tests.commands import session_lines, write_lines
from tests.products import mostly_full
from tests.summarizers.fake_api import MODEL, answer, fake_api, reset
from tests.summarizers.live_calls import QUICK, client_talks_to
from tests.tui.app import app_of, at_rest, bench_screen, brought, failing_story, on_bench, press, settled, story, until
from tests.tui.every_screen import drawn, pale
from tests.tui.test_live_screens import waiting
from tests.tui.test_run import DRAFT, ready, text_of
from tests.tui.test_themes import FEW, MORE
from workbench.base import paths
from workbench.formats.files import load
from workbench.summarizers import run_history
from workbench.summarizers.by_name import SummarizerName
from workbench.tui.retention.questions import QuestionsPane
from workbench.tui.screens.compare import CompareScreen
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.screens.retention import RetentionScreen

WHAT = "This may cost $0.12, more than $0.10"


def at_most(dollars: float) -> None:
    paths.settings().parent.mkdir(parents=True, exist_ok=True)
    paths.settings().write_text(f"max_cost = {dollars}")


async def asked(pilot: Pilot[None]) -> str:
    await until(lambda: isinstance(pilot.app.screen, ConfirmScreen))
    return text_of(pilot.app.screen, "#sentence")


SENDS = {
    "y": True, "n": False, "escape": False, "q": False, "enter": False, "tab enter": True, "tab tab enter": False,
}  # fmt: skip


async def test_each_key_of_a_confirmation_answers_yes_or_no() -> None:
    """The button marked at first sends nothing."""
    answers: dict[str, list[bool | None]] = {keys: [] for keys in SENDS}
    async with on_bench(story()) as (pilot, bench):
        for keys, answer in answers.items():
            pilot.app.push_screen(ConfirmScreen(WHAT, yes="Send it", no="Leave it"), answer.append)
            await settled(pilot)
            assert text_of(pilot.app.screen, "#sentence") == WHAT
            await press(pilot, *keys.split())
            assert pilot.app.screen is bench, keys
    assert answers == {keys: [sends] for keys, sends in SENDS.items()}


@pytest.mark.parametrize(("key", "sent"), [("y", 2), ("escape", 1)])
async def test_in_the_middle_of_a_run_the_next_try_is_asked_for(
    key: str, sent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first try broke off, and nobody knows what it cost. A no is a summary that failed, and the session stays."""
    async with fake_api(reset(), answer(DRAFT)) as api:
        client_talks_to(api, monkeypatch)
        async with app_of(failing_story()).run_test(size=(140, 40)) as pilot:
            screen = await ready(pilot, f"anthropic:{MODEL}", QUICK)
            before = bench_screen(pilot).bench
            at_most(0.0001)
            await pilot.press("enter")
            assert " on top of " not in await asked(pilot)
            await pilot.press("y")
            await until(lambda: len(api.received) == 1)
            assert " spent, more than" in await asked(pilot)
            assert (screen.phase, len(api.received)) == ("running", 1)
            await press(pilot, key)
            assert (screen.phase, len(api.received)) == ("draft", sent)
            assert bench_screen(pilot).bench is before
            (kept,) = run_history.list_runs()
            assert kept.end == ("finished" if sent == 2 else "failed")


async def test_one_confirmation_covers_all_variants_that_are_run(monkeypatch: pytest.MonkeyPatch) -> None:
    async with (
        fake_api(answer("One."), answer("Two.")) as api,
        app_of(story(rounds=6)).run_test(size=(140, 40)) as pilot,
    ):
        client_talks_to(api, monkeypatch)
        await settled(pilot)
        at_most(0.0001)
        screen = await brought(pilot, CompareScreen, "C")
        waiting(screen, *[SummarizerName("anthropic", MODEL)] * 2)
        for key, sent in (("n", 0), ("y", 2)):
            await pilot.press("r")
            assert "more than $0.0001" in await asked(pilot)
            await press(pilot, key)
            assert pilot.app.screen is screen
            assert len(api.received) == sent
            assert sum(one.run is not None for one in screen.rows.ranked) == sent


async def test_questions_to_a_model_need_a_confirmation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = load(write_lines(tmp_path / "session.jsonl", session_lines()))
    async with fake_api(*[answer("1: not known")] * 4) as api:
        client_talks_to(api, monkeypatch)
        at_most(0.0001)
        async with on_bench(session) as (pilot, _):
            screen = await brought(pilot, RetentionScreen, "X", "2")
            pane = screen.query_one(QuestionsPane)
            pane.model = MODEL
            for key, sent in (("escape", 0), ("y", 3)):
                pane.start()
                assert "more than $0.0001" in await asked(pilot)
                assert api.received == []
                await press(pilot, key)
                assert pilot.app.screen is screen
                assert len(api.received) == sent
                about = str(pane.query_one(".note", Static).content)
                assert (f"answered by {MODEL}" in about) == bool(sent)


@pytest.mark.parametrize("themes", mostly_full([FEW, MORE], [FEW]), ids=" ".join)
async def test_what_a_dialog_asks_can_be_read_on_its_buttons_in_every_theme(themes: Sequence[str]) -> None:
    """Of sixteen colours white stood on yellow."""
    asked = (ConfirmScreen(WHAT, about="The limit.", yes="Send it"), ConfirmScreen("Not that one."))
    async with at_rest(story(), size=(80, 24)) as pilot:
        for screen in asked:
            await pilot.app.push_screen(screen)
            for theme in themes:
                pilot.app.theme = theme
                await settled(pilot, painted=False)
                assert [*pale(drawn(screen))] == [], theme
            pilot.app.pop_screen()
