"""What a person typed and what they pasted."""

from __future__ import annotations

import pytest

from tests.facts.labelling import marked_pastes, paste_scores
from tests.products import mostly_full
from workbench.facts import pastes
from workbench.facts.pasted_lines import JUDGED_CHARS, PassageKind, label
from workbench.facts.pastes import (
    HEAD,
    LONGEST_TYPED,
    MOST_TYPED,
    TAIL,
    Passage,
    passages,
    shorten_pastes,
    without_paste,
)

LOG = "Feb  9 09:56:27.990 |INFO| hook done\n"
LABELLED = "shop:web: waits for the api of the shop\n"
STACK = "    at div\n    at http://localhost:3000/chunk.js:1:2\n    at App"
CODE = "const a = 1;\nconst b = [a];\nexport { a, b };\n"
FENCE = "```py\nx = 1\ny = 2\n```\n"


def parted(text: str) -> list[tuple[str, str]]:
    return [(one.sort, text[one.start : one.stop]) for one in passages(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("Just words.", [("own", "Just words.")]),
        (f"It says\n{LOG}once.", [("own", f"It says\n{LOG}once.")]),
        (f"It says\n{LOG}{LOG}twice.", [("own", "It says\n"), ("output", LOG + LOG), ("own", "twice.")]),
        (f"Warnings:\n{STACK}", [("own", "Warnings:\n"), ("output", STACK)]),
        ("One.\nconst a = 1;\nlet b = 2;\nTwo.", [("own", "One.\nconst a = 1;\nlet b = 2;\nTwo.")]),
        (f"This:\n{CODE}Why?", [("own", "This:\n"), ("code", CODE), ("own", "Why?")]),
        (f"This:\n{FENCE}Why?", [("own", "This:\n"), ("code", FENCE), ("own", "Why?")]),
        ("Never closed:\n```\nx", [("own", "Never closed:\n"), ("code", "```\nx")]),
        ('Log:\n{"a": ' + "1" * 594 + "}", [("own", "Log:\n"), ("output", '{"a": ' + "1" * 594 + "}")]),
        ('Log:\n{"a": ' + "1" * 592 + "}", [("own", 'Log:\n{"a": ' + "1" * 592 + "}")]),
        ("<task>\nMake it.\n</task>\nNow.", [("own", "<task>\nMake it.\n</task>\nNow.")]),
        (
            f"{LOG}{LOG}I saw two of them.\n{LOG}{LOG}",
            [("output", LOG + LOG), ("own", "I saw two of them.\n"), ("output", LOG + LOG)],
        ),
        (f"Why?\n{LABELLED * 4}", [("own", "Why?\n"), ("output", LABELLED * 4)]),
        (f"Why?\n{LABELLED * 3}", [("own", f"Why?\n{LABELLED * 3}")]),
        (f"{LOG}{LOG}\n{CODE}Fix it.", [("output", f"{LOG}{LOG}\n{CODE}"), ("own", "Fix it.")]),
    ],
)
def test_a_text_is_parted_into_typed_and_pasted(text: str, found: list[tuple[str, str]]) -> None:
    assert parted(text) == found


def test_of_prose_that_nobody_types_the_ends_are_the_persons() -> None:
    line = "Words upon words, one after another.\n"
    text = "Read this.\n\n" + line * (LONGEST_TYPED // len(line)) + "\nNow do it."
    assert len(text) > LONGEST_TYPED
    first, document, last = passages(text)
    assert (first.sort, document.sort, last.sort) == ("own", "document", "own")
    assert text[first.start : first.stop] == "Read this.\n\n"
    assert text[last.start : last.stop] == "Now do it."
    typed = "x" * LONGEST_TYPED
    assert passages(typed) == (Passage(0, LONGEST_TYPED, "own"),)
    # Without a paragraph or a sentence to cut at all of it is the document.
    assert passages(typed + "x") == (Passage(0, LONGEST_TYPED + 1, "document"),)
    assert HEAD + TAIL < LONGEST_TYPED


def test_the_typed_ends_of_a_document_are_its_outer_paragraphs() -> None:
    line = "Words upon words, one after another.\n"
    text = "Read.\n\nThis, too.\n\n" + line * (LONGEST_TYPED // len(line)) + "\nNow do it.\n\nAnd that."
    assert [(sort, words[:24], words[-24:]) for sort, words in parted(text)] == [
        ("own", "Read.\n\nThis, too.\n\n", "Read.\n\nThis, too.\n\n"),
        ("document", line[:24], f"{line[-23:]}\n"),
        ("own", "Now do it.\n\nAnd that.", "Now do it.\n\nAnd that."),
    ]


STEP = "Now do the next step.\n"


def steps(chars: int) -> str:
    """A text with so many characters of a person's own, between fences."""
    count, rest = divmod(chars, len(STEP))
    return f"{FENCE}".join([STEP] * count + ["x" * rest])


@pytest.mark.parametrize("chars", [MOST_TYPED - 1, MOST_TYPED, MOST_TYPED + 1])
def test_f11_of_more_than_anybody_types_the_ends_are_the_persons(chars: int) -> None:
    text = "First of all.\n" + steps(chars - 27) + "\nLast of all."
    own = without_paste(text)
    assert (len(own) == chars) is (chars <= MOST_TYPED)
    assert MOST_TYPED - 2 * len(STEP) <= len(own) <= MOST_TYPED
    assert (own[:13], own[-12:]) == ("First of all.", "Last of all.")
    assert "".join(words for _, words in parted(text)) == text


@pytest.mark.parametrize("times", mostly_full([1, 2, 4], in_short=[1]))
def test_f11_however_much_is_said_in_a_message_so_much_of_it_is_a_persons(times: int) -> None:
    assert len(without_paste(steps(4 * MOST_TYPED * times))) <= MOST_TYPED


def test_f11_a_text_is_parted_once_for_all_who_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    really = pastes.judge

    def counted(line: str, before: str, after: str, is_labelled: bool = False) -> tuple[int, PassageKind]:
        lines.append(line)
        return really(line, before, after, is_labelled)

    monkeypatch.setattr(pastes, "judge", counted)
    text = "Look at this, which nobody else asks of.\n" + LOG * 100
    for _ in range(3):
        without_paste(text)
        shorten_pastes(text, 100, lambda one: one.sort)
    assert len(lines) == 101


def test_text_with_long_pastes_is_told_around_them() -> None:
    text = f"This:\n{FENCE}and\n{LOG}{LOG}Why?"
    told = lambda one: f"[{one.stop - one.start} of {one.sort}]"
    assert shorten_pastes(text, 100, told) == text
    assert shorten_pastes(text, 15, told) == (
        f"This:\n```py\nx = 1\n[{len(FENCE)} of code]\n```\nand\n[{2 * len(LOG)} of output]\nWhy?"
    )
    assert shorten_pastes(text, 3, told).startswith(f"This:\n[{len(FENCE)} of code]\nand\n")
    assert without_paste(text) == "This:\nand\nWhy?"


@pytest.mark.parametrize(("length", "cut"), [(400, False), (401, True)])
def test_a_long_line_of_a_paste_is_cut_where_the_room_ends(length: int, cut: bool) -> None:
    line = "{" + "x;" * (length // 2 - 1) + ";" * (length % 2) + "}"
    assert len(line) == length
    told = shorten_pastes(f"This:\n```\n{line}\n```\nWhy?", 50, lambda one: "[more]")
    kept = f"```\n{line[:46]}\n" if cut else "```\n"
    assert told == f"This:\n{kept}[more]\n```\nWhy?"


def test_labelled_examples_are_parted_as_marked() -> None:
    """The typed sentences are all kept: a lost one is the expensive error. Missed pastes are quotations of a line or
    two, prose without a sign of its source, and last lines without a sign of a program."""
    score = paste_scores()
    assert score.lost == []
    assert score.typed >= 190
    assert score.missed_chars <= 0.06 * score.pasted_chars


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("$ pytest -q\nFAILED tests/test_a.py::test_b - Error\n1 failed in 0.1s\n", "pytest -q"),
        (
            "it says: mara@box shop % make test\nFAILED tests/test_a.py::test_b\nmake: *** Error 1",
            "make test",
        ),
        ("➜  shop git:(main) ✗ npm run build\n\nError: no such script: build\n", "npm run build"),
        ("C:\\work\\shop>python -m shop\nError: no module: shop\n", "python -m shop"),
        (f"fix\n{LOG}{LOG}", ""),
        ("see\ndiff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n", "x.py"),
        ("see\nTraceback (most recent call last):\n  File \"/srv/a.py\", line 3, in f\nKeyError: 'a'\n", "/srv/a.py"),
        ("see\n```py\n# shop/cart.py\nx = 1\n```\n", "shop/cart.py"),
        ("see\n```py\n# 3.5 percent\nx = 1\n```\n", ""),
    ],
)
def test_a_paste_names_its_source(text: str, source: str) -> None:
    (paste,) = (one for one in passages(text) if not one.own)
    assert (paste.source, paste.size) == (source, paste.stop - paste.start)


PLAN = "".join(f"## Part {n}\n\n{'The module reads its settings once. ' * 25}\n\n- a test\n\n" for n in range(1, 5))


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (f"Implement this plan:\n\n# Plan: settings\n\n{PLAN}", ["own", "document"]),
        (
            f"Implement this plan:\n\n# Plan: settings\n\n{PLAN}Leave the old file where it is.",
            ["own", "document", "own"],
        ),
        (f"Implement this plan:\n\n# Plan: settings\n\n{PLAN}Leave the file.\nOr not.", ["own", "document"]),
        (f"Implement this plan:\n\n# Plan: settings\n\n{PLAN}(Leave the file.)", ["own", "document"]),
        (f"Implement this plan:\n\n# Plan: settings\n\n{PLAN[:2000]}", ["own"]),
        (f"Implement this plan:\n\n# Plan: settings\n\nI want one file.\n\n{PLAN}", ["own"]),
        (f"Implement this plan.\n\n# Plan: settings\n\n{PLAN}", ["own"]),
        (f"Implement this plan:\n\n# Plan\n\n{PLAN.replace('## ', '')}", ["own"]),
        ("Implement this plan:\n# Plan\n# A\n# B\n" + "x" * 3_000, ["own", "document"]),
    ],
    ids=[
        "announced",
        "with a last paragraph",
        "with two last lines",
        "with last brackets",
        "too short",
        "in the first person",
        "not announced",
        "no headings",
        "3 000",
    ],
)
def test_a_long_announced_document_is_pasted(text: str, kinds: list[str]) -> None:
    assert [one.sort for one in passages(text)] == kinds


def test_a_document_has_its_title_as_source() -> None:
    assert passages(f"Implement this plan:\n\n# Plan: settings\n\n{PLAN}")[1].source == "Plan: settings"


def test_what_a_compiler_underlines_opens_no_fence() -> None:
    text = "look\na.ts:1:2 - error TS1: no\n\n1 x\n    ~~~\n\nI think x is wrong"
    assert without_paste(text).endswith("I think x is wrong")


@pytest.mark.parametrize("text", marked_pastes("⟦a⟧b⟦⟧c"))
def test_marks_are_read(text: object) -> None:
    assert text in ("abc", [(0, 1), (2, 2)])


def test_a_label_ends_within_the_judged_part_of_its_line() -> None:
    """The pattern of labels takes quadratic time: 80 seconds for a word of 300 000 characters."""
    longest = "src/" + "a" * (JUDGED_CHARS - 5) + ":"
    assert label(longest) == label(f"{longest} waits") == longest
    assert label(f"a{longest}") == label(f" {longest}") == ""
    assert label("") == label(" ") == ""
