"""Facts and what a text says of them, labelled by hand: what the measure and a model as judge are held against.

`tuning.txt` was in view while the measure was written, `held.txt` was not. A block begins with the fact, `kind: text`,
`kind state: text` or `kind [detail]: text`; under it stand texts, each with its label:

    =  speaks of it and says it rightly      !  speaks of it and says it wrongly
    -  does not speak of it                  #  states as binding what was replaced
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, cast, get_args

from msgspec import Struct

from workbench.analysis.became import State
from workbench.analysis.holding import Said, Sought, Verdict, sought
from workbench.facts.fact import FactKind

Half = Literal["tuning", "held"]
HALVES: tuple[Half, ...] = get_args(Half)
Label = Literal["=", "!", "-", "#"]

_HEAD = re.compile(r"(\w+)(?: (\w+))?(?: \[(.*)\])?: (.+)")
_TEXT = re.compile(r"([=!#-]) (.+)")


class Pair(Struct, frozen=True):
    kind: FactKind
    fact: str
    detail: str
    state: State
    text: str
    label: Label

    @property
    def sought(self) -> Sought:
        found = sought(self.kind, self.fact, self.detail, self.state)
        assert found is not None, self.fact
        return found

    @property
    def verdict(self) -> Verdict:
        """What the measure says."""
        return Said([self.text]).judges(self.sought)

    @property
    def present(self) -> bool:
        return self.label != "-"

    @property
    def right(self) -> bool:
        return self.label == "="


def pairs(half: Half | None = None) -> Iterator[Pair]:
    """Those of a half, or all."""
    for name in HALVES if half is None else (half,):
        head: re.Match[str] | None = None
        for line in (Path(__file__).parent / f"{name}.txt").read_text("utf-8").split("\n"):
            if found := _HEAD.fullmatch(line):
                head = found
            elif head and (text := _TEXT.fullmatch(line)):
                kind, state = cast(FactKind, head[1]), cast(State, head[2] or "")
                yield Pair(kind, head[4], head[3] or "", state, text[2], cast(Label, text[1]))
