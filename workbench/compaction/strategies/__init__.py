"""Strategies, one module each, in the order in which a user is offered them.

A strategy is imported when it is named. The program's own are listed below; others come from installed
distributions that offer an entry point in the group `compaction_workbench.strategies`: its name is the strategy's id,
its object a `workbench.compaction.strategy.Strategy`.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from workbench.base import plugins
from workbench.base.errors import BadInput
from workbench.compaction.strategy import Remedy, Strategy

OWN = {
    "exchange-summary": "exchange_summary",
    "progressive": "progressive",
    "layered": "layered",
    "message-window": "message_window",
    "context-reset": "context_reset",
    "user-messages": "user_messages",
    "clear-tool-results": "clear_tool_results",
    "trim": "trim",
    "memories-rewrite": "memories_rewrite",
    "ledger": "ledger",
}
"""Module by id."""

DEFAULT = "ledger"
"""Strategy used if none is named."""

OWN_WITH_REMEDY = ("clear-tool-results",)
"""The program's own strategies that have a `remedy`. `cwb why` imports only these of its own."""

GROUP = "compaction_workbench.strategies"


def strategy_ids() -> tuple[str, ...]:
    """Every id, the program's own first; nothing is imported. An installed strategy does not replace an own one."""
    return (*OWN, *(id for id in plugins.plugin_names(GROUP) if id not in OWN))


def strategy(id: str) -> Strategy[Any]:
    """Strategy by its id. Raises BadInput that lists the known ones, or states why an installed one cannot be used."""
    if id in OWN:
        own: Strategy[Any] = import_module(f"{__name__}.{OWN[id]}").STRATEGY
        return own
    if id not in strategy_ids():
        raise BadInput(f"Strategy {id!r} does not exist; choose one of: {', '.join(strategy_ids())}.")
    found: Strategy[Any] = plugins.load(GROUP, id, Strategy)
    if found.id != id:
        raise BadInput(f"The entry point {id!r} loads a strategy with the id {found.id!r}; use the same name for both.")
    return found


def all_strategies() -> tuple[Strategy[Any], ...]:
    """Every strategy that can be used; see `unusable` for the others."""
    return tuple(one for one in _load_all() if isinstance(one, Strategy))


def remedies(bound: int) -> Iterator[tuple[Strategy[Any], Remedy]]:
    """Every strategy that has a remedy for a context of at most `bound` tokens. Own strategies without one are not
    imported."""
    for one in map(_load_or_error, (id for id in strategy_ids() if id not in OWN or id in OWN_WITH_REMEDY)):
        if isinstance(one, Strategy) and one.remedy is not None:
            yield one, one.remedy(bound)


def unusable() -> tuple[str, ...]:
    """Reasons why installed strategies cannot be used, one sentence for each strategy."""
    return tuple(str(one) for one in _load_all() if isinstance(one, BadInput))


def _load_all() -> Iterator[Strategy[Any] | BadInput]:
    return map(_load_or_error, strategy_ids())


def _load_or_error(id: str) -> Strategy[Any] | BadInput:
    try:
        return strategy(id)
    except BadInput as refused:
        return refused
