"""`--max-cost`: the spend limit of a command, and the confirmation of higher costs on a terminal."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import click

from workbench.base.printable import printable
from workbench.cli.output import interrupted, over_line
from workbench.cli.stopping import cancel_on_signals
from workbench.compaction.strategy import Compacting
from workbench.runs.cost_estimate import request_costs_of
from workbench.summarizers.by_name import SummarizerName
from workbench.summarizers.driver import drive
from workbench.summarizers.estimate import estimate
from workbench.summarizers.spend_limit import SpendLimit, SpendLimitExceeded, default_spend_limit
from workbench.tokens.cost import added, money
from workbench.tokens.sizes import Meter

OVER_THE_LIMIT = 5

F = TypeVar("F", bound=Callable[..., Any])


class OverTheLimit(click.ClickException):
    """Raised before anything is sent that could exceed the spend limit."""

    exit_code = OVER_THE_LIMIT


class Dollars(click.ParamType["float"]):
    """Parameter type: a number of dollars, or `none` for no limit (infinity)."""

    name = "dollars"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            dollars = float("inf") if value in ("none", float("inf")) else float(value)
        except ValueError:
            dollars = -1.0
        if not dollars >= 0:
            self.fail(f"{value!r} is not an amount in dollars; write a number such as 0.50, or none.", param, ctx)
        return dollars


def max_cost(command: F) -> F:
    """Add the option --max-cost to a command, as the parameter `spend_limit`; default: the spend limit of the settings.
    On a terminal the user is asked about higher costs."""

    def opened(ctx: click.Context, param: click.Parameter, most: float | None) -> SpendLimit:
        spend_limit = default_spend_limit() if most is None else SpendLimit(None if most == float("inf") else most)
        spend_limit.ask = confirm_on_terminal if can_confirm() else None
        return spend_limit

    return click.option(
        "--max-cost",
        "spend_limit",
        type=Dollars(),
        callback=opened,
        metavar="DOLLARS",
        help="Spend limit: ask before anything that could cost more. Default: max_cost of the settings. "
        "none: no limit.",
    )(command)


def can_confirm() -> bool:
    """True if stdin and stderr are a terminal, so that the user can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


async def confirm_on_terminal(what: str) -> bool:
    """Ask the user. Return True only for yes, False also for a closed terminal; Ctrl-C cancels."""
    click.echo(over_line(f"{printable(what)}. Send anyway? [y/N] "), nl=False, err=True)
    return (await _line_typed(sys.stdin.fileno())).strip().lower() in ("y", "yes")


async def _line_typed(terminal: int) -> str:
    """Read a line in a daemon thread, which does not keep the program from ending."""
    loop = asyncio.get_running_loop()
    typed: asyncio.Future[bytes] = loop.create_future()

    def take(line: bytes) -> None:
        if not typed.done():
            typed.set_result(line)

    def read() -> None:
        line = b""
        with suppress(OSError):  # the terminal is gone
            line = os.read(terminal, 1_000)
        with suppress(RuntimeError):  # the event loop is closed
            loop.call_soon_threadsafe(take, line)

    threading.Thread(target=read, daemon=True).start()
    return (await typed).decode(errors="replace")


def price_words(
    spend_limit: SpendLimit, name: SummarizerName, compacting: Callable[[], Compacting], meter: Meter
) -> str:
    """Return the cost estimate of a run in words; "" without a model. Raises OverTheLimit if the run may exceed the
    spend limit."""
    if not name.model:
        return ""
    estimates = request_costs_of(drive(compacting(), estimate), meter, name)
    most = added(one.at_most.dollars for one in estimates)
    check_limit(spend_limit, most, name.model)
    about = added(one.cost.dollars for one in estimates)
    return "at an unknown price" if None in (about, most) else f"for about {money(about)}, at most {money(most)}"


def check_limit(spend_limit: SpendLimit, most: float | None, model: str) -> None:
    """Check a cost against the spend limit; on a terminal the user may allow more. Raises OverTheLimit."""

    async def allowed() -> None:
        cancel_on_signals()
        await spend_limit.allow(most, model)

    try:
        asyncio.run(allowed())
    except SpendLimitExceeded as refused:
        raise OverTheLimit(str(refused)) from None
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise interrupted("Cancelled: nothing was sent.") from None
