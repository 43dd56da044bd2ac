"""Screens that are painted a few lines at a time, so that a key is answered between them.

Textual paints all that has changed at a stretch: several frames for a whole bench. Every screen of the workbench is one
of these.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from rich.console import Console, ConsoleOptions, RenderResult
from textual import events, screen
from textual._compositor import Compositor, CompositorUpdate
from textual.geometry import Region, Size
from textual.message import Message
from textual.screen import ScreenResultType
from textual.strip import Strip
from textual.widget import Widget

from workbench.tui.fit import fit

BAND = 5
"""Lines that are painted together."""

TOGETHER = 8
"""Widgets that are styled together."""

AT_A_STRETCH_S = 0.005
"""After so long the loop goes on with what else there is to do, and then with the picture."""


class Bands(Compositor):
    """Asks a widget for the lines that are painted alone; Textual's asks for all of them."""

    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
        crop = crop or self.size.region
        lines = Region(0, crop.y, self.size.width, crop.height)
        for widget, (region, clip) in self.visible_widgets.items():
            if seen := crop.overlaps(clip) and region.intersection(clip).intersection(lines):
                yield region, seen, widget.render_lines(seen.translate(-region.offset))


class Together(CompositorUpdate):
    """What was painted band by band, written at once: no terminal shows half of it, nor has more to take in."""

    def __init__(self, updates: Sequence[CompositorUpdate]) -> None:
        self.updates = updates

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for update in self.updates:
            yield from update.__rich_console__(console, options)  # type: ignore[attr-defined]

    def render_segments(self, console: Console) -> str:
        return "".join(update.render_segments(console) for update in self.updates)


@dataclass
class Painting:
    """A picture that is being painted, for a terminal of this size: where it waits to be, and what was."""

    size: Size
    waiting: set[Region]
    done: list[CompositorUpdate] = field(default_factory=list)


class Screen(screen.Screen[ScreenResultType]):
    def __init__(self, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name, id, classes)
        self._compositor = Bands()
        self._is_due = False
        """Whether the loop is asked to paint."""
        self._painting: Painting | None = None
        self._was_in_front = False
        """Whether what it is made of was styled when it came."""

    async def _dispatch_message(self, message: Message) -> None:
        if isinstance(message, events.Resize) and message.size != self.app.size:
            return  # the terminal has another size already, and the event that says so is on its way
        await super()._dispatch_message(message)
        await asyncio.sleep(0)  # a screen has many messages when it comes, and Textual takes all of them at a stretch

    async def mount_composed_widgets(self, widgets: list[Widget]) -> None:
        with self.app.batch_update():
            for widget in widgets:
                await super().mount_composed_widgets([widget])  # each is styled with all that is in it

    def _on_screen_resume(self, event: events.ScreenResume) -> None:
        # Textual's own comes after this one. Widgets that have just been made are styled already.
        event.refresh_styles = event.refresh_styles and self._was_in_front
        self._was_in_front = True

    async def _on_resize(self, event: events.Resize) -> None:
        """Before Textual's own, which lays out and then styles: style what other breakpoints change, a few widgets at a
        time. The event is that of the screens behind, too: whoever ends it here ends it there."""
        before = self.classes
        fit(self, event.size)
        if self.classes != before:
            with self.app.batch_update():
                widgets = self.walk_children(with_self=True)
                for start in range(0, len(widgets), TOGETHER):
                    self.app.stylesheet.update_nodes(widgets[start : start + TOGETHER])
                    await asyncio.sleep(0)

    # --- painting ---------------------------------------------------------------------------------------------------

    def _compositor_refresh(self) -> None:
        """In the place of Textual's painting, which calls this when the compositor knows what is dirty."""
        if self.app.screen_stack[-1:] != [self]:
            super()._compositor_refresh()  # what is behind another screen is marked there
            return
        self._dirty_widgets.clear()
        self._ask()

    def _ask(self) -> None:
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._paint)

    def _paint(self) -> None:
        self._is_due = False
        if not self.is_running:
            return
        if self.app._batch_count:
            self.call_later(self._ask)
            return
        try:
            if self.app.screen_stack[-1:] == [self]:
                self._paint_on()
            else:
                self._painting = None
                super()._compositor_refresh()
        except Exception as error:
            self.app._handle_exception(error)
        if self._callbacks and not self._is_due:
            self.call_next(self._invoke_and_clear_callbacks)

    def _paint_on(self) -> None:
        """Go on with the picture, from the top, until it is time for others; show it when all of it is painted. What
        becomes dirty meanwhile is for the next one."""
        began, compositor = perf_counter(), self._compositor
        now = self._painting
        if now is None or now.size != compositor.size:
            whole = compositor.size.region
            dirty = {whole} if now else set(map(whole.intersection, compositor._dirty_regions))  # it was larger before
            compositor._dirty_regions.clear()
            now = self._painting = Painting(compositor.size, {one for one in dirty if one})
        while now.waiting:
            band, now.waiting = _cut(now.waiting)
            newer, compositor._dirty_regions = compositor._dirty_regions, band
            update = compositor.render_update(screen_stack=self.app._background_screens)
            compositor._dirty_regions = newer
            if isinstance(update, CompositorUpdate):
                now.done.append(update)
            if perf_counter() - began > AT_A_STRETCH_S:
                self._ask()
                return
        self._painting = None
        self.app._display(self, Together(now.done) if now.done else None)
        self.app._update_mouse_over(self)
        if compositor._dirty_regions:
            self._ask()

    async def _invoke_and_clear_callbacks(self) -> None:
        """What waits for a screen to be painted is called when all of it is."""
        if not self._is_due:
            await super()._invoke_and_clear_callbacks()


class ModalScreen(screen.ModalScreen[ScreenResultType], Screen[ScreenResultType]):
    pass


def _cut(regions: set[Region]) -> tuple[set[Region], set[Region]]:
    """The parts of them in the topmost band, and the rest."""
    stop = min(region.y for region in regions) + BAND
    band, rest = set(), set()
    for region in regions:
        if region.bottom <= stop:
            band.add(region)
        elif region.y >= stop:
            rest.add(region)
        else:
            above, below = region.split_horizontal(stop - region.y)
            band.add(above)
            rest.add(below)
    return band, rest
