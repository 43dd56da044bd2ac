"""The policy in the bench: chosen, changed, reset, pasted, copied, saved, its texts edited."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence

import pytest
from textual import events
from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import Input, Static, TextArea

from tests.products import mostly_full
from tests.tui.app import brought, done, in_one_line, notes, on_bench, press, session_of, settled, story, until
from workbench.analysis.prompt_use import stored_prompt
from workbench.base import paths
from workbench.base.environment import use_environment
from workbench.base.errors import BadInput
from workbench.compaction.preset import load_preset, preset_names
from workbench.compaction.strategies import strategy
from workbench.compaction.strategies.exchange_summary import ExchangeSummaryPolicy
from workbench.compaction.strategies.progressive import ProgressivePolicy
from workbench.session import Message, Text
from workbench.tokens.window import Window
from workbench.tui.bench.planning import PROMPT_IGNORED
from workbench.tui.bench.screen import BenchScreen
from workbench.tui.screens import choose_preset
from workbench.tui.screens.ask import AskScreen, read_preset_name, read_window
from workbench.tui.screens.choose_preset import LOOKING, NOTHING, ChoosePresetScreen, choices, matching
from workbench.tui.screens.prompt_editors import OFFLINE, PolicyTextEditor
from workbench.tui.screens.prompts import PromptsScreen
from workbench.tui.screens.run import RunScreen
from workbench.tui.sheet import SheetSetting
from workbench.tui.widgets.budget_bar import BudgetBar
from workbench.tui.widgets.policy_form import PolicyForm, PresetLine
from workbench.tui.widgets.policy_sheet import PolicySheet
from workbench.tui.widgets.rounds_list import RoundsList
from workbench.tui.widgets.text_list import TextList
from workbench.tui.widgets.text_view import TextView

SIZE = (160, 50)


def entry_of(screen: BenchScreen, key: str) -> SheetSetting:
    return next(one for one in screen.query_one(PolicySheet).entries if one.field.key == key)


async def go_to(pilot: Pilot[None], screen: BenchScreen, key: str) -> None:
    """Put the cursor on a field."""
    sheet = screen.query_one(PolicySheet)
    sheet.focus()
    await settled(pilot)
    sheet.go(key)
    await settled(pilot)


async def type_into(pilot: Pilot[None], screen: BenchScreen, key: str, text: str) -> Input:
    """Put the cursor on a field and type: what stands there is replaced."""
    await go_to(pilot, screen, key)
    typed = screen.query_one(PolicySheet).typed
    assert typed.has_focus
    typed.value = text
    await settled(pilot)
    return typed


async def choose(pilot: Pilot[None], name: str) -> None:
    assert ChoosePresetScreen(name).every == ()  # read in a thread: it takes a tenth of a second to import them all
    front = await brought(pilot, ChoosePresetScreen, "P")
    front.query_one(Input).value = name
    await settled(pilot)
    at = next(i for i, one in enumerate(front.shown) if one.preset.id == name and not one.heading)
    front.query_one(TextList).go(at)
    await press(pilot, "enter")


# --- choosing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "names",
    mostly_full(
        [("progressive", "codex"), ("layered", "message-window", "trim", "augment-memories")],
        [("progressive", "codex")],
    ),
    ids=" ".join,
)
async def test_a_preset_changes_form_triggers_and_plan_at_once(names: Sequence[str]) -> None:
    async with on_bench(story(), size=SIZE) as (pilot, screen):
        form = screen.query_one(PolicyForm)
        for name in names:
            await choose(pilot, name)
            preset = load_preset(name)
            assert (screen.bench.strategy.id, screen.bench.policy) == (preset.strategy, preset.policy), name
            assert {one.field.path[0] for one in form.sheet.entries} == set(type(preset.policy).model_fields), name
            told = form.trigger_text.replace("\xa0", " ")
            assert all(str(trigger) in told for trigger in screen.bench.plan.triggers), name
            assert screen.query_one(PresetLine).words == f"{screen.bench.strategy.title} · {name}"
            await press(pilot, "u")
            assert screen.bench.strategy.id == "exchange-summary", name
            assert {one.field.path[0] for one in form.sheet.entries} == set(ExchangeSummaryPolicy.model_fields), name

        # The list tells what each preset is about, and esc leaves the bench as it was.
        before = screen.bench
        await press(pilot, "P")
        front = pilot.app.screen
        assert load_preset("augment-example").about in in_one_line(front.query_one("#about", Static))
        await press(pilot, "down")
        assert load_preset("augment-example").about not in in_one_line(front.query_one("#about", Static))
        await press(pilot, "escape")
        assert screen.bench is before


def test_presets_stand_below_their_strategies_and_are_found_by_words() -> None:
    every, refused = choices()
    assert not refused
    assert {one.preset.id for one in every if not one.heading} == set(preset_names())
    strategy = ""
    for one in every:
        strategy = one.strategy.id if one.heading else strategy
        assert one.strategy.id == one.preset.strategy == strategy
    found = matching(every, "aider CODEX")
    assert [one.preset.id for one in found if not one.heading] == []
    assert [one.preset.id for one in matching(every, "codex OWN words") if not one.heading] == ["codex"]


def test_a_preset_that_cannot_be_read_is_named_and_the_others_stay() -> None:
    paths.presets().mkdir(parents=True)
    (paths.presets() / "bad.toml").write_text("strategy = 'trim'\n[policy]\ncolour = 1\n")
    every, refused = choices()
    assert len(refused) == 1
    assert "bad.toml" in refused[0]
    assert "trim" in {one.preset.id for one in every}


async def test_progressive_shows_the_task_type_with_its_evidence_and_the_field_overrules_it() -> None:
    async with on_bench(story(), preset="progressive", size=SIZE) as (pilot, screen):
        form = screen.query_one(PolicyForm)
        assert "task type analysis (detected;" in form.trigger_text
        assert "reads and searches" in form.trigger_text
        assert isinstance(screen.bench.policy, ProgressivePolicy)
        await go_to(pilot, screen, "task_type")
        choices = entry_of(screen, "task_type").field.choices
        await press(pilot, *["right"] * choices.index("code"))
        assert screen.bench.policy.model_dump()["task_type"] == "code"
        assert "task type code (set by you; detected: analysis)" in form.trigger_text

        await go_to(pilot, screen, "full_prompt")
        front = await editor(pilot, "enter")
        assert front.field.key == "full_prompt", "enter opens a text of the form"


# --- the form ---------------------------------------------------------------------------------------------------------


async def test_the_form_says_where_a_value_is_from() -> None:
    with use_environment({"CWB_TRIM_TARGET_PERCENT": "55"}):
        async with on_bench(story(), preset="trim", size=SIZE) as (pilot, screen):
            said = {}
            for key in ("target_percent", "trigger_window_percent", "trigger_tokens"):
                await go_to(pilot, screen, key)
                said[key] = str(screen.query_one("#field-help", Static).content).rpartition(" From ")[2]
            assert (said["target_percent"], said["trigger_window_percent"]) == (
                "$CWB_TRIM_TARGET_PERCENT.",
                "the preset.",
            )
            assert entry_of(screen, "target_percent").variable == "CWB_TRIM_TARGET_PERCENT"
            assert "changed" not in screen.query_one(PresetLine).words
            await go_to(pilot, screen, "target_percent")
            for key in ("6", "0", "full_stop", "5"):  # what stands is rewritten at none of them
                await press(pilot, key)
            typed = screen.query_one(PolicySheet).typed
            assert (typed.value, entry_of(screen, "target_percent").value) == ("60.5", 60.5)
            assert "≠ $CWB_TRIM_TARGET_PERCENT: 55" in str(screen.query_one("#field-help", Static).content)


async def test_a_changed_setting_is_marked_and_reset_alone() -> None:
    async with on_bench(story(), size=SIZE) as (pilot, screen):
        tail = "history_tail_size_chars_to_exclude"
        typed = await type_into(pilot, screen, tail, "12000")
        assert entry_of(screen, tail).differs
        assert "≠ 1 changed" in screen.query_one(PresetLine).words
        assert "≠ preset: 5\u00a0000" in str(screen.query_one("#field-help", Static).content)
        await press(pilot, "ctrl+z")
        assert not entry_of(screen, tail).differs
        assert typed.value == "5000"
        assert screen.bench.policy == load_preset("augment-example").policy
        assert "changed" not in screen.query_one(PresetLine).words

        # Backspace in an emptied input and on a switch resets it.
        typed = await type_into(pilot, screen, "min_tail_exchanges", "7")
        await press(pilot, "backspace")
        assert "a whole number is wanted" in str(screen.query_one("#field-help", Static).content)
        assert screen.bench.policy.model_dump()["min_tail_exchanges"] == 7
        await press(pilot, "backspace")
        assert (typed.value, screen.bench.policy.model_dump()["min_tail_exchanges"]) == ("1", 1)
        assert "✘" not in str(screen.query_one("#field-help", Static).content)
        await go_to(pilot, screen, "simulate_cache_expiry")
        await press(pilot, "space")
        assert screen.bench.policy.model_dump()["simulate_cache_expiry"] is True
        await press(pilot, "delete")
        assert screen.bench.policy.model_dump()["simulate_cache_expiry"] is False

        # Two settings changed before the screen has redrawn are both taken.
        for key, text in (("history_tail_size_chars_to_exclude", "7"), ("summary_char_limit", "9")):
            screen.query_one(PolicySheet).post_message(PolicySheet.ValueEntered(entry_of(screen, key).field, text))
        await settled(pilot)
        values = screen.bench.policy.model_dump()
        assert (values["history_tail_size_chars_to_exclude"], values["summary_char_limit"]) == (7, 9)


@pytest.mark.parametrize("way", mostly_full([(80, 24, "up"), (140, 42, "down")], [(80, 24, "up")]), ids=str)
async def test_a_number_is_typed_over_and_an_escape_that_comes_late_is_no_text(way: tuple[int, int, str]) -> None:
    *size, key = way
    async with on_bench(story(), size=SIZE) as (pilot, screen):
        await press(pilot, "9", "escape", "9", "down", *"700")
        typed = pilot.app.focused
        assert isinstance(typed, Input)
        assert typed.value == "700"
        typed.post_message(events.Key("alt+u", "u"))
        await settled(pilot)
        assert typed.value == "700"
        sheet = screen.query_one(PolicySheet)
        assert sheet.entry is not None
        assert screen.bench.policy.model_dump()[sheet.entry.field.key] == 700
        await press(pilot, "plus", "minus", "minus")
        assert typed.value == "690"
        # The whole way through the fields, down or up: the one at hand is in sight, and no list opens on the way.
        there = range(len(sheet.entries) + len(sheet.rows))
        before = there[sheet.at + 1 :] if key == "up" else there[: sheet.at]
        for _ in before:
            await pilot.press("down" if key == "up" else "up")
        await pilot.resize_terminal(*size)  # type: ignore[arg-type]
        await settled(pilot)
        for number in there[::-1] if key == "up" else there:
            assert sheet.at == number
            line, _ = sheet._where(number)
            assert sheet.top <= line < sheet.top + sheet.size.height, (size, number)
            if sheet.row is None and sheet.entries[number].is_typed:
                assert typed.has_focus
                assert typed.region.y == sheet.region.y + line - sheet.top
                assert sheet.region.contains_region(typed.region)
            await press(pilot, key, painted=False)
        await press(pilot, "escape")
        assert isinstance(pilot.app.focused, RoundsList)
        assert not screen.has_class("-sheet")


# --- paste, copy, save ------------------------------------------------------------------------------------------------


async def test_params_are_pasted_and_wrong_ones_are_explained() -> None:
    async with on_bench(story(), preset="trim", size=SIZE) as (pilot, screen):
        await done(pilot, "paste-params")
        front = await brought(pilot, AskScreen)
        line, words = front.query_one(Input), front.query_one("#understood", Static)
        for text, reason in (
            ("{", "not valid JSON"),
            ("[1]", "not a JSON object"),
            ('{"min_tail_exchanges": -1}', "min_tail"),
        ):
            line.value = text
            await settled(pilot)
            assert reason in str(words.render())
            await press(pilot, "enter")
            assert pilot.app.screen is front
        params = json.dumps({"trigger_on_history_size_chars": 1234, "prompt": "Summarize."}, indent=1)
        line.value = ""
        line.post_message(Paste(params))
        await settled(pilot)
        assert "1\u00a0234" in str(words.render())
        await press(pilot, "enter")
        assert screen.bench.policy == strategy("exchange-summary").parameters.read(params).policy
        await done(pilot, "paste-params")
        front = await brought(pilot, AskScreen)
        flags = {"featureFlags": {"memoriesParams": {"compressionPrompt": "Fewer.", "compression_target": 7, "new": 1}}}
        front.query_one(Input).value = json.dumps(flags)
        await settled(pilot)
        said = str(front.query_one("#understood", Static).content)
        assert said.startswith("✔ memories-rewrite: ")
        assert said.endswith("Ignored unknown settings: new · enter accepts, esc cancels")
        await press(pilot, "enter")
        assert (screen.bench.strategy.id, screen.bench.policy.compression_target) == ("memories-rewrite", 7)


async def test_a_policy_is_saved_as_a_preset_of_ones_own() -> None:
    async with on_bench(story(), size=SIZE) as (pilot, screen):
        await type_into(pilot, screen, "summary_char_limit", "9")
        await done(pilot, "save-preset")
        front = await brought(pilot, AskScreen)
        front.query_one(Input).value = "../mine"
        await press(pilot, "enter")
        assert pilot.app.screen is front
        assert "not a valid preset name" in in_one_line(front.query_one("#understood", Static))
        front.query_one(Input).value = "mine"
        await press(pilot, "enter")
        saved = load_preset("mine")
        assert saved.policy == screen.bench.policy
        assert "summary_char_limit" in saved.about
        assert saved.basis["cache_ttl_ms"] == "documented"
        assert screen.bench.preset == "mine"
        assert not any(one.differs for one in screen.query_one(PolicySheet).entries)


def test_a_name_says_what_it_takes_the_place_of() -> None:
    assert "writes" in read_preset_name(" mine ").note
    assert "used instead of the workbench's own" in read_preset_name("trim").note
    paths.presets().mkdir(parents=True)
    (paths.presets() / "mine.toml").write_text("strategy = 'trim'\n")
    assert "replaces your preset" in read_preset_name("mine").note


async def test_what_is_done_with_all_settings_at_once_is_below_them() -> None:
    async with on_bench(story(), preset="trim", size=SIZE) as (pilot, screen):
        sheet = screen.query_one(PolicySheet)
        await press(pilot, "9", "up", "enter")
        assert notes(pilot) == ["No setting differs from the preset trim."]
        await press(pilot, "up", "enter")
        assert notes(pilot)[-1] == "No product has parameters for trim: copy the settings as TOML."
        await press(pilot, *["up"] * 5)
        assert sheet.row is not None
        assert (sheet.row.id, sheet.row.value) == ("window", str(screen.bench.original.limit))
        assert "context window" in str(screen.query_one("#field-help", Static).content)
        front = await brought(pilot, AskScreen, "enter")
        front.query_one(Input).value = "2k"
        await press(pilot, "enter")
        assert (screen.bench.window, sheet.row.value) == (2_000, str(screen.bench.original.limit))
        assert pilot.app.focused is sheet
        await press(pilot, "up")
        assert sheet.entry is sheet.entries[-1]


# --- window -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "tokens"), [("200k", 200_000), ("1M", 1_000_000), ("200 000", 200_000), ("12_500", 12_500), ("", None)]
)
def test_a_window_is_read_as_people_write_it(typed: str, tokens: int | None) -> None:
    assert read_window(typed, Window(7, "recorded")).value == tokens


def test_without_a_number_the_session_has_its_own_window() -> None:
    assert read_window(" ", Window(258_400, "recorded")).note == "258 400 tokens, recorded by the session"


@pytest.mark.parametrize("typed", ["many", "-5", "0", "1e9", "999", "900000000"])
def test_a_wrong_window_is_refused_with_what_is_allowed(typed: str) -> None:
    with pytest.raises(BadInput, match=r"200k|1\u00a0000"):
        read_window(typed, None)


async def test_an_unknown_window_says_so_and_is_set_from_the_screen() -> None:
    session = session_of([Message("1", "user", (Text("Hello"),)), Message("2", "assistant", (Text("Hi"),))], model=None)
    async with on_bench(session, preset="trim", size=SIZE) as (pilot, screen):
        assert "window is unknown" in screen.query_one(PolicyForm).trigger_text
        assert "window unknown" in "".join(segment.text for segment in screen.query_one(BudgetBar).render_line(2))
        await done(pilot, "window")
        front = pilot.app.screen
        front.query_one(Input).value = "2k"
        await press(pilot, "enter")
        assert screen.bench.window == 2_000
        assert "does not fire" in screen.query_one(PolicyForm).trigger_text


async def editor(pilot: Pilot[None], *keys: str) -> PolicyTextEditor:
    return (await brought(pilot, PromptsScreen, *keys)).query_one(PolicyTextEditor)


# --- texts ------------------------------------------------------------------------------------------------------------


async def test_a_prompt_is_edited_beside_the_request_and_taken() -> None:
    async with on_bench(story(), size=SIZE) as (pilot, screen):
        front = await editor(pilot, "E")
        assert front.field.key == "prompt"
        assert "Never log the token" in front.query_one(TextView).text
        front.query_one(TextArea).load_text("Say it in three words.")
        await settled(pilot)
        assert "Say it in three words." in front.query_one(TextView).text
        doubts = str(front.query_one("#doubts", Static).render())
        assert "sets no output format" in doubts
        assert OFFLINE in doubts
        name = await brought(pilot, AskScreen, "f2")
        name.query_one(Input).value = "short"
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, PromptsScreen)
        kept = stored_prompt("short.md")
        assert (kept.strategy, kept.field, kept.prompt.text) == ("exchange-summary", "prompt", "Say it in three words.")
        await press(pilot, "ctrl+s")
        assert screen.bench.policy.model_dump()["prompt"] == "Say it in three words."
        assert "Say it in three words." in screen.bench.plan.requests[0].text
        assert entry_of(screen, "prompt").differs
        await press(pilot, "r")
        assert screen.view.note == PROMPT_IGNORED
        await brought(pilot, RunScreen, "E", "f5")


async def test_the_request_is_scrolled_to_the_prompt_in_it() -> None:
    """It is wrapped for the width that it has on the screen, not for one of before there was any."""
    async with on_bench(story(12), size=(80, 24), preset="claude-code") as (pilot, _):
        for size in ((80, 24), (140, 42)):
            await pilot.resize_terminal(*size)
            front = await editor(pilot, "E")
            first = next(line for line in str(front.query_one(TextArea).text).split("\n") if line)
            assert first[:30] in front.query_one(TextView).text_in_view
            await brought(pilot, BenchScreen, "escape", "escape")


async def test_a_template_is_edited_beside_the_new_messages_and_esc_asks_before_it_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    async with on_bench(story(), size=SIZE) as (pilot, screen):
        before = screen.bench
        front = await editor(pilot, "E", "f6")
        await press(pilot, "f4")
        assert any("set $EDITOR" in note for note in notes(pilot)), "without an editor the text is edited here"
        front.query_one(TextArea).load_text("My own node.\n{summary}\n{abridged_history}")
        await settled(pilot)
        assert "My own node." in front.query_one(TextView).text
        assert OFFLINE not in str(front.query_one("#doubts", Static).render())
        await press(pilot, "f7")
        assert "My own node." not in front.query_one(TextView).text
        await press(pilot, "f7")
        assert front.query_one(TextView).text.count("(estimate: ") == 1, "what only takes room is said once"
        await press(pilot, "escape")
        assert front.is_attached
        await press(pilot, "escape")
        assert not front.is_attached
        await brought(pilot, BenchScreen, "escape")
        assert screen.bench is before


async def test_letters_that_come_faster_than_the_list_is_marked_break_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was marked among all presets is told of when few are left. And nothing is missed that is not read yet."""
    read = threading.Event()
    monkeypatch.setattr(choose_preset, "choices", lambda: (read.wait(60), choices())[1])
    async with on_bench(story(), size=(80, 24)) as (pilot, _):
        await pilot.press("P")
        await until(lambda: isinstance(pilot.app.screen, ChoosePresetScreen))
        front = pilot.app.screen
        assert isinstance(front, ChoosePresetScreen)
        empty = [front.query_one(TextList).empty]
        read.set()
        await settled(pilot)
        assert [*empty, front.query_one(TextList).empty] == [LOOKING, NOTHING]
        options, search = front.query_one(TextList), front.query_one(Input)
        options.go(len(options.rows) - 1)
        front._list("clear-tool")  # what was marked is told of first
        search.value = "clear-tool"
        await settled(pilot)
        assert front.shown[options.at].preset.id == "clear-tool-results"
        assert "results" in str(front.query_one("#about", Static).content)
