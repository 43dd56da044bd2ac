"""What a run on a screen may cost: the limit of the settings, until a person says that it may cost more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from textual.app import App

from workbench.base import paths
from workbench.summarizers.purse import Purse, usual_purse
from workbench.tui.screens.confirm import ConfirmScreen


def spend_question(what: str) -> ConfirmScreen:
    about = f"The limit is max_cost in {paths.settings()}."
    return ConfirmScreen(f"{what}.", title="Send it anyway?", about=about, yes="Send it", no="Leave it")


def purse_of(app: App[Any]) -> Purse:
    """One with the limit of the settings, which asks in a dialog: from a worker, for that waits. Raises BadInput for
    broken settings."""

    async def ask(what: str) -> bool:
        yes = await app.push_screen(spend_question(what), wait_for_dismiss=True)
        return bool(yes)

    return replace(usual_purse(), ask=ask)
