"""One field of the policy as a row: name, control, what differs from the preset, what is wrong with what was typed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Select, Static

from workbench.tui.fields import FormField, shown
from workbench.tui.plain import figure, fit, one_line
from workbench.tui.widgets.on_off import OnOff


class Typed(Input):
    """An input whose backspace, where nothing is left to delete, asks for the preset's value."""

    @dataclass
    class Emptied(Message):
        typed: Typed

    def action_delete_left(self) -> None:
        if self.value:
            super().action_delete_left()
        else:
            self.post_message(self.Emptied(self))


class LongText(Widget, can_focus=True):
    """A text of several lines, as its first line and its size; enter opens it to be edited."""

    DEFAULT_CSS = """
    LongText { height: 1; padding: 0 1; background: $surface; }
    LongText:focus { background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "edit", "Edit", show=False, id="text.edit", tooltip="Edit the text beside its preview."),
    ]

    @dataclass
    class Opened(Message):
        long_text: LongText

    def __init__(self, value: str) -> None:
        super().__init__()
        self.value = value

    def render(self) -> Text:
        size = f" {figure(len(self.value))} characters · enter edits"
        first = one_line(self.value.lstrip().split("\n", 1)[0], 200) or "(empty)"
        return Text(fit(first, max(0, self.content_size.width - len(size))) + size, no_wrap=True, overflow="crop")

    def action_edit(self) -> None:
        self.post_message(self.Opened(self))

    def on_click(self) -> None:
        self.action_edit()


class FieldRow(Widget):
    """A field that can be changed. Tells of an input by the control's own messages, of a reset by `Reset`."""

    DEFAULT_CSS = """
    FieldRow.-differs .label { color: $text-warning; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "app.focus_next", "Next field", show=False, id="form.next", tooltip="To the next field."),
        Binding(
            "up", "app.focus_previous", "Field before", show=False, id="form.previous", tooltip="To the field before."
        ),
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
    class Reset(Message):
        row: FieldRow

    def __init__(self, field: FormField, value: Any, *, differs: bool) -> None:
        super().__init__(classes=f"field {field.control}")
        self.field = field
        self.value = value
        self.set_class(differs, "-differs")
        self._label = Static(self._label_text(), classes="label")

    def compose(self) -> ComposeResult:
        yield self._label
        yield self._control()

    @property
    def differs(self) -> bool:
        return self.has_class("-differs")

    def mark(self, differs: bool) -> None:
        """Say by sign and word whether the field is not what the preset says."""
        if differs != self.differs:
            self.set_class(differs, "-differs")
            self._label.update(self._label_text())

    def _label_text(self) -> Text:
        text = Text(self.field.label, overflow="fold")
        return text.append(" ≠ changed", "bold") if self.differs else text

    def _control(self) -> Widget:
        match self.field.control:
            case "switch":
                return OnOff(self.value)
            case "choice":
                options = [(choice, choice) for choice in self.field.choices]
                return Select(options, value=str(self.value), allow_blank=False, compact=True)
            case "lines":
                return LongText(shown(self.value))
            case _:
                return Typed(shown(self.value), compact=True, select_on_focus=False)

    def set_value(self, value: Any) -> None:
        """Show another value, as after an undo; tells nobody."""
        self.value = value
        control = self.query_one("Input, Select, OnOff, LongText", Widget)
        with self.prevent(Input.Changed, Select.Changed, OnOff.Changed):
            match control:
                case OnOff() | Select():
                    control.value = value if isinstance(control, OnOff) else str(value)
                case Input() if not self.same_as_typed(control.value):
                    control.value = shown(value)
                case LongText():
                    control.value = shown(value)
                    control.refresh()
                case _:
                    pass
        self.explain("")

    def same_as_typed(self, typed: str) -> bool:
        """Whether what stands in the input means the field's value, so that `50 000` is not rewritten while typed."""
        return typed.replace(" ", "").replace("_", "") == shown(self.value)

    def explain(self, reason: str) -> None:
        """Say what is wrong below the field, or nothing any more."""
        known = self.query(".error")
        self.set_class(bool(reason), "-refused")
        if not reason:
            known.remove()
        elif known:
            known.first(Static).update(Text(f"✘ {reason}"))
        else:
            self.mount(Static(Text(f"✘ {reason}"), classes="error"))

    def action_reset(self) -> None:
        self.post_message(self.Reset(self))

    @on(Typed.Emptied)
    def _emptied(self, event: Typed.Emptied) -> None:
        event.stop()
        self.action_reset()
