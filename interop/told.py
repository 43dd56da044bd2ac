"""Allowances for the losses that the workbench's writers declare of an export."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from interop.compare import Allowance, by_unit, results_in_order, without
from interop.units import Unit
from workbench.formats.export import Export
from workbench.formats.kit.blocks import SUMMARY_LABEL
from workbench.formats.kit.settle import NO_RESULT, ORPHAN, SYSTEM_LABEL
from workbench.formats.loss import LossKind
from workbench.formats.roles import GAP

_LABEL = re.compile(rf"(?:{re.escape(SYSTEM_LABEL)}|{re.escape(SUMMARY_LABEL)})\n")


def _as_system(unit: Unit) -> Unit:
    """A text of the person's under a label as the system message that it was."""
    found = _LABEL.match(unit.text) if unit.role == "user" and unit.kind == "text" else None
    return replace(unit, role="system", text=unit.text[found.end() :]) if found else unit


def _as_object(unit: Unit) -> Unit:
    """A call whose arguments are no JSON object with these in one."""
    name, _, arguments = unit.text.partition(" ")
    if unit.kind != "call" or arguments.startswith("{"):
        return unit
    return replace(unit, text=f"{name} {json.dumps({'raw': arguments}, ensure_ascii=False)}")


def _as_text(unit: Unit) -> Unit:
    """A result without its call as the text that it becomes."""
    return Unit("user", "text", f"{ORPHAN}\n{unit.text}") if unit.kind == "result" and not unit.call else unit


BETWEEN_FORMATS = (
    Allowance(
        "order of results",
        "Results of parallel calls are written in the order of the calls; the other agent keeps their arrival order.",
        sent=results_in_order,
        shown=results_in_order,
    ),
    Allowance(
        "system messages",
        "Where an API allows system messages only at the start, later ones become user messages with a label.",
        sent=by_unit(_as_system),
    ),
    Allowance(
        "arguments as an object",
        "Arguments that are not a JSON object are wrapped in one, under `raw`, for an API that takes only objects.",
        shown=by_unit(_as_object),
    ),
)
"""What becomes of any session in another tool's form."""
TOLD = (
    (
        (LossKind.REASONING,),
        Allowance(
            "loss: reasoning",
            "Reasoning of another model is left out (a declared loss of the export).",
            sent=without(lambda unit: unit.kind == "reasoning"),
            shown=without(lambda unit: unit.kind == "reasoning"),
        ),
    ),
    (
        (LossKind.SYSTEM_PROMPT, LossKind.SYSTEM_MESSAGES),
        Allowance(
            "loss: system prompt",
            "The system prompt is left out (a declared loss of the export: the agent sends its own).",
            shown=without(lambda unit: unit.role == "system"),
        ),
    ),
    (
        (LossKind.USER_INSERTED,),
        Allowance(
            "loss: turns",
            f"Where an API would refuse an answer, a user message “{GAP}” is inserted before it (a declared loss).",
            beside=lambda unit: unit == Unit("user", "text", GAP),
        ),
    ),
    (
        (LossKind.UNANSWERED_CALLS,),
        Allowance(
            "loss: no result",
            "A call without a result got a placeholder result (a declared loss of the export).",
            sent=without(lambda unit: unit.kind == "result" and unit.text == NO_RESULT),
        ),
    ),
    (
        (LossKind.ORPHAN_RESULTS,),
        Allowance(
            "loss: no call",
            "A result without a call is written as text (a declared loss of the export).",
            shown=by_unit(_as_text),
        ),
    ),
    (
        (LossKind.UNKNOWN_BLOCKS,),
        Allowance(
            "loss: blocks",
            "Blocks that only the source format knows are left out (a declared loss of the export).",
            shown=without(lambda unit: unit.kind == "other"),
        ),
    ),
)
"""Allowances by the kinds of losses that an export declares."""


def allowed_by(made: Export) -> list[Allowance]:
    """What an export allows: by its losses, and by going from one format to another."""
    declared = {loss.kind for loss in made.written.losses}
    told = [allowance for kinds, allowance in TOLD if not declared.isdisjoint(kinds)]
    return [*told, *(BETWEEN_FORMATS if made.format.id != made.source.format else ())]
