"""The policy as a form, made from its pydantic model; every valid change is posted at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from workbench.compaction.policy import Policy
from workbench.compaction.preset import Preset
from workbench.compaction.settings import Setting
from workbench.compaction.strategy import Trigger
from workbench.tui.fields import InvalidValue, help_words, with_typed
from workbench.tui.keys import shared
from workbench.tui.plain import fit, one_line
from workbench.tui.plan_words import trigger_words
from workbench.tui.sheet import SheetAction, entries_of
from workbench.tui.widgets.cut_text import CutText
from workbench.tui.widgets.policy_sheet import PolicySheet


class PresetLine(Widget, can_focus=True):
    """Line with the chosen preset and the number of fields that differ from it; enter opens the list of presets."""

    BINDINGS: ClassVar[list[BindingType]] = [
        shared("open", "open", "Choose", "Choose strategy and preset."),
        shared("toggle", "open", "Choose", "Choose strategy and preset.", show=False),
        shared("move.down", "app.focus_next", "Fields", "To the fields."),
        shared("move.up", "last", "Last", "To the last line: actions for all settings.", show=False),
    ]

    @dataclass
    class ListOpened(Message):
        """Show the list of presets."""

    @dataclass
    class Last(Message):
        """Go to the last line of the sheet."""

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
        self.post_message(self.ListOpened())

    def action_last(self) -> None:
        self.post_message(self.Last())

    def on_click(self) -> None:
        self.action_open()


class PolicyForm(Vertical):
    @dataclass
    class PolicyChanged(Message):
        """A field has a new, valid value. `policy` is the complete policy with it, `key` names the field."""

        policy: Policy
        key: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.policy: Policy | None = None
        self.preset: Preset | None = None
        self.about = ""
        self.rows: tuple[SheetAction, ...] = ()
        self.refused: dict[str, tuple[str, str]] = {}
        """Refused text and the reason, by the field's key."""
        self.changes_ahead = 0
        """Number of posted changes that the bench has not received yet."""
        self._title = ""
        self._triggers = Static(id="triggers")
        self._trigger_text = Text()
        self._help = CutText(id="field-help")

    def compose(self) -> ComposeResult:
        yield PresetLine(id="preset")
        yield self._triggers
        yield PolicySheet(id="fields")
        yield self._help

    @property
    def sheet(self) -> PolicySheet:
        return self.query_one(PolicySheet)

    @property
    def focused_field(self) -> Setting | None:
        """Field that has the focus, None if none has."""
        entry = self.sheet.entry
        return entry.field if entry is not None and self.sheet.is_focused else None

    def show(self, policy: Policy, preset: Preset, name: str, rows: tuple[SheetAction, ...]) -> None:
        """Show a policy compared with its preset, under the title `name`. Cursor and input stay if the kind of policy
        is the same. `rows` are the actions on all settings."""
        before, self.policy, self.preset = self.policy, policy, preset
        self._title, self.about, self.rows = name, one_line(preset.about, 600), rows
        self.refused = {}
        self._draw(is_new_policy=type(before) is not type(policy))

    def _draw(self, *, is_new_policy: bool = False) -> None:
        """Draw the sheet, the number of fields that differ from the preset, and the help."""
        if self.policy is None or self.preset is None:
            return
        entries = [
            replace(one, typed=self.refused[one.field.key][0]) if one.field.key in self.refused else one
            for one in entries_of(self.policy, self.preset)
        ]
        count = sum(one.differs for one in entries)
        self.query_one(PresetLine).show(f"{self._title}{f' · ≠ {count} changed' if count else ''}")
        self.sheet.show(entries, self.rows, is_new_policy=is_new_policy)
        self._explain()

    def show_triggers(self, triggers: Sequence[Trigger], words: Sequence[str], problems: Sequence[str] = ()) -> None:
        """Show every trigger with value, limit and distance, then the lines `words`, then problems of the prompts."""
        text = Text()
        for trigger in triggers:
            text.append(trigger_words(trigger) + "\n", "bold" if trigger.fires else "")
        for line in words:
            text.append(f"  {line}\n", "dim")
        for problem in problems:
            text.append(f"! {problem}\n")
        text.rstrip()
        if text != self._trigger_text:
            self._trigger_text = text
            self._triggers.update(text)
            self._triggers.display = bool(text)

    @property
    def trigger_text(self) -> str:
        """Trigger panel as plain text."""
        return self._trigger_text.plain

    @on(PolicySheet.ValueEntered)
    def _on_value_entered(self, event: PolicySheet.ValueEntered) -> None:
        event.stop()
        if self.policy is None:
            return
        key = event.field.key
        try:
            policy, _ = with_typed(self.policy, event.field, event.typed)
        except InvalidValue as refused:
            self.refused[key] = (str(event.typed), str(refused))
            self._draw()
            return
        self.refused.pop(key, None)
        self._take(policy, event.field)

    @on(PolicySheet.Reset)
    def _reset(self, event: PolicySheet.Reset) -> None:
        event.stop()
        if self.policy is None or self.preset is None:
            return
        field = event.field
        try:
            policy = self.policy.with_(**field.changes(self.policy, field.of(self.preset.policy)))
        except ValueError as refused:
            # The preset's value may be invalid together with another, changed field.
            self.refused[field.key] = (str(field.of(self.policy)), str(refused))
            self._draw()
            return
        self.refused.pop(field.key, None)
        self._take(policy, field)

    def _take(self, policy: Policy, field: Setting) -> None:
        before, self.policy = self.policy, policy
        self._draw()
        if policy != before:
            self.changes_ahead += 1
            self.post_message(self.PolicyChanged(policy, field.key))

    @on(PresetLine.Last)
    def _to_last(self, event: PresetLine.Last) -> None:
        event.stop()
        self.sheet.to_end()

    @on(PolicySheet.Highlighted)
    def _explain(self) -> None:
        """Show below the form why the typed text is refused, else the help of the action or field that has the focus,
        else the description of the preset."""
        field, row = self.focused_field, self.sheet.row if self.sheet.is_focused else None
        problem = self.refused.get(field.key, ("", ""))[1] if field else ""
        self._help.set_class(bool(problem), "-refused")
        if row is not None:
            self._help.update(Text(row.off or row.help))
        elif field is None or self.preset is None or self.policy is None:
            self._help.update(Text(self.about))
        elif problem:
            self._help.update(Text(f"✘ {problem}"))
        else:
            was, source = field.of(self.preset.policy), self.preset.source_of(field)
            words = help_words(field, was, differs=field.of(self.policy) != was, source=source)
            self._help.update(Text.assemble((f"{field.key}  ", "dim"), words))
