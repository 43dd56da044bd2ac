"""The open screen with sessions of several tools, the chooser of a file with several, and following one that grows."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

from textual.pilot import Pilot

from tests.finding.test_discover import session_at
from tests.formats.claude_code_build import assistant, text, user
from tests.paths import SAMPLES
from tests.tui.app import at_rest, bench_screen, brought, done, notes, press, settled
from workbench.tui.bench.following import TRIES, check_file
from workbench.tui.screens.help import HelpScreen
from workbench.tui.screens.sessions import SessionsScreen
from workbench.tui.widgets.records import RecordTable
from workbench.tui.widgets.rounds_list import RoundsList

SIZES = ((80, 24), (120, 40), (200, 60))


def lines_of(pilot: Pilot[None]) -> list[str]:
    files = pilot.app.screen.query_one(RecordTable)
    return [files.render_line(y).text for y in range(files.scrollable_content_region.height)]


async def test_a_folder_given_is_looked_through(tmp_path: Path, own_home: Path) -> None:
    session_at(own_home / ".claude/projects/p/elsewhere.jsonl", "not asked for", 1_000)
    session_at(tmp_path / "a/gate.jsonl", "mend the gate", 1_000)
    async with at_rest("sessions", sources=[tmp_path], size=SIZES[1]) as pilot:
        rows = pilot.app.screen.query_one(RecordTable).lines
        assert [row["title"] for row in rows] == ["title of mend the gate"]


async def test_a_file_with_several_sessions_asks_which_one(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    shutil.copyfile(SAMPLES / "tau-bench-two-sessions.json", path)
    async with at_rest(path, size=SIZES[0]) as pilot:
        assert isinstance(pilot.app.screen, SessionsScreen)
        assert "task 7, trial 0, reward 1.0" in lines_of(pilot)[0]
        await press(pilot, "s", "w", "c", "ctrl+f")  # the sessions of one file are only chosen
        assert isinstance(pilot.app.screen, SessionsScreen)
        await brought(pilot, HelpScreen, "f1")
        await press(pilot, "escape", "f", "z", "z", "enter", "enter")
        assert "Nothing is in the table" in notes(pilot)[0]
        await press(pilot, "escape", "down", "enter")
        session = bench_screen(pilot).bench.session
        assert (len(session.messages), session.facts.part) == (7, "2")
        await press(pilot, "home", "p")
        await done(pilot, "reread")
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
        assert isinstance(pilot.app.screen, SessionsScreen)
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
            check_file(screen, math.inf)
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
        assert "1 new message" in screen.view.note
        assert len(screen.view.history.past) == 1
        await press(pilot, "end")
        assert await grow(said(5)) == 12
        last = len(rounds.rows) - 1
        assert rounds.line == last - (rounds.rows.split_line == last), "the line of the split is no place to be"

        assert not screen.view.history.undone().present.pins
        assert len(screen.view.history.undone().present.messages) == 12
        assert path.read_text() == "".join(map(said, range(6)))  # never written to

        pins, path_read = screen.bench.pins, path.read_text()
        path.write_text(path_read[: len(path_read) // 2])
        for _ in range(TRIES):  # it may be in the middle of being rewritten
            check_file(screen, math.inf)
            await settled(pilot)
        assert (len(screen.bench.messages), screen.bench.pins) == (12, pins)
        assert notes(pilot)[-1] == (
            "live.jsonl has shrunk to 6 of 12 messages; the bench keeps all. "
            "Read again (ctrl+p) shows the file as it is."
        )
        path.write_text(path_read)
        check_file(screen, math.inf)
        await settled(pilot)
        assert (len(screen.bench.messages), screen.bench.pins) == (12, pins)

        path.write_text(said(0) + said(1).replace('"u1"', '"other"'))
        check_file(screen, math.inf)
        await settled(pilot)
        assert len(screen.bench.messages) == 4
        assert "no longer begins as it did: its present content is shown; carried over: 1 pin" in notes(pilot)[-1]
