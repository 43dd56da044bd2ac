"""Tooltips of the two context bars, and the marks on them that can be dragged. Functions without side effects."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.figures import short
from workbench.tui.bars import LABEL, ContextBars, inner_cells, layer_cells, long_words, marks_of, trigger_position

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
