"""Index at which the unchanged tail of an outcome begins."""

from __future__ import annotations

import pytest

from workbench.compaction.outcome import Fate, FateSpan, Outcome
from workbench.conformance.building import user

MESSAGES = tuple(user(f"m{n}", "word") for n in range(6))


@pytest.mark.parametrize(
    ("fates", "split"),
    [
        ("SSSKKK", 3),
        ("SSSPKK", 4),  # a pin before the tail stays wherever the tail begins
        ("SSPKKK", 3),
        ("SSSKPK", 3),
        ("SSSKKP", 3),
        ("SSSPPP", 6),
        ("PPPPPP", 6),
        ("SSPCKK", 3),
        ("SSSSSS", 6),
        ("KKKKKK", 0),
        ("PKKKKK", 1),
        ("KDKKPK", 2),
    ],
)
def test_c_a_pin_does_not_begin_the_tail(fates: str, split: int) -> None:
    names = {"S": Fate.SUMMARIZED, "K": Fate.KEPT, "P": Fate.PINNED, "C": Fate.COMPRESSED, "D": Fate.DROPPED}
    spans = tuple(FateSpan(at, at + 1, names[letter]) for at, letter in enumerate(fates))
    assert Outcome("compacted", "", MESSAGES, (), spans).split == split
    assert Outcome("compacted", "", MESSAGES, (), spans, tail=5).split == 5
