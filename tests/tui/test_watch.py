"""Watched sentences: the lines in the header, and how they stand after every change."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

import pytest
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.widgets import DataTable, Static

from tests.tui.app import brought, failing_story, notes, on_bench, press, settled, story
from tests.tui.bench.desk import Desk
from workbench.analysis.course import course_of
from workbench.analysis.pictures import LOST
from workbench.analysis.replay import replay
from workbench.bench import Bench, RuleState, open_bench, rule_states, steps
from workbench.bench.assessment import assess
from workbench.bench.fixes import RuleFix, RuleFixes
from workbench.compaction.preset import load_preset
from workbench.tokens import Counter
from workbench.tui.bench import planning, watched_rules
from workbench.tui.bench.screen import BenchScreen
from workbench.tui.plain import line_of
from workbench.tui.retention.generations import GenerationsPane, compact_repeatedly
from workbench.tui.screens.compare import CompareScreen
from workbench.tui.screens.retention import RetentionScreen
from workbench.tui.widgets.calls_plot import CallsPlot
from workbench.tui.widgets.facts_list import FactsList
from workbench.tui.widgets.watched_lines import (
    FEW,
    LEAST,
    MOST,
    ROOMY,
    TALL,
    WatchedLines,
    Watching,
    fixes_cells,
    line_cells,
)

RULE = "Never log the token."
STANDS = (RuleState(RULE, "verbatim", "paraphrased", "gone"),)


def words(watching: Watching, line: int, most: int, width: int) -> str:
    return "".join(text for text, _ in line_cells(watching, line, most, width)).rstrip()


@pytest.mark.parametrize(
    ("width", "told"),
    [
        (ROOMY - 1, "✔ ▸ ≈ ▸ ○"),
        (ROOMY, "now ✔  after ≈  after 2nd ○"),
    ],
)
def test_a_sign_has_its_moment_before_it_where_there_is_room(width: int, told: str) -> None:
    line = words(Watching((RULE,), STANDS), 0, MOST, width)
    assert line.startswith(f" ◉ {RULE} ")
    assert line.endswith(told)
    assert len(line) <= width


def test_what_is_not_known_yet_has_its_room() -> None:
    assert words(Watching((RULE,)), 0, MOST, 80).endswith("… ▸ … ▸ …")


def test_what_was_judged_before_the_last_change_is_dim() -> None:
    fresh, old = (dict(line_cells(Watching((RULE,), STANDS, fresh), 0, MOST, 80)) for fresh in (True, False))
    assert (fresh["✔ "], fresh["≈ "], fresh["○ "]) == ("good", "good", "bad")
    assert (old["✔ "], old["≈ "], old["○ "]) == ("good", "dim", "dim")


@pytest.mark.parametrize(("count", "last"), [(MOST, " ◉ Rule 4."), (MOST + 1, "   … 2 more are watched")])
def test_of_too_many_the_last_line_says_how_many_there_are(count: int, last: str) -> None:
    shown = Watching(tuple(f"Rule {number}." for number in range(count)))
    assert words(shown, MOST - 1, MOST, 80).startswith(last)


GONE = ("Dont x", "Don't rename anything, the URLs are printed on the paper catalogue.")


@pytest.mark.parametrize("width", [*range(20, 181)])
def test_b1_what_keeps_a_lost_rule_is_told_with_whole_figures_at_every_width(width: int) -> None:
    """`+24.6k` was cut to `+24.6`: the line was counted one cell too short, and then cut without a word."""
    bench = open_bench(story(), Counter())
    fixes = RuleFixes(bench, GONE[1], None, RuleFix("“Target: share” 61 %", 24_600, "", bench))
    cells = fixes_cells(Watching(GONE, fixes=fixes), width)
    shown = line_of([Segment(text) for text, _ in cells], width, Style()).text
    assert len(shown) == width
    said = "b “Target: share” 61 % +24.6k"
    whole = f"   ○ lost: {said}"
    if width >= len(whole):
        assert said in shown
        assert "…" not in shown.replace("…”", "")
    else:
        assert [one.strip() for one in re.findall(r"[+]?[\d.]+[ k%]*", shown)] in ([], ["61 %"])
        assert shown.rstrip().endswith("…")


@pytest.mark.parametrize("width", [*range(80, 181)])
def test_b1_the_keys_that_keep_a_rule_are_on_its_line_where_that_leaves_the_rule_readable(width: int) -> None:
    bench = open_bench(story(), Counter())
    pin, number = RuleFix("pins message 25", 32, "", bench), RuleFix("“Target: share” 61 %", 24_600, "", bench)
    stands = (RuleState(GONE[0], "verbatim", "verbatim", "verbatim"), RuleState(GONE[1], "verbatim", "gone", "gone"))
    watching = Watching(GONE, stands, fixes=RuleFixes(bench, GONE[1], pin, number))
    said, height = "i pin +32  b “Target: share” 61 % +24.6k", watching.lines(MOST, width)
    kept, lost, *below = (words(watching, line, MOST, width) for line in range(height))
    assert all(cell_len(line) <= width for line in (kept, lost, *below))
    assert kept.endswith("✔")
    assert kept.index("✔") == lost.index("✔"), "signs are below each other"
    if below:
        assert width < 7 + LEAST + (27 if width >= ROOMY else 10) + len(said) + 2
        assert below == [f"   ○ lost{below[0][9:].partition(':')[0]}: {said}"]
    else:
        assert lost.endswith(said)
        assert len(lost.partition("now" if width >= ROOMY else "✔")[0].removeprefix(" ◉ ").rstrip()) >= LEAST


def lines(screen: BenchScreen) -> list[str]:
    shown = screen.query_one(WatchedLines)
    return ["".join(segment.text for segment in shown.render_line(y)).rstrip() for y in range(shown.size.height)]


async def test_undo_takes_back_a_step_and_not_what_is_watched() -> None:
    async with on_bench(story(), size=(80, TALL - 1), watched=(RULE, "No tabs.", "No spaces.")) as (pilot, screen):
        assert len(lines(screen)) == FEW
        assert lines(screen)[1] == "   … 2 more are watched"
        await press(pilot, "p", "u")
        assert (screen.bench.pins, len(screen.bench.watched)) == (frozenset(), 3)


async def test_where_nothing_is_compacted_all_three_verdicts_are_there() -> None:
    async with on_bench(story(1, 1), size=(80, TALL), watched=(RULE,)) as (_, screen):
        assert screen.bench.outcome.status == "unchanged"
        assert [line.split()[-5:] for line in lines(screen)] == [["✔", "▸", "✔", "▸", "✔"]]


async def test_a_lost_fact_is_watched_and_pinned() -> None:
    async with on_bench(failing_story(), preset="trim", size=(100, 40)) as (pilot, screen):
        await brought(pilot, RetentionScreen, "X")
        fact = pilot.app.screen.query_one(FactsList).fact
        assert fact is not None
        lost = fact.text
        await press(pilot, "W", "p", "escape")
        assert screen.bench.watched == (lost,)
        assert screen.bench.pins


def verdicts(bench: Bench, desk: Desk) -> list[tuple[str | None, ...]]:
    assert desk.view.rule_states_bench is bench
    return [(one.now, one.after, one.again) for one in desk.view.rule_states]


def test_it_is_judged_anew_when_something_changes() -> None:
    desk = Desk(story(6), preset="trim")
    desk.store.subscribe(partial(planning.start_preview, desk))
    desk.store.subscribe(partial(watched_rules.start_rule_states, desk))
    asks = "Why does CI fail on the second job?"
    assert watched_rules.toggle_rule(desk, asks) == (asks,)
    desk.rest()
    assert desk.view.rule_states == ()  # while it is being counted, nothing is judged
    desk.store.counted(1, desk.bench.layout, desk.view.groups, 1, 1)
    desk.rest()
    assert verdicts(desk.bench, desk) == [("verbatim", "gone", "gone")]
    desk.at = (16, False)
    desk.do("pin")
    desk.rest()
    assert verdicts(desk.bench, desk) == [("verbatim", "verbatim", "verbatim")]
    assert watched_rules.toggle_rule(desk, asks) == ()


async def test_what_keeps_a_lost_rule_is_named_with_the_key_that_does_it() -> None:
    """Which number helps had to be guessed."""
    rules = ("Never log the token.", "the check now comes before the refresh.")
    lost = story(8, texts=[*["Look at it."] * 3, "Now this. Never log the token.", *["Go on."] * 6])
    async with on_bench(lost, preset="trim", window=3_000, size=(80, 24), watched=rules) as (pilot, screen):
        before = screen.bench
        for size in ((80, 24), (120, 40)):
            await pilot.resize_terminal(*size)
            await settled(pilot)
            for key, words in (("i", "pins message 25"), ("b", "“Target: share” ")):
                told = "\n".join(lines(screen))
                assert f"{key} {'pin −' if key == 'i' else words}" in told
                assert all(cell_len(line) <= size[0] for line in lines(screen))
                await press(pilot, key)
                assert (screen.bench.policy, screen.bench.pins) != (before.policy, before.pins)
                assert [one.after for one in screen.view.rule_states] == ["verbatim", "verbatim"]
                assert screen.view.note.startswith(words)
                assert len(lines(screen)) == len(rules), "nothing is lost, and nothing is offered"
                await press(pilot, key)
                assert notes(pilot) == ["No watched rule is known to be lost."]
                await press(pilot, "u")
                assert (screen.bench.policy, screen.bench.pins) == (before.policy, before.pins)


async def test_compare_and_generations_tell_of_each_watched_sentence() -> None:
    done = "Done with part 1: the check now comes before the refresh."
    alike = (f"{'x' * 40} one", f"{'x' * 40} two", RULE, done)  # of rows that are called the same each is its own
    async with on_bench(story(6), preset="trim", window=5_000, size=(120, 40), watched=alike) as (pilot, _):
        compared = await brought(pilot, CompareScreen, "C")
        assert str(compared.query_one(DataTable).get_cell("trim", "watched")) == "○ ○ ✔ ○"
        # Simulated, each variant says where it first lost one: below the plot and over it, and w goes there.
        one = next(one for one in compared.rows.ranked if one.name == "trim")
        compared.query_one(DataTable).move_cursor(row=compared.rows.ranked.index(one))
        assert one.replay is not None
        lost = one.replay.compacted[0].call
        await press(pilot, "w")
        plot = compared.query_one(CallsPlot)
        assert str(compared.query_one("#watched", Static).render()).splitlines() == [
            f"◉ {sentence:<{len(done)}}  {told}"
            for sentence, told in zip(
                alike, ["○ never there", "○ never there", "✔ verbatim", f"○ gone, lost at call {lost}"], strict=True
            )
        ]
        assert plot.picture is not None
        assert (plot.call, plot.picture.marks[lost]) == (lost, LOST)
        assert "◉ ○ → ○ · ◉ ○ → ○ · ◉ ✔ → ✔ · ◉ ✔ → ○" in str(compared.query_one("#call", Static).render())
        await press(pilot, "escape")
        kept = await brought(pilot, RetentionScreen, "X", "3")
        table = kept.query_one(GenerationsPane).query_one(DataTable)
        told = [[str(cell) for cell in table.get_row_at(at)] for at in range(table.row_count)]
        assert [row[2] for row in told if row[0].startswith("◉")] == ["○ gone", "○ gone", "✔ verbatim", "○ gone"]
        await press(pilot, "escape")


def test_the_system_prompt_is_sent_whatever_is_compacted() -> None:
    counter = Counter(None)
    opened = open_bench(replace(story(6), system=f"Be brief. {(rule := 'Ask before you deploy.')}"), counter)
    bench = steps.with_watched_rules(steps.choose_preset(opened, load_preset("trim")), (rule, "Ask nobody, ever."))
    outcome = bench.offline.outcome
    assert outcome.status == "compacted"
    told = rule_states(bench, outcome, again=True)
    assert [(one.now, one.after, one.again) for one in told] == [("verbatim",) * 3, ("gone",) * 3]
    assert compact_repeatedly(bench, 2, lambda number: None, lambda: False).steps[1].watched == ("verbatim", "gone")


@pytest.mark.parametrize(("left", "after"), [("Be brief.", "gone"), ("- Keep the lid on.\n- Be brief.", "verbatim")])
def test_a_rule_in_the_memories_stands_until_they_are_rewritten(left: str, after: str) -> None:
    rule = "Keep the lid on."
    opened = open_bench(replace(story(6), memories=f"- {rule}\n- Be short."), Counter(None))
    trimmed = steps.with_watched_rules(steps.choose_preset(opened, load_preset("trim")), (rule,))
    assert trimmed.offline.outcome.status == "compacted"
    (one,) = rule_states(trimmed, trimmed.offline.outcome, again=True)
    assert (one.now, one.after, one.again) == ("verbatim", "verbatim", "verbatim")
    assert compact_repeatedly(trimmed, 2, lambda number: None, lambda: False).steps[1].watched == ("verbatim",)
    (trail,) = replay(course_of(opened.session, Counter(None)), load_preset("trim"), None, watched=(rule,)).watched
    assert trail.last == "verbatim"
    rewritten = replace(trimmed.offline.outcome, memories=left)
    assert [one.after for one in rule_states(trimmed, rewritten)] == [after]


@pytest.mark.parametrize(("room", "told"), [(0, True), (-1, False)])
def test_of_a_long_context_only_a_run_has_a_receipt(room: int, told: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(story(6), preset="trim")
    monkeypatch.setattr(planning, "MOST_AT_ONCE", desk.bench.layout.shape.chars[-1] + room)
    desk.store.subscribe(partial(planning.start_preview, desk))
    desk.store.subscribe(partial(watched_rules.start_assessment, desk))
    desk.store.counted(1, desk.bench.layout, desk.view.groups, 1, 1)
    desk.rest()
    assert (desk.view.assessment is not None) is told
    desk.store.step(steps.with_result(desk.bench, desk.bench.offline))
    desk.rest()
    assert desk.view.assessment
    assert desk.view.assessment.bench is desk.bench
    assert desk.view.assessment.receipt == assess(desk.bench, desk.bench.offline).receipt
