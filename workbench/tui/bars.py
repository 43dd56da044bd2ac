"""The context as two bars on one scale, now and after, as cells: their layers, with triggers and limit marked on them,
and below what they stand for and the receipt. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from workbench.base.figures import short
from workbench.compaction.layers import Layer
from workbench.compaction.strategy import Trigger
from workbench.tokens.sizes import Size
from workbench.tokens.window import Window
from workbench.tui.plain import change, fit, percent

if TYPE_CHECKING:
    from workbench.analysis.bills import Gap
    from workbench.analysis.receipt import Receipt

_STYLES = {
    "system": "prompt",
    "tools": "prompt",
    "rules": "prompt",
    "not in file": "prompt",
    "summaries": "summaries",
    "history": "head",
    "head": "head",
    "pins": "pins",
    "tail": "tail",
    "L1 system+tools": "prompt",
    "L2 rules": "prompt",
    "L3 summaries": "summaries",
    "L3 head": "head",
    "L3 pins": "pins",
    "L3 tail": "tail",
    "current input": "tail",
    "recap": "summaries",
}

_OVERHEAD = ("system", "tools", "rules", "not in file", "L1 system+tools", "L2 rules")


@dataclass(frozen=True)
class Told:
    """The receipt, and whether it is that of what is shown now."""

    receipt: Receipt
    fresh: bool


@dataclass(frozen=True)
class Budget:
    """What the bars show. `after_layers` are of what a compaction leaves, none where it changes nothing; `done`: it was
    run. `limit` None: the window is not known and the longer bar is as long as its context. `gaps` are the calls at
    which the bills cease to be explained by the context, the largest first. `compacted_at` is the size at which the
    agent itself compacted, as the file records it, 0 where it does not."""

    layers: tuple[Layer, ...]
    after_layers: tuple[Layer, ...]
    before: Size
    after: Size
    limit: Window | None
    triggers: tuple[Trigger, ...]
    done: bool = False
    gaps: tuple[Gap, ...] = ()
    told: Told | None = None
    compacted_at: int = 0

    @property
    def window(self) -> int | None:
        """The context window in tokens, None when unknown."""
        return self.limit.tokens if self.limit else None

    @property
    def overhead(self) -> int:
        """Tokens that are there whatever the history holds."""
        return sum(layer.tokens for layer in self.layers if layer.name in _OVERHEAD)

    @property
    def scale(self) -> int:
        """Tokens that a whole bar stands for: the window, or more when either context is larger."""
        return max(self.window or 0, self.before.tokens, self.after.tokens if self.after_layers else 0, 1)


_GROWING = ("characters", "messages", "rounds", "events", "tool uses")
"""Units of what grows with the history, as lines of memories, commands and errors do not."""


def tick_of(trigger: Trigger, budget: Budget) -> int | None:
    """Where a trigger's limit lies on the token scale; other units by the history's share. None where there is none."""
    if trigger.limit <= 0:
        return None
    if "token" in trigger.unit:
        return round(trigger.limit)
    if trigger.value <= 0 or trigger.unit not in _GROWING:
        return None
    history = budget.before.tokens - budget.overhead
    return round(budget.overhead + history * trigger.limit / trigger.value)


Cells = list[tuple[str, str]]
"""Texts, each with the names of its styles."""

LOW = 4
"""Lines of the bars on a low screen."""

LABEL = 7
"""Cells of the words before the bars."""

FIGURES, FEW_FIGURES = 22, 8
"""Cells of the figures behind them, with and without shares."""

ROOMY_RECEIPT = 100
"""Columns from which the receipt begins where the bars do."""

BARE = 60
"""Columns below which the figures are bare."""


def now_cells(budget: Budget, width: int) -> Cells:
    """`now ▕███▏ ≈197k 99 %`"""
    over = budget.window is not None and budget.before.tokens > budget.window
    figures = _figures(budget, budget.before, "", width)
    return [(" now   ", "bold"), *bar_cells(budget, budget.layers, width), (figures, "over" if over else "bold")]


def after_cells(budget: Budget, width: int, filled: float = 1.0) -> Cells:
    """`after ▕█░░▏ ≈26k 13 % −86 %`: dim while it is a preview."""
    if not budget.after_layers:
        return [(" after ", "dim"), ("  nothing to compact", "dim")]
    bar = bar_cells(budget, budget.after_layers, width, filled)
    faint = "" if budget.done else " dim"
    drawn = [(text, name if name in ("dim", "free", "tick", "over") else name + faint) for text, name in bar]
    by = change(budget.before.tokens, budget.after.tokens)
    return [(" after ", "bold"), *drawn, (_figures(budget, budget.after, by, width), "bold" + faint)]


def _figures(budget: Budget, size: Size, by: str, width: int) -> str:
    tokens = f"{size.basis.value}{short(size.tokens)}"
    if width < BARE:
        return tokens.rjust(FEW_FIGURES - 1)
    share = percent(size.tokens / budget.window) if budget.window else ""
    return f"{tokens:>7}{share:>7}{by:>7}" if len(by) < 7 else f"{tokens:>6}{share:>7}{by:>8}"


def inner_cells(width: int) -> int:
    """Cells of a bar between its ends."""
    return max(4, width - LABEL - 2 - (FIGURES if width >= BARE else FEW_FIGURES))


def bar_cells(budget: Budget, layers: Sequence[Layer], width: int, filled: float = 1.0) -> Cells:
    """A stacked bar between `▕` and `▏`; the limit is drawn over it where the context has run past it."""
    inner = inner_cells(width)
    chars = [(layer.glyph, _STYLES.get(layer.name, "head")) for layer in by_cell(budget, layers, inner)]
    chars = chars[: min(inner, round(filled * len(chars)))]
    chars += [("░", "free")] * (inner - len(chars))
    for position, _, name in ticks_of(budget, inner):
        chars[position] = ("│", name)
    cells: Cells = [("▕", "dim")]
    for char, name in chars:
        if cells[-1][1] == name:
            cells[-1] = (cells[-1][0] + char, name)
        else:
            cells.append((char, name))
    return [*cells, ("▏", "dim")]


def by_cell(budget: Budget, layers: Sequence[Layer], inner: int) -> list[Layer]:
    """The layer that each cell of a bar shows, as far as it is filled."""
    cells: list[Layer] = []
    reached = 0
    for layer in layers:
        reached += layer.tokens
        until = round(reached / budget.scale * inner)
        # A layer too small for a cell still gets one, so that nothing in the legend is missing from the bar.
        cells += [layer] * max(until - len(cells), 1 if layer.tokens else 0)
    return cells


def ticks_of(budget: Budget, inner: int) -> list[tuple[int, str, str]]:
    """Marks on the bar, left to right: cell, label, style. The limit wins the cell."""
    found: dict[int, tuple[int, str, str]] = {}
    for trigger in budget.triggers:
        at = tick_of(trigger, budget)
        if at is None or at > budget.scale:
            continue
        sign = "▲" if "token" in trigger.unit else "▲≈"
        cell = min(inner - 1, at * inner // budget.scale)
        found[cell] = (cell, f"{sign}{short(at)} trigger", "over" if trigger.fires else "tick")
    if 0 < budget.compacted_at <= budget.scale:
        cell = min(inner - 1, budget.compacted_at * inner // budget.scale)
        _, label, name = found.get(cell, (cell, f"▲{short(budget.compacted_at)}", "tick"))
        found[cell] = (cell, f"{label}{',' if cell in found else ''} compacted", name)
    if limit := budget.limit:
        cell = min(inner - 1, limit.tokens * inner // budget.scale)
        over = budget.before.tokens > limit.tokens
        found[cell] = (cell, f"▲{short(limit.tokens)} limit ({limit.source})", "over" if over else "tick")
    return sorted(found.values())


def tick_cells(budget: Budget, width: int) -> Cells:
    """Labels under the marks; one that would overlap the one before it moves right, at the edge it ends there. What
    the bills say against the context stands at the right."""
    cells: Cells = []
    end = 0
    ticks = ticks_of(budget, inner_cells(width))
    room = width - sum(len(label) + 1 for _, label, _ in ticks)
    doubt = doubt_of(budget.gaps, room - 2)
    edge = width - 1 - (len(doubt) + 1 if doubt else 0)
    for number, (cell, label, name) in enumerate(ticks):
        later = sum(len(other) + 1 for _, other, _ in ticks[number + 1 :])
        start = max(end, min(cell + LABEL + 1, edge - later - len(label)))
        cells += [(" " * (start - end), ""), (label, name)]
        end = start + len(label) + 1
        cells.append((" ", ""))
    if budget.window is None and edge - end > 40:
        note = " window unknown: the bars are as long as the larger context (ctrl+w sets it)"
        shown = fit(note, min(len(note), edge - end - 1))
        cells.append((shown, "dim"))
        end += len(shown)
    return [*cells, (" " * (edge + 1 - end), ""), (doubt, "over")] if doubt else cells


def doubt_of(gaps: Sequence[Gap], room: int) -> str:
    """That the bills are not those of the context, as briefly as there is room for: the call with the largest
    difference, and how many more there are."""
    if not gaps:
        return ""
    first = gaps[0]
    sign = "+" if first.tokens > 0 else "−"
    more = f", {len(gaps) - 1} more" if len(gaps) > 1 else ""
    brief = f"≠ billed {sign}{short(abs(first.tokens))}"
    spelled = (f"{brief} from call {first.call}{more}", brief)
    return next((one for one in spelled if len(one) <= room), "≠")


def legend_cells(budget: Budget, width: int) -> Cells:
    """Every layer of what is there now with its figure."""
    for spell in (long_words, _brief, _bare):
        items = [(spell(layer), _STYLES.get(layer.name, "head")) for layer in budget.layers]
        if sum(cell_len(text) + 1 for text, _ in items) + LABEL + 1 <= width:
            break
    room = width - LABEL - 1
    cells: Cells = [(" " * (LABEL + 1), "")]
    for text, name in items:
        if cell_len(text) + 1 > room:
            return [*cells, ("…", "dim")]
        cells.append((text + " ", name))
        room -= cell_len(text) + 1
    return cells


def receipt_cells(told: Told | None, width: int) -> Cells:
    """What a compaction keeps, loses and costs, in fewer words where not all of it has room, and as much of these as
    has."""
    if told is None:
        return []
    indent = LABEL + 1 if width >= ROOMY_RECEIPT else 1
    words, room = "", width - indent - 1
    for part in told.receipt.parts if cell_len(str(told.receipt)) <= room else told.receipt.brief:
        longer = f"{words} · {part}" if words else part
        if cell_len(longer) > room:
            words = fit(f"{words} …", room) if cell_len(words) + 2 <= room else words
            break
        words = longer
    return [(" " * indent, ""), (words, "" if told.fresh else "dim")]


def long_words(layer: Layer) -> str:
    return f"{layer.glyph} {layer.name} {layer.basis.value}{short(layer.tokens)} "


def _brief(layer: Layer) -> str:
    return f"{layer.glyph} {layer.name} {short(layer.tokens)}"


def _bare(layer: Layer) -> str:
    return f"{layer.glyph}{layer.name} {short(layer.tokens)}"
