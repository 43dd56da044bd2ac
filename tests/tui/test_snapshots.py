"""What the screen looks like: every tab and screen at one size; the bench at three, in the themes, with hostile text.

One start takes many pictures, for a start costs more than a picture. A picture that differs is written beside the
others of its run, and the failure names it; `pytest --snapshot-update` accepts what is there.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_textual_snapshot import SVGImageExtension
from syrupy.assertion import SnapshotAssertion
from textual._context import visible_screen_stack
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip
from textual.widgets import Input, ProgressBar, TextArea

from tests.auditing.written import long, put_all, quay
from tests.paths import SAMPLES
from tests.summarizers.fake_api import MODEL, answer, error, fake_api, stalling
from tests.summarizers.live_calls import client_talks_to
from tests.tui.app import (
    app_of,
    at_rest,
    bench_screen,
    done,
    failing_story,
    on_bench,
    press,
    session_of,
    settled,
    story,
    story_file,
    until,
)
from tests.tui.test_run import DRAFT, ready
from tests.tui.test_shape import compacted_story
from workbench.base.resources import PROMPTS
from workbench.session import Message, Text, ToolResult, ToolUse
from workbench.tui.bench.actions import ACTIONS
from workbench.tui.screens.confirm import ConfirmScreen, spend_question
from workbench.tui.screens.loading import LoadingScreen, Opening
from workbench.tui.screens.sessions import SessionsScreen
from workbench.tui.widgets.draft_editor import DraftEditor
from workbench.tui.widgets.rounds_list import RoundsList
from workbench.tui.widgets.text_view import TextView

SMALL, MEDIUM, LARGE = (80, 24), (120, 40), (200, 60)

ANOTHER_EVERY_TIME = (
    (re.compile(r"\d+\.\d(?= s\b|&#160;s\b)"), "0.0"),
    (re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}"), "20260101-000000-abcdef"),
    (re.compile(r"127\.0\.0\.1:\d{5}"), "127.0.0.1:40000"),
)
"""Seconds that a run took, the id under which it is kept, and the port of the server that is asked."""


class Album:
    """Takes pictures of one app and tells at the end which of them are not what they were."""

    def __init__(self, accepted: SnapshotAssertion, folder: Path) -> None:
        self.accepted = accepted
        self.folder = folder
        self.differing: list[str] = []

    async def take(self, pilot: Pilot[None], name: str, *keys: str) -> None:
        """Press `keys`, wait until everything is at rest, and take the picture."""
        await press(pilot, *keys)
        await settled(pilot)
        await self.taken_now(pilot, name)

    async def taken_now(self, pilot: Pilot[None], name: str) -> None:
        without_blinking(pilot.app)
        pilot.app.clear_notifications()
        picture = await still(pilot)
        for pattern, steady in ANOTHER_EVERY_TIME:
            picture = pattern.sub(steady, picture)
        if picture != self.accepted(name=name):
            path = self.folder / f"{name}.svg"
            path.write_text(picture, "utf-8")
            self.differing.append(str(path))


def without_blinking(app: App[None]) -> None:
    """A line that was drawn while the cursor was blinked away is kept by Textual, so it is drawn again."""
    for typed in app.screen.query("Input, TextArea").results():
        assert isinstance(typed, Input | TextArea)
        typed.cursor_blink = False
        typed.notify_style_update()


class Editor(App[None]):
    def compose(self) -> ComposeResult:
        yield TextArea("one\ntwo")


async def test_a_picture_is_the_same_in_either_half_of_the_blink() -> None:
    pictures = set()
    for blinked_away in (False, True):
        async with Editor().run_test(size=(30, 6)) as pilot:
            await pilot.pause()
            if blinked_away:
                pilot.app.query_one(TextArea)._toggle_cursor_blink_visible()
            await pilot.pause()
            without_blinking(pilot.app)
            pictures.add(await still(pilot))
    assert len(pictures) == 1


async def still(pilot: Pilot[None]) -> str:
    """The picture of a screen that does not change any more: tables are laid out again when they have been idle."""
    drawn: list[Strip] = []
    visible_screen_stack.set(pilot.app._background_screens)  # a dialog is drawn over what it was opened from
    for _ in range(50):
        for _ in range(3):
            await pilot.pause()
        before, drawn = drawn, pilot.app.screen._compositor.render_strips()
        if drawn == before:
            return pilot.app.export_screenshot()
    raise AssertionError("the screen does not come to rest")


@pytest.fixture
def album(snapshot: SnapshotAssertion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Album]:
    """Pictures of an app that is started in a folder of its own, so that no path in them is this machine's."""
    (tmp_path / "pictures").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr("workbench.base.paths._folder", Path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    taken = Album(snapshot.use_extension(SVGImageExtension), tmp_path / "pictures")
    yield taken
    assert not taken.differing


async def shape(pilot: Pilot[None], size: tuple[int, int], theme: str) -> None:
    pilot.app.theme = theme
    await pilot.resize_terminal(*size)
    await settled(pilot)


async def test_the_middle_tab_by_tab(album: Album) -> None:
    async with on_bench(compacted_story(), epoch=1, size=MEDIUM) as (pilot, _):
        await album.take(pilot, "bench")
        bench_screen(pilot).query_one(RoundsList).go(4)
        await album.take(pilot, "message", "1")
        await album.take(pilot, "request", "2")
        await album.take(pilot, "checks-after-a-pin-and-a-split", "p", "[", "5")
        await album.take(pilot, "result-after-a-drop", "end", "x", "4")
        await album.take(pilot, "summary-after-a-run", "r", "3")
        await album.take(pilot, "theirs-the-whole-width", "6", "m")
        await album.take(pilot, "policy-with-a-wrong-value", "m", "9", "down", *"many")


async def test_memories_before_and_after(album: Album) -> None:
    path, preset = SAMPLES / "augment-with-summary.json", "augment-memories"
    async with on_bench(path, epoch=3, preset=preset, size=(140, 42)) as (pilot, _):
        await album.take(pilot, "changes-of-memories", "r", "4", "m")


async def test_sizes_and_themes(album: Album) -> None:
    async with on_bench(story(), size=LARGE) as (pilot, _):
        await album.take(pilot, "200x60")
        await shape(pilot, LARGE, "workbench-light")
        await album.take(pilot, "200x60-light-result", "p", "r", "4")
        await shape(pilot, MEDIUM, "workbench-light")
        await album.take(pilot, "120x40-light-list-without-focus", "u", "u", "1", "escape", "K", "9")
        await shape(pilot, MEDIUM, "workbench-contrast")
        await album.take(pilot, "120x40-contrast", "escape", "j", "p")
        await shape(pilot, SMALL, "workbench-contrast")
        await album.take(pilot, "80x24-contrast")
        await shape(pilot, SMALL, "workbench")
        await album.take(pilot, "80x24-request", "2")
        await album.take(pilot, "80x24-policy", "9", "down", "down", "down")
        await shape(pilot, SMALL, "workbench-light")
        await album.take(pilot, "80x24-light", "escape")


async def test_without_colours(album: Album, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with on_bench(story(), size=SMALL) as (pilot, _):
        await album.take(pilot, "80x24", "p")


async def test_dialogs(album: Album) -> None:
    async with on_bench(story(), size=MEDIUM) as (pilot, _):
        for name, key in (
            ("filter", "f"),
            ("presets", "P"),
            ("compare", "C"),
            ("help", "?"),
        ):
            await album.take(pilot, name, key)
            await press(pilot, "escape")
        for name, action in (("window", "window"), ("preset-name", "save-preset")):
            await done(pilot, action)
            await album.take(pilot, name)
            await press(pilot, "escape")
        await done(pilot, "paste-params")
        await album.take(pilot, "params", *'{"min_')
        await album.take(pilot, "prompt", "escape", "E")
        await album.take(pilot, "template", "f6")
        await album.take(pilot, "find", "escape", "escape", "/", *"token", "enter", "n")
        await press(pilot, "escape", "escape", "2")
        await done(pilot, "write-text")
        await album.take(pilot, "write")
        await press(pilot, "escape")


async def test_screens_of_live_runs(album: Album, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(PROMPTS, "prompts")
    monkeypatch.setattr("workbench.compaction.prompts.PROMPTS", Path("prompts"))
    async with on_bench(story(), size=MEDIUM) as (pilot, _):
        await album.take(pilot, "prompts", "E", "escape")
        await press(pilot, "escape")
        await done(pilot, "runs")
        await album.take(pilot, "no-runs")
        await press(pilot, "escape")
        await done(pilot, "exact")
        await album.take(pilot, "exact-counts")
        await press(pilot, "escape")
        await ready(pilot, "extractive")
        await album.take(pilot, "summarizers", "m")


async def test_screens_of_diagnosis(album: Album) -> None:
    async with on_bench(story(rounds=12), preset="trim", window=20_000, size=MEDIUM) as (pilot, _):
        await album.take(pilot, "why", ACTIONS["why"].key)
        await album.take(pilot, "why-a-table", "2")
        await album.take(pilot, "facts", "escape", "X")
        await album.take(pilot, "generations", "3")
        await album.take(pilot, "rework", "4")
        await album.take(pilot, "rules", "escape", "W")
        await album.take(pilot, "questions", "escape", "X", "2")


async def test_watched_sentences(album: Album) -> None:
    watched = ("Never log the token.", "Make CI fail.", "Done with part 11: the check now comes before the refresh.")
    async with on_bench(story(rounds=12), preset="trim", window=20_000, size=MEDIUM, watched=watched) as (pilot, _):
        await album.take(pilot, "watched")
        await album.take(pilot, "watched-rules", "home", "W")


async def test_a_live_run(album: Album, monkeypatch: pytest.MonkeyPatch) -> None:
    replies = [
        error(401, "authentication_error", "invalid x-api-key"),
        stalling("## Goal\n", "half a sum"),
        answer(DRAFT),
    ]
    async with fake_api(*replies) as api:
        client_talks_to(api, monkeypatch)
        async with app_of(failing_story()).run_test(size=MEDIUM) as pilot:
            screen = await ready(pilot, f"anthropic:{MODEL}")
            await album.take(pilot, "before")
            await album.take(pilot, "failed", "enter")
            await press(pilot, "escape")
            screen = await ready(pilot, f"anthropic:{MODEL}")
            await pilot.press("enter")
            await until(lambda: "half a sum" in screen.query_one(TextView).text)
            await album.taken_now(pilot, "streaming")
            screen.action_leave()
            await settled(pilot)
            await press(pilot, "enter")
            assert screen.query_one(DraftEditor).text == DRAFT.strip()
            await album.take(pilot, "draft")


async def test_export(album: Album) -> None:
    path = story_file(Path())
    os.utime(path, (1_760_000_000, 1_760_000_000))  # a file that changed just now is told of, with its age
    async with on_bench(path, size=MEDIUM) as (pilot, _):
        await album.take(pilot, "of-a-preview", "e")
        await album.take(pilot, "after-a-run", "r", "e")
        await album.take(pilot, "written", "enter")


async def test_spend(album: Album, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/home/ada/.config")
    async with on_bench(story(), size=MEDIUM) as (pilot, _):
        pilot.app.push_screen(spend_question("This may cost $0.12 on top of $0.05 spent, more than $0.10"))
        await album.take(pilot, "asked")


async def test_rescue(album: Album) -> None:
    path = Path(shutil.copyfile(SAMPLES / "claude-code-overflow.jsonl", "harbour.jsonl"))
    os.utime(path, (1_760_000_000, 1_760_000_000))
    async with on_bench(path, size=MEDIUM) as (pilot, _):
        await done(pilot, "rescue")
        pilot.app.screen.query_one("#path", Input).value = "new.jsonl"  # the new session has another id each time
        await album.take(pilot, "rescued")


class Held(LoadingScreen):
    """A load that stands at two fifths."""

    def on_mount(self) -> None:
        self.query_one(ProgressBar).update(total=100, progress=40)

    def load(self) -> None:  # type: ignore[override]
        """Nothing is read: Textual calls the `on_mount` of every class, and the other one asks for this."""


async def test_opening(album: Album) -> None:
    two = shutil.copyfile(SAMPLES / "tau-bench-two-sessions.json", "two.json")
    given = [story_file(Path()), Path(two)]
    for path in given:
        os.utime(path, (1_767_323_045, 1_767_323_045))
    async with at_rest("sessions", sources=given, size=MEDIUM) as pilot:
        await album.take(pilot, "sessions")
        pilot.app.open(Path(two))  # type: ignore[attr-defined]
        await album.take(pilot, "a-file-of-two")
        await press(pilot, "escape")
        logs = put_all(Path("logs"), [("quay.jsonl", quay()), ("long.jsonl", long([20_000, 60_000, 120_000]))])
        logs.append(Path(shutil.copyfile(logs[0], "logs/again.jsonl")))
        for log in logs:
            os.utime(log, (1_767_323_045, 1_767_323_045))  # the table shows when a file changed
        await show(pilot, SessionsScreen([Path("logs")]))
        await album.take(pilot, "read")
        await album.take(pilot, "where-to", "w")
        await press(pilot, "escape", "escape")
        await shape(pilot, SMALL, "workbench-light")
        await show(
            pilot,
            ConfirmScreen("notes.txt is not a session file; `cwb inspect --health notes.txt` says what was tried."),
        )
        await album.taken_now(pilot, "refusal-80x24")
        await show(pilot, Held(Opening(Path("long.jsonl")), lambda: None))
        await album.taken_now(pilot, "loading-80x24")


async def show(pilot: Pilot[None], screen: Screen[object]) -> None:
    await pilot.app.push_screen(screen)
    await pilot.pause()


EVIL = "[/red] [b]x[/b] \x1b[31m \x00\x7f 👩‍👩‍👧‍👦 漢字 e\u0301 \u202eevil\u202c שלום \ud800"


async def test_hostile_text(album: Album) -> None:
    messages = [
        Message("1", "user", (Text(EVIL),)),
        Message("2", "assistant", (ToolUse("c", EVIL, {"[/k]": EVIL}),)),
        Message("3", "tool", (ToolResult("c", (Text(EVIL * 40),), is_error=True),)),
        Message("4", "assistant", (Text("ok"),)),
    ]
    async with on_bench(session_of(messages, model="[/model]"), size=MEDIUM) as (pilot, _):
        await album.take(pilot, "list-and-call", "home", "right", "j", "j")
        await album.take(pilot, "list-and-result", "j")
        await shape(pilot, SMALL, "workbench-light")
        await album.take(pilot, "80x24-message", "1")
