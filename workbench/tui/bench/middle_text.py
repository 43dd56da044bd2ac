"""The text in the middle: fill it, show less of it, copy it, open it in an editor, write it to a file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from workbench.analysis.transcript import VERBOSITIES
from workbench.base.errors import BadInput
from workbench.base.files import write_atomically
from workbench.tui.bench.host import Host
from workbench.tui.bench.store import BenchView
from workbench.tui.middle.parts import Folds
from workbench.tui.middle.parts import TabInput as Source
from workbench.tui.middle.tabs import TABS, sent_texts
from workbench.tui.plain import figure
from workbench.tui.screens.ask import ask_path
from workbench.tui.terminal import edit_outside, editor_command
from workbench.tui.widgets.list_keys import hit
from workbench.tui.widgets.text_view import TextView, wrap

SETTLE_S = 0.05
"""Time the cursor rests before the middle is filled."""


def tab_input(view: BenchView, index: int, folds: Folds | None = None, width: int = 0) -> Source:
    """Input of the middle's tabs: message `index` in a pane of `width` cells. Without `folds` and width nothing is
    folded or side by side."""
    inside = max(0, min(index, len(view.shown.messages) - 1))
    return Source(view.shown, view.groups, inside, view.checks, view.verbosity, folds, width, view.is_planned)


async def fill(host: Host, text: TextView) -> None:
    """Fill the middle once the cursor has rested. Its text is made and wrapped in a thread."""
    await asyncio.sleep(SETTLE_S)
    view, width = host.store.view, text.wrap_width
    if not view.is_planned and view.tab != "message":
        return  # filled when the plan is there
    input = tab_input(view, host.cursor.index, view.folds, width)
    parts = tuple(await asyncio.to_thread(TABS[view.tab], input))
    wrapped = await asyncio.to_thread(wrap, parts, width)
    key = (view.tab, input.index if view.tab == "message" else None, view.bench.epoch)
    other = key != text.key
    text.put(parts, wrapped, key)
    if other:
        show_hit(text)


def show_hit(text: TextView) -> None:
    """Scroll to the first hit of the search in the text."""
    if (line := hit(text, 0, 1, here=True)) is not None:
        text.to_line(line)


def next_verbosity(host: Host) -> None:
    view = host.store.view
    following = VERBOSITIES[(VERBOSITIES.index(view.verbosity) + 1) % len(VERBOSITIES)]
    host.store.put(replace(view, verbosity=following, tab="message"))


def no_editor(view: BenchView) -> str:
    try:
        editor_command()
    except BadInput as refused:
        return str(refused)
    return ""


def copy_text(host: Host) -> None:
    """Copy the mouse selection; without one, the complete text."""

    def copy(text: str) -> None:
        host.app.copy_to_clipboard(text)
        host.show_toast(f"{figure(len(text))} characters copied")

    if selected := host.app.screen.get_selected_text():
        copy(selected)
    else:
        host.spawn("text", _use_text, host, copy)


def open_text(host: Host) -> None:
    def edit(text: str) -> None:
        try:
            left = edit_outside(host.app, text, ".txt")
        except BadInput as refused:
            host.show_toast(str(refused), is_warning=True)
            return
        if left != text:
            host.show_toast("You changed a copy. A session's messages cannot be edited here.")

    host.spawn("text", _use_text, host, edit)


def write_text(host: Host) -> None:
    def write(text: str) -> None:
        session = host.store.bench.session
        name = session.path.stem if session.path else "session"
        screen = ask_path(
            f"Write {figure(len(text))} characters to a new file",
            Path(f"{name}-{host.store.view.tab}.txt"),
            lambda path: write_atomically(path, text.encode("utf-8", "surrogatepass")),
        )
        host.ask(screen, lambda answer: host.show_toast(f"written to {answer.value}"))

    host.spawn("text", _use_file_text, host, write)


async def _use_file_text(host: Host, use: Callable[[str], None]) -> None:
    """Call `use` with the text for a file: in the tab of requests exactly what is sent, in others the complete text."""
    bench = host.store.bench
    if host.store.view.tab == "request" and bench.plan.requests:
        use("\n\n".join(await asyncio.to_thread(sent_texts, bench)))
    else:
        await _use_text(host, use)


async def _use_text(host: Host, use: Callable[[str], None]) -> None:
    """Call `use` with the complete text of the middle, all folds open, as the session holds it."""
    view = host.store.view
    parts = await asyncio.to_thread(TABS[view.tab], tab_input(view, host.cursor.index))
    use("\n".join(part.text for part in parts))
