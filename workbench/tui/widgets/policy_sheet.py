"""The settings of a policy in one widget: a cursor moves through them, and an input covers the value being typed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from workbench.compaction.settings import Setting
from workbench.tui import sheet
from workbench.tui.fields import InvalidValue, input_text, value_of
from workbench.tui.keys import shared
from workbench.tui.plain import line_of
from workbench.tui.sheet import SheetAction, SheetSetting
from workbench.tui.widgets.inputs import OneLine

BIG = 10
"""Number of small steps in a big step."""

WHEEL = 3
"""Lines scrolled at each turn of the wheel."""


STEPS = {"plus": 1, "equals_sign": 1, "minus": -1}
"""Keys that step a number instead of being typed into it, with the direction."""


class ValueInput(OneLine):
    """Input for the value under the cursor. Backspace in an empty input asks for the preset's value; + and − step a
    number."""

    @dataclass
    class Emptied(Message):
        typed: ValueInput

    @dataclass
    class Stepped(Message):
        by: int

    steps = False
    """True if the field takes a number."""

    def check_consume_key(self, key: str, character: str | None) -> bool:
        return super().check_consume_key(key, character) and not (self.steps and key in STEPS)

    def on_key(self, event: events.Key) -> None:
        by = STEPS.get(event.key)
        if self.steps and by is not None:
            event.stop()
            event.prevent_default()
            self.post_message(self.Stepped(by))
        # Over a slow line, escape and the next letter arrive as one key, alt with the letter: do not type it.
        elif event.key.startswith("alt+"):
            event.prevent_default()

    def action_delete_left(self) -> None:
        if self.value:
            super().action_delete_left()
        else:
            self.post_message(self.Emptied(self))


def _key(key: str, action: str, name: str, id: str, tooltip: str, shown: str = "") -> Binding:
    return Binding(key, action, name, show=bool(shown), key_display=shown or None, id=f"form.{id}", tooltip=tooltip)


class PolicySheet(Widget, can_focus=True):
    """Sheet of settings, with the actions on all of them below."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"sheet--{name}" for name in sheet.STYLES}
    BINDINGS: ClassVar[list[BindingType]] = [
        shared("move.down", "move(1)", "Next field", "To the next field.", show=False),
        shared("move.up", "move(-1)", "Field before", "To the field before.", show=False),
        Binding("tab", "move(1)", "Next field", show=False, id="form.next", tooltip="To the next field."),
        Binding(
            "shift+tab", "move(-1)", "Field before", show=False, id="form.previous", tooltip="To the field before."
        ),
        shared("move.page-down", "group(1)", "Next group", "To the first field of the next group.", show=False),
        shared("move.page-up", "group(-1)", "Group before", "To the first field of the group before.", show=False),
        shared("open", "use", "Change", "Switch it, choose the next one, or open the long text.", show=False),
        shared("toggle", "use", "Change", "Switch it, choose the next one, or open the long text.", show=False),
        shared("more", "step(1)", "More", "A step more, about a hundredth; the next choice.", key_display="+"),
        shared("move.right", "step(1)", "More", "A step more, about a hundredth; the next choice.", show=False),
        shared("less", "step(-1)", "Less", "A step less; the choice before.", key_display="−"),
        shared("move.left", "step(-1)", "Less", "A step less; the choice before.", show=False),
        _key("shift+up", f"step({BIG})", "Much more", "much-more", "A big step more, about a tenth.", "⇧↑"),
        _key("shift+down", f"step(-{BIG})", "Much less", "much-less", "A big step less.", "⇧↓"),
        _key(
            "ctrl+z,backspace,delete",
            "reset",
            "As preset",
            "reset",
            "Reset this field to the preset's value; in an empty input also backspace.",
            "^z",
        ),
    ]

    @dataclass
    class ValueEntered(Message):
        """A value was typed, chosen or switched; it is not validated yet."""

        field: Setting
        typed: str | bool

    @dataclass
    class Reset(Message):
        field: Setting

    @dataclass
    class TextOpened(Message):
        """Edit a text of several lines."""

        field: Setting

    @dataclass
    class ActionChosen(Message):
        """The user chose a row that is a bench action, by its `id`."""

        id: str

    @dataclass
    class Highlighted(Message):
        """The cursor is on another line, or the sheet got or lost the focus."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.entries: tuple[SheetSetting, ...] = ()
        self.rows: tuple[SheetAction, ...] = ()
        self.at = 0
        self.top = 0
        self._columns: tuple[tuple[sheet.Item, ...], ...] = ()

    def compose(self) -> ComposeResult:
        yield ValueInput(compact=True)

    @property
    def typed(self) -> ValueInput:
        return self.query_one(ValueInput)

    @property
    def entry(self) -> SheetSetting | None:
        """Setting under the cursor, None on an action."""
        return self.entries[self.at] if self.at < len(self.entries) else None

    @property
    def row(self) -> SheetAction | None:
        """Action under the cursor, None on a setting."""
        at = self.at - len(self.entries)
        return self.rows[at] if 0 <= at < len(self.rows) else None

    @property
    def _lines(self) -> tuple[SheetSetting | SheetAction, ...]:
        return (*self.entries, *self.rows)

    @property
    def is_focused(self) -> bool:
        """True if the sheet or its input has the focus."""
        return self.has_focus_within

    def show(self, entries: Sequence[SheetSetting], rows: Sequence[SheetAction] = (), *, is_new_policy: bool) -> None:
        """Show settings and the actions below them. `is_new_policy`: they are of another kind
        of policy, so that the cursor goes to the first."""
        before = None if is_new_policy else self.entry
        self.entries, self.rows = tuple(entries), tuple(rows)
        if is_new_policy:
            self.at = self.top = 0
        entry = self.entry
        # Replace the text in the input only if the value has changed and the text does not mean the new value.
        other = entry is not None and (before is None or before.value != entry.value)
        if entry is not None and other and entry.typed is None and not self.same_as_typed(entry):
            self._put(input_text(entry.value))
        self._lay_out()
        self._place()

    def same_as_typed(self, entry: SheetSetting) -> bool:
        """True if the typed text means the field's value: `75.` and `50 000` stay while typed."""
        with suppress(InvalidValue):
            return bool(value_of(entry.field, self.typed.value) == entry.value)
        return False

    def go(self, key: str) -> None:
        """Put the cursor on the setting with this key."""
        self._to(next(number for number, one in enumerate(self.entries) if one.field.key == key))

    def to_end(self) -> None:
        """Put the cursor on the last line, and the focus on it."""
        self.focus()
        self._to(len(self._lines) - 1)

    # --- the cursor -------------------------------------------------------------------------------------------------

    def on_focus(self) -> None:
        self._place()
        self.post_message(self.Highlighted())

    def on_descendant_blur(self) -> None:
        self.call_after_refresh(self._left)

    def on_blur(self) -> None:
        self.call_after_refresh(self._left)

    def _left(self) -> None:
        if self.is_mounted and not self.is_focused:
            self._place()
            self.post_message(self.Highlighted())

    def _to(self, at: int) -> None:
        self.at = at
        entry = self.entry
        if entry is not None and entry.is_typed:
            self._put(input_text(entry.value) if entry.typed is None else entry.typed)
            self.typed.action_select_all()
        self._place()
        self.post_message(self.Highlighted())

    def action_move(self, by: int) -> None:
        """Move the cursor by lines; above the first, focus the widget before the sheet."""
        if 0 <= self.at + by < len(self._lines):
            self._to(self.at + by)
        elif by < 0:
            self.screen.focus_previous()

    def action_group(self, by: int) -> None:
        groups = [one.group for one in self._lines]
        starts = [n for n, group in enumerate(groups) if not n or group != groups[n - 1]]
        if groups:
            here = groups.index(groups[self.at])
            self._to(starts[min(max(starts.index(here) + by, 0), len(starts) - 1)])

    def action_use(self) -> None:
        entry = self.entry
        if self.row is not None:
            self.post_message(self.ActionChosen(self.row.id))
        elif entry is not None and entry.field.kind == "lines":
            self.post_message(self.TextOpened(entry.field))
        elif entry is not None and not entry.is_typed:
            self.action_step(1)

    def action_step(self, by: int) -> None:
        entry = self.entry
        if entry is None or (value := sheet.step_value(entry, by)) == entry.value:
            return
        if entry.is_typed:
            self._put(input_text(value))
        self.post_message(self.ValueEntered(entry.field, value if isinstance(value, bool) else str(value)))

    def action_reset(self) -> None:
        if self.entry is not None:
            self.post_message(self.Reset(self.entry.field))

    # --- typing -----------------------------------------------------------------------------------------------------

    def _put(self, text: str) -> None:
        with self.typed.prevent(Input.Changed):
            self.typed.value = text

    def _place(self) -> None:
        """Scroll to the cursor, and put the input over the value if it is typed; else hide the input."""
        entry, typed = self.entry, self.typed
        line, column = self._where(self.at)
        self.top = max(0, min(self.top, line, self._height - self.size.height), line - self.size.height + 1)
        if line <= 1:
            self.top = 0
        typing = entry is not None and entry.is_typed and self.is_focused and self.size.height > 0
        if typing and entry is not None:
            width = sheet.column_width(len(self._columns), self.size.width)
            start, room = sheet.value_place(entry, width)
            typed.styles.offset = (column * (width + sheet.GAP) + start, line - self.top)
            typed.styles.width = room
            typed.steps = entry.field.kind != "text"
            typed.set_class(entry.typed is not None, "-refused")
            if not typed.has_focus:
                if entry.typed is None and not self.same_as_typed(entry):
                    self._put(input_text(entry.value))
                typed.display = True
                typed.focus(scroll_visible=False)
                typed.action_select_all()
        elif typed.display:
            if typed.has_focus:
                self.focus(scroll_visible=False)
            typed.display = False
        self.refresh()

    def _where(self, number: int) -> tuple[int, int]:
        """Line and column of a setting or action; (0, 0) if it is not laid out."""
        for column, items in enumerate(self._columns):
            if number in items:
                return items.index(number), column
        return 0, 0

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.entry is not None and self.entry.is_typed and self.typed.display:
            self.post_message(self.ValueEntered(self.entry.field, event.value))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_move(1)

    @on(ValueInput.Stepped)
    def _stepped(self, event: ValueInput.Stepped) -> None:
        event.stop()
        self.action_step(event.by)

    @on(ValueInput.Emptied)
    def _emptied(self, event: ValueInput.Emptied) -> None:
        event.stop()
        self.action_reset()

    # --- the mouse --------------------------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        if event.widget is not self:
            return
        width = sheet.column_width(len(self._columns), self.size.width)
        column, x = divmod(event.x, width + sheet.GAP)
        line = event.y + self.top
        items = self._columns[column] if column < len(self._columns) else ()
        item = items[line] if line < len(items) else None
        if isinstance(item, int):
            again = item == self.at and self.is_focused
            self.focus(scroll_visible=False)
            self._to(item)
            entry = self.entry
            start = width // 2 if entry is None else sheet.value_place(entry, width)[0]
            if x >= start and (again or entry is None or entry.field.kind != "lines"):
                self.action_use()

    def on_mouse_scroll_down(self) -> None:
        self._scroll(WHEEL)

    def on_mouse_scroll_up(self) -> None:
        self._scroll(-WHEEL)

    def _scroll(self, by: int) -> None:
        """Scroll the sheet, but not so far that the open input leaves the view."""
        top = max(0, min(self.top + by, self._height - self.size.height))
        line, _ = self._where(self.at)
        if top != self.top and (not self.typed.display or top <= line < top + self.size.height):
            self.top = top
            self._place()

    # --- drawing ----------------------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        self._lay_out()
        self._place()

    def _lay_out(self) -> None:
        width = self.size.width
        self._columns = sheet.arrange_columns(self._lines, sheet.columns_for(width), self.size.height)

    @property
    def _height(self) -> int:
        return max(map(len, self._columns), default=0)

    def render_line(self, y: int) -> Strip:
        width, base = self.size.width, self.visual_style.rich_style
        if y + self.top >= self._height:
            return Strip.blank(width, base)
        at = self.at if self.is_focused else None
        cells = sheet.line_cells(self._lines, self._columns, y + self.top, width, at)
        styled = (Segment(text, self._style(name) if name else Style()) for text, name in cells)
        return line_of(Segment.apply_style(styled, base), width, base)

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"sheet--{name}", partial=True)
