"""One field of the policy as a row: name, value, what differs from the preset, what is wrong with what was typed.

A row is one widget that draws all of it; what is typed or chosen from a list has its editor only while the row is at
hand. A form of thirty fields with an input each would take a second to build.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.text import Text
from textual import events, on
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Select

from workbench.compaction.settings import Setting
from workbench.tui.fields import shown
from workbench.tui.plain import figure, fit, one_line
from workbench.tui.widgets.one_line import OneLine

VALUE = {"whole": 12, "real": 12, "switch": 12, "choice": 16}
"""Cells at the right for the value; a text takes half of the row, a long one a line of its own."""


class Typed(OneLine):
    """An input whose backspace, where nothing is left to delete, asks for the preset's value."""

    @dataclass
    class Emptied(Message):
        typed: Typed

    def on_key(self, event: events.Key) -> None:
        # Over a slow line, escape and the letter after it arrive as one key, alt and the letter: that is no text.
        if event.key.startswith("alt+"):
            event.prevent_default()

    def action_delete_left(self) -> None:
        if self.value:
            super().action_delete_left()
        else:
            self.post_message(self.Emptied(self))


class Fields(VerticalScroll, can_focus=False):
    """The rows of a form. It holds the styles that all of them draw with, so that no row has its own to resolve."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"fields--{name}" for name in ("value", "at-hand", "refused", "group")}
    DEFAULT_CSS = """
    Fields {
        .fields--value { background: $surface; color: $foreground; text-style: not bold; }
        .fields--at-hand {
            background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold;
        }
        .fields--refused { color: $text-error; text-style: not bold; }
        .fields--group { color: $text-primary; text-style: bold; }
    }
    """


class FieldRow(Widget, can_focus=True):
    """A field that can be changed. Tells of an input by `Given`, of a reset by `Reset`, of a long text by `Opened`."""

    DEFAULT_CSS = """
    FieldRow {
        height: auto;
        color: $foreground;
        &.-differs { color: $text-warning; }
        &.-off { color: $text-disabled; }
        &:focus, &:focus-within { color: $text-primary; text-style: bold; }
        & > Typed, & > Select { dock: right; width: 12; height: 1; text-style: not bold; }
        &.-grouped > Typed, &.-grouped > Select { margin: 2 0 0 0; }
        &.-first > Typed, &.-first > Select { margin: 1 0 0 0; }
        &.text > Typed { width: 50%; }
        &.choice > Select { width: 16; }
        & > Typed:focus { background: $panel-lighten-1; }
        &.-refused > Typed { color: $text-error; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "app.focus_next", "Next field", show=False, id="form.next", tooltip="To the next field."),
        Binding(
            "up", "app.focus_previous", "Field before", show=False, id="form.previous", tooltip="To the field before."
        ),
        Binding("enter,space", "use", "Change", show=False, id="form.use", tooltip="Switch it, or open the long text."),
        Binding(
            "ctrl+z,backspace,delete",
            "reset",
            "As preset",
            show=False,
            id="form.reset",
            tooltip="Give this field the preset's value again; in an input also backspace when it is empty.",
        ),
    ]

    @dataclass
    class Given(Message):
        """Something was typed, chosen or switched; whether it may be so is not known yet."""

        row: FieldRow
        typed: str | bool

    @dataclass
    class Reset(Message):
        row: FieldRow

    @dataclass
    class Opened(Message):
        """A text of several lines is to be edited."""

        row: FieldRow

    def __init__(
        self, field: Setting, value: Any, *, differs: bool, off: str = "", group: str = "", is_first: bool = False
    ) -> None:
        """`group` is the heading above the row, "" where its group has begun already; `off` why it does nothing."""
        super().__init__(classes=f"field {field.kind}")
        self.field = field
        self.value = value
        self.group = group
        self.problem = ""
        self._typed = ""
        self._is_first = is_first
        self.off = off
        self.variable = ""
        self.set_class(differs, "-differs")
        self.set_class(bool(off), "-off")
        self.set_class(bool(group), "-grouped")
        self.set_class(is_first, "-first")

    @property
    def differs(self) -> bool:
        return self.has_class("-differs")

    @property
    def editor(self) -> Typed | Select[str] | None:
        return next((child for child in self.children if isinstance(child, Typed | Select)), None)

    @property
    def words(self) -> str:
        """What stands in the row, without its value."""
        origin = " ≠ changed" if self.differs else " · from the environment" if self.variable else ""
        words = f"{self.field.label}{origin}"
        return f"{words} · off" if self.off else words

    def mark(self, differs: bool, off: str = "", variable: str = "") -> None:
        """Say by sign and word whether the field is not what the preset says, why it does nothing, if it does, and
        whether a variable of the environment sets it."""
        if (differs, off, variable) != (self.differs, self.off, self.variable):
            self.off, self.variable = off, variable
            self.set_class(differs, "-differs")
            self.set_class(bool(off), "-off")
            self.refresh(layout=True)

    # --- the editor -------------------------------------------------------------------------------------------------

    def on_focus(self) -> None:
        self.open()

    def open(self) -> None:
        """Put the editor there, if the field has one, and the focus into it."""
        if self.field.kind in ("switch", "lines") or self.editor is not None:
            return
        editor: Widget
        if self.field.kind == "choice":
            options = [(choice, choice) for choice in self.field.choices]
            editor = Select(options, value=str(self.value), allow_blank=False, compact=True)
        else:
            typed = self._typed if self.problem else shown(self.value)
            editor = Typed(typed, compact=True)
        self.can_focus = False
        self.mount(editor)
        editor.focus()

    def close(self) -> None:
        """Take the editor away: the row shows the value, or what was refused."""
        if self.editor is not None:
            self.editor.remove()
            self.can_focus = True

    @on(Input.Changed)
    @on(Select.Changed)
    def _given(self, event: Input.Changed | Select.Changed) -> None:
        event.stop()
        self._typed = str(event.value)
        self.post_message(self.Given(self, self._typed))

    def action_use(self) -> None:
        match self.field.kind:
            case "switch":
                self.post_message(self.Given(self, not self.value))
            case "lines":
                self.post_message(self.Opened(self))
            case _:
                self.open()

    def on_click(self, event: events.Click) -> None:
        if event.widget is self:
            self.action_use()

    def set_value(self, value: Any) -> None:
        """Show another value, as after an undo; tells nobody."""
        self.value = value
        with self.prevent(Input.Changed, Select.Changed):
            match self.editor:
                case Select() as select:
                    select.value = str(value)
                case Typed() as typed if not self.same_as_typed(typed.value):
                    typed.value = shown(value)
        self.refresh()
        self.explain("")

    def same_as_typed(self, typed: str) -> bool:
        """Whether what stands in the input means the field's value, so that `50 000` is not rewritten while typed."""
        return typed.replace(" ", "").replace("_", "") == shown(self.value)

    def explain(self, reason: str) -> None:
        """Say what is wrong below the field, or nothing any more."""
        if reason != self.problem:
            self.problem = reason
            self.set_class(bool(reason), "-refused")
            self.refresh(layout=True)

    def action_reset(self) -> None:
        self.post_message(self.Reset(self))

    @on(Typed.Emptied)
    def _emptied(self, event: Typed.Emptied) -> None:
        event.stop()
        self.action_reset()

    # --- drawing ----------------------------------------------------------------------------------------------------

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width).split("\n"))

    def render(self) -> Text:
        return self._lines(self.content_size.width)

    def _lines(self, width: int) -> Text:
        """Heading, name with the value beside or below it, and what is wrong."""
        lines = []
        if self.group:
            if not self._is_first:
                lines.append(Text())
            lines.append(Text(self.group, self._style("group")))
        beside = self._beside(width)
        for number, part in enumerate(textwrap.wrap(self.words, max(8, width - beside - 1)) or [""]):
            line = Text(fit(part, max(0, width - beside)))
            lines.append(line.append_text(self._drawn(beside)) if beside and not number else line)
        if not beside:
            lines.append(self._drawn(width))
        if self.problem:
            wrapped = textwrap.wrap(f"✘ {self.problem}", max(8, width - 2))
            lines += [Text(f"  {part}", self._style("refused")) for part in wrapped]
        text = Text("\n", no_wrap=True, overflow="crop").join(lines)
        text.no_wrap, text.overflow = True, "crop"
        return text

    def _beside(self, width: int) -> int:
        """Cells for the value to the right of the name; 0 for a long text, which has a line of its own."""
        if self.field.kind == "lines":
            return 0
        return VALUE.get(self.field.kind, width // 2)

    def _drawn(self, width: int) -> Text:
        """The value as it stands when no editor is over it, `width` cells wide."""
        if self.field.kind == "switch":
            words = " ◉ on" if self.value else " ○ off"
        elif self.field.kind == "lines":
            text = shown(self.value)
            size = f" {figure(len(text))} characters · enter edits"
            first = one_line(text.lstrip().split("\n", 1)[0], 200) or "(empty)"
            words = f" {fit(first, max(0, width - len(size) - 2))}{size}"
        elif self.field.kind == "choice":
            words = f" {fit(str(self.value), width - 3)}▼"
        else:
            words = self._typed if self.problem else one_line(shown(self.value))
        style = self._style("at-hand" if self.has_focus else "value")
        return Text(fit(words, width), style + self._style("refused") if self.problem else style)

    def _style(self, name: str) -> Any:
        return self.query_ancestor(Fields).get_component_rich_style(f"fields--{name}", partial=True)
