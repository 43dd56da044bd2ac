"""Words, terms and cues of a sentence."""

from __future__ import annotations

import pytest

from workbench.facts.topics import bare, is_correction


@pytest.mark.parametrize(("word", "found"), [("Ruth's", "ruth"), ("RUTH’S", "ruth"), ("'s", ""), ("Ross", "ross")])
def test_a_bare_word_has_no_possessive_ending(word: str, found: str) -> None:
    assert bare(word) == found


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("Change of plan: it is blue.", True),
        ("The club has closed.", True),
        ("Take rope rather than wire.", True),
        ("Feel free to use wire.", True),
        ("Korrektur: Es ist blau.", True),
        ("The hull is blue.", False),
    ],
)
def test_what_announces_a_change_is_a_correction(sentence: str, found: bool) -> None:
    assert is_correction(sentence) is found
