"""The policy as a form, made from its pydantic model; every valid change is told at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from workbench.base.environment import PREFIX
from workbench.compaction.policy import Policy
from workbench.compaction.preset import Preset
from workbench.compaction.settings import Setting
from workbench.compaction.strategy import Trigger
from workbench.tui.fields import Refused, changed, fields_of
from workbench.tui.plain import fit, one_line
from workbench.tui.policy_words import help_words, trigger_words
from workbench.tui.widgets.field_row import FieldRow, Fields

AT_ONCE = 8
"""Fields that are put on the screen in one go, so that keys are answered in between."""


class Chosen(Widget, can_focus=True):
    """Which preset is chosen, and how many fields differ from it; enter opens the list."""

    DEFAULT_CSS = """
    Chosen { height: 1; background: $panel; }
    Chosen:focus { background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "open", "Choose", show=False, id="chosen.open", tooltip="Choose strategy and preset."),
        Binding("down", "app.focus_next", "Next field", show=False, id="chosen.next", tooltip="To the first field."),
    ]

    @dataclass
    class Opened(Message):
        chosen: Chosen

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.words = ""

    def show(self, words: str) -> None:
        if words != self.words:
            self.words = words
            self.refresh()

    def render(self) -> Text:
        return Text(fit(f" ▾ {self.words}", self.content_size.width), no_wrap=True, overflow="crop")

    def action_open(self) -> None:
        self.post_message(self.Opened(self))

    def on_click(self) -> None:
        self.action_open()


FOREMOST = "first of all"
"""The heading of the settings that matter most."""


class PolicyForm(Vertical):
    DEFAULT_CSS = """
    PolicyForm #triggers { max-height: 8; }
    """

    @dataclass
    class Changed(Message):
        """A field has a new, valid value. `policy` is the whole policy with it, `key` names the field."""

        policy: Policy
        key: str

    @dataclass
    class TextOpened(Message):
        """A text of several lines is to be edited."""

        field: Setting

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.policy: Policy | None = None
        self.preset: Preset | None = None
        self.about = ""
        self._name = ""
        self._triggers = Static(id="triggers")
        self._told = Text()
        self._help = Static(id="field-help")

    def compose(self) -> ComposeResult:
        yield Chosen(id="preset")
        yield self._triggers
        yield Fields(id="fields")
        yield self._help

    @property
    def rows(self) -> Iterator[FieldRow]:
        return iter(self.query(FieldRow))

    @property
    def focused_field(self) -> Setting | None:
        """The field that has the focus, None when none has."""
        row = _row_of(self.screen.focused)
        return row.field if row else None

    async def show(self, policy: Policy, preset: Preset, name: str) -> None:
        """Show a policy beside its preset, under a `name`: the same kind of policy keeps its widgets, so that focus and
        cursor stay."""
        before, self.policy, self.preset = self.policy, policy, preset
        self._name, self.about = name, one_line(preset.about, 600)
        if type(before) is not type(policy):
            await self._rebuild(policy, preset.policy)
        else:
            for row in self.rows:
                value = row.field.of(policy)
                if value != row.value or row.has_class("-refused"):
                    row.set_value(value)
        self._mark()

    async def _rebuild(self, policy: Policy, preset: Policy) -> None:
        fields = self.query_one(Fields)
        await fields.remove_children()
        rows: list[FieldRow] = []
        for group, field in grouped_fields(type(policy)):
            value = field.of(policy)
            differs = value != field.of(preset)
            off = field.why_off(policy)
            rows.append(FieldRow(field, value, differs=differs, off=off, group=group, is_first=not rows))
        for start in range(0, len(rows), AT_ONCE):
            await fields.mount_all(rows[start : start + AT_ONCE])

    def _mark(self) -> None:
        """Mark what differs from the preset: in each row, in the count beside its name, and in the help."""
        if self.policy is None or self.preset is None:
            return
        count = 0
        for row in self.rows:
            differs = row.field.of(self.policy) != row.field.of(self.preset.policy)
            source = self.preset.source_of(row.field)
            row.mark(differs, row.field.why_off(self.policy), source if source.startswith(PREFIX) else "")
            count += differs
        changed_words = f" · ≠ {count} changed" if count else ""
        self.query_one(Chosen).show(f"{self._name}{changed_words}")
        self._explain_focus(self.screen.focused)

    def show_triggers(self, triggers: Sequence[Trigger], words: Sequence[str], doubts: Sequence[str] = ()) -> None:
        """Every trigger with value, limit and distance, then `words`; `doubts` are about the prompts."""
        text = Text()
        for trigger in triggers:
            text.append(trigger_words(trigger) + "\n", "bold" if trigger.fires else "")
        for line in words:
            text.append(f"  {line}\n", "dim")
        for doubt in doubts:
            text.append(f"! {doubt}\n")
        text.rstrip()
        if text != self._told:
            self._told = text
            self._triggers.update(text)
            self._triggers.display = bool(text)

    @property
    def told(self) -> str:
        """The trigger panel as plain text."""
        return self._told.plain

    @on(FieldRow.Given)
    def _given(self, event: FieldRow.Given) -> None:
        event.stop()
        row = event.row
        if self.policy is None:
            return
        try:
            policy, _ = changed(self.policy, row.field, event.typed)
        except Refused as refused:
            row.explain(str(refused))
            return
        row.explain("")
        self._take(row, policy)

    @on(FieldRow.Reset)
    def _reset(self, event: FieldRow.Reset) -> None:
        event.stop()
        row = event.row
        if self.policy is None or self.preset is None:
            return
        value = row.field.of(self.preset.policy)
        try:
            policy = self.policy.with_(**row.field.changes(self.policy, value))
        except ValueError as refused:
            # The preset's value of one field may not go with what another was changed to.
            row.explain(str(refused))
            return
        self._take(row, policy)
        row.set_value(value)

    def _take(self, row: FieldRow, policy: Policy) -> None:
        value: Any = row.field.of(policy)
        if value == row.value:
            return
        row.value, self.policy = value, policy
        row.refresh()
        self._mark()
        self.post_message(self.Changed(policy, row.field.key))

    @on(FieldRow.Opened)
    def _opened(self, event: FieldRow.Opened) -> None:
        event.stop()
        self.post_message(self.TextOpened(event.row.field))

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        at_hand = _row_of(event.widget)
        for row in self.rows:
            if row is not at_hand:
                row.close()
        self._explain_focus(event.widget)

    def _explain_focus(self, focused: Widget | None) -> None:
        """Below the form: help of the field in focus, or what the preset is about."""
        row = _row_of(focused)
        if row is None or self.preset is None:
            self._help.update(Text(self.about))
            return
        was, source = row.field.of(self.preset.policy), self.preset.source_of(row.field)
        self._help.update(Text(help_words(row.field, was, differs=row.differs, source=source)))


def grouped_fields(policy: type[Policy]) -> Iterator[tuple[str, Setting]]:
    """Every field in the order of the form, those that matter most before the rest, with the heading that it begins;
    "" where it goes on under the last."""
    first = {name: place for place, name in enumerate(policy.foremost)}
    rest = [(field.group, field) for field in fields_of(policy) if field.path[0] not in first]
    chosen = sorted((field for field in fields_of(policy) if field.path[0] in first), key=lambda f: first[f.path[0]])
    before = ""
    for group, field in (*((FOREMOST, field) for field in chosen), *rest):
        yield group if group != before else "", field
        before = group


def _row_of(widget: Widget | None) -> FieldRow | None:
    """The row that a widget is, or is in."""
    return next((a for a in widget.ancestors_with_self if isinstance(a, FieldRow)), None) if widget else None
