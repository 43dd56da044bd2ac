"""Undo and redo: benches before and after the present one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from workbench.bench import Bench, steps
from workbench.compaction.context import Layout

LIMIT = 500
"""Most steps that can be undone. A step shares unchanged data, so it costs a few hundred bytes."""

PLANNED = 20
"""Number of past benches that keep their plan, which may hold a megabyte, so that undoing them is drawn at once."""


@dataclass(frozen=True)
class UndoHistory:
    """Benches before and after the present one. `key` names the last change: the next one with the same key joins it,
    so that typing a number is one step."""

    present: Bench
    past: tuple[Bench, ...] = ()
    future: tuple[Bench, ...] = ()
    key: str = ""

    def then(self, bench: Bench, key: str = "") -> UndoHistory:
        """Add a step to `bench`; undone steps are discarded."""
        if key and key == self.key:
            return replace(self, present=bench, future=())
        past = (*self.past, self.present)[-LIMIT:]
        if len(past) > PLANNED:
            forgotten = replace(past[-PLANNED - 1])  # a copy has the fields, not the computed plan
            past = (*past[: -PLANNED - 1], forgotten, *past[-PLANNED:])
        return UndoHistory(bench, past, (), key)

    def undone(self) -> UndoHistory:
        if not self.past:
            return self
        return UndoHistory(self.past[-1], self.past[:-1], (self.present, *self.future))

    def redone(self) -> UndoHistory:
        if not self.future:
            return self
        return UndoHistory(self.future[0], (*self.past, self.present), self.future[1:])

    def relaid(self, epoch: int, layout: Layout) -> UndoHistory:
        """History with the token figures of `layout` in every bench of `epoch`."""

        def fresh(bench: Bench) -> Bench:
            return steps.with_layout(bench, layout) if bench.epoch == epoch else bench

        return self.change_all(fresh)

    def change_all(self, change: Callable[[Bench], Bench]) -> UndoHistory:
        """History with `change` applied to every bench; not a step of its own."""
        return replace(
            self,
            present=change(self.present),
            past=tuple(map(change, self.past)),
            future=tuple(map(change, self.future)),
        )
