"""`--max-cost`: what a command may cost at most, and its refusal of what could cost more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from workbench.compaction.strategy import Compacting
from workbench.quotes import quotes_for
from workbench.summarizers.driver import drive
from workbench.summarizers.estimate import estimate
from workbench.summarizers.named import Name
from workbench.summarizers.purse import Purse, TooDear, usual_purse
from workbench.tokens.cost import added, money
from workbench.tokens.sizes import Meter

OVER_THE_LIMIT = 5

F = TypeVar("F", bound=Callable[..., Any])


class OverTheLimit(click.ClickException):
    """Nothing is sent that could cost more."""

    exit_code = OVER_THE_LIMIT


class Dollars(click.ParamType["float"]):
    """A number of dollars, or `none` for no limit, which is infinity."""

    name = "dollars"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            dollars = float("inf") if value in ("none", float("inf")) else float(value)
        except ValueError:
            dollars = -1.0
        if not dollars >= 0:
            self.fail(f"{value!r} is no number of dollars; write one from 0, as 0.50, or none.", param, ctx)
        return dollars


def max_cost(command: F) -> F:
    """Give a command the option, and `purse`: with that limit, else with that of the settings."""

    def opened(ctx: click.Context, param: click.Parameter, most: float | None) -> Purse:
        return usual_purse() if most is None else Purse(None if most == float("inf") else most)

    return click.option(
        "--max-cost",
        "purse",
        type=Dollars(),
        callback=opened,
        metavar="DOLLARS",
        help="Send nothing that could make this cost more; else max_cost of the settings. none: no limit.",
    )(command)


def priced(purse: Purse, name: Name, compacting: Callable[[], Compacting], meter: Meter) -> str:
    """What a run is foreseen to cost, in words; "" where no model is asked. Raises OverTheLimit where that may be more
    than is left."""
    if not name.model:
        return ""
    foreseen = quotes_for(drive(compacting(), estimate), meter, name)
    most = added(one.at_most.dollars for one in foreseen)
    within(purse, most, name.model)
    about = added(one.cost.dollars for one in foreseen)
    return (
        "at a price that is not known" if None in (about, most) else f"for about {money(about)}, at most {money(most)}"
    )


def within(purse: Purse, most: float | None, model: str) -> None:
    """Raises OverTheLimit."""
    try:
        purse.check(most, model)
    except TooDear as refused:
        raise OverTheLimit(str(refused)) from None
