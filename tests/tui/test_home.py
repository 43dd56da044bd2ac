"""Opening, remembering and the help, driven by keys."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Button, Input, Static

from tests.finding.test_discover import session_at
from tests.paths import SAMPLES
from tests.tui.app import at_rest, bench_screen, brought, notes, press, settled, story, story_file, write_down
from workbench.tui.bench.screen import BenchScreen
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.screens.export import ExportScreen
from workbench.tui.screens.help import HelpScreen, keys_of
from workbench.tui.screens.loading import LoadingScreen, Opening, open_on_bench
from workbench.tui.screens.sessions import SessionsScreen
from workbench.tui.settings import Settings, read_home
from workbench.tui.widgets.records import RecordTable
from workbench.tui.widgets.text_view import TextView

SIZE = (120, 40)
OVERFLOW = SAMPLES / "claude-code-overflow.jsonl"


@pytest.fixture
def kept(own_home: Path) -> Path:
    """Two sessions where Claude Code keeps them, and a file that is none."""
    root = own_home / ".claude" / "projects"
    session_at(root / "-home-dana-gate" / "old.jsonl", "mend the gate", 1_000, filler=2)
    session_at(root / "-home-dana-door" / "new.jsonl", "paint the door", 2_000, filler=2)
    (root / "-home-dana-door" / "bad.jsonl").write_text("no session")
    return root


def shown(pilot: Pilot[None], selector: str) -> str:
    return str(pilot.app.screen.query_one(selector, Static).render())


async def test_a_session_is_found_looked_at_and_opened(kept: Path, tmp_path: Path) -> None:
    given, bad = story_file(tmp_path), tmp_path / "bad.txt"
    bad.write_text("nothing")
    async with at_rest("sessions", sources=[given, bad], size=SIZE) as pilot:
        screen = await brought(pilot, SessionsScreen)
        table = screen.query_one(RecordTable)
        titles = [row["title"] for row in table.lines]
        assert [Path(str(row["file"])) for row in table.lines[:1]] == [given]
        assert titles[1:3] == ["title of paint the door", "title of mend the gate"]
        assert all(str(title).startswith("Sample: ") for title in titles[3:])
        assert "2 unreadable" in str(screen.query_one("#table").border_title)
        # The pane below follows the cursor.
        await press(pilot, "f", *"paint")
        assert "› paint the door" in screen.query_one("#below", TextView).text
        await press(pilot, *"zzz", "enter")
        assert screen.query_one("#below", TextView).text == ""
        await press(pilot, "enter")
        assert pilot.app.screen is screen
        await press(pilot, "escape", "down")
        assert "paint the door" in screen.query_one("#below", TextView).text
        await press(pilot, "ctrl+f")
        assert type(pilot.app.screen).__name__ == "FileOpen"
        await press(pilot, "escape")
        assert pilot.app.screen is screen
        # By its words, by its path, by the mouse; and a refused file leaves the bench as it was.
        await press(pilot, "f")
        await write_down(pilot, "dana-gate", "enter", "enter")
        assert bench_screen(pilot).bench.session.path == kept / "-home-dana-gate" / "old.jsonl"
        assert len(pilot.app.screen_stack) == 2
        await press(pilot, "ctrl+o", "f")
        pilot.app.screen.query_one(Input).value = str(given)
        await press(pilot, "enter")
        bench = bench_screen(pilot)
        assert bench.bench.session.path == given
        await press(pilot, "ctrl+o", "escape")
        assert pilot.app.screen is bench
        await press(pilot, "ctrl+o", "f")
        pilot.app.screen.query_one(Input).value = str(bad)
        await press(pilot, "enter")
        await brought(pilot, ConfirmScreen)
        await press(pilot, "escape", "escape", "escape")
        assert pilot.app.screen is bench
        await press(pilot, "ctrl+o")
        await pilot.click(RecordTable, offset=(5, 0), times=2)
        await settled(pilot)
        assert bench_screen(pilot) is not bench
        assert bench_screen(pilot).bench.session.path == given


async def test_a_load_that_is_done_when_it_was_just_given_up_opens_nothing(tmp_path: Path) -> None:
    """The session is ready and its message on the way when escape is pressed."""
    opening, waiting = Opening(story()), threading.Event()
    ready = open_on_bench(opening, lambda done, total: None, lambda: None)
    async with at_rest("sessions", sources=[story_file(tmp_path)], size=SIZE) as pilot:
        loading = LoadingScreen(opening, lambda: waiting.wait(60) and None)
        await pilot.app.push_screen(loading)
        loading.action_abandon()
        pilot.app.post_message(ready)
        waiting.set()
        await settled(pilot)
        assert [type(screen).__name__ for screen in pilot.app.screen_stack] == ["Screen", "SessionsScreen"]


async def test_work_recent_files_and_the_theme_come_back(tmp_path: Path) -> None:
    path, memory = story_file(tmp_path), tmp_path / "memory"
    async with at_rest(path, memory=memory, size=SIZE) as pilot:
        await press(pilot, "j", "2")
        bench_screen(pilot)._start_saving()
        await settled(pilot)
        assert not (memory / "sessions").exists()  # who only looks leaves no work
        await press(pilot, "p", "[")
        bench_screen(pilot)._start_saving()
        await settled(pilot)
        assert len(list((memory / "sessions").iterdir())) == 1
        before = bench_screen(pilot).bench
        assert before.pins
        colours = pilot.app.ansi_theme
        assert pilot.app.ansi_theme is colours, "made once, not for each piece of a line"
        pilot.app.theme = "workbench-contrast"
        assert pilot.app.ansi_theme.ansi_colors != colours.ansi_colors
        await settled(pilot)
    async with at_rest(path, memory=memory, size=SIZE) as pilot:
        after = bench_screen(pilot).bench
        assert (after.pins, after.split_at) == (before.pins, before.split_at)
        assert notes(pilot) == ["carried over: 1 pin, the split"]
        assert pilot.app.theme == "workbench-contrast"
    assert [one.path for one in read_home(memory).recents] == [str(path)]
    light = Settings(theme="workbench-light")
    async with at_rest(path, memory=memory, fresh=True, settings=light, size=SIZE) as pilot:
        assert bench_screen(pilot).bench.pins == frozenset()
        assert pilot.app.theme == "workbench-light"


async def test_every_screen_explains_itself_and_its_keys() -> None:
    assert "cancel without losing anything" in str(LoadingScreen.HELP)
    assert "close" in {key.id for key in keys_of([LoadingScreen], {})}
    async with at_rest(story(), size=SIZE) as pilot:
        starts = {
            "": "The bench shows",
            "e": "Choose the format",
            "C": "Each row is a variant",
            "f": "One question",
        }
        for key, words in starts.items():
            await press(pilot, *filter(None, [key]))
            behind = pilot.app.screen
            front = await brought(pilot, HelpScreen, "f1")
            assert front.text == behind.HELP
            assert front.text.startswith(words)
            assert {b.id for b in type(behind).BINDINGS} <= {key.id for keys in front.own.values() for key in keys}  # type: ignore[union-attr]
            await press(pilot, "escape")
            assert pilot.app.screen is behind
            if key:
                await press(pilot, "escape")


async def test_settings_remap_keys_and_what_is_wrong_in_them_is_told() -> None:
    keys = {"bench.pin": "f5", "bench.nothing": "f6", "screen.close": "f9", "bench.undo": "f7"}
    settings = Settings(keys=keys, theme="pink", path=Path("config.toml"))
    async with at_rest(story(), settings=settings, size=SIZE) as pilot:
        assert pilot.app.theme == "workbench"
        told = sorted(notes(pilot))
        assert told[0] == 'config.toml: keys."bench.nothing" names nothing; the help (?) shows the id of every key.'
        assert "there is no theme 'pink'" in told[1]
        assert len(told) == 2
        await press(pilot, "f7")
        assert notes(pilot)[-1] == "There is nothing to undo."
        await press(pilot, "f5")
        assert bench_screen(pilot).bench.pins
        await press(pilot, "p")
        assert len(bench_screen(pilot).bench.pins) == 1
        await brought(pilot, HelpScreen, "question_mark")
        assert [key.shown for key in pilot.app.screen.own["Shape"] if key.id == "pin"] == ["f5"]
        await brought(pilot, BenchScreen, "f9", "C", "f1", "f9", "f9")


async def test_a_first_start_says_where_to_begin_and_the_next_one_nothing(tmp_path: Path) -> None:
    for said in (["space shows every key; ctrl+p finds a command by its name; ctrl+o lists your sessions."], []):
        async with at_rest(story_file(tmp_path), memory=tmp_path, size=(80, 24)) as pilot:
            assert notes(pilot) == said


async def test_the_file_is_put_where_its_tool_looks_and_the_command_copied(tmp_path: Path, own_home: Path) -> None:
    path = session_at(tmp_path / "live.jsonl", "go on", 1_000, filler=8)
    path.write_text(path.read_text().replace("/home/me/my_project", str(tmp_path)))  # a folder of this machine
    async with at_rest(path, size=SIZE) as pilot:
        preview = await brought(pilot, ExportScreen, "e")
        assert not preview.query_one("#place").display  # its summary is a placeholder
        await press(pilot, "r")
        screen = await brought(pilot, ExportScreen, "e")
        assert screen.query_one("#place").display
        screen.query_one("#path", Input).value = str(tmp_path / "out.jsonl")
        screen.query_one("#write", Button).press()
        await settled(pilot)
        assert screen.query_one("#place").display
        await press(pilot, "p")
        placed = list((own_home / ".claude").rglob("*.jsonl"))
        assert [one.read_bytes() for one in placed] == [(tmp_path / "out.jsonl").read_bytes()]
        assert f"written to {placed[0]}" in shown(pilot, "#note")
        assert not screen.query_one("#place").display
        await press(pilot, "y")
        assert pilot.app.clipboard == f"cd {tmp_path} && claude --resume {placed[0].stem}"
