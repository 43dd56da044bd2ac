"""Rows of a comparison: the variants of one bench as they become known, their order, and the marked ones."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from workbench.analysis.course import Course
from workbench.analysis.replay_table import cost_basis
from workbench.bench import Bench
from workbench.bench.assessment import FIGURES, RECORDED, assess_recorded, compute
from workbench.compaction.preset import Preset, candidates, load_preset, preset_names
from workbench.runs.live_run import FinishedRun
from workbench.runs.variants import Variant, assess_offline, preset_variants
from workbench.tui.plain import several
from workbench.tui.ranking import BEST, FIRST, WORST, RankRow, column_titles, sort_rows
from workbench.tui.screens.added_variants import VariantQueue
from workbench.tui.simulations import simulate


def all_presets() -> tuple[Preset, ...]:
    return tuple(map(load_preset, preset_names()))


class VariantRows:
    """Variants of one bench: a row each, with figures, facts and the simulated session as they become known."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.titles = column_titles(goes_on=bench.epoch < len(bench.session.epochs))
        self.every = False
        """True for all presets, false for the preset of each strategy."""
        self.count = 0
        """Expected number of rows; 0 until the presets are read."""
        self.by_name: dict[str, RankRow] = {}
        self.ranked: tuple[RankRow, ...] = ()
        """Rows in the order of the table."""
        self.added: tuple[Variant, ...] = ()
        self.queue = VariantQueue(bench)
        """Variants that need a model. Those that wait are the last rows of the table."""
        self.order, self.is_reversed = FIRST, False
        self.marked: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all rows in the order of the table, waiting variants included."""
        return (*(one.name for one in self.ranked), *(one.label for one in self.queue.waiting))

    def row_named(self, name: str) -> RankRow | Variant | None:
        """Row with this name; a variant if it waits for a model."""
        return self.by_name.get(name) or next((one for one in self.queue.waiting if one.label == name), None)

    # --- computing: each yields after every row, so that it can be drawn ----------------------------------------------

    async def compact_all(self) -> AsyncIterator[None]:
        """Compact under each variant that has no row yet, and compute the figures, one by one in a thread."""
        bench = self.bench
        presets = await asyncio.to_thread(all_presets if self.every else candidates)
        variants = {one.label: one for one in (*preset_variants(bench, presets), *self.added)}
        rows = {name: one for name, one in self.by_name.items() if name in variants or one.variant is None or one.run}
        self.by_name, self.count = rows, len(variants.keys() | rows.keys())
        if RECORDED not in rows and (recorded := await asyncio.to_thread(assess_recorded, bench)):
            rows[RECORDED] = RankRow(RECORDED, await asyncio.to_thread(compute, recorded, *FIGURES))
            self.count += 1
        for name in [name for name in variants if name not in rows]:
            found = await asyncio.to_thread(assess_offline, bench, variants[name])
            rows[name] = RankRow(name, found, variant=variants[name])
            yield

    async def find_facts(self) -> AsyncIterator[None]:
        """Compute facts and rules of the rows that lack them, one by one in a thread."""
        rows, needed = self.by_name, ("later_use",) if "needed" in self.titles else ()
        for name in [name for name, one in rows.items() if not one.are_known]:
            await asyncio.to_thread(compute, rows[name].assessment, "watched", *needed, "retention")
            rows[name] = replace(rows[name], are_known=True)
            yield

    async def simulate_all(self, course: Course) -> AsyncIterator[None]:
        """Simulate the session under the rows that lack it, one by one in a thread."""
        rows = self.by_name
        for name in [name for name, one in rows.items() if not one.sent]:
            if (variant := rows[name].variant) is None:
                rows[name] = replace(rows[name], sent=tuple(point.tokens for point in course.growth))
            else:
                simulation = await asyncio.to_thread(simulate, course, variant.preset, self.bench)
                rows[name] = replace(rows[name], sent=tuple(simulation.sent), replay=simulation)
            yield

    def progress(self) -> str:
        """Progress of the computing, and how many variants r would run."""
        compacted, assessed = len(self.ranked), sum(one.are_known for one in self.ranked)
        replays = [one.replay for one in self.ranked if one.replay]
        if not self.count:
            return "reading the presets"
        if compacted < self.count:
            done = f"{compacted} of {self.count} compacted"
        elif assessed < compacted:
            done = f"looking for facts: {assessed} of {compacted}"
        elif not all(one.sent for one in self.ranked):
            done = f"simulating the session: {len(replays)} of {compacted}"
        else:
            done = f"{several(compacted, 'variant')} · {BEST} best {WORST} worst"
            done += f" · {cost_basis(replays[0].rates)}" if replays else ""
        waiting = several(len(self.queue.waiting), "variant") if self.queue.waiting else ""
        asks = (
            f"asking {waiting}, esc cancels · " if self.queue.is_running else f"r asks {waiting} · " if waiting else ""
        )
        return f"{asks}{self.bench.context.total} tokens before · {done}"

    # --- order, marks, and rows that the user adds --------------------------------------------------------------------

    def rank(self) -> None:
        """Sort the rows once all their facts are known; until then they are in the order of computing."""
        rows = tuple(self.by_name.values())
        known = len(rows) == self.count and all(one.are_known for one in rows)
        self.ranked = tuple(sort_rows(rows, self.order, is_reversed=self.is_reversed)) if known else rows

    def sort(self, title: str, *, is_reversed: bool) -> None:
        self.order, self.is_reversed = title, is_reversed
        self.ranked = tuple(sort_rows(self.ranked, title, is_reversed=is_reversed))

    def toggle_mark(self, name: str) -> None:
        before = self.marked
        self.marked = tuple(each for each in before if each != name) if name in before else (*before, name)

    def pair(self, name: str) -> tuple[RankRow, ...]:
        """Rows to show side by side: the first two marked ones. If fewer are marked, the marked row, or else the first
        row, with the row `name`; only one row if both are the same."""
        names = dict.fromkeys((*(self.marked or self.names[:1]), name))
        return tuple(self.by_name[name] for name in names if name in self.by_name)[:2]

    def add_runs(self, variants: Sequence[Variant], runs: Sequence[FinishedRun]) -> None:
        """Add a row for each finished run with a model."""
        for variant, run in zip(variants, runs, strict=True):
            self.by_name[variant.label] = RankRow(variant.label, run.assessment, variant=variant, run=run)

    def remove(self, one: RankRow | Variant | None) -> bool:
        """Remove a row that the user added; false if the user did not add it."""
        if isinstance(one, Variant):
            self.queue.remove(one)
            return True
        if one is None or not (one.run or one.variant in self.added):
            return False
        self.added = tuple(each for each in self.added if each is not one.variant)
        del self.by_name[one.name]
        self.marked = tuple(name for name in self.marked if name != one.name)
        return True
