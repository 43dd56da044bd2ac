"""Prompts: all of them, each as it stands and as it is sent for the session on the bench; a copy can be edited."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.binding import Binding, BindingType
from textual.containers import Horizontal

from workbench.analysis.prompt_use import Found, found, policy_with, rendered
from workbench.base.errors import BadInput
from workbench.bench import Bench
from workbench.compaction.policy import Policy
from workbench.compaction.prompts import prompt_files, write_own
from workbench.tui.external_editor import edit_outside
from workbench.tui.plain import figure, one_line
from workbench.tui.screens.list_and_text import ListAndText
from workbench.tui.widgets.prompt_editor import PromptEditor
from workbench.tui.widgets.text_list import TextList
from workbench.tui.widgets.text_view import Part, TextView, wrap


@dataclass(frozen=True)
class Listed:
    """A prompt's file, and the prompt in it or what is wrong with it."""

    file: str
    found: Found | None
    trouble: str = ""


def every_prompt() -> tuple[Listed, ...]:
    """All prompts; one of the user's that cannot be used says why and stands in nobody's way."""
    return tuple(map(_listed, prompt_files()))


def _listed(file: str) -> Listed:
    try:
        return Listed(file, found(file))
    except BadInput as refused:
        return Listed(file, None, str(refused))


class PromptsScreen(ListAndText[Policy]):
    """Dismissed with the policy that has the chosen prompt, or None."""

    HELP = """\
Every prompt and template: what a strategy asks a model, and the frames into which an answer is put. On the right it \
is its text or, after v, the request that its strategy would send for this session; no model is asked. e edits a copy \
in your own folder, which is used from then on: ctrl+s saves it, esc leaves it as it was; E does so in $EDITOR. A \
placeholder, a name in braces, is filled in when it is sent; one that nothing fills is refused with its line. enter or \
u takes the prompt into the settings on the bench, as a step that can be undone. Offline runs ignore the prompt: R on \
the bench uses a model."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "turn", "As sent", id="prompts.turn", tooltip="The prompt as it is sent here, or as it stands."),
        Binding("e", "edit", "Edit a copy", id="prompts.edit", tooltip="Edit a copy in your own folder, here."),
        Binding("E", "outside", "$EDITOR", id="prompts.outside", tooltip="Edit a copy in $EDITOR."),
        Binding("u", "use", "Use it", id="prompts.use", tooltip="Take the prompt into the policy on the bench."),
    ]

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.bench = bench
        self.every: tuple[Listed, ...] = ()
        self.sent = False

    def on_mount(self) -> None:
        self.list_them()

    def list_them(self) -> None:
        """The list anew; the cursor stays on its file."""
        here = self.here
        self.every = every_prompt()
        files = [one.file for one in self.every]
        first = next((n for n, one in enumerate(self.every) if one.found and self._fits(one.found)), 0)
        at = files.index(here.file) if here and here.file in files else first
        self.query_one(TextList).show(map(self._line, self.every), at)
        self.show_it()

    @property
    def here(self) -> Listed | None:
        return self.every[self.at] if 0 <= self.at < len(self.every) else None

    def _line(self, one: Listed) -> Text:
        if one.found is None:
            return Text(f"✘ {one.file}", no_wrap=True)
        mark = "▸" if self._fits(one.found) else " "
        line = Text(f"{mark} {one.found.id}", "bold" if mark == "▸" else "", no_wrap=True)
        return line.append(" · yours", "not bold") if one.found.own else line

    def _fits(self, one: Found) -> bool:
        return one.strategy == self.bench.strategy.id and one.field in type(self.bench.policy).model_fields

    @on(TextList.Moved)
    def _moved(self) -> None:
        self.show_it()

    @work(exclusive=True, group="prompt", exit_on_error=False)
    async def show_it(self) -> None:
        one, view, sent = self.here, self.query_one(TextView), self.sent
        if one is None:
            return
        self._about(one)
        view.border_title = "as it is sent for this session" if sent else "as it stands"
        parts = await asyncio.to_thread(self._parts, one, sent)
        view.put(parts, await asyncio.to_thread(wrap, parts, view.wrap_width), (one.file, sent))

    def _parts(self, one: Listed, sent: bool) -> tuple[Part, ...]:
        if one.found is None:
            return (Part(one.trouble, "bad"),)
        if not sent:
            return (Part(one.found.prompt.text),)
        try:
            return (Part(rendered(one.found, self.bench.context, self.bench.edits, self.bench.policy)),)
        except BadInput as nothing:
            return (Part(str(nothing), "warning"), Part("\n" + one.found.prompt.text))

    def _about(self, one: Listed) -> None:
        if one.found is None:
            words = f"{one.file}: cannot be used"
        else:
            prompt = one.found.prompt
            takes = ", ".join(prompt.placeholders) or "none"
            used = f"used by {one.found.strategy}" if one.found.strategy else "used by no strategy of itself"
            words = (
                f"{one.found.id} · {prompt.language} · {used} · {figure(len(prompt.text))} characters\n"
                f"offline runs ignore the prompt, R uses a model · placeholders: {takes} · {one.found.path}"
            )
        self.say(words)

    # --- what can be done -------------------------------------------------------------------------------------------

    def action_turn(self) -> None:
        self.sent = not self.sent
        self.show_it()

    def action_edit(self) -> None:
        if one := self.here:
            self.set_class(True, "-editing")
            self.query_one(TextList).disabled = True
            self.query_one(Horizontal).mount(PromptEditor(one.file))

    @on(PromptEditor.Ended)
    async def _edited(self, event: PromptEditor.Ended) -> None:
        """Show the text again; the editor has nothing that is not saved."""
        self.query_one(TextList).disabled = False
        self.query_one(TextList).focus()
        await self.query_one(PromptEditor).remove()
        self.set_class(False, "-editing")
        self._saved(event.path)
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While a prompt is edited, the list stays where it is."""
        if self.has_class("-editing") and action in ("turn", "edit", "outside", "use"):
            return False
        return super().check_action(action, parameters)

    def action_outside(self) -> None:
        from workbench.compaction.prompts import file_of

        one = self.here
        if one is None:
            return
        path = file_of(one.file)
        try:
            before = path.read_text("utf-8", "replace")
            after = edit_outside(self.app, before, path.suffix)
            if after != before:
                self._saved(str(write_own(one.file, after)))
        except BadInput as refused:
            self.notify(str(refused), severity="warning", markup=False, timeout=10)

    def _saved(self, path: str) -> None:
        if path:
            self.notify(f"saved as {path}; it is used from now on", markup=False)
            self.list_them()

    @on(TextList.Chosen)
    def action_use(self) -> None:
        one = self.here
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
        self.dismiss(policy if policy != self.bench.policy else None)
