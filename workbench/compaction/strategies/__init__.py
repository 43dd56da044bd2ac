"""The strategies, one module each, in the order in which a person is offered them.

A strategy is imported when it is named. The program's own are one line each below; others come from installed
distributions that offer an entry point in the group `compaction_workbench.strategies`: its name is the strategy's id,
its object a `workbench.compaction.strategy.Strategy`.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from workbench.base.errors import BadInput
from workbench.compaction.strategy import Strategy

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
"""The strategy of a call that names none."""

GROUP = "compaction_workbench.strategies"


def strategy_ids() -> tuple[str, ...]:
    """Every id, the program's own first; nothing is imported."""
    return (*OWN, *_offered())


def strategy(id: str) -> Strategy[Any]:
    """A strategy by its id. Raises BadInput that lists the known ones, or says why an installed one cannot be used."""
    if id in OWN:
        found: Strategy[Any] = import_module(f"{__name__}.{OWN[id]}").STRATEGY
        return found
    offered = _offered()
    if id not in offered:
        raise BadInput(f"There is no strategy {id!r}; choose one of: {', '.join((*OWN, *offered))}.")
    return _loaded(offered[id])


def all_strategies() -> tuple[Strategy[Any], ...]:
    """Every strategy that can be used; see `unusable` for the others."""
    return tuple(one for one in _tried() if isinstance(one, Strategy))


def unusable() -> tuple[str, ...]:
    """Why an installed strategy cannot be used, one sentence for each."""
    return tuple(str(one) for one in _tried() if isinstance(one, BadInput))


def _tried() -> Iterator[Strategy[Any] | BadInput]:
    for id in strategy_ids():
        try:
            yield strategy(id)
        except BadInput as refused:
            yield refused


def _offered() -> dict[str, EntryPoint]:
    """What installed distributions offer, by id; none takes the place of an own one."""
    found = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    return {point.name: point for point in found if point.name not in OWN}


def _loaded(point: EntryPoint) -> Strategy[Any]:
    source = f"The strategy {point.name!r} of {point.dist.name if point.dist else point.value}"
    try:
        found = point.load()
    except Exception as error:  # whatever a stranger's module raises when it is imported
        said = f"{type(error).__name__}: {error}".rstrip(": ")
        raise BadInput(f"{source} cannot be loaded ({said}); mend it or uninstall it.") from error
    if not isinstance(found, Strategy) or found.id != point.name:
        what = f"a Strategy with the id {found.id!r}" if isinstance(found, Strategy) else f"a {type(found).__name__}"
        raise BadInput(f"{source} is {what}; its entry point must name a Strategy of that id.")
    return found
