"""Prompts: those of the settings are edited next to a preview; any other prompt is edited as a copy."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Static
from textual.worker import Worker

from workbench.analysis.prompt_use import StoredPrompt, policy_with, render_prompt, stored_prompt
from workbench.base.errors import BadInput
from workbench.bench import Bench
from workbench.compaction.labels import label_of
from workbench.compaction.prompts import content_of, prompt_files, write_own
from workbench.compaction.settings import Setting
from workbench.tui.background import failure_of
from workbench.tui.fields import fields_of, is_model_text
from workbench.tui.keys import CLOSE_KEY, HELP_KEY, shared
from workbench.tui.plain import figure, one_line, titled
from workbench.tui.screens.prompt_editors import Edited, PolicyTextEditor, PromptEditor, preview
from workbench.tui.terminal import edit_outside
from workbench.tui.widgets.cut_text import CutText
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.text_list import TextList
from workbench.tui.widgets.text_view import TextPart, TextView, wrap


@dataclass(frozen=True)
class PromptFile:
    """File of a prompt, and the prompt in it or what is wrong with it."""

    file: str
    found: StoredPrompt | None
    trouble: str = ""


def every_prompt() -> tuple[PromptFile, ...]:
    """All prompts; one of the user's that cannot be used has a reason instead."""
    return tuple(map(_read_prompt, prompt_files()))


def _read_prompt(file: str) -> PromptFile:
    try:
        return PromptFile(file, stored_prompt(file))
    except BadInput as refused:
        return PromptFile(file, None, str(refused))


class PromptsScreen(ModalScreen[Edited | None]):
    """Screen dismissed with the policy that has the chosen or edited prompt, or None. A `field` is edited at once."""

    HELP = """\
Every prompt and template: what a strategy asks a model, and the text around its answer. Offline runs ignore the \
prompt: R on the bench uses a model. The prompts of the settings come first: enter or e edits one next to the request \
or message that it becomes, and ctrl+s accepts it into the settings. Then all others: e edits a copy in your own \
folder, which is used from then on, F4 does so in $EDITOR, and enter or u uses the prompt in the settings, a change \
that you can undo. On the right is the text or, after v, the request that is sent for this session; no model is asked. \
A placeholder, a name in braces, is filled in when the prompt is sent; an unknown placeholder is an error with its \
line."""
    BINDINGS: ClassVar[list[BindingType]] = [
        CLOSE_KEY,
        HELP_KEY,
        Binding("v", "turn", "As sent", id="prompts.turn", tooltip="The prompt as sent for this session, or its text."),
        Binding(
            "e",
            "edit",
            "Edit",
            id="prompts.edit",
            tooltip="Edit a prompt of the settings, or a copy of another.",
        ),
        shared("editor", "outside", "$EDITOR", "Edit a copy in $EDITOR."),
        Binding("u", "use", "Use it", id="prompts.use", tooltip="Use the prompt in the settings on the bench."),
    ]
    AUTO_FOCUS = "TextList"

    def __init__(self, bench: Bench, field: Setting | None = None) -> None:
        super().__init__()
        self.bench = bench
        self.field = field
        self.texts = [one for one in fields_of(type(bench.policy)) if one.kind == "lines"]
        self.every: tuple[Setting | PromptFile | str, ...] = ()
        """Rows of the list; a str is a heading."""
        self.sent = False

    def compose(self) -> ComposeResult:
        with Vertical():
            yield CutText(id="about")
            with Horizontal():
                yield TextList()
                yield TextView()
            yield KeysLine()

    def on_mount(self) -> None:
        self.list_them()
        if self.field:
            self.action_edit()

    def list_them(self) -> None:
        """Fill the list again; the cursor stays on its file."""
        here = self.field or self.here
        own: list[Setting | str] = ["In the settings", *self.texts] if self.texts else []
        self.every = (*own, "All prompts", *every_prompt())
        names = [_name(one) for one in self.every]
        fits = (
            n for n, one in enumerate(self.every) if isinstance(one, PromptFile) and one.found and self._fits(one.found)
        )
        at = names.index(_name(here)) if here and _name(here) in names else next(fits, 1)
        headings = {n for n, one in enumerate(self.every) if isinstance(one, str)}
        self.query_one(TextList).show(map(self._line, self.every), at, headings)
        self.show_it()

    @property
    def here(self) -> Setting | PromptFile | None:
        at = self.query_one(TextList).at
        one = self.every[at] if 0 <= at < len(self.every) else None
        return None if isinstance(one, str) else one

    def _line(self, one: Setting | PromptFile | str) -> Text:
        if isinstance(one, str):
            return Text(one, no_wrap=True)
        if isinstance(one, Setting):
            return Text(f"  {label_of(one.path[-1])}", no_wrap=True)
        if one.found is None:
            return Text(f"✘ {one.file}", no_wrap=True)
        mark = "▸" if self._fits(one.found) else " "
        line = Text(f"{mark} {one.found.id}", "bold" if mark == "▸" else "", no_wrap=True)
        return line.append(" · yours", "not bold") if one.found.own else line

    def _fits(self, one: StoredPrompt) -> bool:
        return one.strategy == self.bench.strategy.id and one.field in type(self.bench.policy).model_fields

    @on(TextList.Highlighted)
    def _moved(self) -> None:
        self.show_it()
        self.refresh_bindings()

    @work(exclusive=True, group="prompt", exit_on_error=False)
    async def show_it(self) -> None:
        one, view, sent = self.here, self.query_one(TextView), self.sent
        if one is None:
            return
        self._about(one)
        view.border_title = "as it is sent for this session" if sent else "its text"
        parts = await asyncio.to_thread(self._parts, one, sent)
        view.put(parts, await asyncio.to_thread(wrap, parts, view.wrap_width), (_name(one), sent))

    def _parts(self, one: Setting | PromptFile, sent: bool) -> tuple[TextPart, ...]:
        if isinstance(one, Setting):
            if sent:
                return preview(replace(self.bench, result=None), shows_summary=not is_model_text(one))
            return (TextPart(str(one.of(self.bench.policy)) or "(empty)"),)
        if one.found is None:
            return (TextPart(one.trouble, "bad"),)
        if not sent:
            return (TextPart(one.found.prompt.text),)
        try:
            return (TextPart(render_prompt(one.found, self.bench.context, self.bench.edits, self.bench.policy)),)
        except BadInput as nothing:
            return (TextPart(str(nothing), "warning"), TextPart("\n" + one.found.prompt.text))

    def _about(self, one: Setting | PromptFile) -> None:
        if isinstance(one, Setting):
            words = f"{label_of(one.path[-1])} · {one.help}\n"
            words += (
                "offline runs ignore the prompt, R uses a model" if is_model_text(one) else "offline runs use it, too"
            )
        elif one.found is None:
            words = f"{one.file}: cannot be used"
        else:
            prompt = one.found.prompt
            takes = ", ".join(prompt.placeholders) or "none"
            used = f"used by {one.found.strategy}" if one.found.strategy else "used by no strategy by default"
            words = (
                f"{one.found.id} · {prompt.language} · {used} · {figure(len(prompt.text))} characters\n"
                f"offline runs ignore the prompt, R uses a model · placeholders: {takes} · {one.found.path}"
            )
        self._say(words)

    def _say(self, words: str) -> None:
        """Show up to two lines above the list."""
        self.query_one("#about", Static).update(titled("Prompts", words))

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self._say(f"✘ {failure}")

    # --- actions ----------------------------------------------------------------------------------------------------

    def action_turn(self) -> None:
        self.sent = not self.sent
        self.show_it()

    def action_edit(self) -> None:
        if (one := self.here) is None:
            return
        try:
            editor = PolicyTextEditor(self.bench, one) if isinstance(one, Setting) else PromptEditor(one.file)
        except BadInput as gone:
            self.notify(str(gone), severity="warning", markup=False, timeout=10)
            return
        self.set_class(True, "-editing")
        self.query_one(TextList).disabled = True
        self.query_one(Horizontal).mount(editor)

    @on(PromptEditor.PromptFileClosed)
    async def _copy_edited(self, event: PromptEditor.PromptFileClosed) -> None:
        await self._close_editor()
        self._note_saved(event.path)

    @on(PolicyTextEditor.PolicyTextClosed)
    async def _text_edited(self, event: PolicyTextEditor.PolicyTextClosed) -> None:
        if event.edited:
            self.dismiss(event.edited)
        else:
            await self._close_editor()

    async def _close_editor(self) -> None:
        """Show the text again; everything in the editor is saved or discarded."""
        self.field = None
        self.query_one(TextList).disabled = False
        self.query_one(TextList).focus()
        await self.query("PromptEditor, PolicyTextEditor").remove()
        self.set_class(False, "-editing")
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the list's actions while a prompt is edited, and grey those for a prompt's file on any other row."""
        if self.has_class("-editing") and action in ("turn", "edit", "outside", "use"):
            return False
        if action in ("outside", "use") and not isinstance(self.here, PromptFile):
            return None
        return super().check_action(action, parameters)

    def action_outside(self) -> None:
        one = self.here
        if not isinstance(one, PromptFile):
            return
        try:
            before = content_of(one.file)
            after = edit_outside(self.app, before, Path(one.file).suffix)
            if after != before:
                self._note_saved(str(write_own(one.file, after)))
        except BadInput as refused:
            self.notify(str(refused), severity="warning", markup=False, timeout=10)

    def _note_saved(self, path: str) -> None:
        if path:
            self.notify(f"saved as {path}; it is used from now on", markup=False)
            self.list_them()

    @on(TextList.Selected)
    def action_use(self) -> None:
        one = self.here
        if isinstance(one, Setting):
            self.action_edit()
            return
        if one is None or one.found is None:
            return
        if not self._fits(one.found):
            what = one.found.strategy or "no strategy"
            self.notify(
                one_line(f"{one.found.id} is a prompt of {what}; choose that strategy first (P on the bench)."),
                severity="warning",
                markup=False,
            )
            return
        policy = policy_with(self.bench.policy, one.found)
        self.dismiss(Edited(policy, "another prompt") if policy != self.bench.policy else None)


def _name(one: Setting | PromptFile | str) -> str:
    return one.key if isinstance(one, Setting) else one.file if isinstance(one, PromptFile) else ""
