"""Tabs in a row that may be too narrow: `⋯` marks hidden tabs, and a click on it goes there."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Container
from textual.widgets import Static, Tab, Tabs

MORE = "⋯"


class More(Static):
    """Mark of hidden tabs at one end; a click goes to the next tab on that side."""

    ALLOW_SELECT = False

    def __init__(self, direction: int, edge: str) -> None:
        super().__init__(classes=edge)
        self.direction = direction

    def on_click(self) -> None:
        tabs = self.parent
        assert isinstance(tabs, CutTabs)
        if self.direction < 0:
            tabs.action_previous_tab()
        else:
            tabs.action_next_tab()


class CutTabs(Tabs, can_focus=False):
    """Tabs that are cut at the right end only; the left end begins with a complete tab. The keys of the screen select
    them."""

    def compose(self) -> ComposeResult:
        yield More(-1, "left")
        yield More(1, "right")
        yield from super().compose()

    def on_mount(self) -> None:
        scroll = self.query_one("#tabs-scroll", Container)
        self.watch(scroll, "scroll_x", self._mark)
        self.watch(scroll, "virtual_size", self._scroll_active_tab)

    @property
    def _seen(self) -> list[Tab]:
        return [tab for tab in self.query(Tab) if tab.display]

    def _scroll_active_tab(self) -> None:
        """Scroll until the active tab is completely visible, with as many before it as fit. Overrides Textual's method
        of the same private name, which cuts tabs at either end."""
        tabs, room = self._seen, self.query_one("#tabs-scroll", Container)
        self.set_class(sum(tab.outer_size.width for tab in tabs) > self.size.width, "-cut")
        active = self.active_tab
        if active is not None:
            starts = (tab.virtual_region.x for tab in tabs)
            end = active.virtual_region.right
            first = next((x for x in starts if end - x <= room.size.width), active.virtual_region.x)
            room.scroll_to(x=first, animate=False, force=True, immediate=True)
        self._mark()

    def _mark(self) -> None:
        """Draw the marks. Both keep their column while the tabs are cut, so that scrolling does not move the tabs."""
        room = self.query_one("#tabs-scroll", Container)
        end = max((tab.virtual_region.right for tab in self._seen), default=0)
        left, right = self.query(More).results(More)
        left.update(MORE if room.scroll_x > 0 else "")
        right.update(MORE if end > room.scroll_x + room.size.width else "")
