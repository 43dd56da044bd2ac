"""The summarizers that do not read: typed, estimate, recorded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.facts.talk import user
from workbench.base.errors import BadInput
from workbench.compaction.summary_request import Summary, SummaryFailed, SummaryRequest, TextBody
from workbench.session import Message
from workbench.summarizers.by_name import typed_file_summarizer, typed_summarizer
from workbench.summarizers.estimate import LEAST, MOST, estimate, shorten_placeholder


def request(messages: tuple[Message, ...] = (), max_chars: int = 0) -> SummaryRequest:
    return SummaryRequest("summary", messages, "", TextBody(str), max_chars=max_chars)


def test_typed() -> None:
    assert typed_summarizer("  mine \n")(request()) == Summary("mine", model="typed")
    empty = typed_summarizer(" \n")(request())
    assert isinstance(empty, SummaryFailed)
    assert empty.kind == "empty"


def test_typed_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "summary.md"
    file.write_text("\ufeff# Zusammenfassung — 摘要\n", encoding="utf-8")
    assert typed_file_summarizer(file)(request()) == Summary("# Zusammenfassung — 摘要", model="typed")


def test_typed_from_what_is_no_summary(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text(" \n")
    (tmp_path / "binary").write_bytes(b"ab\xff\xfe")
    for name, reason in (("missing", "does not exist"), ("empty", "empty"), ("binary", "UTF-8"), (".", "folder")):
        with pytest.raises(BadInput, match=reason):
            typed_file_summarizer(tmp_path / name)
    with pytest.raises(BadInput, match="cannot be read"):
        typed_file_summarizer(Path("a\0b"))


@pytest.mark.parametrize(
    ("head", "limit", "size"),
    [(0, 0, LEAST), (36_000, 0, 3000), (10_000_000, 0, MOST), (36_000, 500, 500), (36_000, 5000, 3000), (9, 1, 1)],
)
def test_estimate(head: int, limit: int, size: int) -> None:
    answer = estimate(replace(request((user("x"),), limit), chars=head))
    assert isinstance(answer, Summary)
    assert size - 1 <= len(answer.text) <= size
    assert size < 20 or "estimate" in answer.text


def test_for_a_person_an_estimate_says_itself_once_and_nothing_else_is_touched() -> None:
    answer = estimate(replace(request((user("x"),), 0), sections=("## Goal", "## State"), chars=36_000))
    assert isinstance(answer, Summary)
    once = "(estimate: a summary of about 3000 characters will stand here; these words only take its room)"
    assert (
        shorten_placeholder(f"(a note)\n{answer.text}\nand so on")
        == f"(a note)\n## Goal\n{once}\n\n## State\n{once}\nand so on"
    )
    mine = "(estimate: two days) (estimate: two days) (see the notes"
    assert shorten_placeholder(mine) == mine


def test_an_estimate_stands_under_the_titles_that_were_asked_for() -> None:
    answer = estimate(replace(request((user("x"),), 0), sections=("## Goal", "## State"), chars=36_000))
    assert isinstance(answer, Summary)
    assert answer.text.startswith("## Goal\n(estimate")
    assert "\n## State\n" in answer.text
    assert len(answer.text) <= 3000
