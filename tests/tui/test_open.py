"""The open screen with sessions of several tools, the chooser of a file with several, and following one that grows."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Input

from tests.finding.test_discover import session_at
from tests.formats.claude_code_build import assistant, text, user
from tests.paths import SAMPLES
from tests.tui.app import at_rest, bench_screen, brought, notes, press, settled
from workbench.finding.glances import Found
from workbench.tui.bench.following import look
from workbench.tui.entries import found_entry
from workbench.tui.screens.help import HelpScreen
from workbench.tui.screens.open import OpenScreen
from workbench.tui.widgets.entries_list import EntriesList
from workbench.tui.widgets.rounds_list import RoundsList

SIZES = ((80, 24), (120, 40), (200, 60))


def lines_of(pilot: Pilot[None]) -> list[str]:
    files = pilot.app.screen.query_one(EntriesList)
    return [files.render_line(y).text for y in range(files.scrollable_content_region.height)]


async def test_sessions_of_every_tool_are_listed_with_how_full_they_are(own_home: Path, tmp_path: Path) -> None:
    rollout = own_home / ".codex/sessions/2026/01/02/rollout-a.jsonl"
    rollout.parent.mkdir(parents=True)
    shutil.copyfile(SAMPLES / "codex-two-compactions.jsonl", rollout)
    session_at(own_home / ".claude/projects/p/gate.jsonl", "mend the wharf", 1_000)
    async with at_rest("files", size=SIZES[0]) as pilot:
        screen = await brought(pilot, OpenScreen)
        search = screen.query_one(Input)
        search.value = "codex tide"
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await settled(pilot)
            (line,) = [line for line in lines_of(pilot) if "The tide" in line]
            assert line.startswith(" Codex")
            assert "▏" in line
            assert ("3\u00a0%" in line) == (size[0] == 200)
        facts = str(screen.query_one("#facts").render())
        assert "6 779 at the last call, 3 % of 258 400" in facts
        search.value = "wharf"
        await settled(pilot)
        files = screen.query_one(EntriesList)
        assert [entry.words for entry in files.entries] == ["title of mend the wharf"]
        newer = [
            found_entry(Found(tmp_path / f"{n}.jsonl", 9, 2_000.0 + n, "pi", "pi", f"wharf {n}")) for n in range(80)
        ]
        screen.post_message(OpenScreen.Listed(newer, 0, done=True))
        await settled(pilot)
        assert len(files.entries) == 81
        assert files.entry is not None
        assert files.entry.words == "title of mend the wharf"
        assert files.line == 80
        assert files.line - files.scroll_offset.y < files.scrollable_content_region.height


async def test_a_folder_given_is_looked_through(tmp_path: Path, own_home: Path) -> None:
    session_at(own_home / ".claude/projects/p/elsewhere.jsonl", "not asked for", 1_000)
    session_at(tmp_path / "a/gate.jsonl", "mend the gate", 1_000)
    async with at_rest("files", given=[tmp_path], size=SIZES[1]) as pilot:
        entries = pilot.app.screen.query_one(EntriesList).entries
        assert [entry.words for entry in entries if entry.kind != "sample"] == ["title of mend the gate"]


async def test_a_file_with_several_sessions_asks_which_one(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    shutil.copyfile(SAMPLES / "tau-bench-two-sessions.json", path)
    async with at_rest(path, size=SIZES[0]) as pilot:
        assert isinstance(pilot.app.screen, OpenScreen)
        assert "task 7, trial 0, reward 1.0" in lines_of(pilot)[0]
        await brought(pilot, HelpScreen, "f1")
        await press(pilot, "escape", "z", "z", "enter")
        assert "Nothing fits" in notes(pilot)[0]
        await press(pilot, "escape", "down", "enter")
        session = bench_screen(pilot).bench.session
        assert (len(session.messages), session.facts.part) == (7, "2")
        await press(pilot, "home", "p", "f5")
        again = bench_screen(pilot).bench
        assert again.session is not session
        assert (again.session.facts.part, len(again.pins)) == ("2", 1)
    async with at_rest(path, size=SIZES[0]) as pilot:
        await pilot.press("escape")
    assert pilot.app.return_code == 0


async def test_a5_a_session_with_broken_links_asks_which_branch(tmp_path: Path) -> None:
    first = [user("u1", None, "Go"), assistant("a1", "u1", "m1", text("Yes"))]
    second = [user("u2", "gone", "More"), assistant("a2", "u2", "m2", text("Fine"))]
    later = [{**line, "timestamp": "2026-02-08T11:30:50.235Z"} for line in second]
    path = tmp_path / "broken.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in (*first, *later)))
    async with at_rest(path, size=SIZES[1]) as pilot:
        assert isinstance(pilot.app.screen, OpenScreen)
        assert "the branch that Claude Code resumes" in lines_of(pilot)[0]
        await press(pilot, "down", "enter")
        session = bench_screen(pilot).bench.session
        assert ([message.id for message in session.context()], session.facts.part) == (
            ["u1", "a1", "u2", "a2"],
            "joined",
        )


def said(number: int) -> str:
    """One more request and its answer, as lines of the file."""
    asked = user(f"u{number}", f"a{number - 1}" if number else None, f"step {number}")
    billed = {"usage": {"input_tokens": 20_000 + 800 * number, "output_tokens": 10}}
    answer = assistant(f"a{number}", f"u{number}", f"m{number}", text("ok"), body=billed)
    return "".join(json.dumps(line) + "\n" for line in (asked, answer))


async def test_a_session_that_grows_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "live.jsonl"
    path.write_text("".join(map(said, range(4))))
    async with at_rest(path, follow=True, size=SIZES[1]) as pilot:
        screen = bench_screen(pilot)

        async def grow(more: str) -> int:
            with path.open("a") as file:
                file.write(more)
            look(screen, math.inf)
            await settled(pilot)
            return len(screen.bench.messages)

        rounds = screen.query_one(RoundsList)
        await press(pilot, "home", "right", "p")
        line = rounds.line
        pins, tokens = screen.bench.pins, screen.bench.context.total.tokens
        assert pins
        assert await grow("") == 8
        whole = said(4)
        assert await grow(whole[:-30]) == 9  # the answer is not finished yet
        assert await grow(whole[-30:]) == 10
        assert screen.bench.pins == pins
        assert screen.bench.context.total.tokens > tokens
        assert rounds.line == line
        assert rounds.rows is not None
        assert 0 in rounds.rows.opened
        assert "1 new message" in screen.view.said
        assert len(screen.view.history.past) == 1
        await press(pilot, "end")
        assert await grow(said(5)) == 12
        last = len(rounds.rows) - 1
        assert rounds.line == last - (rounds.rows.split_line == last), "the line of the split is no place to be"

        assert not screen.view.history.undone().present.pins
        assert len(screen.view.history.undone().present.messages) == 12
        assert path.read_text() == "".join(map(said, range(6)))  # never written to

        path.write_text(said(0))
        look(screen, math.inf)
        await settled(pilot)
        assert len(screen.bench.messages) == 2
        assert "does not go on as it began: this is how it stands now; carried over: 1 pin" in notes(pilot)[-1]
