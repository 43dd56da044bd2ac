"""Which message stands on which line, and what the lines say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.app import story
from workbench.analysis.search import query_of
from workbench.base.figures import short, unbroken
from workbench.compaction.context import Layout
from workbench.compaction.outcome import Fate, FateSpan, Outcome
from workbench.compaction.shape import Shape
from workbench.session import Message, Text, ToolResult, ToolUse
from workbench.tokens import Counter, sizes_of
from workbench.tui.plain import bar, change, fit, one_line, plain, wrap_words
from workbench.tui.round_lines import (
    ROOMY,
    RoundsDrawing,
    fit_call,
    header_cells,
    heading_cells,
    mark_hits,
    message_cells,
    split_cells,
    split_words,
)
from workbench.tui.rows import Groups, ListRows, arrange, first_words, group_fate, message_fate

MESSAGES = story().messages
LAYOUT = Layout(Shape(MESSAGES), sizes_of(MESSAGES, "claude-sonnet-4-5", Counter()))
GROUPS = Groups(LAYOUT)


@given(
    st.frozensets(st.integers(0, 3)),
    st.one_of(st.none(), st.integers(0, len(MESSAGES))),
    st.one_of(st.none(), st.sets(st.integers(0, len(MESSAGES) - 1)).map(sorted)),
    st.booleans(),
)
def test_what_is_listed_has_its_line_and_nothing_else_has(
    opened: frozenset[int], split: int | None, shown: list[int] | None, by_size: bool
) -> None:
    arrangement = arrange(GROUPS, shown, by_size=by_size)
    rows = ListRows(GROUPS, opened, split, arrangement if by_size or shown is not None else None)
    lines = [rows[line] for line in range(len(rows))]
    listed = list(range(len(MESSAGES))) if shown is None else shown
    groups = {GROUPS.group_of(index) for index in listed}
    assert arrangement.hidden == len(MESSAGES) - len(listed)
    assert sorted(row.group for row in lines if row.kind == "header") == sorted(groups)
    assert sorted(row.index for row in lines if row.kind == "message") == [
        index for index in listed if GROUPS.group_of(index) in opened
    ]
    assert sum(row.last for row in lines) == len(groups & opened)
    for index in range(len(MESSAGES)):
        assert rows.lists(index) == (index in listed)
        if index in listed:
            row = lines[rows.line_of(index, header=False)]
            header = GROUPS.group_of(index) not in opened
            assert (row.kind, row.index) == ("message", index) if not header else row.kind == "header"
            assert lines[rows.line_of(index, header=True)].kind == "header"
        elif lines:
            assert lines[rows.line_of(index, header=False)].kind != "split"
    if by_size:
        sizes = [LAYOUT.tokens[GROUPS.spans[g].stop] - LAYOUT.tokens[GROUPS.spans[g].start] for g in rows.order]
        assert sizes == sorted(sizes, reverse=True)
        inside = [LAYOUT.sizes.tokens[r.index] for r in lines if r.kind == "message" and r.group == rows.order[0]]
        assert inside == sorted(inside, reverse=True)
        assert rows.split_line is None
    elif split is not None and listed:
        line = rows.split_line
        assert line is not None
        assert lines[line].kind == "split"
        assert all(row.index < split for row in lines[:line])
        assert all(row.index >= split for row in lines[line + 1 :])


@pytest.mark.parametrize(("index", "line"), [(0, 0), (4, 2), (5, 2), (9, 3), (31, 3)])
def test_a_message_that_is_not_listed_stands_on_the_nearest_line(index: int, line: int) -> None:
    rows = ListRows(GROUPS, frozenset({0, 2}), None, arrange(GROUPS, [2, 5, 20], by_size=False))
    assert [(row.kind, row.index) for row in map(rows.__getitem__, range(len(rows)))] == [
        ("header", 0),
        ("message", 2),
        ("message", 5),
        ("header", 16),
        ("message", 20),
    ]
    assert rows.line_of(index, header=index == 0) == line


def outcome(split: int, *fates: FateSpan) -> Outcome:
    spans = fates or (FateSpan(0, split, Fate.SUMMARIZED, "all"), FateSpan(split, len(MESSAGES), Fate.KEPT))
    return Outcome("compacted", "", MESSAGES, (), tuple(span for span in spans if len(span)))


@pytest.mark.parametrize(
    ("split", "words"),
    [
        (0, "everything below is kept"),
        (1, "1 message summarized above · 31 messages kept below"),
        (8, "1 round summarized above · 24 messages kept below"),
        (19, "2 rounds + 3 messages summarized above · 13 messages kept below"),
        (32, "everything above is summarized"),
    ],
)
def test_the_split_line_says_what_lies_above_and_below(split: int, words: str) -> None:
    drawn = RoundsDrawing(GROUPS, outcome(split), frozenset())
    assert split_words(drawn) == words
    for width in (90, 20):
        (line,) = split_cells(drawn, width)
        assert len(line[0]) == width
        assert line[0].startswith("═══ ")
        assert line[0][-1] == ("═" if width == 90 else "…")


@pytest.mark.parametrize("width", [32, 40, 66, 80, 130])
def test_every_column_has_its_heading(width: int) -> None:
    ((heading, _),) = heading_cells(width)
    drawn = RoundsDrawing(GROUPS, outcome(19), frozenset())
    line = "".join(
        text for text, _ in header_cells(drawn, ListRows(GROUPS, frozenset(), None)[0], width, is_open=False)
    )
    assert len(heading) == len(line) == width
    assert heading.index("request") == line.index("Fix the")
    assert heading.index("tokens") + len("tokens") == line.index("k ") + 1
    assert ("msgs" in heading) == ("time" in heading) == (width >= ROOMY)


@pytest.mark.parametrize("width", [36, 40, 58, 80, 130])
def test_lines_have_exactly_the_width_there_is(width: int) -> None:
    drawn = RoundsDrawing(GROUPS, outcome(19), frozenset({"m3"}))
    rows = ListRows(GROUPS, frozenset({0, 2}), None)
    for line in range(len(rows)):
        row = rows[line]
        is_header = row.kind == "header"
        cells = header_cells(drawn, row, width, is_open=True) if is_header else message_cells(drawn, row, width)
        text = "".join(text for text, _ in cells)
        assert len(text) == width


def test_a_hit_is_marked_by_sign_and_colour_and_the_line_is_as_wide_as_before() -> None:
    drawn = RoundsDrawing(GROUPS, outcome(19), frozenset({"m3"}))
    rows = ListRows(GROUPS, frozenset({0}), None)
    header, message = rows[0], rows[1]
    cells = header_cells(drawn, header, 80, is_open=True)
    found = mark_hits(cells, query_of("TOKEN"))
    assert [text for text, style in found if style == "hit"] == ["»", "token"]
    assert sum(len(text) for text, _ in found) == 80
    found = mark_hits(message_cells(drawn, message, 80), query_of("not on this line"))
    assert [text for text, style in found if style == "hit"] == ["»"]
    assert sum(len(text) for text, _ in found) == 80


def test_a_fate_is_named_only_where_it_is_not_that_of_its_side() -> None:
    assert [group_fate(outcome(16), span) for span in GROUPS.spans] == [""] * 4
    assert [message_fate(outcome(16), at) for at in range(len(MESSAGES))] == [""] * len(MESSAGES)
    assert group_fate(outcome(19), GROUPS.spans[2]) == "▓ 5 kept"
    spans = (
        FateSpan(0, 2, Fate.SUMMARIZED),
        FateSpan(2, 4, Fate.PINNED),
        FateSpan(4, 8, Fate.SUMMARIZED),
        FateSpan(8, 16, Fate.DROPPED),
        FateSpan(16, 32, Fate.KEPT),
    )
    several = outcome(16, *spans)
    assert [group_fate(several, span) for span in GROUPS.spans] == ["● 2 pinned", "", "", ""], "most are dropped above"
    assert [message_fate(several, at) for at in (0, 2, 8, 16)] == ["█ summarized", "● pinned", "", ""]


def test_a_strategy_that_only_shortens_draws_no_split() -> None:
    spans = (FateSpan(0, 4, Fate.COMPRESSED), FateSpan(4, 32, Fate.KEPT))
    assert RoundsDrawing(GROUPS, outcome(0, *spans), frozenset(), movable=False).split_at == 0
    kept = (FateSpan(0, 20, Fate.KEPT), FateSpan(20, 21, Fate.DROPPED), FateSpan(21, 32, Fate.KEPT))
    assert RoundsDrawing(GROUPS, outcome(0, *kept), frozenset(), movable=False).split_at is None


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ((Text("  two\n\twords "),), "two words"),
        ((ToolUse("1", "Bash", {"command": "ls -la"}), ToolUse("2", "Read", {})), "Bash ls -la (+1)"),
        ((ToolUse("1", "x", "raw"),), "x raw"),
        ((ToolResult("1", (Text("a\nb"),), is_error=True),), "✘ 2 lines: a b"),
        ((ToolResult("1", ()),), "(empty)"),
        ((), "(empty)"),
    ],
)
def test_first_words_say_what_a_message_is_about(blocks: tuple[object, ...], words: str) -> None:
    assert first_words(Message("1", "user", blocks)) == words  # type: ignore[arg-type]


@given(st.text(max_size=80), st.integers(1, 40))
def test_fit_is_exact_in_cells(text: str, width: int) -> None:
    from rich.cells import cell_len

    assert cell_len(fit(plain(text.replace("\n", " ").replace("\t", " ")), width)) == width


def test_short_figures() -> None:
    figures = (0, 962, 1000, 18_340, 99_949, 99_950, 999_499, 999_500)
    assert [short(n) for n in figures] == ["0", "962", "1.0k", "18.3k", "99.9k", "100k", "999k", "1.0M"]


def test_a_bar_is_never_empty_for_something() -> None:
    assert (bar(0, 4), bar(0.001, 4), bar(0.5, 4), bar(2, 4)) == ("    ", "▏   ", "██  ", "████")


@pytest.mark.parametrize(
    ("words", "width", "shown"),
    [
        ("Read src/auth/part3_0.ts", 24, "Read src/auth/part3_0.ts"),
        ("Edit /home/dana/harbour/strategy/attribution.go", 32, "Edit …/strategy/attribution.go  "),
        ("Edit /home/dana/harbour/strategy/attribution.go (+2)", 24, "Edit …ttribution.go (+2)"),
        ("Edit /home/dana/harbour/strategy/attribution.go", 10, "Edit /hom…"),
        ("Bash make check && git diff src/auth", 20, "Bash make check && …"),
    ],
)
def test_of_a_path_that_is_too_long_the_end_is_shown(words: str, width: int, shown: str) -> None:
    assert fit_call(words, width) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("at 121 285 instead of 1 156 663 tokens", "at 121_285 instead of 1_156_663 tokens"),
        ("29 % of it", "29_% of it"),
        ("call 12 of 3, 12 34, 1 2345", "call 12 of 3, 12 34, 1 2345"),
    ],
)
def test_no_line_is_broken_in_a_figure(text: str, shown: str) -> None:
    assert unbroken(text) == shown.replace("_", "\u00a0")


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("compacted 2 713 of them", 11, ["compacted", "2_713 of", "them"]),
        ("compacted 2 713 of them", 15, ["compacted 2_713", "of them"]),
        ("one\ntwo three", 8, ["one", "two", "three"]),
        ("averyverylongword is cut", 8, ["averyverylongword", "is cut"]),
        ("两千 个", 4, ["两千", "个"]),
        ("", 8, [""]),
    ],
)
def test_a_text_is_broken_between_words(text: str, width: int, lines: list[str]) -> None:
    assert wrap_words(text, width) == "\n".join(lines).replace("_", "\u00a0")
    assert len(wrap_words(text, width)) == len(text)


@pytest.mark.parametrize(("share", "told"), [(-0.594, "−59\u00a0%"), (0.03, "+3\u00a0%")])
def test_a_change_has_the_sign_of_all_others(share: float, told: str) -> None:
    assert change(1_000, 1_000 * (1 + share)) == told


@pytest.mark.parametrize(("limit", "told"), [(12, "627 vs 77 …"), (17, "627 vs 77 lines…"), (19, "627 vs 77 lines of")])
def test_a_line_that_is_cut_says_so(limit: int, told: str) -> None:
    assert one_line("627 vs  77 lines of", limit) == told
