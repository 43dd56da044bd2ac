"""Sentences that the user typed, with a note in the place of a paste."""

from __future__ import annotations

import pytest

from workbench.facts.typed import SHOWN_OF_PASTE, TypedPart, typed_parts


def test_sentences_are_given_in_order_with_their_places() -> None:
    text = "Fix the weir. It leaks!\n- Never raise gate 3.\n\n> a quotation\nThanks"
    assert [(part.text, text[part.start : part.stop]) for part in typed_parts(text)] == [
        ("Fix the weir.", "Fix the weir."),
        ("It leaks!", "It leaks!"),
        ("Never raise gate 3.", "Never raise gate 3."),
        ("Thanks", "Thanks"),
    ]


def fenced(size: int) -> str:
    """A fence of `size` characters, all of which are one word but for the fence's lines."""
    return "```\n" + "x" * (size - 9) + "\n```\n"


@pytest.mark.parametrize(
    ("size", "note"),
    [(SHOWN_OF_PASTE, ""), (SHOWN_OF_PASTE + 1, " [… 121 characters of code]")],
)
def test_a_paste_is_one_line_with_its_size(size: int, note: str) -> None:
    paste = fenced(size)
    assert len(paste) == size
    parts = [*typed_parts(f"Look:\n{paste}Why?")]
    assert parts[0] == TypedPart("Look:", 0, 5)
    assert parts[1].kind == "note"
    assert parts[1].text == " ".join(paste.split())[:SHOWN_OF_PASTE] + note
    assert parts[2].text == "Why?"


def test_the_source_of_a_paste_is_named() -> None:
    log = "$ pytest -q\n" + "\n".join(f"2026-03-04 10:11:{n:02} WARN kettle {n} boiled over" for n in range(20))
    (note,) = [part.text for part in typed_parts(f"See:\n{log}\n") if part.kind == "note"]
    assert note.endswith(f"[… {len(log) + 1} characters of output from pytest -q]")


def test_a_pasted_document_is_a_note_and_its_sentences() -> None:
    plan = "# Plan\n\n" + "\n".join(f"## Part {n}\n\n- Oil the hinges of gate {n}.\n" for n in range(120))
    parts = [*typed_parts(f"Implement the following plan:\n\n{plan}\n")]
    assert parts[0].text == "Implement the following plan:"
    assert parts[1].text.endswith("characters of document from Plan]")
    assert [part.kind for part in parts[:2]] == ["typed", "note"]
    assert {part.kind for part in parts[2:]} == {"document"}
    assert "Oil the hinges of gate 7." in [part.text for part in parts]
