"""Places of the bench (list, middle, settings): which is visible, which has the focus, and how to go to another."""

from __future__ import annotations

from typing import Any

from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Tabs

from workbench.tui.bench.store import BenchView
from workbench.tui.middle.pager import Pager
from workbench.tui.widgets.policy_form import Chosen, PolicyForm
from workbench.tui.widgets.rounds_list import RoundsList

PLACES = ("rounds", "middle", "policy")

NARROW, HUGE = 110, 230
BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-narrow"), (NARROW, "-wide"), (HUGE, "-huge")]
"""Columns from which the places are side by side, and from which the settings have a column of their own."""

LINES: list[tuple[int, str]] | None = [(0, "-lowest"), (20, "-low"), (30, "-tall"), (66, "-highest")]
"""Lines from which there is room for both sentences, for blank lines around them, and for the preset's full
description."""


def place_of(view: BenchView) -> str:
    return view.pane if view.pane in PLACES else "middle"


def tab_of(screen: Screen[Any], view: BenchView) -> str:
    """Marked tab: a narrow screen has one for each pane, a wide one for the content of the middle."""
    return view.pane if screen.size.width < NARROW else view.tab


def in_list(screen: Screen[Any]) -> bool:
    return isinstance(screen.focused, RoundsList)


def show_place(screen: Screen[Any], view: BenchView) -> None:
    """Set the classes that select the visible place on a narrow screen. The settings cover the other places while they
    are in use."""
    at = place_of(view)
    shown = {f"-show-{each}": each == at for each in PLACES} if screen.size.width < NARROW else {}
    screen.update_classes({"-sheet": at == "policy", **shown})


def mark_tab(screen: Screen[Any], view: BenchView) -> None:
    """Mark the tab of the visible pane. The tabs post no message about it: it could arrive at another width and be
    mistaken for the user's choice."""
    tabs, active = screen.query_one(Tabs), f"tab-{tab_of(screen, view)}"
    if tabs.active != active:
        with tabs.prevent(Tabs.TabActivated):
            tabs.active = active


def focus_place(screen: Screen[Any], view: BenchView) -> None:
    match place_of(view):
        case "rounds":
            screen.query_one(RoundsList).focus()
        case "middle":
            screen.query_one(Pager).focus()
        case "policy":
            # Not into a field: a digit that selects a pane would be typed there.
            form = screen.query_one(PolicyForm)
            if not form.has_focus_within:
                form.query_one(Chosen).focus()


def led_to(screen: Screen[Any], focused: Widget, view: BenchView) -> str:
    """Pane that a click or tab led to, "" if the view's place is unchanged."""
    if screen.query_one(PolicyForm) in focused.ancestors:
        return "" if place_of(view) == "policy" else "policy"
    if place_of(view) != "policy":
        return ""
    return "rounds" if isinstance(focused, RoundsList) else view.tab if isinstance(focused, Pager) else ""


def widen(screen: Screen[Any]) -> None:
    """Give the middle the complete screen, or its own place again."""
    pager = screen.query_one(Pager)
    if screen.maximized is not None:
        screen.minimize()
    else:
        # Before the others are hidden: a hidden widget passes its focus to the next, a settings field.
        pager.focus()
        screen.maximize(pager, container=False)
    screen.call_after_refresh(pager.on_resize)  # Textual sends no Resize for this.
