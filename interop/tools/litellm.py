"""LiteLLM, which makes a request for Anthropic of a chat body."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from interop.compare import Allowance
from interop.homes import Package
from interop.library import Script, library
from interop.units import Unit, Units

_NOTE = "Operator note (not from the user): "
_BEFORE_ALL = Unit("user", "text", "")


def _as_system(units: Units) -> Units:
    """What stands behind a note of an operator's as the system message that it was."""
    return tuple(
        replace(unit, role="system") if before.text.startswith(_NOTE) else unit
        for before, unit in pairwise((_BEFORE_ALL, *units))
        if not unit.text.startswith(_NOTE)
    )


TOOL = library(
    Script("litellm_turns"),
    id="litellm",
    title="LiteLLM, to Anthropic",
    package=Package("PyPI", "litellm", "1.106.2", ("mcp==2.3.0",)),
    format="openai-chat",
    allowances=(
        Allowance(
            "operator's notes",
            "System messages between turns become the person's, each behind a note that says so.",
            sent=_as_system,
        ),
    ),
)
