"""All sessions on the screen: listed while they are read, sorted, filtered, summed up and opened on the bench."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest
from textual import events
from textual.widgets import Input, Static

from tests.auditing.written import Written, long, quay
from tests.finding.test_discover import session_at
from tests.paths import SAMPLES
from tests.tui.app import app_of, at_rest, bench_screen, brought, in_one_line, notes, press, settled, story_file, until
from workbench.auditing import run
from workbench.auditing.rows import AuditFile, FileRows, SessionRow
from workbench.tui.screens.ask import AskScreen
from workbench.tui.screens.help import HelpScreen
from workbench.tui.screens.sessions import SessionsScreen
from workbench.tui.session_entries import sample_entries
from workbench.tui.widgets.records import Heads, RecordTable
from workbench.tui.widgets.text_view import TextView

CHANGED = 1_767_323_045
SIZES = ((120, 40), (80, 24), (200, 60))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    quay().put(folder / "quay.jsonl")
    Written(cwd="/home/ada/[bold]mole").said("Look at the [bold]mole.").answered("Yes.", prompt=3_000).put(
        folder / "mole.jsonl"
    )
    long([20_000, 60_000, 120_000]).put(folder / "long.jsonl")
    (folder / "torn.jsonl").write_bytes(b'{"type": "user", "mess')
    for number, name in enumerate(("mole", "long", "quay")):
        os.utime(folder / f"{name}.jsonl", (CHANGED + number, CHANGED + number))
    return folder


def names(screen: SessionsScreen) -> list[str]:
    return [Path(str(line["file"])).name for line in screen.query_one(RecordTable).lines]


def title(screen: SessionsScreen) -> str:
    return str(screen.query_one("#table").border_title)


def advice(screen: SessionsScreen) -> str:
    return str(screen.query_one("#advice Static", Static).render())


def lines(screen: SessionsScreen) -> list[str]:
    table = screen.query_one(RecordTable)
    return [table.render_line(y).text for y in range(len(table.lines))]


async def test_listed_sorted_and_filtered(corpus: Path, own_home: Path) -> None:
    async with at_rest("sessions", sources=[corpus], size=SIZES[0]) as pilot:
        screen = await brought(pilot, SessionsScreen)
        assert names(screen) == ["quay.jsonl", "long.jsonl", "mole.jsonl"], "the newest first"
        assert title(screen) == "3 sessions · 1 unreadable"
        (mole,) = [line for line in lines(screen) if "mole" in line]
        assert "[bold]mole" in mole
        # To the column of the cost and twice s: the dearest first, then the cheapest.
        columns = [one.key for one in screen.query_one(RecordTable).columns]
        await press(pilot, *["right"] * columns.index("peak_tokens"), "s")
        assert names(screen) == ["long.jsonl", "mole.jsonl", "quay.jsonl"]
        await press(pilot, "s")
        assert names(screen) == ["quay.jsonl", "mole.jsonl", "long.jsonl"]
        assert "peak ▴" in str(screen.query_one(Heads).render())
        await press(pilot, "f", *"mole", "enter")
        assert names(screen) == ["mole.jsonl"]
        assert title(screen) == "1 session · 1 unreadable"
        await press(pilot, "escape")
        assert len(names(screen)) == 3
        assert screen.query_one(Input).value == ""
        await press(pilot, "slash", *"mole", "enter")
        assert names(screen)[screen.query_one(RecordTable).line] == "mole.jsonl"
        await press(pilot, "n", "N")
        assert names(screen)[screen.query_one(RecordTable).line] == "mole.jsonl"
        assert len(names(screen)) == 3, "what is looked for does not filter"
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await settled(pilot)
            assert len(lines(screen)) == 3
        await brought(pilot, HelpScreen, "f1")


async def test_the_sums_and_the_advice(corpus: Path, own_home: Path) -> None:
    async with at_rest("sessions", sources=[corpus], size=SIZES[2]) as pilot:
        screen = await brought(pilot, SessionsScreen)
        losses, agent = advice(screen).replace("\u00a0", " ").split("\n")
        assert losses.startswith("Sessions  1 compaction in 1 session lost 1 of 1 rule")
        assert agent.startswith("Claude Code: leave the trigger as it is: ")
        below = screen.query_one("#below", TextView)
        assert (str(below.border_title), "quay.jsonl" in below.text) == ("session", True)
        await press(pilot, "b")
        assert "3 sessions · 1 compaction · 1 300 → 600 tokens" in below.text.replace("\u00a0", " ")
        await press(pilot, "b", "b", "b")
        assert str(below.border_title) == "sums by project"
        assert "[bold]mole" in below.text
        await press(pilot, "b")
        assert str(below.border_title) == "session"


async def test_every_table_and_where_it_is_written_to(corpus: Path, own_home: Path, tmp_path: Path) -> None:
    async with at_rest("sessions", sources=[corpus], size=SIZES[0]) as pilot:
        screen = await brought(pilot, SessionsScreen, "c")
        assert names(screen) == ["quay.jsonl"]
        assert "1 300" in lines(screen)[0]
        await press(pilot, "c", "enter")
        assert names(screen) == ["torn.jsonl"]
        assert "torn" in notes(pilot)[-1] or "session" in notes(pilot)[-1]
        await press(pilot, "c")
        assert len(names(screen)) == 3
        await press(pilot, "f", *"lights", "enter")
        for name in ("all.html", "all.csv", "all.json"):
            ask = await brought(pilot, AskScreen, "w")
            assert "Write 1 session to a new file" in str(ask.query_one(Static).render())
            assert ask.query_one(Input).value == "audit.html"
            ask.query_one(Input).value = str(tmp_path / name)
            await press(pilot, "enter")
            assert notes(pilot)[-1] == f"written to {tmp_path / name}"
        told = [(tmp_path / name).read_text("utf-8") for name in ("all.html", "all.csv", "all.json")]
        assert all("quay.jsonl" in text and "mole.jsonl" not in text for text in told)
        ask = await brought(pilot, AskScreen, "w")
        ask.query_one(Input).value = str(tmp_path / "all.txt")
        await press(pilot, "enter")
        assert "an audit can be written as" in in_one_line(ask.query_one("#understood", Static))
        await press(pilot, "escape")
        assert pilot.app.screen is screen
        assert not (tmp_path / "all.txt").exists()


async def test_a_row_opens_on_the_bench(corpus: Path, own_home: Path) -> None:
    async with at_rest("sessions", sources=[corpus], size=SIZES[0]) as pilot:
        await brought(pilot, SessionsScreen)
        await press(pilot, "enter")
        assert bench_screen(pilot).bench.session.path == corpus / "quay.jsonl"
        for key in ("ctrl+t", "ctrl+o"):
            await brought(pilot, SessionsScreen, key)
            await press(pilot, "escape")
        assert bench_screen(pilot).bench.session.path == corpus / "quay.jsonl"


async def test_a_compaction_opens_at_the_epoch_that_it_ended(tmp_path: Path, own_home: Path) -> None:
    twice = Written().said("Look.").answered("Yes.", prompt=3_000).compacted("They looked.", before=3_000)
    twice.said("Again.").answered("Yes.", prompt=2_000).compacted("They looked twice.", before=2_000)
    path = twice.said("And now?").answered("Done.", prompt=1_000).put(tmp_path / "corpus" / "twice.jsonl")
    for epoch in (1, 2):
        async with at_rest("sessions", sources=[path.parent], size=SIZES[0]) as pilot:
            screen = await brought(pilot, SessionsScreen)
            await press(pilot, "c")
            table = screen.query_one(RecordTable)
            row = [line["epoch"] for line in table.lines].index(epoch)
            await press(pilot, *["down"] * row, "enter")
            assert bench_screen(pilot).bench.epoch == epoch


async def test_where_there_is_nothing_to_advise_the_top_says_what_is_listed(tmp_path: Path, own_home: Path) -> None:
    async with at_rest("sessions", sources=[tmp_path], size=SIZES[0]) as pilot:
        assert str(pilot.app.screen.query_one("#advice Static", Static).render()) == f"Sessions  in {tmp_path}"
        assert "No session in" in str(pilot.app.screen.query_one(RecordTable).empty)


async def test_an_empty_table_says_why_and_speaks_of_words_only_where_some_are_typed(
    own_home: Path, tmp_path: Path
) -> None:
    said = []

    def told(screen: SessionsScreen) -> None:
        said.append(screen.query_one(RecordTable).render_line(0).text.strip())

    folder = tmp_path / "corpus"
    folder.mkdir()
    async with at_rest("sessions", sources=[folder], size=SIZES[1]) as pilot:
        told(await brought(pilot, SessionsScreen))
    long([20_000, 60_000]).put(folder / "long.jsonl")
    async with at_rest("sessions", sources=[folder], size=SIZES[1]) as pilot:
        screen = await brought(pilot, SessionsScreen, "c")
        told(screen)
        await press(pilot, "c")
        told(screen)
        await press(pilot, "c", "f", *"kraken", "enter")
        told(screen)
    assert said == [
        "No session in corpus. f5 looks again.",
        "No session here records a compaction. c: what could not be read.",
        "Every file could be read. c: the sessions.",
        "No row matches “kraken”: esc clears the filter.",
    ]


async def test_the_cursor_stays_at_the_top_or_on_its_row(corpus: Path, own_home: Path) -> None:
    async with at_rest("sessions", sources=[corpus], size=SIZES[0]) as pilot:
        screen = await brought(pilot, SessionsScreen)
        table = screen.query_one(RecordTable)
        for number, keys, here in ((1, (), "first 1"), (2, ("down",), "first 1"), (3, (), "first 1")):
            made = SessionRow(f"/first {number}", time=CHANGED + 10.0 * number)
            screen.post_message(SessionsScreen.RowsRead([made], 0, done=True))
            await settled(pilot)
            await press(pilot, *keys)
            assert table.here is not None
            assert Path(str(table.here["file"])).name == here


async def test_sessions_of_every_agent_are_listed_before_they_are_read(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list is there, with what a glance shows, while no file could be read yet; the figures follow."""
    go_on = threading.Event()
    read = run.survey_file

    def slow(work: AuditFile) -> FileRows:
        assert go_on.wait(60)
        return read(work)

    monkeypatch.setattr(run, "survey_file", slow)
    rollout = own_home / ".codex/sessions/2026/01/02/rollout-a.jsonl"
    rollout.parent.mkdir(parents=True)
    shutil.copyfile(SAMPLES / "codex-two-compactions.jsonl", rollout)
    session_at(own_home / ".claude/projects/p/gate.jsonl", "mend the wharf", 1_000)
    async with app_of("sessions", sources=[story_file(tmp_path)]).run_test(size=SIZES[2]) as pilot:
        screen = pilot.app.screen
        assert isinstance(screen, SessionsScreen)
        table = screen.query_one(RecordTable)
        await until(lambda: any(line["tokens"] for line in table.lines if line["file"] == str(rollout)))
        await until(lambda: bool(table.lines[-1]["agent"]))
        assert names(screen)[:3] == ["story.json", "rollout-a.jsonl", "gate.jsonl"], "the named one, then the newest"
        assert len(names(screen)) == 3 + len(sample_entries())
        (codex,) = [line for line in lines(screen) if "The tide" in line]
        assert codex[18:].split()[0] == "Codex"
        assert codex[18:].split()[-4:] == ["779", "3", "%", "2"]
        assert "looking" in title(screen) or "to go" in title(screen)
        assert all(line["lost_rules"] is None for line in table.lines)
        go_on.set()
        await settled(pilot)
        (found,) = [line for line in table.lines if line["file"] == str(rollout)]
        assert (found["tokens"], found["lost_rules"]) == (6_679, None), "one rule, and an encrypted summary"
        assert len(names(screen)) == 3 + len(sample_entries()), "each once"
        await press(pilot, "f", *"wharf", "enter")
        assert names(screen) == ["gate.jsonl"]
        assert "› mend the wharf" in screen.query_one("#below", TextView).text


async def test_a_path_is_typed_or_dropped_or_chosen(tmp_path: Path, own_home: Path) -> None:
    path = story_file(tmp_path)
    async with at_rest("sessions", size=SIZES[0]) as pilot:
        await press(pilot, "f")
        pilot.app.screen.query_one(Input).value = str(path)
        await press(pilot, "enter")
        assert bench_screen(pilot).bench.session.path == path
        screen = await brought(pilot, SessionsScreen, "ctrl+o", "ctrl+f", "escape")
        assert type(pilot.app.screen) is SessionsScreen
        screen.query_one(RecordTable).post_message(events.Paste(f"'{path}' "))
        before = bench_screen(pilot)
        await settled(pilot)
        assert bench_screen(pilot) is not before


async def test_keys_are_answered_while_files_are_read(
    corpus: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reading stands still until a key has been answered: were it in the event loop, neither would come."""
    answered = threading.Event()

    def slow(work: AuditFile) -> FileRows:
        assert answered.wait(60)
        return FileRows(work.path, None, (SessionRow(work.path, tool="Slow"),))

    monkeypatch.setattr(run, "survey_file", slow)
    async with app_of("sessions", sources=[corpus]).run_test(size=SIZES[0]) as pilot:
        screen = pilot.app.screen
        assert isinstance(screen, SessionsScreen)
        await pilot.press("b")
        await pilot.pause()
        assert screen.sums == 1
        answered.set()
        await settled(pilot)
        assert len(names(screen)) == 4


async def test_left_while_it_reads(corpus: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = threading.Event()
    seen: list[str] = []

    def slow(work: AuditFile) -> FileRows:
        seen.append(work.path)
        assert left.wait(60)
        return FileRows(work.path, None, (SessionRow(work.path, tool="Slow"),))

    monkeypatch.setattr(run, "survey_file", slow)
    async with app_of("sessions", sources=[corpus]).run_test(size=SIZES[0]) as pilot:
        await pilot.pause()
        await pilot.press("escape")
        left.set()
    assert pilot.app.return_code == 0
    assert len(seen) <= 1


async def test_columns_are_seen_whole_and_sorted_by_a_click_on_their_names(corpus: Path, own_home: Path) -> None:
    async with at_rest("sessions", sources=[corpus], size=(80, 24)) as pilot:
        table = pilot.app.screen.query_one(RecordTable)
        heads, wrong = table.heads, []
        for _ in range(len(table.columns)):
            shown = str(heads.render())
            named = shown.strip("‹› ").replace("▾", "").replace("▴", "").split()
            wrong += [shown] if not {*named} <= {one.heading for one in table.columns} or len(shown) > 78 else []
            wrong += [shown] if table.columns[heads.at].heading not in named else []
            wrong += [shown] if ("‹" in shown, "›" in shown) != (heads.left > 0, named[-1] != "file") else []
            wrong += [line for line in lines(pilot.app.screen) if line[76:].strip() and named[-1] != "file"]  # type: ignore[arg-type]
            await press(pilot, "right")
        assert wrong == []
        await press(pilot, *["left"] * len(table.columns))
        at = str(heads.render()).index("agent")
        for expected in (("changed", True), ("agent", False), ("agent", True)):
            assert heads.sorted == expected
            await pilot.click(heads, offset=(at, 0))
            await settled(pilot)
            if expected[0] == "changed":
                assert (table.columns[heads.at].key, heads.sorted) == ("agent", expected)
                await pilot.click(heads, offset=(at, 0))
                await settled(pilot)
