"""Export: choose format and path, see the checks, write a new file; afterwards the steps that resume it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Select, Static
from textual.worker import Worker

from workbench.base.errors import BadInput
from workbench.base.resources import SAMPLES
from workbench.base.text import counted
from workbench.bench import Bench
from workbench.compaction.checks import Check, check, export_check, failures
from workbench.compaction.exporting import export_compacted
from workbench.formats import registry
from workbench.formats.export import Export, Saved, save, save_in_place
from workbench.formats.masked import masked_export
from workbench.formats.steps import steps
from workbench.summarizers.server_compaction import messages_for
from workbench.tui.background import failure_of
from workbench.tui.keys import CLOSE_KEY, HELP_KEY, shared
from workbench.tui.middle.tabs import check_line, checks_title
from workbench.tui.plain import figure, plain
from workbench.tui.widgets.inputs import OnOff
from workbench.tui.widgets.keys_line import KeysLine


@dataclass(frozen=True)
class ExportDraft:
    """Export in memory, and its checks."""

    export: Export
    checks: tuple[Check, ...]

    @property
    def stopped(self) -> bool:
        return bool(failures(self.checks))


def draft(bench: Bench, format_id: str, *, mask: bool) -> ExportDraft:
    """Write the outcome in a format in memory, with its secrets or masked, and check it. Raises BadInput."""
    outcome = bench.outcome
    messages = messages_for(outcome, bench.result.answers if bench.result else (), format_id)
    export = export_compacted(bench.session, bench.context.from_outcome(outcome), messages, format_id)
    export = masked_export(export) if mask else export
    checks = check(bench.context, outcome, bench.strategy, bench.policy)
    return ExportDraft(export, (*checks, export_check(not export.problems, export.verdict), *_preview_check(bench)))


def _preview_check(bench: Bench) -> tuple[Check, ...]:
    """Failed check for a preview: its summary is a placeholder, which should not be exported unconfirmed."""
    if bench.result is not None or bench.outcome.status == "unchanged":
        return ()
    return (Check("summary written", True, False, "this is a preview; r runs it first"),)


def can_be_placed(export: Export, where: Path | None) -> bool:
    """True if the format's agent looks for the file in a known place, and it is not there yet. `where` is the path of
    the written file, None before it is written."""
    if where is None:
        return bool(export.written.home or export.written.session_folder)
    home = export.written.home_of(where)
    return bool(home) and Path(home).expanduser().resolve() != where.resolve()


class ExportScreen(ModalScreen[Literal["run"] | None]):
    """Screen dismissed with "run" if the compaction is to be run first."""

    HELP = """\
Choose the format and the path of the new file, or have it placed where its agent looks for it (p). The checks are in \
the middle: a required check that failed blocks the export until you confirm. The new file holds the session's \
secrets, because its agent may need them; m masks those that can be found. A fate is what happens to a message: kept, \
summarized, shortened, cleared or dropped; the tail is the part kept unchanged, an epoch the part of a session between \
two compactions. Afterwards the screen shows the steps that resume the session: y copies them, for a shell. No file is \
ever overwritten, and the open session is never changed."""
    BINDINGS: ClassVar[list[BindingType]] = [
        CLOSE_KEY,
        Binding("p", "place", "Place", id="export.place", tooltip="Put the file where its agent looks for it."),
        Binding("m", "mask", "Mask", id="export.mask", tooltip="Mask the secrets in the new file, or leave them."),
        shared("copy", "copy", "Copy", "Copy the steps that resume the session in its agent."),
        shared("run", "run", "Run first", "Run the compaction, then export its result."),
        HELP_KEY,
    ]
    AUTO_FOCUS = "#write"

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.bench = bench
        self.draft: ExportDraft | None = None
        self.written: tuple[Export, Path] | None = None

    def compose(self) -> ComposeResult:
        forms = {one.id: one.title for one in registry.targets()}
        own = self.bench.session.format
        with Vertical() as box:
            box.border_title = "Export"
            yield Static(Text(self._about()), id="about")
            with Horizontal(classes="row"):
                yield Static("format", classes="name")
                yield Select(
                    [(title, id) for id, title in forms.items()],
                    value=own if own in forms else next(iter(forms)),
                    allow_blank=False,
                    compact=True,
                    id="format",
                )
            with Horizontal(classes="row"):
                yield Static("to", classes="name")
                yield Input("", compact=True, id="path")
            with Horizontal(classes="row"):
                yield Static("secrets", classes="name")
                yield OnOff(False, id="mask")
                yield Static("masked (m)")
            with VerticalScroll(can_focus=False):
                yield Static(Text("checking …"), id="checks")
            yield Static(id="note")
            with Horizontal(id="buttons"):
                yield Button("Write", variant="primary", id="write", disabled=True)
                yield Button("Run first (r)", variant="primary", id="run")
                yield Button("Export anyway", variant="error", id="anyway")
                yield Button("Place for its agent (p)", variant="primary", id="place")
                yield Button("Copy steps (y)", id="copy")
                yield Button("Close", id="close")
        yield KeysLine()

    def on_mount(self) -> None:
        for name in ("#anyway", "#place", "#copy"):
            self.query_one(name).display = False
        self.query_one("#run").display = self.bench.result is None
        self.prepare()

    def _about(self) -> str:
        what = "result of the run" if self.bench.result else "preview: r runs the compaction first"
        left = self.bench.export_gap
        losses = f"\n! {left}." if left else ""
        return f"The {what}. The session that is open is never changed.{losses}"

    @on(Select.Changed, "#format")
    @on(OnOff.Switched, "#mask")
    def prepare_again(self) -> None:
        self.prepare()

    def action_mask(self) -> None:
        self.query_one("#mask", OnOff).action_switch()

    @work(exclusive=True, group="export", exit_on_error=False)
    async def prepare(self) -> None:
        """Write the export in memory and check it, in a thread."""
        format_id, mask = str(self.query_one("#format", Select).value), self.query_one("#mask", OnOff).value
        try:
            self.draft = await asyncio.to_thread(draft, self.bench, format_id, mask=mask)
        except BadInput as refused:
            self.draft = None
            self.query_one("#checks", Static).update(Text(f"✘ {refused}"))
            return
        written = self.draft.export.written
        self.query_one("#path", Input).value = str(_folder(self.bench.session.path) / written.name)
        self._show(self.draft)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self._say(f"✘ {failure}")

    def _show(self, draft: ExportDraft) -> None:
        text = Text(f"{checks_title(draft.checks).text}\n", "bold")
        for one in sorted(draft.checks, key=lambda c: (c.passed, not c.hard)):
            line, colour = check_line(one), "green" if one.passed else "red" if one.hard else "yellow"
            text.append(line[:1], colour).append(line[1:], "not bold" if one.passed else "bold")
            text.append(f"  {plain(one.detail)}\n", "not bold dim")
        for note in draft.export.written.notes:
            text.append(f"! {plain(note)}\n", "not bold")
        text.append(f"{figure(len(draft.export.written.data))} bytes", "not bold")
        self.query_one("#checks", Static).update(text)
        self.query_one("#write", Button).disabled = draft.stopped
        self.query_one("#place").display = can_be_placed(draft.export, None) and not draft.stopped
        self.refresh_bindings()
        self.query_one("#anyway", Button).display = draft.stopped
        if draft.stopped:
            self._say("Blocked: a required check failed. Export anyway?")
            self.query_one("#run" if self.bench.result is None else "#close").focus()
        else:
            self.query_one("#write").focus()

    def _say(self, sentence: str) -> None:
        self.query_one("#note", Static).update(Text(plain(sentence)))

    @on(Button.Pressed, "#close")
    def _close(self) -> None:
        self.dismiss()

    @on(Button.Pressed, "#run")
    def action_run(self) -> None:
        self.dismiss("run")

    @on(Button.Pressed, "#write")
    @on(Button.Pressed, "#anyway")
    @on(Input.Submitted, "#path")
    def _write_chosen(self, event: Button.Pressed | Input.Submitted) -> None:
        if self.draft is None or (self.draft.stopped and event.control.id != "anyway"):
            return
        self.write(self.draft.export, Path(self.query_one("#path", Input).value).expanduser())

    @work(exclusive=True, group="export", exit_on_error=False, description="write")
    async def write(self, export: Export, path: Path) -> None:
        try:
            saved = await asyncio.to_thread(save, export, path)
        except BadInput as refused:
            self._say(f"✘ {refused}")
            return
        self._wrote(export, saved)

    def _wrote(self, export: Export, saved: Saved) -> None:
        """Say where the file is and how to resume it, and offer the next steps."""
        self.written = (export, saved.where)
        unchanged = "" if export.changed else " (nothing in it changed)"
        self._say("\n".join([f"✔ {saved.word} to {saved.where}{unchanged}", "", *steps(export.written, saved.where)]))
        for name in ("#write", "#anyway", "#run"):
            self.query_one(name).display = False
        self.query_one("#mask").disabled = True
        placed = not can_be_placed(export, saved.where)
        self.query_one("#place").display = not placed
        self.query_one("#copy").display = bool(export.written.commands)
        self.query_one("#close" if placed else "#place").focus()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide actions without effect: running when there is a result, masking after the file is written, placing when
        the agent has no known place or the file is there, copying before there are steps."""
        match action:
            case "run":
                return self.bench.result is None
            case "mask":
                return self.written is None
            case "place":
                return self._placeable is not None
            case "copy":
                return self.written is not None and bool(self.written[0].written.commands)
            case _:
                return True

    @property
    def _placeable(self) -> Export | None:
        """Export that can be placed where its agent looks: written elsewhere, or ready to be written."""
        if self.written:
            return self.written[0] if can_be_placed(*self.written) else None
        ready = self.draft.export if self.draft and not self.draft.stopped else None
        return ready if ready and can_be_placed(ready, None) else None

    @on(Button.Pressed, "#place")
    def action_place(self) -> None:
        if self._placeable:
            self.place(self._placeable)

    @work(exclusive=True, group="export", exit_on_error=False, description="place")
    async def place(self, export: Export) -> None:
        try:
            saved = await asyncio.to_thread(save_in_place, export)
        except BadInput as refused:
            self._say(f"✘ {refused}")
            return
        self._wrote(export, saved)

    @on(Button.Pressed, "#copy")
    def action_copy(self) -> None:
        if self.written:
            export, where = self.written
            lines = steps(export.written, where)
            self.app.copy_to_clipboard("\n".join(lines))
            self.notify(f"{counted(len(lines), 'step')} copied", markup=False)


def _folder(source: Path | None) -> Path:
    """Folder of the new file: next to the session; for a sample, which is installed with the program, the working
    directory."""
    return Path.cwd() if source is None or SAMPLES in source.resolve().parents else source.parent
