"""The bench, driven by keys as a person drives it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from textual.events import Resize
from textual.geometry import Size
from textual.widgets import Button, Input, Static, Tabs

from tests.base.shapes import missed, shapes
from tests.products import mostly_full
from tests.tui.app import app_of, bench_screen, done, on_bench, press, session_of, settled, story, story_file
from tests.tui.every_screen import drawn
from workbench.base.secrets import MASK, masked
from workbench.session import Message, Text, Thinking, ToolResult, ToolUse
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.widgets.rounds_list import RoundsList
from workbench.tui.widgets.text_view import TextView

SIZE = (120, 40)
SIZES = [(80, 24), (140, 42)]
"""The smallest one, and the one that most have."""
SECRET = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


async def test_the_middle_has_the_keys_when_it_has_the_screen() -> None:
    async with on_bench(story(), size=(140, 60)) as (pilot, screen):
        before = screen.bench
        for whole in (True, False):
            await done(pilot, "widen")
            assert (screen.maximized is not None, screen.focused) == (whole, screen.query_one(TextView))
        assert screen.bench is before, "nothing was typed into a field that was hidden"


@pytest.mark.parametrize("sizes", mostly_full([SIZES, [(140, 18), (140, 25), (140, 70), (240, 60)]], [SIZES]), ids=str)
async def test_what_is_styled_for_a_place_is_all_that_its_rules_speak_of(sizes: list[tuple[int, int]]) -> None:
    """To style the whole screen behind it changes nothing any more."""

    def rules() -> dict[str, dict[str, object]]:
        return {str(one): one.styles.get_rules() for one in screen.walk_children(with_self=True)}

    async with on_bench(story(), size=sizes[0]) as (pilot, screen):
        for size in sizes:
            await pilot.resize_terminal(*size)
            seen = []
            for key in ("9", "escape", "4", "5"):
                await press(pilot, "escape", key)
                shown = rules()
                screen.update_node_styles()
                assert rules() == shown, (size, key)
                seen.append(shown)
            assert seen[0] != seen[1], "the policy is a sheet"


async def test_every_key_of_the_bench_is_in_the_palette(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.delenv("VISUAL", raising=False)
    async with on_bench(story()) as (pilot, screen):
        await press(pilot, "[")
        commands = [command.help for command in pilot.app.commands(screen)]
        missing = {b.id for b in screen.BINDINGS if b.tooltip not in commands}  # type: ignore[union-attr]
        assert missing == {"cancel"}
        not_now = {command.name for command in pilot.app.commands(screen) if not command.can}
        epochs, hits = {"Previous epoch", "Next epoch", "Recorded"}, {"Next match", "Previous match"}
        keeping = {"Keep with a pin", "Keep with a setting"}
        assert not_now == {"Redo", "Reset settings", "Editor", "Repair", *epochs, *hits, *keeping}


async def test_an_export_is_masked_where_that_is_wanted(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    turns = [{"role": role, "content": f"{SECRET} {n}"} for n in range(20) for role in ("user", "assistant")]
    file.write_text(json.dumps({"model": "m", "max_tokens": 9, "messages": turns}))
    for name, keys, there in (("masked.json", "m", False), ("as-it-is.json", "mm", True)):
        async with on_bench(file) as (pilot, _):
            await press(pilot, "r", "e", *keys)
            screen = pilot.app.screen
            screen.query_one("#path", Input).value = str(tmp_path / name)
            screen.query_one("#write", Button).press()
            await settled(pilot)
            said = str(screen.query_one("#note", Static).render())
            assert ("copied to" if there else "written to") in said
            assert not screen.check_action("mask", ()), "what is written stays as it is"
        assert (SECRET in (tmp_path / name).read_text()) == there


async def test_export_of_a_preview_is_stopped_unless_insisted_and_never_writes_over_a_file(tmp_path: Path) -> None:
    async with on_bench(story_file(tmp_path)) as (pilot, _):
        await press(pilot, "e")
        screen = pilot.app.screen
        target = tmp_path / "preview.json"
        screen.query_one("#path", Input).value = str(target)
        assert screen.query_one("#write", Button).disabled
        rows = drawn(screen).rows_of(screen.query_one("#checks"))
        signs = [(text.strip()[:1], style and style.color) for row in rows for text, style, _ in row]
        seen = {sign: colour and colour.name for sign, colour in signs if sign in ("✔", "✘")}
        names = pilot.app.theme_variables
        assert seen == {"✔": names["text-success"].lower(), "✘": names["text-error"].lower()}
        screen.query_one("#anyway", Button).press()
        await settled(pilot)
        assert target.exists()
        await press(pilot, "escape", "e", "r")
        assert bench_screen(pilot).bench.result is not None, "what was only a preview is run from the export"
        target.write_text("mine")
        screen = pilot.app.screen
        assert not screen.query_one("#write", Button).disabled, "and the export is back with it"
        screen.query_one("#path", Input).value = str(target)
        screen.query_one("#write", Button).press()
        await settled(pilot)
        assert "preview.json exists; choose another name" in str(screen.query_one("#note", Static).render())
        assert target.read_text() == "mine"


HOSTILE = (
    "[/red] [bold]not bold[/bold] [@click=app.quit]quit[/]",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x00 \x7f \x9b31m",
    "👩‍👩‍👧‍👦 漢字とかな e\u0301\u0301 \u202eevil\u202c שלום العربية",
    "lone \ud800 surrogate \u2028 separator",
)
SECRETS = [shape for shape in shapes("secret") if len(shape.secrets) == 1 and not missed(masked, [shape])][::12]


@pytest.mark.parametrize("size", mostly_full(SIZES, [(80, 24)]))
async def test_hostile_text_is_shown_and_harmless(size: tuple[int, int]) -> None:
    """And what is a secret in it is shown nowhere."""
    text = "\n".join((*(shape.text for shape in SECRETS), *HOSTILE))

    def leaked(beside: str = "") -> list[str]:
        shown = screen.query_one(TextView).text + beside
        return [shape.about for shape in SECRETS if shape.secrets[0] in shown]

    messages = [
        Message("a[/red]", "user", (Text(text),), time=1e300),
        Message("b", "assistant", (Thinking(text), ToolUse("c[/]", "[/Tool]\x1b", {"[/k]": text})), model=HOSTILE[0]),
        Message("d", "tool", (ToolResult("c[/]", (Text(text),), is_error=True),)),
        Message("e", "assistant", (Text("x" * 1_000_000),)),
        Message("f", "user", (Text("漢" * 200_000),)),
        Message("g", "assistant", ()),
    ]
    async with on_bench(session_of(messages, model=HOSTILE[0]), size=size) as (pilot, screen):
        for index in range(len(messages)):
            screen.query_one(RoundsList).go(index)
            await settled(pilot)
            shown = screen.query_one(TextView).text
            assert "\x1b" not in shown
            assert leaked() == []
            if index == 0:
                assert leaked(pilot.app.export_screenshot().replace("&#160;", " ")) == []
                assert MASK in shown
                assert "[/red] [bold]not bold[/bold]" in shown
                assert "␛[31mred" in shown
            if index == 3:
                assert "x" * 1_000_000 in shown
        for key in (*"12345", "r", "3"):
            await press(pilot, key)
            assert leaked() == []
        assert "\x1b" not in screen.query_one(TextView).text


async def test_a_narrow_screen_shows_one_pane_at_a_time() -> None:
    async with on_bench(story(), size=(80, 24)) as (pilot, screen):

        def visible() -> list[bool]:
            return [screen.query_one(name).display for name in ("#list", "#text", "#policy")]

        assert visible() == [True, False, False]
        screen.query_one(RoundsList).go(20)
        await press(pilot, "enter")
        assert visible() == [False, True, False]
        assert screen.focused is screen.query_one(TextView)
        await press(pilot, "9")
        assert visible() == [False, False, True]
        await press(pilot, "escape")
        assert visible() == [True, False, False]
        assert screen.focused is screen.query_one(RoundsList)


async def test_a_file_that_is_no_session_is_refused_with_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "[red]notes.txt"
    path.write_text("nothing here")
    app = app_of(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert isinstance(app.screen, ConfirmScreen)
        assert "[red]notes.txt" in str(app.screen.query_one("#sentence", Static).render())
        await pilot.press("enter")
    assert app.return_code == 2


async def test_leaving_while_loading_ends_the_load(tmp_path: Path) -> None:
    app = app_of(story(rounds=400))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("escape")
    assert app.return_code == 0


async def test_a_crash_leaves_a_traceback_without_what_the_session_says(capsys: pytest.CaptureFixture[str]) -> None:
    key = "sk-ant-" + "api03" * 6
    session = story(texts=[f"the key is {key}"] * 4)

    def fail() -> None:
        held = session.messages[0].text  # a local of the frame that raises
        raise RuntimeError(f"cannot go on with {held}")

    async def crash() -> None:
        async with on_bench(session) as (pilot, _):
            pilot.app.call_later(fail)
            await settled(pilot)

    with pytest.raises(RuntimeError):
        await crash()
    told = capsys.readouterr().err
    assert "RuntimeError: cannot go on with the key is [masked]" in told
    assert "raise RuntimeError" in told
    assert key not in told


async def test_f12_a_tab_that_is_marked_for_another_width_leads_nowhere() -> None:
    """A narrow screen marks the pane, a wide one what the middle shows. The next resize comes so many turns of the loop
    later: when the tabs may not have told of the mark yet."""
    async with on_bench(story(), size=(100, 30)) as (pilot, screen):
        for turns in range(0, 60, 12):
            assert (screen.view.pane, screen.view.tab) == ("rounds", "message")
            for width in (120, 100):
                pilot.app._size = Size(width, 30)
                screen.post_message(Resize(pilot.app.size, pilot.app.size))
                for _ in range(turns):
                    await asyncio.sleep(0)
            await settled(pilot)
            assert (screen.size.width, screen.view.pane) == (100, "rounds")
            assert screen.query_one(Tabs).active == "tab-rounds"
