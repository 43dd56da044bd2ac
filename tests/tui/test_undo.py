"""Undo and redo."""

from __future__ import annotations

from tests.tui.app import story
from workbench.bench import open_bench, toggle_pin
from workbench.tokens import Counter
from workbench.tui.bench.planning import plan_and_measure
from workbench.tui.undo import PLANNED, UndoHistory

COUNTER = Counter()
BENCH = open_bench(story(), COUNTER)
A, B, C = (toggle_pin(BENCH, f"m{n}") for n in (1, 2, 3))


def test_a_new_step_forgets_what_was_undone() -> None:
    history = UndoHistory(BENCH).then(A).then(B).undone().then(C)
    assert not history.future
    assert history.undone().present is A


def test_after_an_undo_the_same_key_is_a_new_step() -> None:
    history = UndoHistory(BENCH).then(A, "split").then(B).undone().then(C, "split")
    assert history.undone().present is A


def test_only_the_last_steps_keep_their_plans() -> None:
    history = UndoHistory(BENCH)
    for number in range(PLANNED + 3):
        plan_and_measure(history.present)
        history = history.then(toggle_pin(history.present, f"m{number % 3}"))
    assert [bench.is_planned for bench in history.past] == [False] * 3 + [True] * PLANNED
    assert history.past[1].pins == {"m0"}


def test_c_a_step_that_joins_the_last_one_forgets_what_was_undone() -> None:
    history = UndoHistory(A, (BENCH,), (B,), "split").then(C, "split")
    assert (history.present, history.past, history.future) == (C, (BENCH,), ())
    assert history.redone() is history
