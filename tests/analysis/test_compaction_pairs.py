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
        ("held", 60, 57, 0),
        ("later", 60, 58, 2),
        ("last", 40, 40, 0),
        ("other author", 40, 40, 0),
        ("causes", 219, 215, 2),
        ("after", 90, 87, 0),
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
    found = [pair for name in SETS if name not in ("causes", "after") for pair in pairs(name) if pair.label == "~"]
    assert len(found) >= 18
    assert {pair.verdict for pair in found} == {FactVerdict("part", True)}
