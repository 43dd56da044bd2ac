"""What people come for, by keys from beginning to end: debug an overflow, tune a threshold, pin and export, undo."""

from __future__ import annotations

import json
from pathlib import Path

from textual.widgets import DataTable, Input, Static

from tests.formats.claude_code_build import jsonl
from tests.formats.test_claude_code_branches import broken
from tests.paths import SAMPLES
from tests.tui.app import (
    at_rest,
    bench_screen,
    brought,
    done,
    notes,
    on_bench,
    press,
    settled,
    story,
    story_file,
    write_down,
)
from workbench.bench import Bench
from workbench.compaction.outcome import Fate
from workbench.compaction.preset import load_preset
from workbench.finding.resuming import steps_of
from workbench.formats.files import load
from workbench.session import ToolResult
from workbench.tui.screens.compare import CompareScreen
from workbench.tui.screens.export import ExportScreen
from workbench.tui.screens.repair import RepairScreen
from workbench.tui.screens.sessions import SessionsScreen
from workbench.tui.screens.why import WhyScreen
from workbench.tui.widgets.policy_form import PolicyForm
from workbench.tui.widgets.rounds_list import RoundsList
from workbench.tui.widgets.text_list import TextList
from workbench.tui.widgets.text_view import TextView

SIZE = (120, 40)


async def test_debug_an_overflow() -> None:
    """Open the session, ask why, go to what filled it, and see what clearing old tool results would do."""
    sample = SAMPLES / "claude-code-overflow.jsonl"
    async with at_rest("sessions", sources=[sample], size=SIZE) as pilot:
        assert isinstance(pilot.app.screen, SessionsScreen)
        await press(pilot, "enter")
        bench = bench_screen(pilot)
        assert bench.bench.session.path == sample
        assert bench.bench.plan.fires

        why = await brought(pilot, WhyScreen, "O")
        assert why.found is not None
        assert why.found.crossing is not None
        named = [one.messages[0] for one in why.found.findings if one.messages]
        number = next(n for n, one in enumerate(why.found.findings) if one.messages)
        why.query_one(TextList).go(number)
        await press(pilot, "enter")
        assert pilot.app.screen is bench
        index = bench.query_one(RoundsList).index
        assert bench.bench.messages[index].id == named[0]
        assert f"message {index + 1} of" in bench.query_one(TextView).text.replace("\u00a0", " ")

        before = bench.bench
        await press(pilot, "P")
        await write_down(pilot, "clear-tool-results", "enter")
        after = bench.bench
        assert after.strategy.id == "clear-tool-results"
        cleared = [i for i in range(len(after.messages)) if after.outcome.fate_at(i).fate is Fate.COMPRESSED]
        assert cleared
        for i in cleared:
            assert any(isinstance(block, ToolResult) for block in after.messages[i].blocks)
        assert after.context.outcome_size(after.outcome).tokens < before.context.total.tokens
        assert bench.view.checks
        assert all(check.passed for check in bench.view.checks if check.hard)
        assert not after.plan.requests, "no model is asked"


async def test_tune_a_threshold() -> None:
    """Lower the trigger and the tail, see at once what that does, compare it with the others, keep it as a preset."""
    async with on_bench(story()) as (pilot, screen):
        form = screen.query_one(PolicyForm)
        before = screen.bench
        assert not before.plan.fires
        assert "does not fire" in form.trigger_text
        await press(pilot, "9", "down")
        await write_down(pilot, "20000")
        assert screen.bench.plan.fires
        assert ", fires" in form.trigger_text
        while getattr(form.focused_field, "key", "") != "history_tail_size_chars_to_exclude":
            await press(pilot, "down")
        # What is typed takes the place of the number that stands there.
        await press(pilot, *"12000")
        assert screen.bench.policy.model_dump()["history_tail_size_chars_to_exclude"] == 12_000
        tuned = screen.bench
        assert tuned.outcome.split < before.outcome.split
        sizes = [bench.context.outcome_size(bench.outcome).tokens for bench in (before, tuned)]
        assert sizes[0] < sizes[1]
        assert screen.view.checks
        assert all(check.passed for check in screen.view.checks if check.hard)
        assert sum(one.differs for one in form.sheet.entries) == 2

        compare = await brought(pilot, CompareScreen, "escape", "C")
        assert compare.query_one(DataTable).row_count
        await press(pilot, "escape")
        await done(pilot, "save-preset")
        await write_down(pilot, "tuned")
        await press(pilot, "enter")
        assert load_preset("tuned").policy == tuned.policy == screen.bench.policy
        assert not any(one.differs for one in form.sheet.entries)


async def test_pin_and_export() -> None:
    """Pin a result of the head, compact offline, export, and open what was written: the pin is there to the byte."""
    source = SAMPLES / "claude-code-overflow.jsonl"
    untouched = source.read_bytes()
    async with on_bench(source) as (pilot, screen):
        before = screen.bench
        index = next(
            i
            for i, message in enumerate(before.messages)
            if before.outcome.fate_at(i).fate is Fate.SUMMARIZED and message.role == "tool"
        )
        screen.query_one(RoundsList).go(index)
        await press(pilot, "p")
        pair = [i for i in (index - 1, index) if screen.bench.outcome.fate_at(i).fate is Fate.PINNED]
        assert pair == [index - 1, index]
        export = await brought(pilot, ExportScreen, "r", "e")
        target = Path.home() / "smaller.jsonl"
        export.query_one("#path", Input).value = str(target)
        await press(pilot, "enter")
        assert target.exists()
        await press(pilot, "escape")

        pilot.app.open(target)  # type: ignore[attr-defined]
        await settled(pilot)
        after = bench_screen(pilot).bench
        assert after.session.path == target
        assert len(after.messages) < len(before.messages)
        pinned = [before.messages[i] for i in pair]
        again = [message for message in after.messages if message.blocks in [one.blocks for one in pinned]]
        assert [message.blocks for message in again] == [message.blocks for message in pinned]
        written = target.read_bytes()
        for message in pinned:
            assert content(written, message.id) == content(untouched, message.id)
    assert source.read_bytes() == untouched


def content(data: bytes, id: str) -> str:
    """What the Claude Code record `id` says, as it is written. Around it a new file has another session and chain."""
    (line,) = (line for line in data.splitlines() if b'"uuid":"%b"' % id.encode() in line)
    text = line.decode()
    start = text.index('"content":') + len('"content":')
    _, end = json.JSONDecoder().raw_decode(text, start)
    return text[start:end]


async def test_undo() -> None:
    """Pin, drop, shorten, split, policy, commit; undo all of it; do all of it again: every state is as it was."""
    async with on_bench(story_file(Path.home())) as (pilot, screen):
        rounds = screen.query_one(RoundsList)
        states = [state(screen.bench)]
        for index, key in ((3, "p"), (28, "x"), (30, "s"), (28, "["), (0, "9"), (28, "r")):
            rounds.go(index)
            await press(pilot, key)
            if key == "9":
                await press(pilot, "down")
                await write_down(pilot, "20000")
                await press(pilot, "escape")
            states.append(state(screen.bench))
        assert len({repr(one) for one in states}) == len(states), "every step changed something"
        assert screen.bench.result is not None
        for expected in reversed(states[:-1]):
            await press(pilot, "u")
            assert state(screen.bench) == expected
        assert screen.check_action("act", ("undo",)) is None
        for expected in states[1:]:
            await press(pilot, "U")
            assert state(screen.bench) == expected
        assert screen.check_action("act", ("redo",)) is None


def state(bench: Bench) -> dict[str, object]:
    """Everything that a person could see of a bench."""
    return {
        "pins": bench.pins,
        "edits": bench.edits,
        "split": bench.outcome.split,
        "by hand": bench.split_at,
        "policy": bench.policy.model_dump(),
        "fates": bench.outcome.fates,
        "messages": [message.text for message in bench.outcome.messages],
        "result": bench.result is not None,
    }


async def test_memories_are_rewritten_looked_at_and_written(tmp_path: Path) -> None:
    """Rewrite an agent's memories offline, see which lines went, and write them; a copy is not called written."""
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    async with at_rest(SAMPLES / "augment-with-summary.json", preset="augment-memories", size=SIZE) as pilot:
        await press(pilot, "r", "4")
        seen = bench_screen(pilot).query_one(TextView).text
        assert "memories · 71 → 50 lines" in seen
        assert "\n- - The surge feed is billed per call.\n" in seen
        assert "\n+ - OSTERN4, GRAWHOLM, SANDWIK2: the contact is the lock keeper, by telephone only.\n" in seen
        export = await brought(pilot, ExportScreen, "e")
        export.query_one("#path", Input).value = str(first)
        await press(pilot, "enter")
        assert f"✔ written to {first}" in str(export.query_one("#note", Static).content)
        await press(pilot, "escape")

        pilot.app.open(first)  # type: ignore[attr-defined]
        await settled(pilot)
        assert len(bench_screen(pilot).bench.context.memory_lines) == 50
        await press(pilot, "P")
        await write_down(pilot, "augment-memories", "enter")
        export = await brought(pilot, ExportScreen, "r", "e")
        export.query_one("#path", Input).value = str(second)
        await press(pilot, "enter")
        assert f"✔ copied to {second} (nothing in it changed)" in str(export.query_one("#note", Static).content)


async def test_rescue_place_and_copy(tmp_path: Path) -> None:
    """A session that its tool can compact no longer: one command compacts it without a model, one key puts it where
    the tool looks, one copies the steps that `cwb resume` prints."""
    source = SAMPLES / "cline-sdk-summary.messages.json"
    before = source.read_bytes()
    async with on_bench(SAMPLES / "claude-code-overflow.jsonl") as (pilot, bench):
        await done(pilot, "rescue")
        export = await brought(pilot, ExportScreen)
        assert (bench.bench.preset, bench.bench.policy.narrative_percent) == ("ledger", 0.0)  # type: ignore[attr-defined]
        assert bench.bench.result is not None
        await press(pilot, "p")
        (placed,) = (Path.home() / ".claude/projects/-home-dana-harbour").iterdir()
        lines = steps_of(load(placed))
        assert lines[-1] == f"claude --resume {placed.stem}"
        said = str(export.query_one("#note", Static).content)
        assert said == "\n".join([f"✔ written to {placed}", "", *lines])
        await press(pilot, "y")
        assert pilot.app.clipboard == "\n".join(lines)
        await press(pilot, "escape", "u")
        assert bench.bench.result is None
    async with on_bench(source) as (pilot, bench):
        export = await brought(pilot, ExportScreen, "r", "e")
        export.query_one("#path", Input).value = str(tmp_path / "x.json")
        await press(pilot, "enter", "y")
        copied = pilot.app.clipboard.split("\n")
        assert [line.partition(" ")[0] for line in copied] == ["mkdir", "test", "test", "cd"]
        manifest = tmp_path / Path(copied[2].split()[-1]).name
        assert f"cp {manifest} ~/.cline/data/sessions/{manifest.stem}/{manifest.name}" in copied[2]
        await press(pilot, "p")
        there = Path.home() / ".cline/data/sessions" / manifest.stem
        assert sorted(path.name for path in there.iterdir()) == [manifest.name, f"{manifest.stem}.messages.json"]
        assert json.loads((there / manifest.name).read_bytes())["session_id"] == manifest.stem
    assert source.read_bytes() == before


async def test_a_damaged_file_is_repaired_from_the_bench(tmp_path: Path) -> None:
    file = tmp_path / "cut.jsonl"
    data = (SAMPLES / "pi-branches.jsonl").read_bytes()
    file.write_bytes(data + b"\0" * 64)
    async with on_bench(file) as (pilot, bench):
        await done(pilot, "repair")
        screen = await brought(pilot, RepairScreen)
        shown = screen.query_one(TextView).text
        lines = len(data.splitlines())
        assert shown.split("\n") == [
            f"pi, {file}: 1 repair.",
            f"  line {lines + 1}  removed 64 NUL bytes left by a crash",
        ]
        await press(pilot, "enter", "enter")
        await settled(pilot)
        assert pilot.app.screen is bench
    assert (tmp_path / "cut.repaired.jsonl").read_bytes() == data
    async with on_bench(tmp_path / "cut.repaired.jsonl") as (pilot, bench):
        await done(pilot, "repair")
        assert pilot.app.screen is bench
        assert notes(pilot)[-1] == "Nothing to repair: the file is not damaged."


async def test_the_branch_that_a_repair_keeps_is_chosen_on_the_screen(tmp_path: Path) -> None:
    file = tmp_path / "broken.jsonl"
    file.write_bytes(jsonl(*broken(6)))
    async with on_bench(load(file, part="resumed")) as (pilot, bench):
        await done(pilot, "repair")
        screen = await brought(pilot, RepairScreen)
        pager = screen.query_one(TextView)
        assert pager.text.split("\n")[2:] == [
            "Branches, by the line of their newest message (o keeps the next one):",
            "  line 2: 2 messages",
            "  line 6: 4 messages (loaded now, kept)",
        ]
        await press(pilot, "o")
        await settled(pilot)
        assert pager.text.split("\n")[-2:] == ["  line 2: 2 messages (kept)", "  line 6: 4 messages (loaded now)"]
        await press(pilot, "enter", "enter")
        await settled(pilot)
        assert pilot.app.screen is bench
    assert [message.id for message in load(tmp_path / "broken.repaired.jsonl").context()] == ["u1", "a0"]


async def test_nothing_is_rescued_from_what_fits() -> None:
    async with on_bench(story_file(Path.home())) as (pilot, bench):
        was = bench.bench
        await done(pilot, "rescue")
        assert pilot.app.screen is bench
        assert bench.bench is was
