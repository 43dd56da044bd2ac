"""Agreement of the measure with labelled pairs of the kinds of change that compactions make."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, cast

import pytest

from workbench.analysis.fact_check import FactVerdict, SearchedText, fact_query
from workbench.facts.fact import FactKind

FILES = Path(__file__).parent / "compaction_pairs"
SETS = {
    "tuned": ("first", 0), "held": ("first", 1), "later": ("second", None), "last": ("third", None),
    "other author": ("fourth", None), "causes": ("fifth", None), "after": ("sixth", None),
    "second author": ("seventh", None), "third author": ("eighth", None), "fourth author": ("ninth", None),
    "fifth author": ("tenth", None), "sixth author": ("eleventh", None),
}  # fmt: skip
"""File of each set, and the parity of its pairs' numbers; None for all pairs."""


class Pair(NamedTuple):
    """Fact, a text about it, its label, and the kind of change."""

    change: str
    kind: FactKind
    fact: str
    label: str
    text: str

    @property
    def verdict(self) -> FactVerdict:
        query = fact_query(self.kind, self.fact)
        assert query is not None
        return SearchedText([self.text]).judge(query)


def pairs(name: str) -> list[Pair]:
    file, parity = SETS[name]
    return [pair for at, pair in enumerate(_read(file)) if parity in (None, at % 2)]


def _read(file: str) -> Iterator[Pair]:
    change, kind, fact = "", "", ""
    for line in (FILES / f"{file}.txt").read_text("utf-8").splitlines():
        if found := re.fullmatch(r"\[(.+)\]", line):
            change = found[1]
        elif found := re.fullmatch(r"(\w+): (.+)", line):
            kind, fact = found.groups()
        elif found := re.fullmatch(r"([=~!-]) (.+)", line):
            yield Pair(change, cast(FactKind, kind), fact, found[1], found[2])


@pytest.mark.parametrize(
    ("name", "size", "least", "most"),
    [
        ("tuned", 60, 59, 0),
        ("held", 60, 58, 0),
        ("later", 60, 58, 2),
        ("last", 40, 40, 0),
        ("other author", 40, 40, 0),
        ("causes", 219, 214, 1),
        ("after", 90, 89, 0),
        ("second author", 60, 56, 1),
        ("third author", 60, 55, 0),
        ("fourth author", 60, 49, 1),
        ("fifth author", 140, 108, 0),
        ("sixth author", 140, 104, 0),
    ],
)
def test_agreement_and_false_credit(name: str, size: int, least: int, most: int) -> None:
    """At least `least` pairs are judged as labelled; at most `most` get credit that they must not."""
    found = [(pair, pair.verdict) for pair in pairs(name)]
    assert len(found) == size
    wrong = [(pair, one) for pair, one in found if one.right != (pair.label in "=~")]
    credited = [(pair, one) for pair, one in wrong if one.right]
    assert len(found) - len(wrong) >= least, wrong
    assert len(credited) <= most, credited


def test_a_main_clause_states_its_sentence_in_part() -> None:
    found = [
        pair for name in ("tuned", "held", "later", "last", "other author") for pair in pairs(name) if pair.label == "~"
    ]
    assert len(found) >= 18
    assert {pair.verdict for pair in found} == {FactVerdict("part", True)}


@pytest.mark.parametrize(
    ("fact", "text", "verdict"),
    [
        ("The ferry departs daily at quarter past six.", "Ferry: every day, 18:15.", ("full", True)),
        ("The ferry departs daily at 6:15 pm.", "The ferry departs daily at 6:15 am.", ("full", False)),
        ("Aunt Ilse is allergic to wasps.", "Aunt Ilse has a wasp allergy.", ("full", True)),
        ("Our uncle waters the roof garden.", "Our aunt waters the roof garden.", ("none", False)),
        ("The shop opens at nine on Mondays.", "The shop closes at nine on Mondays.", ("full", False)),
        ("The canoe costs 30 euros a day and has two seats.", "The canoe costs 30 euros a day.", ("part", True)),
        # "booked" is no part of it, and three words are too few for a word of something else
        ("The canoe costs 30 euros a day and has two seats.", "The canoe with two seats was booked.", ("none", False)),
        ("The feed is billed per call, so never call it from tests.", "The feed is billed per call.", ("none", False)),
        ("Ask Ida before you rent a boat for the club.", "Ida rented a boat for the club.", ("none", False)),
        ("Sand the shelf twice.", "Topics: shelf, sand, twice.", ("none", False)),
        ("The lamp needs a new bulb.", "The bulb of the lamp was new.", ("none", False)),
        ("Use no glitter on the cards.", "The cards have to do without glitter.", ("part", True)),
        ("My son plays the cello at home.", "The user's son plays the violin at home.", ("full", False)),
        ("Most members have paid the fee.", "All of the members have paid the fee.", ("full", False)),
    ],
)
def test_same_meaning_in_other_words(fact: str, text: str, verdict: tuple[str, bool]) -> None:
    found = Pair("", "stated", fact, "", text).verdict
    assert (found.presence, found.right) == verdict
