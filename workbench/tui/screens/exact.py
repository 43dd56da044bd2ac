"""Exact counts: the API counts the context before and after, beside the local figures, which it then calibrates."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static
from textual.worker import Worker

from workbench.base.errors import BadInput
from workbench.bench import Bench
from workbench.session import Message
from workbench.summarizers.exact_counts import Exact, count, not_taught, scale_after
from workbench.summarizers.named import asking, parsed
from workbench.summarizers.server_side import with_blocks
from workbench.tokens import Scale, scales
from workbench.tui.failures import failure_of
from workbench.tui.keys import HELP_KEY
from workbench.tui.plain import change, figure, plain
from workbench.tui.widgets.keys_line import KeysLine

WIDTH = 12


class ExactScreen(ModalScreen[Scale | None]):
    """Dismissed with the scale that the counts taught, one of no source where what was taught is forgotten, None where
    neither happened."""

    HELP = """\
The provider counts the tokens of the context as an export would send it, before and after the compaction that stands \
on the bench. Counting costs nothing, but it sends the whole context to the server that stands above the \
model. From then on this session's local figures are scaled by what was found, and say so; \
a count by another tokenizer than the session's teaches nothing, and ctrl+r forgets what was taught."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "count", "Count", priority=True, id="exact.count", tooltip="Have the server count now."),
        Binding(
            "ctrl+r",
            "forget",
            "Forget",
            priority=True,
            id="exact.forget",
            tooltip="Forget what exact counts taught of this session's figures.",
        ),
        Binding("escape,q", "leave", "Close", id="exact.close", tooltip="Back to the bench."),
        HELP_KEY,
    ]

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.bench = bench
        self.scale: Scale | None = None

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = "Exact counts"
            yield Static(id="about", markup=False)
            yield Input(usual_model(self.bench), placeholder="a model's name", compact=True, id="model")
            yield Static(id="counts")
            yield KeysLine()

    def on_mount(self) -> None:
        self._tell_where()

    def _tell_where(self) -> None:
        """Whom the context goes to, before it goes."""
        try:
            address = asking(self.query_one(Input).value).connection.address
            said = f"Sends the whole context to {address} to be counted; it costs nothing."
        except BadInput as broken:
            said = str(broken)
        self.query_one("#about", Static).update(plain(said))

    def action_count(self) -> None:
        model = self.query_one(Input).value.strip()
        if model:
            self.count(model)
        else:
            self._say(Text("✘ name the model whose tokens are to be counted"))

    @work(exclusive=True, group="exact", exit_on_error=False)
    async def count(self, model: str) -> None:
        bench = self.bench
        meter, after = bench.layout.sizes.meter, _after(bench)
        self._say(Text(f"{model} is counting …"))
        try:
            before = await count(bench.session, bench.context.messages, meter, model)
            self._say(counts_text(before, None))
            later = await count(bench.session, after, meter, model)
        except BadInput as refused:
            self._say(Text(f"✘ {plain(str(refused))}"))
            return
        scale = scale_after(meter, before, bench.session.model)
        if scale:
            await asyncio.to_thread(scales.keep, bench.session, scale)
            self.scale, said = scale, f"from now on: × {scale.value:.2f}, {scale.source}"
        else:
            said = not_taught(before, bench.session.model)
        self._say(counts_text(before, later).append(f"\n\n{plain(said)}"))

    @work(exclusive=True, group="exact", exit_on_error=False)
    async def action_forget(self) -> None:
        try:
            taught = await asyncio.to_thread(scales.forget, self.bench.session)
        except BadInput as refused:
            self._say(Text(f"✘ {plain(str(refused))}"))
            return
        self.scale = Scale()
        had = f"forgotten: × {taught.value:.2f} from {taught.source}" if taught else "there was nothing to forget"
        self._say(Text(plain(had)))

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self._say(Text(f"✘ {plain(failure)}"))

    @on(Input.Changed)
    def _typed(self) -> None:
        self.workers.cancel_group(self, "exact")
        self._tell_where()

    def _say(self, text: Text) -> None:
        self.query_one("#counts", Static).update(text)

    def action_leave(self) -> None:
        self.dismiss(self.scale)


def usual_model(bench: Bench) -> str:
    """The model that is to write the summary, else the session's own."""
    try:
        return parsed(bench.summarizer).model or bench.session.model or ""
    except BadInput:
        return bench.session.model or ""


def counts_text(before: Exact, after: Exact | None) -> Text:
    """Before and after, a line each: exact, local, and by how much the local figure is off."""
    text = Text(f"{'':8}{'exact':>{WIDTH}}{'local':>{WIDTH}}{'difference':>{WIDTH + 10}}", "dim")
    for name, one in (("before", before), ("after", after)):
        if one is None:
            text.append(f"\n{name:8}…", "dim")
            continue
        sign = "+" if one.difference >= 0 else "−"
        off = f"{sign}{figure(abs(one.difference))} ({change(one.local, one.tokens)})"
        text.append(f"\n{name:8}{figure(one.tokens):>{WIDTH}}", "not dim bold")
        text.append(f"{figure(one.local):>{WIDTH}}{off:>{WIDTH + 10}}", "not dim not bold")
    return text


def _after(bench: Bench) -> tuple[Message, ...]:
    return with_blocks(bench.outcome, bench.result.answers if bench.result else ()).messages
