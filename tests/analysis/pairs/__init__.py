"""Facts and what summaries say of them, labelled by hand: half to tune the measure by, half to look at it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workbench.analysis.holding import Said, Sought, Verdict, sought

HALVES = ("tuning", "held")
_HEAD = re.compile(r"(\w+)(?: (\w+))?(?: \[(.*)\])?: (.+)")


@dataclass(frozen=True, slots=True)
class Pair:
    """`label`: `=` told rightly, `!` told wrongly, `-` not told, `#` told although it was replaced."""

    fact: str
    sought: Sought
    text: str
    label: Literal["=", "!", "-", "#"]

    @property
    def verdict(self) -> Verdict:
        return Said(self.text.split(" // ")).judges(self.sought)

    @property
    def present(self) -> bool:
        return self.label != "-"

    @property
    def right(self) -> bool:
        return self.label == "="


def pairs(half: str) -> Iterator[Pair]:
    one: Sought | None = None
    fact = ""
    for line in (Path(__file__).parent / f"{half}.txt").read_text("utf-8").split("\n"):
        if match := _HEAD.fullmatch(line):
            kind, state, detail, fact = match[1], match[2] or "", match[3] or "", match[4]
            one = sought(kind, fact, detail, state)  # type: ignore[arg-type]
            assert one is not None, line
        elif line[:2] in ("= ", "! ", "- ", "# ") and one is not None:
            yield Pair(fact, one, line[2:], line[0])  # type: ignore[arg-type]


def told(pair: Pair) -> tuple[bool, bool]:
    """What the measure says: present, right."""
    verdict = pair.verdict
    return verdict.held != "none", verdict.held != "none" and verdict.right
