"""Editors of a prompt: a text of the settings next to a preview of what it becomes, or a prompt's file with its
header."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, replace
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Static, TextArea
from textual.worker import Worker

from workbench.analysis.prompt_use import prompt_file_text
from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.bench import Bench
from workbench.compaction.labels import label_of
from workbench.compaction.policy import Policy
from workbench.compaction.prompts import checked, content_of, write_own
from workbench.compaction.settings import Setting
from workbench.tui.background import failure_of
from workbench.tui.fields import InvalidValue, fields_of, is_model_text, with_typed
from workbench.tui.keys import shared
from workbench.tui.middle.parts import TabInput
from workbench.tui.middle.tabs import request_parts, summary_parts
from workbench.tui.plain import one_line
from workbench.tui.rows import Groups
from workbench.tui.screens.ask import LineAnswer, ask_prompt_name
from workbench.tui.terminal import edit_outside
from workbench.tui.widgets.text_view import TextPart, TextView, Wrapped, wrap

SETTLE_S = 0.25
"""Time without typing before the preview is filled in again."""

OFFLINE = (
    "Offline runs (r) ignore the prompt. f5 accepts the text and asks a model, or you write by hand; "
    "or: cwb compact FILE --summarizer anthropic:MODEL"
)
"""Note below every prompt for a model."""


@dataclass(frozen=True, slots=True)
class Edited:
    """Policy with the edited texts, the change in words, and whether to run it at once."""

    policy: Policy
    note: str
    runs: bool = False


class PolicyTextEditor(Vertical):
    """Editor that posts `PolicyTextClosed` with the edited policy, or with None if nothing is to change."""

    HELP = """\
A prompt or template of the settings, and next to it what it becomes with this session's messages: the request exactly \
as it would be sent, or the new messages. The preview follows when you stop typing; problems in the text are listed \
below. ctrl+s accepts the text into the settings, escape discards the edits. Offline runs ignore the prompt: f5 \
accepts the text and lets you choose a model, or write the summary by hand. f2 saves the text as a prompt of your own, \
which is then in the list of prompts."""
    BINDINGS: ClassVar[list[BindingType]] = [
        shared("save", "take", "Take it", "Accept the edited texts.", priority=True),
        shared("cancel", "leave", "Cancel", "Discard the edits.", priority=True),
        Binding(
            "f6", "other", "Next text", priority=True, id="edit.next", tooltip="The policy's next prompt or template."
        ),
        Binding(
            "f7", "turn", "Other view", priority=True, id="edit.turn", tooltip="Preview the request, or the summary."
        ),
        shared("editor", "outside", "$EDITOR", "Edit it in $EDITOR; what you save comes back.", priority=True),
        Binding(
            "f5", "run", "Run it", priority=True, id="edit.run", tooltip="Take it, and run it with a model or by hand."
        ),
        Binding(
            "f2", "keep", "Save as mine", priority=True, id="edit.keep", tooltip="Save it as a prompt of your own."
        ),
    ]

    @dataclass
    class PolicyTextClosed(Message):
        edited: Edited | None

    def __init__(self, bench: Bench, field: Setting) -> None:
        super().__init__()
        self.bench = replace(bench, result=None)
        self.texts = [one for one in fields_of(type(bench.policy)) if one.kind == "lines"]
        self.field = field
        self.policy: Policy = bench.policy
        self.shows_summary = not is_model_text(field)
        self._is_warned = False

    def compose(self) -> ComposeResult:
        yield Static(id="name")
        with Horizontal():
            yield TextArea(self._value, soft_wrap=True, show_line_numbers=False)
            yield TextView(id="preview")
        yield Static(id="doubts")

    def on_mount(self) -> None:
        self._entitle()
        self._show_problems()
        self.query_one(TextArea).focus()
        # The preview's width is known after the layout.
        self.call_after_refresh(self.fill_in)

    @property
    def _value(self) -> str:
        return str(self.field.of(self.policy))

    def _entitle(self) -> None:
        number = self.texts.index(self.field) + 1
        others = f" · text {number} of {len(self.texts)}, f6 for the next" if len(self.texts) > 1 else ""
        self.query_one("#name", Static).update(
            Text(f" {label_of(self.field.path[-1])}{others} · {self.field.help}", no_wrap=True)
        )
        self.query_one(TextArea).border_title = label_of(self.field.path[-1])
        self.query_one(TextView).border_title = "new messages" if self.shows_summary else "request"

    # --- editing ----------------------------------------------------------------------------------------------------

    @on(TextArea.Changed)
    def _typed(self, event: TextArea.Changed) -> None:
        if event.text_area.text == self._value:
            return
        self._is_warned = False
        try:
            self.policy, _ = with_typed(self.policy, self.field, event.text_area.text)
        except InvalidValue as refused:
            self._show_problems(str(refused))
            return
        self._show_problems()
        self.fill_in()

    def _show_problems(self, refused: str = "") -> None:
        """Show why the text is refused, or what is doubtful in it."""
        doubts = self.bench.strategy.prompt_problems(self.policy)
        lines = [f"✘ {refused}"] if refused else [f"! {doubt}" for doubt in doubts]
        lines = lines or ["✔ No problems found"]
        if is_model_text(self.field):
            lines.append(OFFLINE)
        below = self.query_one("#doubts", Static)
        below.update(Text("\n".join(one_line(line, 500) for line in lines)))
        below.set_class(bool(refused), "-refused")

    def action_other(self) -> None:
        """Edit the next text of the settings."""
        self.field = self.texts[(self.texts.index(self.field) + 1) % len(self.texts)]
        self.shows_summary = not is_model_text(self.field)
        self.query_one(TextArea).load_text(self._value)
        self._entitle()
        self.fill_in()

    def action_turn(self) -> None:
        """Switch the preview between the request and the new messages."""
        self.shows_summary = not self.shows_summary
        self._entitle()
        self.fill_in()

    def action_outside(self) -> None:
        try:
            text = edit_outside(self.app, self._value)
        except BadInput as refused:
            self.notify(str(refused), severity="warning", markup=False)
            return
        self.query_one(TextArea).load_text(text)

    def action_take(self) -> None:
        self.post_message(self.PolicyTextClosed(self._edited() if self.policy != self.bench.policy else None))

    def action_run(self) -> None:
        self.post_message(self.PolicyTextClosed(self._edited(runs=True)))

    def _edited(self, *, runs: bool = False) -> Edited:
        return Edited(self.policy, f"edited {self.field.label}", runs)

    def action_keep(self) -> None:
        """Save the text as the user's own prompt; ask for its name."""
        strategy = self.bench.strategy.id
        try:
            content = prompt_file_text(self.policy, strategy, self.field.key, self.query_one(TextArea).text)
        except BadInput as refused:
            self.notify(str(refused), severity="warning", markup=False)
            return

        def named(answer: LineAnswer[str] | None) -> None:
            if answer is not None:
                try:
                    self.notify(f"saved as {write_own(answer.value, content)}", markup=False)
                except BadInput as refused:
                    self.notify(str(refused), severity="warning", markup=False)

        self.app.push_screen(ask_prompt_name(strategy), named)

    def action_leave(self) -> None:
        if self.policy == self.bench.policy or self._is_warned:
            self.post_message(self.PolicyTextClosed(None))
            return
        self._is_warned = True
        self.notify("The text was changed: ctrl+s accepts it, esc again discards the change.", markup=False)

    # --- the preview ------------------------------------------------------------------------------------------------

    @work(exclusive=True, group="fill", exit_on_error=False)
    async def fill_in(self) -> None:
        """Plan with the edited text in a thread, once typing rests."""
        view = self.query_one(TextView)
        key = (self.field.key, self.shows_summary)
        if view.key is not None:
            await asyncio.sleep(SETTLE_S)
        bench = replace(self.bench, policy=self.policy)
        parts = await asyncio.to_thread(preview, bench, shows_summary=self.shows_summary)
        wrapped = await asyncio.to_thread(wrap, parts, view.wrap_width)
        fresh = view.key != key
        view.put(parts, wrapped, key)
        if fresh and (row := row_of(wrapped, self._value)):
            view.scroll_to(y=row, animate=False)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self.notify(failure, severity="error", markup=False)


def preview(bench: Bench, *, shows_summary: bool) -> tuple[TextPart, ...]:
    """Preview of a policy: the request as it would be sent, or with `shows_summary` the new messages."""
    view = TabInput(bench, Groups(bench.layout), 0)
    return tuple(summary_parts(view) if shows_summary else request_parts(view))


def row_of(wrapped: Wrapped, text: str) -> int:
    """Row of the preview at which an edited text begins, 0 if not found. Lines with placeholders are not found, so the
    first line without one is searched."""
    first = next((line.strip() for line in text.split("\n") if line.strip() and "{" not in line), "")
    if not first:
        return 0
    number = next((i for i, line in enumerate(wrapped.lines) if first in line), 0)
    return next((row for row, line in enumerate(wrapped.line) if line == number), 0)


# --- a prompt's file --------------------------------------------------------------------------------------------------


_LINE = re.compile(r", line (\d+):")


class PromptEditor(Vertical):
    BINDINGS: ClassVar[list[BindingType]] = [
        shared("save", "save", "Save", "Save it in your own folder.", priority=True),
        Binding("f8", "go", "To the fault", priority=True, id="prompt.go", tooltip="To the line that is wrong."),
        shared("cancel", "leave", "Cancel", "Discard the edits.", priority=True),
    ]

    @dataclass
    class PromptFileClosed(Message):
        """Path of the saved file, "" if none was saved."""

        path: str

    def __init__(self, file: str) -> None:
        """Raises BadInput for a file that is gone or cannot be read."""
        super().__init__()
        self.file = file
        self.before = content_of(file)
        self.fault = 0
        self._is_warned = False

    def compose(self) -> ComposeResult:
        yield TextArea(self.before, soft_wrap=True, show_line_numbers=True)
        yield Static(id="doubts")

    def on_mount(self) -> None:
        area = self.query_one(TextArea)
        area.border_title = one_line(str(paths.prompts() / self.file)).replace("[", r"\[")
        area.focus()
        self.check()

    @on(TextArea.Changed)
    def _typed(self) -> None:
        self._is_warned = False
        self.check()

    def check(self) -> bool:
        """Show what is wrong with the text; True if it can be saved."""
        report, self.fault = "✔ every placeholder is filled", 0
        try:
            checked(paths.prompts() / self.file, self.query_one(TextArea).text)
        except BadInput as refused:
            report = f"✘ {refused}"
            line = _LINE.search(report)
            self.fault = int(line[1]) if line else 0
        place = self.query_one("#doubts", Static)
        place.update(Text(one_line(report, 600)))
        place.set_class(report.startswith("✘"), "-refused")
        return report.startswith("✔")

    def action_go(self) -> None:
        if self.fault:
            self.query_one(TextArea).move_cursor((self.fault - 1, 0))

    def action_save(self) -> None:
        if not self.check():
            self.action_go()
            return
        try:
            self.post_message(self.PromptFileClosed(str(write_own(self.file, self.query_one(TextArea).text))))
        except BadInput as refused:
            self.notify(str(refused), severity="warning", markup=False)

    def action_leave(self) -> None:
        if self.query_one(TextArea).text == self.before or self._is_warned:
            self.post_message(self.PromptFileClosed(""))
            return
        self._is_warned = True
        self.notify("The text was changed: ctrl+s saves it, esc again discards the change.", markup=False)
