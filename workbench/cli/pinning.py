"""`--auto-pin`: what the user's messages themselves ask to be kept is pinned, on every command that takes pins."""

from __future__ import annotations

import click

from workbench.analysis.suggested_pins import accepted, suggest
from workbench.bench import Bench, toggle_pin

auto_pin_option = click.option(
    "--auto-pin", is_flag=True, help="Pin the user's standing instructions; `cwb pins FILE --suggest` lists them."
)


def auto_pinned(bench: Bench) -> Bench:
    """The bench with every suggested pin that is accepted unasked; pins that are there stay."""
    for id in accepted(suggest(bench.context)):
        if id not in bench.pins:
            bench = toggle_pin(bench, id)
    return bench
