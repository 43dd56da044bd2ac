"""Tabs of which not all fit: `⋯` stands where more of them are, and leads there."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Container
from textual.widget import Widget
from textual.widgets import Static, Tabs

MORE = "⋯"


class More(Static):
    """Where tabs are left out at one side; a click goes to the next tab on that side."""

    ALLOW_SELECT = False

    def __init__(self, way: int, side: str) -> None:
        super().__init__(classes=side)
        self.way = way

    def on_click(self) -> None:
        tabs = self.parent
        assert isinstance(tabs, CutTabs)
        if self.way < 0:
            tabs.action_previous_tab()
        else:
            tabs.action_next_tab()


class CutTabs(Tabs):
    DEFAULT_CSS = """
    CutTabs More { width: 1; height: 1; display: none; color: $accent; text-style: bold; }
    CutTabs More.left { dock: left; }
    CutTabs More.right { dock: right; }
    CutTabs.-cut More { display: block; }
    """

    def compose(self) -> ComposeResult:
        yield More(-1, "left")
        yield More(1, "right")
        yield from super().compose()

    def on_mount(self) -> None:
        scroll = self.query_one("#tabs-scroll", Container)
        self.watch(scroll, "scroll_x", self._mark)
        self.watch(scroll, "virtual_size", self._mark)

    def on_resize(self, event: events.Resize) -> None:
        self._mark()

    def _mark(self) -> None:
        """Both marks have their column while the tabs are cut, so that these do not jump when they are scrolled."""
        scroll, all_tabs = self.query_one("#tabs-scroll", Container), self.query_one("#tabs-list", Widget)
        self.set_class(all_tabs.virtual_size.width > self.size.width, "-cut")
        left, right = self.query(More).results(More)
        left.update(MORE if scroll.scroll_x > 0 else "")
        right.update(MORE if scroll.scroll_x < scroll.max_scroll_x else "")
