"""The middle: code in colours, JSON that folds, texts side by side; and what can be done with them by key and mouse."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.paths import SAMPLES
from tests.tui.app import done, notes, on_bench, press, session_of, settled, story
from tests.tui.test_editing import editor
from workbench.bench import Bench, open_bench, steps
from workbench.compaction.preset import default_preset, load_preset
from workbench.compaction.shape import Shape
from workbench.formats.files import load
from workbench.runs.cost_estimate import request_costs
from workbench.session import Media, Message, Span, Text, Thinking, ToolResult, ToolUse
from workbench.summarizers.by_name import SummarizerName
from workbench.tokens import Counter
from workbench.tui.app import WorkbenchApp
from workbench.tui.middle.blocks import block_parts, fold_json, pretty, text_parts
from workbench.tui.middle.code import LONGEST, CodeHighlighter, language_of
from workbench.tui.middle.pager import Pager
from workbench.tui.middle.parts import Folds, Piece, TabInput, side_by_side
from workbench.tui.middle.recorded import _checker_of
from workbench.tui.middle.tabs import TABS, abridged_parts
from workbench.tui.plain import figure
from workbench.tui.plan_words import split_line
from workbench.tui.round_lines import RoundsDrawing, split_words
from workbench.tui.rows import Groups
from workbench.tui.widgets.rounds_list import RoundsList
from workbench.tui.widgets.text_view import TextPart, wrap

SIZE = (120, 40)


# --- code ---


def styled(coloured: CodeHighlighter, number: int, line: str) -> dict[str, str]:
    return {line[start:stop]: style for start, stop, style in coloured.runs(number)}


def test_code_is_coloured_and_the_numbers_of_lines_are_not_code() -> None:
    lines = ["     7→def add(one, other):  # both", '     8→    """Their', '     9→    sum."""', "    10→    return 1"]
    coloured = CodeHighlighter(lines, "python")
    assert styled(coloured, 0, lines[0]) == {"     7→": "lead", "def": "keyword", "add": "name", "# both": "comment"}
    assert styled(coloured, 2, lines[2])['    sum."""'] == "string", "a text goes on over the lines"
    assert styled(coloured, 3, lines[3])["return"] == "keyword"


def test_a_page_costs_the_same_wherever_it_stands_in_a_long_text() -> None:
    lines = ["value = compute(number, 'text')  # why"] * 60_000
    lines[30_000] = "x" * 1_000_000
    coloured = CodeHighlighter(lines, "python")
    coloured.runs(0)
    assert coloured.runs(59_000)
    assert coloured.runs(59_040)
    assert len(coloured._done) < 300
    assert all(stop <= LONGEST for _, stop, _ in coloured.runs(30_000))


@given(st.lists(st.text(alphabet="ab'\"#`{}()=:\\ \t→1漢", max_size=12), min_size=1, max_size=12), st.integers(0, 11))
def test_runs_lie_in_their_line_in_order_whichever_line_is_asked_for_first(lines: list[str], first: int) -> None:
    for language in ("python", "json", "typescript"):
        coloured = CodeHighlighter(lines, language)
        for number in (min(first, len(lines) - 1), *range(len(lines))):
            end = 0
            for start, stop, _ in coloured.runs(number):
                assert end <= start <= stop <= len(lines[number])
                end = stop


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("src/a.ts", "typescript"),
        ("/x/Makefile", "make"),
        ("Dockerfile", "docker"),
        ("python", "python"),
        ("a.zzz", ""),
    ],
)
def test_a_language_is_known_by_a_files_name(name: str, language: str) -> None:
    assert language_of(name) == language


def test_only_what_stands_between_fences_is_code() -> None:
    text = "Look:\n```python\ndef f(): ...\n```\nand that was it.\n```\nplain\n"
    parts = text_parts(text)
    assert "\n".join(part.text for part in parts) == text
    assert [part.text for part in parts if isinstance(part, Piece)] == ["def f(): ..."]


# --- folds ---

BIG = {"path": "a.py", "content": "def f():\n" + "    pass\n" * 900, "edits": [{"old": "x" * 90, "new": "y"}] * 3}


def test_a_big_input_shows_its_shape_first_and_opens_level_by_level() -> None:
    shown = fold_json(BIG, Folds(), "m/0", "python")
    assert [piece.text.split(" · ")[0].replace("\u00a0", " ") for piece in shown] == [
        '  "path": "a.py",',
        '▸ "content": 901 lines, 8 109 characters',
        '▸ "edits": [3 items] 345 characters',
    ]
    opened = fold_json(BIG, Folds().toggle("m/0/edits"), "m/0")
    assert [piece.text[:2] for piece in opened] == ["  ", "▸ ", "▾ ", "▸ ", "▸ ", "▸ "]
    assert {piece.fold for piece in opened if piece.fold} >= {"m/0/edits/0", "m/0/content"}
    every = fold_json(BIG, Folds(every=True), "m/0", "python")
    assert BIG["content"] in [piece.text for piece in every if piece.language == "python"]
    assert len(fold_json(BIG, Folds(every=True).toggle("m/0/content"), "m/0")) == len(every) - 1


def test_a_small_input_stands_open_and_a_file_gets_it_whole() -> None:
    given = {"command": "ls -l", "why": "to see\nwhat is there"}
    call = ToolUse("c", "Bash", given)
    shown = block_parts(call, Folds(), "m/0")
    assert shown[0].text == "▶ call Bash · 2 fields, 52 characters"
    assert "to see\nwhat is there" in [part.text for part in shown]
    assert block_parts(call)[-1].text == pretty(given)


def test_deep_nesting_neither_folds_for_ever_nor_breaks() -> None:
    deep: object = 1
    for depth in range(60_000):
        deep = [deep, "x" * 100]
        if depth == 100:
            shown = fold_json(deep, Folds(every=True), "m/0")
            assert len(shown) == 2 * 60 + 2, "sixty levels, and the rest on one line"
    assert "nested too deep" in fold_json(deep, Folds(every=True), "m/0")[0].text
    assert "nested too deep" in pretty({"a": deep})


@pytest.fixture
def bench() -> Bench:
    code = json.dumps([{"name": f"n{n}", "value": "v" * 120} for n in range(60)])
    call = ToolUse("c1", "Read", {"file_path": "src/a.py"})
    messages = [
        Message("u", "user", (Text("look"), Media("image/png", 1_234))),
        Message("a", "assistant", (Thinking("let me see"), call, ToolUse("c2", "Api", BIG))),
        Message("r", "tool", (ToolResult("c1", (Text("1\tdef f(): ..."),)), ToolResult("c2", (Text(code),)))),
        Message("s", "tool", (ToolResult("c1", (Text(json.dumps({"b": [1, 2]})), Media("image/png", 99))),)),
    ]
    return open_bench(session_of(messages), Counter())


def test_results_name_their_call_and_are_told_apart_from_it(bench: Bench) -> None:
    view = TabInput(bench, Groups(bench.layout), 2, folds=Folds())
    parts = TABS["message"](view)
    assert "◀ result of Read · 1 line, 14 characters" in [part.text for part in parts if part.style == "result"]
    assert Piece("1\tdef f(): ...", language="python") in parts
    assert sum(isinstance(part, Piece) and part.text.startswith("▸ {3 fields}") is False for part in parts)
    assert sum(isinstance(part, Piece) and bool(part.fold) for part in parts) == 60
    asked = TABS["message"](replace(view, index=1))
    assert [part.text.split(" · ")[0] for part in asked if part.style == "call"] == ["▶ call Read", "▶ call Api"]
    assert "┄ thinking" in "\n".join(part.text for part in asked)
    small = "\n".join(part.text for part in TABS["message"](replace(view, index=3, folds=None)))
    assert '"b": [\n' in small
    assert "▣ image/png · 99 bytes" in small
    assert [part.text for part in asked if part.style == "thinking"] == ["let me see"]
    assert "▣ image/png · 1\u00a0234 bytes" in [part.text for part in TABS["message"](replace(view, index=0))]


def test_the_result_tells_what_every_message_stands_for() -> None:
    bench = steps.split_at(open_bench(story(), Counter()), "m24")
    rows = "\n".join(part.text for part in TABS["result"](TabInput(bench, Groups(bench.layout), 0))).split("\n")
    assert sum("replaces 1–24" in row for row in rows) == 2
    assert [row.split("  = ")[1].split(":")[0] for row in rows if "  = " in row] == [str(n) for n in range(25, 33)]


def test_what_is_retold_says_where_it_stands() -> None:
    """The sample's newest summary replaced three requests and stands in the midst of the third."""
    session = load(SAMPLES / "augment-with-summary.json")
    bench = open_bench(session, Counter(), epoch=len(session.epochs), preset="augment-example")
    parts = abridged_parts(TabInput(bench, Groups(bench.layout), 0))
    assert "9 requests · messages 3–50 and earlier ones" in parts[0].text
    assert [part.text for part in parts[2:] if part.style == "dim"] == [
        *["── before this context"] * 2,
        *(f"── messages {span}" for span in ("3–16", "17–24", "25–30", "31–38", "39–42", "43–48", "49–50")),
    ]


def test_the_line_of_the_split_speaks_in_the_strategys_unit() -> None:
    bench = steps.split_at(open_bench(story(), Counter()), "m24")
    assert split_line(bench) == "12 exchanges summarized above · 4 exchanges kept below"
    assert split_words(RoundsDrawing(Groups(bench.layout), bench.outcome, bench.pins, True, split_line(bench))) == (
        "12 exchanges summarized above · 4 exchanges kept below"
    )
    trimmed = steps.choose_preset(bench, default_preset("trim"))
    assert split_line(trimmed).split(" · ")[0].endswith(" dropped above")


# --- side by side ---


def test_two_texts_stand_beside_each_other_row_by_row() -> None:
    left, right = [TextPart("漢字 " * 12), TextPart("short", "warning")], [TextPart("right", "good")]
    rows = side_by_side(left, right, 60)
    wrapped = wrap(rows, 60)
    assert len(wrapped) == len(rows) == 4
    assert {cell_len(line.split("│")[0]) for line in wrapped.lines} == {29}
    ((at, style),) = rows[0].then
    assert (rows[0].style, style, rows[0].text[at:]) == ("", "good", "right")
    assert rows[3].style == "warning"


# --- on the screen ---


async def test_folds_open_by_key_and_by_mouse_and_a_copy_holds_everything(bench: Bench) -> None:
    async with on_bench(bench.session) as (pilot, screen):
        pager = screen.query_one(Pager)
        screen.query_one(RoundsList).go(1)
        await press(pilot, "1")
        await done(pilot, "widen")
        assert pager.size.width > 100
        assert pager.text.count("▸") == 2
        assert "    pass" not in pager.text
        await press(pilot, "full_stop", "full_stop", "enter")
        assert pager.text.count("▾") == 1
        assert pager.text.count("▸") == 4, "the three edits within"
        row = next(row for row, line in enumerate(pager._wrapped.line) if '"content"' in pager._wrapped.lines[line])
        await pilot.click(Pager, offset=(4, row))
        await settled(pilot)
        assert "    pass" in pager.text
        await press(pilot, "minus")
        assert "    pass" not in pager.text
        await press(pilot, "y")
        await done(pilot, "widen")
        assert BIG["content"] in pilot.app.clipboard
        assert pager.size.width < 100


async def test_code_has_the_themes_colours(bench: Bench) -> None:
    def looks(pager: Pager) -> set[object]:
        row = pager._wrapped.line.index(pager._wrapped.lines.index("1   def f(): ..."))
        return {segment.style for segment in pager.render_line(row) if segment.style and segment.text.strip()}

    async with on_bench(bench.session) as (pilot, screen):
        screen.query_one(RoundsList).go(2)
        await press(pilot, "1")
        pager = screen.query_one(Pager)
        dark = looks(pager)
        assert len(dark) >= 3
        pilot.app.theme = "workbench-light"
        await settled(pilot)
        assert not dark & looks(pager)


async def test_the_editor_gets_a_copy_and_says_that_it_was_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "kept"
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor(tmp_path, f'cp "$2" {kept}; printf "one more line" >> "$2"'))
    monkeypatch.setattr(WorkbenchApp, "suspend", lambda _: nullcontext())  # a test has no terminal to give away
    async with on_bench(story()) as (pilot, screen):
        screen.query_one(RoundsList).go(0)
        before = screen.bench
        await done(pilot, "open-text")
        assert "Never log the token" in kept.read_text()
        assert screen.bench is before
        assert any("changed a copy" in note for note in notes(pilot))


@pytest.mark.parametrize("words", [20, 90_000])
def test_a_request_has_one_size_on_its_tab_and_where_it_is_quoted(words: int) -> None:
    messages = list(story(8).messages)
    messages[0] = replace(messages[0], blocks=(Text("the keel lies " * words),))
    opened = steps.choose_preset(open_bench(session_of(messages), Counter()), load_preset("claude-code"))
    heads = [part.text for part in TABS["request"](TabInput(opened, Groups(opened.layout), 0)) if part.style == "title"]
    (quote,) = request_costs(opened, SummarizerName("anthropic", "claude-sonnet-4-5"))
    assert (quote.chars > 400_000) == (words == 90_000)
    assert [head for head in heads if head.endswith(f"~{figure(quote.tokens)} tokens")] == heads[-1:]


def test_what_stands_only_in_a_secret_founds_no_claim_of_a_recorded_summary() -> None:
    said = Message("u", "user", (Text("Set DB_PASSWORD=vault/Heron_77.py in src/weir.py now."),))
    found = _checker_of(Shape((said,)), (Span(0, 1),)).check("It changed `vault/Heron_77.py` and `src/weir.py`.")
    assert [one.text for one in found.unsupported] == ["vault/Heron_77.py"]
