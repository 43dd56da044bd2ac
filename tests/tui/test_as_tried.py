"""What people stumbled over who tried every screen, each told by what they did."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from textual.events import Paste
from textual.widgets import Input, Static

from tests.paths import SAMPLES
from tests.summarizers.live_calls import MODEL
from tests.tui.app import (
    app_of,
    at_rest,
    brought,
    done,
    in_one_line,
    notes,
    on_bench,
    press,
    session_of,
    settled,
    story,
)
from tests.tui.test_run import ready
from workbench.analysis.suggested_pins import suggest
from workbench.base.errors import BadInput
from workbench.bench import open_bench
from workbench.formats.files import load
from workbench.formats.registry import formats
from workbench.session import Message, Text, ToolResult
from workbench.tokens import Counter
from workbench.tui.bench.panes import is_in_list
from workbench.tui.screens.ask import AskScreen, LineAnswer
from workbench.tui.screens.compare import CompareScreen
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.screens.export import ExportScreen
from workbench.tui.screens.help import HelpScreen
from workbench.tui.screens.run import RunScreen
from workbench.tui.screens.run_history import RunHistory
from workbench.tui.screens.sessions import SessionsScreen
from workbench.tui.widgets.budget_bar import BudgetBar
from workbench.tui.widgets.calls_plot import CallsPlot
from workbench.tui.widgets.cut_text import TwoEnds
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.policy_sheet import PolicySheet
from workbench.tui.widgets.rounds_list import RoundsList
from workbench.tui.widgets.text_view import TextView
from workbench.tui.widgets.watched_lines import WatchedLines

SIZE = (140, 42)
OVERFLOW, SUMMARY = SAMPLES / "claude-code-overflow.jsonl", SAMPLES / "augment-with-summary.json"


async def test_a_run_is_seen_whatever_tab_is_in_front() -> None:
    async with on_bench(story(), size=SIZE) as (pilot, bench):
        await press(pilot, "5")
        bar = bench.query_one(BudgetBar)
        assert bar.budget is not None
        before = [bar.render_line(y) for y in range(2)]
        await press(pilot, "r")
        after = [bar.render_line(y) for y in range(2)]
        assert bench.view.tab == "checks"
        assert before[0] == after[0]
        assert before[1] != after[1]
        assert "result of the last run" in bench.query_one("#status", TwoEnds).text

        # The footer has the keys of where one types, and of the help.
        await press(pilot, "9", "down")
        typing = bench.query_one(KeysLine).render_line(0).text
        assert all(word in typing for word in ("As preset", "esc Back"))
        assert "Find" not in typing
        help = await brought(pilot, HelpScreen, "f1")
        assert help.query_one(KeysLine).render_line(0).text.split() == ["esc", "Close"]

        # The beginning of a preset's name marks it: `led` marked another, whose description has a word that holds it.
        await press(pilot, "escape", "escape", "P", *"led", "enter", painted=False)
        assert bench.bench.preset == "ledger"


LATER = "The quokka naps at noon."


async def test_what_is_typed_is_seen_on_the_bars_and_the_watched_rules_at_once() -> None:
    messages = list(story().messages)
    result = messages[18].results[0]
    messages[18] = replace(messages[18], blocks=(ToolResult(result.call_id, (Text(LATER + "\n" + result.text),)),))
    async with on_bench(session_of(messages), size=SIZE, watched=(LATER,)) as (pilot, bench):
        await press(pilot, "9", "down")
        sheet, bar, rules = bench.query_one(PolicySheet), bench.query_one(BudgetBar), bench.query_one(WatchedLines)
        sheet.go("history_tail_size_chars_to_exclude")
        await settled(pilot)
        typed, seen = pilot.app.focused, []
        assert isinstance(typed, Input)
        for text in ("100", "20 000"):
            typed.value = text
            await settled(pilot)
            assert pilot.app.focused is typed
            assert bar.region.height
            assert rules.region.height
            seen.append((bar.render_line(1).text, rules.render_line(0).text))
        assert seen[0][0] != seen[1][0]
        assert ["after ○" in rules for _, rules in seen] == [True, False]


def eighths(line: str) -> list[tuple[float, int]]:
    """The tokens that a line of the list tells, and how long its bar is, in eighths of a cell."""
    found = re.search(r"([\d.]+)(k?)\s+([█▉▊▋▌▍▎▏]+)(?:\s|$)", line)
    if found is None:
        return []
    tokens = float(found[1]) * (1_000 if found[2] else 1)
    return [(tokens, sum(8 - "█▉▊▋▌▍▎▏".index(one) for one in found[3]))]


async def test_rounds_and_messages_have_one_scale() -> None:
    async with on_bench(OVERFLOW, size=SIZE) as (pilot, bench):
        rounds = bench.query_one(RoundsList)
        await press(pilot, "home", "j", "enter", "j", "j", "j", "j", "j", "j", "j", "enter")
        shown = sorted(one for line in range(rounds.line_count) for one in eighths(rounds.line_text(line)))
        assert len(shown) > 50
        by_bar = [bar for _, bar in shown]
        assert by_bar == sorted(by_bar), "more tokens, no shorter bar, whether of a round or a message"
        assert by_bar[0] < by_bar[-1]


def test_a_suggested_pin_is_counted_whole() -> None:
    """A rule of 340 characters was told to take 9 tokens."""
    wrong, seen = [], 0
    for path, epoch in ((SUMMARY, 1), (OVERFLOW, None)):
        for pin in suggest(open_bench(load(path), Counter(), epoch=epoch).context):
            seen += 1
            wrong += [] if pin.tokens * 6 >= len(pin.text) else [(path.name, pin)]
    assert wrong == []
    assert seen > 5


def test_a_session_is_judged_by_its_own_tools_preset_and_a_stranger_loses_no_summary_to_it() -> None:
    wanted = {known.id: known.preset for known in formats() if known.preset}
    opened = {}
    for path in sorted(SAMPLES.iterdir()):
        try:
            bench = open_bench(load(path), Counter())
        except BadInput:
            continue  # a note beside the samples
        if bench.session.format in wanted:
            opened[path.name] = (bench.session.format, bench.preset)
    assert {name: one for name, one in opened.items() if wanted[one[0]] != one[1]} == {}
    assert {format for format, _ in opened.values()} >= {"claude-code", "codex", "pi"}


async def test_a_plot_has_no_letters_between_its_lines_and_even_steps_on_its_axis() -> None:
    async with on_bench(story(rounds=12), preset="trim", window=20_000, size=SIZE) as (pilot, _):
        screen = await brought(pilot, CompareScreen, "C", "tab")
        plot = screen.query_one(CallsPlot)
        rows = [plot.render_line(y).text for y in range(plot.size.height)]
        inside = [row.partition("│")[2] or row.partition("┤")[2] for row in rows]
        assert [row for row in inside if re.search(r"[A-Za-z]", row)] == []
        assert "▲ best ▼ worst" in str(screen.query_one("#note", Static).render())
        assert re.search(r"variant [\d\s]+ tokens", str(screen.query_one("#call", Static).render()))
        assert rows[0].startswith("tokens │")
        assert rows[-1].split()[0] == "call"
        await press(pilot, "o")
        assert plot.picture is not None
        assert len(plot.picture.lines) > 3
        several = [plot.render_line(y).text.rstrip() for y in range(plot.size.height)]
        within = [re.sub(r"[A-Z]+$", "", row.partition("│")[2] or row.partition("┤")[2]) for row in several]
        print([row[-9:] for row in several])
        assert any(re.search(r"[A-Z]$", row) for row in several), "behind its end a curve has its letter"
        assert [row for row in within if re.search(r"[A-Za-z]", row)] == []
        ticks = [y for y, row in enumerate(rows) if "┤" in row]
        steps = {below - above for above, below in pairwise(ticks)}
        assert len(ticks) > 2
        assert max(steps) - min(steps) <= 1


async def test_the_words_of_a_round_take_the_room_there_is() -> None:
    said = "Fix the token refresh in src/auth/session.ts, please, and tell me then what it was."
    messages = [Message("u", "user", (Text(said),)), Message("a", "assistant", (Text("Done."),))]
    async with on_bench(session_of([*messages, *story().messages[1:]]), size=(200, 60)) as (pilot, bench):
        await press(pilot, "home")
        rounds = bench.query_one(RoundsList)
        told = [rounds.line_text(line) for line in range(rounds.line_count)]
        assert any(said[:44] in line for line in told), told[:4]


# --- dialogs ---------------------------------------------------------------------------------------------------------


async def test_what_a_question_does_is_refused_or_tells_something_or_ends_it() -> None:
    def read(typed: str) -> LineAnswer[str]:
        if len(typed) < 2:
            raise BadInput("Describe the change.")
        return LineAnswer(typed)

    outcomes: list[str | BadInput] = [BadInput("No room."), "counted: 7", ""]
    given: list[str] = []

    async def do(typed: str) -> str:
        given.append(typed)
        outcome = outcomes.pop(0)
        if isinstance(outcome, BadInput):
            raise outcome
        return outcome

    async with at_rest(story(), size=SIZE) as pilot:
        await pilot.app.push_screen(AskScreen("Count", "Which?", "one", read, do))
        screen = pilot.app.screen
        line, understood = screen.query_one(Input), screen.query_one("#understood", Static)
        line.post_message(Paste("a\nb"))
        await settled(pilot)
        assert line.value == "a b", "a paste of two lines is one, in the place of what was there"
        for typed, is_refused in (("", False), ("x", True), ("a b", False)):
            line.value = typed
            await settled(pilot)
            assert ("✘ Describe the change." in str(understood.render())) == is_refused, "an empty line is not blamed"
        for words in ("✘ No room.", "counted: 7"):
            await press(pilot, "enter")
            assert in_one_line(screen.query_one("#understood", Static)) == words
            assert screen.query_one(Input).has_focus
        await press(pilot, "enter")
        assert pilot.app.screen is not screen
    assert given == ["a b"] * 3


async def test_an_export_of_an_older_epoch_says_what_is_not_in_it_and_a_sample_is_not_exported_into_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with on_bench(SAMPLES / "codex-two-compactions.jsonl", size=SIZE) as (pilot, bench):
        said = []
        for _ in range(2):
            last = bench.bench.epoch == len(bench.bench.session.epochs)
            screen = await brought(pilot, ExportScreen, "e")
            assert Path(screen.query_one("#path", Input).value).parent == tmp_path
            said.append((" not in a new file" in in_one_line(screen.query_one("#about", Static)), last))
            await press(pilot, "escape", "}")
        assert said == [(True, False), (False, True)]


async def test_a_screen_with_nothing_on_it_says_in_full_what_to_press() -> None:
    nothing = story(texts=["Have a look at it.", "And now?"])
    async with on_bench(nothing, size=SIZE) as (pilot, bench):
        await done(pilot, "runs")
        screen = await brought(pilot, RunScreen)
        history = screen.query_one(RunHistory)
        assert history.here is None
        assert history.query_one(TextView).text == RunHistory.EMPTY
        assert "enter on the run screen makes one" in str(history.query_one(".about", Static).content)
        offered = {key.words for key in screen.query_one(KeysLine).keys if key.enabled}
        assert offered == {"Run history", "Cancel, back", "Help"}
        assert "H closes this list; enter" in RunHistory.EMPTY
        await press(pilot, "H")
        assert screen.query_one("#panes").display
        await press(pilot, "H", "escape")
        assert screen.query_one("#panes").display, "closed where it was opened on this screen"
        await press(pilot, "escape")
        await done(pilot, "runs")
        await press(pilot, "escape")
        assert pilot.app.screen is bench, "opened from the bench, it leads back there"


async def test_a_refusal_at_the_start_offers_another_session(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("nothing here")
    async with at_rest(path, size=(80, 24)) as pilot:
        await brought(pilot, ConfirmScreen)
        await brought(pilot, SessionsScreen, "y")
        assert len(pilot.app.screen_stack) == 2
    app = app_of(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("escape")
    assert app.return_code == 2
    async with at_rest(story(), size=(80, 24)) as pilot:
        await pilot.app.push_screen(ConfirmScreen("Not that one."))
        await brought(pilot, ConfirmScreen, "y")  # the bench is below: there is only the way back


async def test_nothing_is_waited_for_where_there_is_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    async with at_rest(story(), size=SIZE) as pilot:
        screen = await ready(pilot, f"anthropic:{MODEL}")
        await press(pilot, "enter")
        assert "waiting" not in screen.query_one(TextView).text


# --- a key that is held ----------------------------------------------------------------------------------------------


@pytest.mark.full  # `visited` holds two keys in each list, `test_a_text_and_a_list_by_keys_and_by_mouse` one here
async def test_a_key_that_is_held_says_one_thing_at_most() -> None:
    told: dict[str, list[str]] = {}
    async with on_bench(story(3, calls=1), size=(80, 24)) as (pilot, bench):
        for key in [key for key, one in bench.active_bindings.items() if one.node is bench and key != "q"]:
            pilot.app.clear_notifications()
            for _ in range(2):
                await pilot.press(key)
                if pilot.app.screen is not bench:
                    break
            await settled(pilot, painted=False)
            told[key] = notes(pilot)
            while pilot.app.screen is not bench or not is_in_list(bench):
                await press(pilot, "escape", painted=False)
    assert {key: said for key, said in told.items() if len(said) > 1} == {}
    assert len(told) > 40
