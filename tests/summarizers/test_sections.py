"""Sections of a summary: headings, numbered and bold titles, tags; other words in one of them; where a fact belongs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.compaction.layered.archive import SECTIONS
from workbench.compaction.summary_request import SummaryRequest, TextBody
from workbench.summarizers.sections import (
    add_line,
    insert_regenerated,
    missing_titles,
    regeneration_request,
    replace_section,
    section_at,
    section_for,
    sections_of,
)

HEADED = "<summary>\n## Goal\nfix\n\n## Files touched\n- a.py\n```\n# no heading\n```\n</summary>\n"
NUMBERED = "intro\n1. Primary Request:\n   do\n2. Files:\n   1. a.py:\n3. Pending Tasks:\n   none"
TAGGED = "<state>\n<overall_goal>\nfix\n</overall_goal>\n<file_state>\na.py\n</file_state>\n</state>"
BOLD = "**Goal**\nfix\n\n**Files:**\n- a.py"


def words(text: str, titles: tuple[str, ...] = ()) -> dict[str, str]:
    return {s.title: text[s.body : s.end] for s in sections_of(text, titles)}


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        (HEADED, ["Goal", "Files touched"]),
        (NUMBERED, ["", "Primary Request", "Files", "Pending Tasks"]),
        (TAGGED, ["overall goal", "file state"]),
        (BOLD, ["Goal", "Files"]),
        ("just prose\nof two lines", [""]),
        ("", [""]),
    ],
)
def test_titles_are_recognised(text: str, titles: list[str]) -> None:
    assert [section.title for section in sections_of(text)] == titles


def test_words_are_without_titles_and_closing_tags() -> None:
    assert words(HEADED) == {"Goal": "fix", "Files touched": "- a.py\n```\n# no heading\n```"}
    assert words(TAGGED) == {"overall goal": "fix", "file state": "a.py"}
    assert words(NUMBERED)["Files"] == "   1. a.py:"


def test_titles_that_were_asked_for() -> None:
    text = "OBJECTIVES & STATUS\ngo\n" + "\n".join(f"{title}\nw" for title in SECTIONS[1:])
    assert len(sections_of(text, SECTIONS)) == len(SECTIONS)
    assert missing_titles(text, SECTIONS) == ()
    assert missing_titles("## Something else\nw", SECTIONS) == SECTIONS


@given(
    st.lists(st.sampled_from(["## A", "# B", "1. C:", "2. D:", "**E**", "<t>", "</t>", "x", "", "```"]), max_size=12)
)
def test_sections_cover_the_text(lines: list[str]) -> None:
    text = "\n".join(lines)
    found = sections_of(text)
    assert "".join(text[s.start : s.stop] for s in found) == text
    assert all(s.start <= s.body <= s.end <= s.stop for s in found)


def test_other_words_and_one_more_line() -> None:
    goal, files = sections_of(HEADED)
    assert replace_section(HEADED, goal, "go\n") == HEADED.replace("fix", "go")
    assert add_line(HEADED, files, "- b.py") == HEADED.replace("```\n</", "```\n- b.py\n</")
    assert add_line("## Goal", sections_of("## Goal")[0], "- x") == "## Goal\n- x"
    assert add_line("", sections_of("")[0], "- x") == "- x"
    assert section_at((goal, files), HEADED.index("a.py")) == 1


def test_a_fact_goes_where_it_belongs() -> None:
    sections = sections_of("## Goal\n\n## Files\n\n## Errors\n\n## User preferences\n")
    kinds = ("path", "error", "instruction", "number")
    assert [section_for(kind, sections) for kind in kinds] == [1, 2, 3, 3]


def test_a_section_is_asked_for_and_put_in_place() -> None:
    request = SummaryRequest("summary", (), "Summarize.", TextBody(lambda: "Summarize.\nthe head"), language="zh-CN")
    goal = sections_of(HEADED)[0]
    asked = regeneration_request(request, HEADED, goal, "shorter {draft}")
    assert asked.text.startswith(request.text)
    assert "<section>Goal</section>" in asked.text
    assert "<instruction>shorter {draft}</instruction>" in asked.text
    assert asked.sections == ("Goal",)
    assert asked.key != request.key
    new = HEADED.replace("fix", "better")
    for given_back in ("better", "## Goal\nbetter\n", "<summary>\n## Goal\nbetter\n## Files touched\nlies\n</summary>"):
        assert insert_regenerated(HEADED, goal, given_back) == new
