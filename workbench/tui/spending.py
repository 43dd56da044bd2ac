"""The spend limit of a run on a screen: that of the settings, until the user allows more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from textual.app import App

from workbench.base import paths
from workbench.summarizers.spend_limit import SpendLimit, default_spend_limit
from workbench.tui.screens.confirm import ConfirmScreen


def spend_question(what: str) -> ConfirmScreen:
    about = f"The limit is max_cost in {paths.settings()}."
    return ConfirmScreen(f"{what}.", title="Send it anyway?", about=about, yes="Send it", no="Leave it")


def spend_limit_of(app: App[Any]) -> SpendLimit:
    """Spend limit of the settings that asks in a dialog before it is exceeded: call it from a worker. Raises BadInput
    for broken settings."""

    async def ask(what: str) -> bool:
        yes = await app.push_screen(spend_question(what), wait_for_dismiss=True)
        return bool(yes)

    return replace(default_spend_limit(), ask=ask)
