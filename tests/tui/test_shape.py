"""Shaping the plan by hand, and what the middle shows of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input, Static

from tests.tui.app import bench_screen, brought, done, in_one_line, notes, on_bench, press, session_of, story
from workbench.base.errors import BadInput
from workbench.bench import Bench, open_bench, steps
from workbench.compaction.outcome import Fate
from workbench.compaction.preset import Preset, load_preset
from workbench.compaction.strategies.user_messages import UserMessagesPolicy
from workbench.conformance.building import agent, call, result, user
from workbench.session import Compaction, Epoch, Message, Session, Text
from workbench.tokens import Counter
from workbench.tui.middle.changes import changes_parts, text_changes
from workbench.tui.middle.message import message_parts
from workbench.tui.middle.parts import Parts, TabInput
from workbench.tui.middle.recorded import recorded_parts
from workbench.tui.plan_words import opening_words, state_text
from workbench.tui.rows import Groups
from workbench.tui.screens.ask import AskScreen
from workbench.tui.widgets.text_view import TextView

SIZE = (120, 40)


@pytest.fixture
def bench() -> Bench:
    return open_bench(story(), Counter())


def view(bench: Bench, index: int = 0, **wishes: object) -> TabInput:
    return TabInput(bench, Groups(bench.layout), index, **wishes)  # type: ignore[arg-type]


def words(parts: Parts) -> str:
    return "\n".join(part.text for part in parts)


# --- the steps ---


def test_dropping_a_call_drops_its_result_and_either_end_brings_both_back(bench: Bench) -> None:
    dropped = steps.toggle_dropped(bench, ["m3"])
    assert [dropped.plan.outcome.fate_at(i).fate for i in (3, 4)] == [Fate.DROPPED] * 2
    assert steps.toggle_dropped(dropped, ["m4"]).edits == bench.edits


def test_a_message_has_one_edit(bench: Bench) -> None:
    short = steps.toggle_shortened(bench, ["m4"])
    assert short.edits.shortened == {"m4"}
    dropped = steps.toggle_dropped(short, ["m3"])
    assert (dropped.dropped, dropped.shortened) == ({"m3"}, frozenset())
    again = steps.toggle_shortened(dropped, ["m4"])
    assert (again.dropped, again.shortened) == (frozenset(), {"m4"})


def test_shortening_a_round_takes_what_is_long_and_a_short_message_is_refused(bench: Bench) -> None:
    ids = [m.id for m in bench.messages[:8]]
    assert steps.toggle_shortened(bench, ids).shortened == {"m2", "m4", "m6"}
    with pytest.raises(BadInput, match="Nothing to shorten"):
        steps.toggle_shortened(bench, ["m0"])


def test_the_session_s_own_system_message_is_not_edited() -> None:
    told = session_of([Message("s", "system", (Text("x" * 5_000),)), *story().messages])
    bench = open_bench(told, Counter())
    for toggle in (steps.toggle_dropped, steps.toggle_shortened):
        with pytest.raises(BadInput, match="system message"):
            toggle(bench, ["s"])


def test_without_edits_the_strategy_is_given_the_very_context(bench: Bench) -> None:
    assert bench.plan.edited is bench.context


def test_a_moved_split_under_edits_moves_by_one_unit(bench: Bench) -> None:
    edited = steps.toggle_dropped(bench, ["m3"])
    before = edited.plan.outcome.split
    up = steps.move_split(edited, -1)
    assert up.plan.outcome.split < before
    assert steps.move_split(up, 1).plan.outcome.split == before


# --- the middle, without a screen ---


def test_changes_say_what_is_gone_new_shortened_and_kept(bench: Bench) -> None:
    edited = steps.toggle_shortened(steps.toggle_dropped(bench, ["m30"]), ["m28"])
    edited = steps.split_at(edited, "m16")
    shown = words(changes_parts(view(edited)))
    gone = [line for line in shown.split("\n") if line.startswith("- ")]
    assert len(gone) == 16 + 2
    assert "~    29" in shown
    assert "    - export const value" in shown or "  - export const value" in shown
    assert "+       " in shown
    assert "- 18 removed · + " in shown.replace("\u00a0", " ")


def test_a_text_diff_folds_what_is_equal() -> None:
    old = [f"line {n}" for n in range(100)]
    new = [*old[:50], "changed", *old[51:]]
    shown = words(list(text_changes(old, new))).split("\n")
    assert [line for line in shown if line.startswith(("-", "+"))] == ["- line 50", "+ changed"]
    assert "  ⋮ 48 lines unchanged" in shown
    assert "  ⋮ 47 lines unchanged" in shown


def test_a_huge_rewritten_text_is_told_apart_without_a_long_comparison() -> None:
    old, new = [f"a{n}" for n in range(20_000)], [f"b{n}" for n in range(20_000)]
    assert [part.style for part in text_changes(old, new)] == ["bad", "good"]


def test_a_shortened_message_shows_before_and_after_and_what_the_summarizer_sees_of_it(bench: Bench) -> None:
    short = steps.toggle_shortened(bench, ["m28"])
    kept = words(message_parts(view(steps.split_at(short, "m24"), 28)))
    assert "▚ shortened: " in kept
    assert "shortened by you" in kept
    gone = words(message_parts(view(steps.split_at(steps.toggle_shortened(bench, ["m4"]), "m24"), 4)))
    size = bench.layout.shape.chars[5] - bench.layout.shape.chars[4]
    assert f"of {size:,} characters".replace(",", "\u00a0") in gone


def test_a_file_that_is_given_back_is_shown_as_that_and_not_as_the_summary_which_stands_for_it_too() -> None:
    read = [agent("c", "", call("r", "Read", file_path="a.py")), result("res", ("r", "the whole file"))]
    session = session_of([user("u", "look"), *read, agent("z", "seen")])
    policy = UserMessagesPolicy(user_message_tokens=0, restore_files=1, unread="summarize")
    bench = steps.choose_preset(open_bench(session, Counter()), Preset("", "user-messages", "", "", policy))
    shown = words(message_parts(view(bench, 2)))
    assert "+ [Restored file] a.py" in shown
    assert "Another language model" not in shown


def test_progressive_says_how_important_a_message_is_and_why_it_is_a_key_event(bench: Bench) -> None:
    chosen = steps.choose_preset(bench, load_preset("progressive"))
    shown = words(message_parts(view(chosen, 0)))
    assert "importance " in shown
    assert "request +3.0" in shown
    assert "key event: " in shown


def test_layered_shows_mentions() -> None:
    told = session_of([Message("u", "user", (Text("read @src/a.py"),)), Message("a", "assistant", (Text("ok"),))])
    bench = steps.choose_preset(open_bench(told, Counter()), load_preset("layered"))
    assert "mentions @src/a.py" in words(message_parts(view(bench)))


def test_verbosity_shows_the_round_a_line_a_call_or_its_answer_only(bench: Bench) -> None:
    compact = words(message_parts(view(bench, 3, verbosity="compact")))
    quiet = words(message_parts(view(bench, 3, verbosity="quiet")))
    assert "Read " in compact
    assert "value49" not in compact
    assert "Done with part 0" in quiet
    assert "Fix the token" not in quiet


def compacted_story() -> Session:
    told = story()
    theirs = Message(
        "theirs", "user", (Text("Summary: fixed src/auth/session.ts and src/never/was.ts."),), kind="summary"
    )
    members = range(len(told.messages))
    ended = Compaction("auto", 150_000, "theirs")
    epochs = (Epoch(1, members, ended), Epoch(2, (len(told.messages),)))
    return replace(told, messages=(*told.messages, theirs), branch=range(len(told.messages) + 1), epochs=epochs)


def test_theirs_says_so_where_nothing_was_recorded(bench: Bench) -> None:
    assert "This epoch does not end with a recorded compaction." in words(recorded_parts(view(bench)))
    last = open_bench(compacted_story(), Counter(), epoch=2)
    assert "Epochs with one: 1" in words(recorded_parts(view(last)))


def test_an_epoch_that_has_hardly_begun_says_where_the_full_one_is() -> None:
    assert "{ shows the one before" in opening_words(open_bench(compacted_story(), Counter(), epoch=2))
    assert not opening_words(open_bench(compacted_story(), Counter(), epoch=1))


# --- on the screen ---


async def test_the_verbosity_cycles() -> None:
    async with on_bench(story()) as (pilot, screen):
        for name in ("compact", "quiet", "default"):
            await done(pilot, "verbosity")
            assert screen.view.verbosity == name
            assert name == "default" or screen.query_one(TextView).text.split(" · ")[1] == name


async def test_y_copies_what_the_session_holds() -> None:
    async with on_bench(session_of([Message("u", "user", (Text("\x1b[31mred \ud800"),))])) as (pilot, _):
        await press(pilot, "y")
        assert "\x1b[31mred ?" in pilot.app.clipboard


async def test_w_writes_a_new_file_and_never_over_one(tmp_path: Path) -> None:
    there = tmp_path / "there.txt"
    there.write_text("mine")
    async with on_bench(story()) as (pilot, _):
        await press(pilot, "2")
        await done(pilot, "write-text")
        screen = await brought(pilot, AskScreen)
        screen.query_one(Input).value = str(there)
        await press(pilot, "enter")
        assert "exists; choose another name" in in_one_line(screen.query_one("#understood", Static))
        assert there.read_text() == "mine"
        new = tmp_path / "request.txt"
        screen.query_one(Input).value = str(new)
        await press(pilot, "enter")
        bench = bench_screen(pilot).bench
        assert new.read_text() == bench.plan.requests[0].text
        assert new.stat().st_mode & 0o777 == 0o600


async def test_an_editor_is_refused_without_a_terminal_to_lend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "true")
    async with on_bench(story()) as (pilot, _):
        await done(pilot, "open-text")
        assert any("cannot run an editor" in note for note in notes(pilot))


@pytest.mark.parametrize(("rounds", "says"), [(12, "would compact now"), (4, "not yet due")])
def test_the_state_says_whether_the_agent_would_compact_by_itself(rounds: int, says: str) -> None:
    bench = open_bench(story(rounds), Counter())
    assert state_text(bench, None).plain == f"preview · {says}"
