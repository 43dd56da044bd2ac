"""Facts and texts about them, labelled by hand: the reference for `fact_check` (the measure) and for a model as judge.

The measure was tuned on `tuning.txt`; `held.txt` was not looked at meanwhile. A block begins with the fact, `kind:
text`, `kind state: text` or `kind [detail]: text`; below it are texts, each with its label:

    =  states it correctly                   !  states it wrongly
    -  does not state it                     #  states as binding what was replaced
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, cast, get_args

from msgspec import Struct

from workbench.analysis.claims import State
from workbench.analysis.fact_check import FactQuery, FactVerdict, SearchedText, fact_query
from workbench.facts.fact import FactKind

PairSet = Literal["tuning", "held"]
PAIR_SETS: tuple[PairSet, ...] = get_args(PairSet)
Label = Literal["=", "!", "-", "#"]

_HEAD = re.compile(r"(\w+)(?: (\w+))?(?: \[(.*)\])?: (.+)")
_TEXT = re.compile(r"([=!#-]) (.+)")


class LabelledPair(Struct, frozen=True):
    """Fact and a text with the label that a human gave it."""

    kind: FactKind
    fact: str
    detail: str
    state: State
    text: str
    label: Label

    @property
    def query(self) -> FactQuery:
        """Query for the fact."""
        found = fact_query(self.kind, self.fact, self.detail, self.state)
        assert found is not None, self.fact
        return found

    @property
    def verdict(self) -> FactVerdict:
        """The measure's verdict."""
        return SearchedText([self.text]).judge(self.query)

    @property
    def present(self) -> bool:
        """True if the text states the fact, by its label."""
        return self.label != "-"

    @property
    def right(self) -> bool:
        """True if the text states it correctly, by its label."""
        return self.label == "="


def labelled_pairs(chosen: PairSet | None = None) -> Iterator[LabelledPair]:
    """Yield the pairs of one set, or of both."""
    for name in PAIR_SETS if chosen is None else (chosen,):
        head: re.Match[str] | None = None
        for line in (Path(__file__).parent / f"{name}.txt").read_text("utf-8").split("\n"):
            if found := _HEAD.fullmatch(line):
                head = found
            elif head and (text := _TEXT.fullmatch(line)):
                kind, state = cast(FactKind, head[1]), cast(State, head[2] or "")
                yield LabelledPair(kind, head[4], head[3] or "", state, text[2], cast(Label, text[1]))
