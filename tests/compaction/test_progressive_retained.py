"""Texts that `progressive` carries are read once and summed once, however many summaries carry them."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from workbench.compaction import summary_extras
from workbench.compaction.progressive.retained import extras_for
from workbench.compaction.summary_extras import SummaryExtras, merge_extras
from workbench.conformance.building import agent, call, context_of, result, summary, user
from workbench.facts.diffstat import FileChange, diffstat


def carrying(number: int) -> SummaryExtras:
    return SummaryExtras(
        "Build it." if number == 3 else "",
        ("always", f"passage {number}"),
        (f"memory {number}",) if number % 2 else (),
        (f"[ ] task {number}",) if number < 5 else (),
        (FileChange("all.py", 1, 0), FileChange(f"{number}.py", 2, 1)),
    )


def test_the_first_request_every_passage_the_newest_lists_and_the_sum_of_the_changes() -> None:
    several = [carrying(number) for number in range(8)]
    total = merge_extras(several)
    assert (total.request, total.memories, total.tasks) == ("Build it.", ("memory 7",), ("[ ] task 4",))
    assert total.passages == ("always", *(f"passage {number}" for number in range(8)))
    assert total.changes == (FileChange("all.py", 8, 0, 8), *(FileChange(f"{n}.py", 2, 1) for n in range(8)))
    assert merge_extras(()) == SummaryExtras()
    assert merge_extras((merge_extras(several[:4]), *several[4:])) == total


def test_each_change_is_summed_once_however_many_summaries_carry_some(monkeypatch: pytest.MonkeyPatch) -> None:
    summed = 0

    def counting(several: Iterable[FileChange]) -> tuple[FileChange, ...]:
        nonlocal summed
        changes = tuple(several)
        summed += len(changes)
        return diffstat(changes)

    monkeypatch.setattr(summary_extras, "diffstat", counting)
    merge_extras(carrying(number) for number in range(200))
    assert summed == 400


def test_a_summary_carries_what_is_gone_and_what_it_takes_the_place_of() -> None:
    earlier = SummaryExtras("Build it.", ("old",), (), (), (FileChange("a.py", 5, 5),))
    write = call("c1", "Write", file_path="a.py", content="one\ntwo\n")
    context = context_of(
        [
            summary("s1", f"{earlier.front}\n\n<summary>\nSo far.\n</summary>\n{earlier.back}"),
            user("u1", "Go on. <Pin>new</Pin>"),
            agent("a1", "", write),
            result("r1", "c1", "ok"),
            agent("a2", "Done."),
        ]
    )
    found = extras_for(context, (1, 2, 3), (0,), SummaryExtras(memories=("m",)))
    assert (found.request, found.passages, found.memories) == ("Build it.", ("old", "new"), ("m",))
    assert found.changes == (FileChange("a.py", 7, 5, 2),)
    assert extras_for(context, (2, 3), (), SummaryExtras()) == SummaryExtras(changes=(FileChange("a.py", 2, 0),))
