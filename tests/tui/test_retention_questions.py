"""Questions on the screen: the grid, what stands beside a question, and a failed one that is pinned and asked again."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Static

from tests.commands import session_lines, write_lines
from tests.summarizers.fake_api import MODEL, answer, error, fake_api
from tests.summarizers.live_calls import client_talks_to
from tests.tui.app import brought, on_bench, press, session_of, settled, write_down
from tests.tui.quiet import quiet
from workbench.analysis.probes import read_probes
from workbench.bench import Bench
from workbench.formats.files import load
from workbench.runs.questions import Questions, questions
from workbench.session import Message, Session, Text
from workbench.summarizers import run_history
from workbench.tui.retention.questions import QuestionsPane, short_question
from workbench.tui.screens.retention import RetentionScreen
from workbench.tui.widgets.text_list import TextList
from workbench.tui.widgets.text_view import TextView

WEIR = "The weir opens at a level of 412 cm and the sluice follows an hour later."
LOST = "The barge *Anneke* pays 17 florins at every lock of the northern canal."
"""The agent's words, which are trimmed."""


def talk() -> Session:
    said = [WEIR, *(f"Please do step {number} of the long plan. {'word ' * 1_500}" for number in range(12))]
    messages = []
    for number, words in enumerate(said):
        told = f"Done. {LOST}" if not number else "Done."
        messages += [Message(f"u{number}", "user", (Text(words),)), Message(f"a{number}", "assistant", (Text(told),))]
    return session_of(messages)


def grid(screen: QuestionsPane) -> list[str]:
    options = screen.query_one(TextList)
    return [options.rows[at].plain[:20].rstrip() for at in range(len(options.rows))]


def listed(screen: QuestionsPane) -> list[str]:
    return [option.plain for option in screen.query_one(TextList).rows]


async def test_a_failed_question_is_pinned_and_asked_again() -> None:
    async with on_bench(talk(), preset="trim") as (pilot, bench):
        screen = (await brought(pilot, RetentionScreen, "X", "2")).query_one(QuestionsPane)
        said, beside = screen.query_one(".note", Static), screen.query_one(TextView)
        assert grid(screen) == [
            "✓ ✓ ·  recall", "✓ · ·  recall", "✓ ✓ ·  continuation", "✓ ✓ ·  continuation", "✓ ✓ ✓  control",
        ]  # fmt: skip
        figures = "trim\u00a075\u00a0%\u00a0(25–100\u00a0%) · "
        assert figures in str(said.content), "a variant and its figures stand on one line"
        assert "answered by text search, no model" in str(said.content)
        await press(pilot, "f")
        assert grid(screen) == ["✓ · ·  recall"]
        # Of one with a blank the list tells the words around it: they all begin alike.
        assert listed(screen)[0].split("recall")[1].strip() == f'"{LOST.replace("17", "____")}"'
        assert beside.text.splitlines() == [
            f'Fill in the blank (from an agent message): "{LOST.replace("17", "____")}"',
            "",
            "right  17",
            "source message 2, assistant",
            f"       {LOST}",
            "",
            "✓ full context: 17",
            f"  from: Done. {LOST}",
            "",
            "· trim: not known",
            "",
            "· nothing: not known",
        ]
        await press(pilot, "p")
        assert screen.bench.pins == {"a0"}
        assert grid(screen) == []
        assert "message 2 pinned" in str(said.content)
        assert "Every question is answered correctly" in beside.text
        await press(pilot, "f", "u")
        assert not screen.bench.pins
        assert grid(screen)[1] == "✓ · ·  recall"
        await press(pilot, "down", "p", "escape")
        assert bench.bench.pins == {"a0"}
        await press(pilot, "u")
        assert not bench.bench.pins


async def test_watched_sentences_come_first_and_are_pinned_like_a_source() -> None:
    nowhere = "Never paint the lock gates green."
    async with on_bench(talk(), preset="trim", watched=(WEIR, LOST, nowhere)) as (pilot, _):
        screen = (await brought(pilot, RetentionScreen, "X", "2")).query_one(QuestionsPane)
        beside = screen.query_one(TextView)
        assert grid(screen)[:4] == ["✔ ✔ ○  watched", "✔ ○ ○  watched", "○ ○ ○  watched", "✓ ✓ ·  recall"]
        await press(pilot, "down")
        assert beside.text.splitlines() == [
            LOST, "", "source message 2, assistant", "", "✔ full context: verbatim", "○ trim: gone", "○ nothing: gone",
        ]  # fmt: skip
        await press(pilot, "p", "f")
        assert screen.bench.pins == {"a0"}
        assert grid(screen) == ["○ ○ ○  watched"]  # its pin keeps the other, and the question after it
        assert "source no message of this context" in beside.text
        await press(pilot, "p")
        assert screen.bench.pins == {"a0"}


async def test_the_questions_are_written_beside_the_session_and_read_from_there(tmp_path: Path) -> None:
    session = replace(talk(), path=tmp_path / "canal.json")
    async with on_bench(session) as (pilot, _):
        await brought(pilot, RetentionScreen, "X", "2")
        await press(pilot, "w", "escape")
        path = tmp_path / "canal.probes.toml"
        assert len(read_probes(path)) == 5
        by_hand = [("How many florins?", "17"), ("How many guilders?", "17")]
        path.write_text("".join(f'[[probe]]\nkind="recall"\nquestion="{one}"\nanswer="{n}"\n' for one, n in by_hand))
        screen = (await brought(pilot, RetentionScreen, "X", "2")).query_one(QuestionsPane)
        assert "from canal.probes.toml" in str(screen.query_one(".note", Static).content)
        assert grid(screen) == ["✓ ✓ ·  recall", "· · ·  recall"]
        assert "source message 2, assistant" in screen.query_one(TextView).text
        await press(pilot, "down", "p")
        assert not screen.bench.pins  # no line is about what its question says: nobody knows its source
        await press(pilot, "up", "p")
        assert screen.bench.pins == {"a0"}
        await press(pilot, "escape")
        path.write_text("[[probe]]\n")
        screen = (await brought(pilot, RetentionScreen, "X", "2")).query_one(QuestionsPane)
        assert "line 1: kind is one of" in str(screen.query_one(".note", Static).content)


async def test_a_model_is_asked_and_its_answers_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = load(write_lines(tmp_path / "session.jsonl", session_lines()))
    async with fake_api() as api:
        client_talks_to(api, monkeypatch)
        api.replies = [answer("1: not known"), error(400, "invalid_request_error", "no more"), answer("1: not known")]
        async with on_bench(session) as (pilot, _):
            screen = (await brought(pilot, RetentionScreen, "X", "2")).query_one(QuestionsPane)
            said = screen.query_one(".note", Static)
            await press(pilot, "m")
            await write_down(pilot, MODEL, "enter")
            assert f"answered by {MODEL}" in str(said.content)
            assert len(api.received) == 3
            assert "1 call failed, m and enter ask again: " in str(said.content)
            assert "no more" in str(said.content)
            api.replies = [answer("1: not known")]
            await press(pilot, "m", "enter")
            assert len(api.received) == 4  # only the one that failed
            assert "1 call, $" in str(said.content)
            assert "failed" not in str(said.content)
    assert [(one.strategy, one.calls) for one in run_history.list_runs()] == [("probe", 1), ("probe", 3)]


@pytest.mark.parametrize(
    ("question", "listed"),
    [
        ('Fill in the blank (from a user message): "Keep ____ open."', '"Keep ____ open."'),
        (
            "Into which of its edited files did the agent write `sluice_gate`?",
            "File with `sluice_gate`?",
        ),
        ("In which file did the agent define `SluiceGate`?", "File that defines `SluiceGate`?"),
        ('Which command did the agent run to do this: "Open the weir"', 'Command for "Open the weir"'),
        ('The agent asked: "Now?" What did the user answer?', 'Asked: "Now?" What did the user answer?'),
        ("What did the user say last?", "What did the user say last?"),
    ],
)
def test_questions_that_begin_alike_are_told_apart_in_the_list(question: str, listed: str) -> None:
    assert short_question(question) == listed


async def test_b6_a_tab_that_is_being_computed_says_so_and_is_opened_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list said that no question is left while they were being made, and a second key ended the workbench."""
    waiting = threading.Event()

    def held_back(bench: Bench) -> Questions:
        assert waiting.wait(60)
        return questions(bench)

    monkeypatch.setattr("workbench.tui.retention.questions.questions", held_back)
    async with on_bench(talk(), preset="trim") as (pilot, bench):
        screen = await brought(pilot, RetentionScreen, "X")
        await pilot.press("2", "2", "1", "2")
        await quiet()
        [pane] = screen.query(QuestionsPane)
        options = pane.query_one(TextList)
        assert str(pane.query_one(".note", Static).content) == options.empty == "making questions …"
        assert options.render_line(0).text.strip() == "making questions …"
        waiting.set()
        await settled(pilot)
        assert len(grid(pane)) == 5
        assert options.empty == pane.EMPTY
        await press(pilot, "down", "enter")
        assert (pilot.app.screen, bench.view.tab) == (bench, "message"), "enter goes to the source"
