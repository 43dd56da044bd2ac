"""The context now and after a compaction as two bars of cells on one scale: layers, marks for triggers and window, a
legend of sizes, tooltips, and the marks that can be dragged. No widgets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.cells import cell_len

from workbench.base.figures import short
from workbench.compaction.layers import Layer
from workbench.compaction.strategy import Trigger
from workbench.tokens.sizes import Size
from workbench.tokens.window import Window
from workbench.tui.plain import percent

if TYPE_CHECKING:
    from workbench.analysis.usage_check import Gap

_STYLES = {
    "system": "prompt",
    "tools": "prompt",
    "rules": "prompt",
    "system + tools (not recorded)": "prompt",
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

_OVERHEAD = ("system", "tools", "rules", "system + tools (not recorded)", "L1 system+tools", "L2 rules")


@dataclass(frozen=True)
class ContextBars:
    """Figures that the bars show. `after_layers` is empty if the compaction changes nothing; `done`: it was run.
    `limit` is the window, None if unknown: the longer context then fills its bar. `gaps` are calls whose usage the
    context does not explain, the largest first. `compacted_at` is the recorded size at which the agent compacted, 0 if
    it did not."""

    layers: tuple[Layer, ...]
    after_layers: tuple[Layer, ...]
    before: Size
    after: Size
    limit: Window | None
    triggers: tuple[Trigger, ...]
    done: bool = False
    gaps: tuple[Gap, ...] = ()
    compacted_at: int = 0

    @property
    def window(self) -> int | None:
        """The context window in tokens, None when unknown."""
        return self.limit.tokens if self.limit else None

    @property
    def overhead(self) -> int:
        """Tokens that do not depend on the history."""
        return sum(layer.tokens for layer in self.layers if layer.name in _OVERHEAD)

    @property
    def scale(self) -> int:
        """Tokens of a full-length bar: the window, or more if either context is larger."""
        return max(self.window or 0, self.before.tokens, self.after.tokens if self.after_layers else 0, 1)


_GROWING = ("characters", "messages", "rounds", "events", "tool uses")
"""Units that grow with the history; lines of memories, commands and errors do not."""


def trigger_position(trigger: Trigger, budget: ContextBars) -> int | None:
    """Position of a trigger's limit on the token scale; a limit in another unit is placed by its share of the history.
    None if it has no position."""
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

LABEL = 7
"""Cells of the label before each bar."""

FIGURES, FEW_FIGURES = 15, 8
"""Cells of the figures after each bar, with and without shares."""

BARE = 60
"""Columns below which the figures have no shares."""


def now_cells(budget: ContextBars, width: int) -> Cells:
    """`now    ▒███▲██▓│   ≈197k   99 %`"""
    over = budget.window is not None and budget.before.tokens > budget.window
    figures = _figures(budget, budget.before, width)
    return [("now    ", "dim"), *bar_cells(budget, budget.layers, width), (figures, "over" if over else "bold")]


def after_cells(budget: ContextBars, width: int, filled: float = 1.0) -> Cells:
    """`after  ▒◆▓ ▲  │  ≈26.7k   13 %`: dim while it is a preview."""
    if not budget.after_layers:
        return [("after  nothing to compact", "dim")]
    bar = bar_cells(budget, budget.after_layers, width, filled)
    faint = "" if budget.done else " dim"
    drawn = [(text, name if name in ("free", "tick", "over") else name + faint) for text, name in bar]
    return [("after  ", "dim"), *drawn, (_figures(budget, budget.after, width), "bold" + faint)]


def _figures(budget: ContextBars, size: Size, width: int) -> str:
    tokens = f"{size.basis.value}{short(size.tokens)}"
    if width < BARE:
        return tokens.rjust(FEW_FIGURES)
    share = percent(size.tokens / budget.window) if budget.window else ""
    return f"{tokens:>8}{share:>7}"


def inner_cells(width: int) -> int:
    """Cells of a bar."""
    return max(4, width - LABEL - (FIGURES if width >= BARE else FEW_FIGURES))


def bar_cells(budget: ContextBars, layers: Sequence[Layer], width: int, filled: float = 1.0) -> Cells:
    """Cells of a stacked bar with the marks drawn over it; `filled` is the share that is drawn."""
    inner = inner_cells(width)
    chars = [(layer.glyph, _STYLES.get(layer.name, "head")) for layer in layer_cells(budget, layers, inner)]
    chars = chars[: min(inner, round(filled * len(chars)))]
    chars += [(" ", "free")] * (inner - len(chars))
    for mark in marks_of(budget, inner):
        chars[mark.cell] = (mark.sign, mark.style)
    cells: Cells = []
    for char, name in chars:
        if cells and cells[-1][1] == name:
            cells[-1] = (cells[-1][0] + char, name)
        else:
            cells.append((char, name))
    return cells


def layer_cells(budget: ContextBars, layers: Sequence[Layer], inner: int) -> list[Layer]:
    """Layer of each cell of a bar, up to the end of the last layer."""
    cells: list[Layer] = []
    reached = 0
    for layer in layers:
        reached += layer.tokens
        until = round(reached / budget.scale * inner)
        # A layer too small for a cell still gets one, so that nothing in the legend is missing from the bar.
        cells += [layer] * max(until - len(cells), 1 if layer.tokens else 0)
    return cells


@dataclass(frozen=True, slots=True)
class BarMark:
    """Sign in one cell of both bars: `figure` is its position in tokens, `name` its kind."""

    cell: int
    sign: str
    name: str
    figure: str
    style: str

    def __str__(self) -> str:
        return f"{self.sign} {self.name} {self.figure}"


def marks_of(budget: ContextBars, inner: int) -> list[BarMark]:
    """Marks from left to right: triggers, the size at which the agent compacted, the window. In one cell the window
    replaces any other mark; a trigger and a compaction share a mark."""
    found: dict[int, BarMark] = {}
    for trigger in budget.triggers:
        at = trigger_position(trigger, budget)
        if at is None or at > budget.scale:
            continue
        cell = min(inner - 1, at * inner // budget.scale)
        about = short(at) if "token" in trigger.unit else f"≈{short(at)}"
        found[cell] = BarMark(cell, "▲", "trigger", about, "over" if trigger.fires else "tick")
    if 0 < budget.compacted_at <= budget.scale:
        cell = min(inner - 1, budget.compacted_at * inner // budget.scale)
        if cell in found:
            found[cell] = replace(found[cell], name="trigger, compacted")
        else:
            found[cell] = BarMark(cell, "△", "compacted", short(budget.compacted_at), "tick")
    if limit := budget.limit:
        cell = min(inner - 1, limit.tokens * inner // budget.scale)
        over = budget.before.tokens > limit.tokens
        found[cell] = BarMark(cell, "│", "window", short(limit.tokens), "over" if over else "tick")
    return [found[cell] for cell in sorted(found)]


def gap_texts(gaps: Sequence[Gap]) -> tuple[str, ...]:
    """Texts for the difference between billed tokens and the context, the longest first: the largest gap, and how many
    more there are."""
    if not gaps:
        return ()
    first = gaps[0]
    sign = "+" if first.tokens > 0 else "−"
    more = f", {len(gaps) - 1} more" if len(gaps) > 1 else ""
    brief = f"≠ billed {sign}{short(abs(first.tokens))}"
    return f"{brief} from call {first.call}{more}", brief, "≠"


def legend_cells(budget: ContextBars, width: int) -> Cells:
    """Legend: every layer of both bars with its size, and the marks at the right, in the longest wording that fits."""
    width -= 1
    layers, after = budget.layers, {layer.name for layer in budget.layers}
    shown = (*layers, *(layer for layer in budget.after_layers if layer.name not in after))
    kinds = [_STYLES.get(layer.name, "head") for layer in shown]
    for spell, right in _spellings(budget, inner_cells(width)):
        for indent in (LABEL, 0):
            items = [spell(layer, layers) for layer in shown]
            gap = 3 if spell is long_words else 2 if spell is _brief else 1
            used = indent + sum(map(cell_len, items)) + gap * len(items)
            apart = 1 if spell in (_bare, _sign) else 3
            used_right = sum(cell_len(text) for text, _ in right) + apart * (len(right) - 1) if right else 0
            if used + used_right <= width:
                break
        else:
            continue
        break
    cells: Cells = [(" " * indent, "")]
    room = width - indent
    for text, kind in zip(items, kinds, strict=True):
        if cell_len(text) + (text is not items[-1]) > room:
            return [*cells, ("…", "dim")]
        cells.append((text + " " * gap, kind))
        room -= cell_len(text) + gap
    if not right or room < used_right:
        return cells
    cells.append((" " * (room - used_right), ""))
    for number, (text, style) in enumerate(right):
        cells += [(" " * apart if number else "", ""), (text, style)]
    return cells


Spell = Callable[[Layer, Sequence[Layer]], str]


def _spellings(budget: ContextBars, inner: int) -> Iterator[tuple[Spell, Cells]]:
    """Yield wordings of layers and marks, the longest first."""
    marks = marks_of(budget, inner)
    doubts = gap_texts(budget.gaps)
    whole = [(str(mark), mark.style) for mark in marks]
    if budget.window is None:
        whole.append(("window unknown: 9 sets it", "dim"))
    named = [(mark.sign + mark.name, mark.style) for mark in marks]
    least = [(doubts[-1], "over")] if doubts else []
    for spell in (long_words, _brief):
        for doubt in doubts or ("",):
            yield spell, [*whole, *([(doubt, "over")] if doubt else [])]
    yield _bare, [*whole, *least]
    yield _bare, [*((f"{mark.sign}{mark.name} {mark.figure}", mark.style) for mark in marks), *least]
    for spell in (_bare, _sign):
        yield spell, [*named, *least]
    yield _bare, []


def layer_name(layer: Layer, layers: Sequence[Layer]) -> str:
    """Name of a layer on the screen. Unrecorded tokens are "system + tools" if the file records neither."""
    if layer.name == "system + tools (not recorded)":
        return "not recorded" if any(one.name in ("system", "tools") for one in layers) else "system + tools"
    return layer.name


def long_words(layer: Layer, layers: Sequence[Layer]) -> str:
    return f"{layer.glyph} {layer_name(layer, layers)} {layer.basis.value}{short(layer.tokens)}"


def _brief(layer: Layer, layers: Sequence[Layer]) -> str:
    return f"{layer.glyph} {layer_name(layer, layers)} {short(layer.tokens)}"


def _bare(layer: Layer, layers: Sequence[Layer]) -> str:
    return f"{layer.glyph}{layer_name(layer, layers)} {short(layer.tokens)}"


def _sign(layer: Layer, layers: Sequence[Layer]) -> str:
    return layer.glyph + layer_name(layer, layers)


# --- pointing: tooltips and marks that can be dragged -----------------------------------------------------------------


ABOUT = {
    "system + tools (not recorded)": "billed with every call, not recorded in the file: system prompt, tools, memory",
    "system": "the system prompt",
    "tools": "the tools' descriptions",
    "rules": "rule files and memory",
    "L1 system+tools": "the system prompt and the tools' descriptions",
    "L2 rules": "rule files and memory",
    "summaries": "summaries of earlier compactions",
    "L3 summaries": "summaries of earlier compactions",
    "history": "the conversation",
    "head": "what this compaction replaces",
    "L3 head": "what this compaction replaces",
    "pins": "pinned, kept verbatim",
    "L3 pins": "pinned, kept verbatim",
    "tail": "the newest messages, kept as they are",
    "L3 tail": "the newest messages, kept as they are",
    "current input": "the request being worked on",
    "recap": "the newest messages, repeated",
}
"""Explanation of each layer, for the tooltip."""


def tooltip_at(budget: ContextBars, width: int, x: int, y: int) -> str:
    """Tooltip at a cell: a layer of either bar, a mark, or free space; "" elsewhere."""
    inner, cell = inner_cells(width), x - LABEL
    if y > 1 or not 0 <= cell < inner or (y == 1 and not budget.after_layers):
        return ""
    if mark := next((one for one in marks_of(budget, inner) if one.cell == cell), None):
        source = f" ({budget.limit.source})" if mark.name == "window" and budget.limit else ""
        return f"{mark.name} {mark.figure} tokens{source}"
    cells = layer_cells(budget, budget.after_layers if y else budget.layers, inner)
    if cell >= len(cells):
        return f"free: {short(max(0, budget.scale - (budget.after if y else budget.before).tokens))} tokens"
    layer = cells[cell]
    about = ABOUT.get(layer.name, "")
    return f"{long_words(layer, budget.layers)} tokens{f': {about}' if about else ''}"


@dataclass(frozen=True)
class Grip:
    """Draggable mark in a cell: the trigger with index `number`, or the end of the head (None). At a position of
    `tokens` on the bar, the trigger's limit in its own unit is `(tokens - base) * per_token`."""

    cell: int
    number: int | None
    per_token: float = 1.0
    base: int = 0

    def limit(self, tokens: int) -> float:
        """Return the trigger's limit, in its unit, with the mark at a position of `tokens`."""
        return max(0.0, (tokens - self.base) * self.per_token)


def grips(budget: ContextBars, inner: int) -> list[Grip]:
    """Draggable marks on a bar of `inner` cells."""
    found = []
    history = max(1, budget.before.tokens - budget.overhead)
    for number, trigger in enumerate(budget.triggers):
        at = trigger_position(trigger, budget)
        if at is None or at > budget.scale:
            continue
        cell = min(inner - 1, at * inner // budget.scale)
        scaled = (1.0, 0) if "token" in trigger.unit else (trigger.value / history, budget.overhead)
        found.append(Grip(cell, number, *scaled))
    reached = 0
    for layer in budget.layers:
        reached += layer.tokens
        if layer.name in ("head", "L3 head"):
            found.append(Grip(min(inner - 1, round(reached / budget.scale * inner)), None))
    return found
