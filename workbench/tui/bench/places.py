"""Where one is on the bench: in the list, in the middle or in the policy. What of them is seen, what has the focus, and
the way from one to another."""

from __future__ import annotations

from typing import Any

from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Tabs

from workbench.tui.bench.store import View
from workbench.tui.middle.pager import Pager
from workbench.tui.widgets.policy_form import Chosen, PolicyForm
from workbench.tui.widgets.rounds_list import RoundsList

PLACES = ("rounds", "middle", "policy")

NARROW, HUGE = 110, 230
BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-narrow"), (NARROW, "-wide"), (HUGE, "-huge")]
"""Columns from which the places stand side by side, and from which the policy has a column of its own."""

LINES: list[tuple[int, str]] | None = [(0, "-lowest"), (20, "-low"), (30, "-tall"), (66, "-highest")]
"""Lines from which there is room for both sentences, for blank lines around them, and for all that a preset says of
itself."""


def place_of(view: View) -> str:
    return view.pane if view.pane in PLACES else "middle"


def tab_of(screen: Screen[Any], view: View) -> str:
    """The tab that is marked: a narrow screen has one for each pane, a wide one for what the middle shows."""
    return view.pane if screen.size.width < NARROW else view.tab


def in_list(screen: Screen[Any]) -> bool:
    return isinstance(screen.focused, RoundsList)


def show_place(screen: Screen[Any], view: View) -> None:
    """Where only one place is seen at a time, say which. The policy is a sheet over the other places while it is at
    hand."""
    at = place_of(view)
    shown = {f"-show-{each}": each == at for each in PLACES} if screen.size.width < NARROW else {}
    screen.update_classes({"-sheet": at == "policy", **shown})


def mark_tab(screen: Screen[Any], view: View) -> None:
    """Mark the tab of what is seen. The tabs post no message of it: it could arrive when the screen has another width,
    for which another tab is to be marked, and would then be taken for the user's choice."""
    tabs, active = screen.query_one(Tabs), f"tab-{tab_of(screen, view)}"
    if tabs.active != active:
        with tabs.prevent(Tabs.TabActivated):
            tabs.active = active


def focus_place(screen: Screen[Any], view: View) -> None:
    match place_of(view):
        case "rounds":
            screen.query_one(RoundsList).focus()
        case "middle":
            screen.query_one(Pager).focus()
        case "policy":
            # Not into a field: a digit would be typed there that was meant to go on to another pane.
            form = screen.query_one(PolicyForm)
            if not form.has_focus_within:
                form.query_one(Chosen).focus()


def led_to(screen: Screen[Any], focused: Widget, view: View) -> str:
    """The pane that a click or tab led to, where it is another place than the view's; else ""."""
    if screen.query_one(PolicyForm) in focused.ancestors:
        return "" if place_of(view) == "policy" else "policy"
    if place_of(view) != "policy":
        return ""
    return "rounds" if isinstance(focused, RoundsList) else view.tab if isinstance(focused, Pager) else ""


def widen(screen: Screen[Any]) -> None:
    """The middle has the whole screen, or its own place again."""
    pager = screen.query_one(Pager)
    if screen.maximized is not None:
        screen.minimize()
    else:
        # Before the others are hidden: what has the focus then gives it to the next, a field of the policy.
        pager.focus()
        screen.maximize(pager, container=False)
    screen.call_after_refresh(pager.on_resize)  # Textual sends no Resize for this.
