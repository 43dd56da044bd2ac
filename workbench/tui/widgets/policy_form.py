"""The policy as a form, made from its pydantic model; every valid change is told at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Select, Static, TextArea

from workbench.compaction.policy import Policy
from workbench.compaction.strategy import Trigger
from workbench.tui.fields import FormField, Refused, changed, fields_of, shown, value_of
from workbench.tui.plain import figure
from workbench.tui.widgets.on_off import OnOff

AT_ONCE = 12
"""Fields that are put on the screen in one go."""


class FieldRow(Widget):
    """One field: its name, its control, and what is wrong with what was typed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "app.focus_next", "Next field", show=False, id="form.next", tooltip="To the next field."),
        Binding(
            "up", "app.focus_previous", "Field before", show=False, id="form.previous", tooltip="To the field before."
        ),
    ]

    def __init__(self, field: FormField, value: Any) -> None:
        super().__init__(classes=f"field {field.control}")
        self.field = field
        self.value = value

    def compose(self) -> ComposeResult:
        yield Static(Text(self.field.label, overflow="fold"), classes="label")
        yield self._control()

    def _control(self) -> Widget:
        match self.field.control:
            case "switch":
                return OnOff(self.value)
            case "choice":
                options = [(choice, choice) for choice in self.field.choices]
                return Select(options, value=str(self.value), allow_blank=False, compact=True)
            case "lines":
                return TextArea(shown(self.value), soft_wrap=True, compact=True, tab_behavior="focus")
            case _:
                return Input(shown(self.value), compact=True, select_on_focus=False)

    def set_value(self, value: Any) -> None:
        """Show another value, as after an undo; tells nobody."""
        self.value = value
        control = self.query_one("Input, Select, OnOff, TextArea", Widget)
        with self.prevent(Input.Changed, Select.Changed, OnOff.Changed, TextArea.Changed):
            match control:
                case OnOff() | Select():
                    control.value = value if isinstance(control, OnOff) else str(value)
                case Input() if not self.same_as_typed(control.value):
                    control.value = shown(value)
                case TextArea() if control.text != value:
                    control.load_text(shown(value))
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


class PolicyForm(Vertical):
    @dataclass
    class Changed(Message):
        """A field has a new, valid value. `changes` are for `Policy.with_`, `key` names the field."""

        changes: dict[str, Any]
        key: str

    @dataclass
    class PresetChosen(Message):
        preset: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.policy: Policy | None = None
        self._triggers = Static(id="triggers")
        self._told = Text()
        self._help = Static(id="field-help")

    def compose(self) -> ComposeResult:
        yield Select[str]([], prompt="preset", id="preset", compact=True)
        yield self._triggers
        yield VerticalScroll(id="fields", can_focus=False)
        yield self._help

    @property
    def rows(self) -> Iterator[FieldRow]:
        return iter(self.query(FieldRow))

    async def show(self, policy: Policy, preset: str, presets: Sequence[tuple[str, str]]) -> None:
        """Show a policy: the same kind of policy keeps its widgets, so that focus and cursor stay."""
        before, self.policy = self.policy, policy
        chooser = self.query_one("#preset", Select)
        with self.prevent(Select.Changed):
            if presets and [value for _, value in presets] != [value for _, value in chooser._options if _]:
                chooser.set_options(presets)
            if any(value == preset for _, value in presets) and chooser.value != preset:
                chooser.value = preset
        if type(before) is not type(policy):
            await self._rebuild(policy)
            return
        for row in self.rows:
            value = value_of(policy, row.field.path)
            if before is None or value != row.value or row.has_class("-refused"):
                row.set_value(value)

    async def _rebuild(self, policy: Policy) -> None:
        fields = self.query_one("#fields", VerticalScroll)
        await fields.remove_children()
        widgets: list[Widget] = []
        group = ""
        for field in fields_of(type(policy)):
            if field.group != group:
                group = field.group
                widgets.append(Static(Text(group), classes="group"))
            widgets.append(FieldRow(field, value_of(policy, field.path)))
        for start in range(0, len(widgets), AT_ONCE):
            # A few at a time, so that keys are answered in between: a form of thirty fields takes a third of a second.
            await fields.mount_all(widgets[start : start + AT_ONCE])

    def show_triggers(self, triggers: Sequence[Trigger], notes: Sequence[str] = ()) -> None:
        """Every trigger with value, limit and distance; `notes` say what is doubtful."""
        text = Text()
        for trigger in triggers:
            text.append(trigger_words(trigger) + "\n", "bold" if trigger.fires else "dim")
        for note in notes:
            text.append(f"! {note}\n")
        if text != self._told:
            self._told = text
            self._triggers.update(text)
            self._triggers.display = bool(text)

    @on(Input.Changed)
    @on(OnOff.Changed)
    @on(TextArea.Changed)
    @on(Select.Changed)
    def _typed(self, event: Input.Changed | OnOff.Changed | TextArea.Changed | Select.Changed) -> None:
        event.stop()
        control = event.control
        if control.id == "preset":
            if isinstance(event, Select.Changed) and isinstance(event.value, str):
                self.post_message(self.PresetChosen(event.value))
            return
        row = next((a for a in control.ancestors if isinstance(a, FieldRow)), None)
        if row is None or self.policy is None:
            return
        typed = event.text_area.text if isinstance(event, TextArea.Changed) else event.value
        if not isinstance(typed, bool):
            typed = str(typed)
        try:
            policy, changes = changed(self.policy, row.field, typed)
        except Refused as refused:
            row.explain(str(refused))
            return
        row.explain("")
        value = value_of(policy, row.field.path)
        if value == row.value:
            return
        row.value, self.policy = value, policy
        self.post_message(self.Changed(changes, row.field.key))

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        row = next((a for a in event.widget.ancestors if isinstance(a, FieldRow)), None)
        if row is not None:
            self._help.update(Text(help_words(row.field)))


def trigger_words(trigger: Trigger) -> str:
    """`✔ history: 412 380 of 50 000 characters, fires` or `· …, 1 200 to go`."""
    if trigger.limit <= 0:
        return f"{'✔' if trigger.fires else '·'} {trigger.name}{f': {trigger.note}' if trigger.note else ''}"
    figures = f"{figure(trigger.value)} of {figure(trigger.limit)} {trigger.unit}"
    verdict = "fires" if trigger.fires else f"{figure(max(0, trigger.distance))} to go"
    return f"{'✔' if trigger.fires else '·'} {trigger.name}: {figures}, {verdict}"


def help_words(field: FormField) -> str:
    """What a field means, what it takes, and its default."""
    facts = [f"allowed: {field.allowed}"] if field.allowed else []
    if field.unit:
        facts.insert(0, field.unit)
    if field.control != "lines" and field.default not in (None, ""):
        facts.append(f"default {field.default}")
    beside = f" ({', '.join(facts)})" if facts else ""
    return f"{field.help}{beside}" if field.help else ", ".join(facts)
