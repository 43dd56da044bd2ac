"""Footer: the keys that are on now, close together, so that more of them fit 80 columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import ActiveBinding
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from workbench.tui.keys import HELP_KEY

PALETTE_FROM = 110
"""Fewest columns with which the palette's key is shown; a narrower line needs them for the screen's own keys."""
GAP = 2
"""Blanks between two keys."""


@dataclass(frozen=True, slots=True)
class FooterKey:
    """Key as the line shows it, its name, and its tooltip."""

    key: str
    shown: str
    words: str
    enabled: bool
    tooltip: str

    @property
    def width(self) -> int:
        return cell_len(self.shown) + (1 + cell_len(self.words) + GAP if self.words else 1)


MORE = FooterKey("f1", "⋯", "", True, "Not all keys fit here; the help has them.")


class KeysLine(Widget):
    """Footer in one widget. Textual's own has a widget for each key and creates all of them again when the focus moves:
    two layouts of the screen, 50 ms without a response to keys."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"keys-line--key", "keys-line--words", "keys-line--rule"}

    def __init__(self) -> None:
        super().__init__()
        self.keys: list[FooterKey] = []
        self._palette: FooterKey | None = None

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self.bindings_changed)

    def on_unmount(self) -> None:
        self.screen.bindings_updated_signal.unsubscribe(self)

    def bindings_changed(self, screen: Screen[Any]) -> None:
        if screen is not self.screen or not screen.app.app_focus:
            return
        active = screen.active_bindings
        by_action: dict[str, ActiveBinding] = {}
        for each in active.values():
            if each.binding.show:
                by_action.setdefault(each.binding.action, each)
        together: dict[object, list[ActiveBinding]] = {}  # keys of one group are next to each other
        for each in by_action.values():
            together.setdefault(each.binding.group or each.binding.action, []).append(each)
        keys = []
        for several in together.values():
            *others, last = map(self._footer_key, sorted(several, key=lambda each: each.binding.key))
            keys += [*(replace(one, words="") for one in others), last]  # one name for the group
        palette = active.get(self.app.COMMAND_PALETTE_BINDING) if self.app.ENABLE_COMMAND_PALETTE else None
        shown = keys, self._footer_key(palette) if palette else None
        if shown != (self.keys, self._palette):
            self.keys, self._palette = shown
            self.refresh()

    def _footer_key(self, active: ActiveBinding) -> FooterKey:
        binding = active.binding
        shown = self.app.get_key_display(binding)
        tooltip = active.tooltip or binding.description
        words = binding.group.description if binding.group else binding.description
        return FooterKey(binding.key, shown, words, active.enabled, tooltip)

    def _placed_keys(self) -> list[tuple[int, FooterKey]]:
        """Column of each key. If not all fit, the last ones before Help are replaced by `⋯`."""
        room, found = self.size.width, []
        if self._palette and room >= PALETTE_FROM:
            room -= self._palette.width
            found.append((room + 1, self._palette))
        at, shown = 0, self.keys
        if sum(key.width for key in shown) - GAP > room:
            help = [key for key in shown if key.words == HELP_KEY.description]
            room -= MORE.width + GAP + sum(key.width for key in help)
            others = [key for key in shown if key not in help]
            ends = enumerate(accumulate(key.width for key in others), 1)
            fitting = [many for many, end in ends if end - GAP <= room and others[many - 1].words]
            shown = [*others[: max(fitting, default=0)], MORE, *help]
        for key in shown:
            found.append((at, key))
            at += key.width + (GAP - 1) * (key is MORE)
        return sorted(found, key=lambda each: each[0])

    def render_line(self, y: int) -> Strip:
        base, width = self.visual_style.rich_style, self.size.width
        key_style, words_style, rule = (
            base + self.get_component_rich_style(f"keys-line--{name}", partial=True)
            for name in ("key", "words", "rule")
        )
        line = Strip([])
        for at, key in self._placed_keys():
            if key is self._palette:
                line = Strip([*line.adjust_cell_length(at - 1, base), Segment("▏", rule)])
            over = Style(dim=not key.enabled)
            words = Segment(f" {key.words} ", words_style + over)
            line = Strip([*line.adjust_cell_length(at, base), Segment(key.shown, key_style + over), words])
        return line.adjust_cell_length(width, base)

    def _key_at(self, x: int) -> FooterKey | None:
        return next((key for at, key in self._placed_keys() if at <= x < at + key.width), None)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        key = self._key_at(event.x)
        tooltip = key.tooltip if key else None
        if tooltip != self.tooltip:
            self.tooltip = tooltip

    def on_mouse_down(self, event: events.MouseDown) -> None:
        key = self._key_at(event.x)
        if key is not None and key.enabled:
            self.app.simulate_key(key.key)
        elif key is not None:
            self.app.bell()
