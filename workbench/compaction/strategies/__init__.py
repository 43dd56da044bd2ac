"""The strategies, in the order in which a person is offered them. A new one is one file and one line here."""

from __future__ import annotations

from typing import Any

from workbench.base.errors import BadInput
from workbench.compaction.strategies import (
    clear_tool_results,
    context_reset,
    exchange_summary,
    layered,
    ledger,
    memories_rewrite,
    message_window,
    progressive,
    trim,
    user_messages,
)
from workbench.compaction.strategy import Strategy

STRATEGIES: tuple[Strategy[Any], ...] = (
    exchange_summary.STRATEGY,
    progressive.STRATEGY,
    layered.STRATEGY,
    message_window.STRATEGY,
    context_reset.STRATEGY,
    user_messages.STRATEGY,
    clear_tool_results.STRATEGY,
    trim.STRATEGY,
    memories_rewrite.STRATEGY,
    ledger.STRATEGY,
)


def strategy(id: str) -> Strategy[Any]:
    """A strategy by its id. Raises BadInput that lists the known ones."""
    for one in STRATEGIES:
        if one.id == id:
            return one
    raise BadInput(f"There is no strategy {id!r}; choose one of: {', '.join(one.id for one in STRATEGIES)}.")
