"""Small sessions for the screen's tests, and the ways to wait for it without sleeping."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from textual._context import active_app
from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input, Static
from textual.worker import WorkerCancelled, WorkerFailed

import workbench.tui
from tests.tui.quiet import breath, paint, quiet
from workbench.session import Block, Message, Records, Session, Text, ToolResult, ToolUse
from workbench.tui.app import WorkbenchApp
from workbench.tui.bench.actions import do
from workbench.tui.bench.screen import BenchScreen
from workbench.tui.screens.loading import LoadingScreen

STORY = (
    "Fix the token refresh bug in src/auth/session.ts. Never log the token.",
    "Now the tests, please: cover the expired and the revoked token.",
    "Why does CI fail on the second job?",
    "Ok, make it pass and tell me what you changed.",
)


STYLES = Path(workbench.tui.__file__).with_name("app.tcss")
"""For a widget in an app of its own."""


def story(rounds: int = 4, calls: int = 3, *, texts: Sequence[str] = STORY) -> Session:
    """A session of `rounds` rounds with `calls` tool calls each, about 2 000 characters a result."""
    messages: list[Message] = []

    def add(role: str, *blocks: object) -> None:
        number = len(messages)
        messages.append(Message(f"m{number}", role, blocks, time=1_760_000_000.0 + 60 * number))  # type: ignore[arg-type]

    for number in range(rounds):
        add("user", Text(texts[number % len(texts)]))
        for call in range(calls):
            id = f"call-{number}-{call}"
            add(
                "assistant",
                Text("Let me look."),
                ToolUse(id, "Read", {"file_path": f"src/auth/part{number}_{call}.ts"}),
            )
            code = "\n".join(f"export const value{line} = verify(token, {line})" for line in range(50))
            add("tool", ToolResult(id, (Text(code),)))
        add("assistant", Text(f"Done with part {number}: the check now comes before the refresh."))
    return session_of(messages)


def failing_story(rounds: int = 4) -> Session:
    """The story, in which two calls failed: what an abridged history does not retell."""
    messages = list(story(rounds).messages)
    for at, error in ((2, "ValueError: the token is bad"), (4, "KeyError: 'refresh'")):
        failed = ToolResult(messages[at].results[0].call_id, (Text(f"E   {error}"), Text("x" * 2_000)), True)
        messages[at] = replace(messages[at], blocks=(failed,))
    return session_of(messages)


def session_of(messages: Sequence[Message], model: str | None = "claude-sonnet-4-5") -> Session:
    return Session("anthropic-messages", None, tuple(messages), Records(b""), title="story", model=model)


def story_file(folder: Path) -> Path:
    """The story as an Anthropic Messages body on disk."""
    messages = [
        {"role": "user" if m.role == "tool" else m.role, "content": [_json(b) for b in m.blocks]}
        for m in story().messages
    ]
    path = folder / "story.json"
    path.write_text(json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 1024, "messages": messages}))
    return path


def _json(block: Block) -> dict[str, object]:
    match block:
        case Text(text):
            return {"type": "text", "text": text}
        case ToolUse(id, name, given):
            return {"type": "tool_use", "id": id, "name": name, "input": given}
        case ToolResult():
            return {"type": "tool_result", "tool_use_id": block.call_id, "content": block.text}
        case _:
            raise TypeError(block)


async def settled(pilot: Pilot[None], *, painted: bool = True) -> None:
    """Wait until the session is loaded and counted, the checks are done, no worker is at work, and all is painted.

    As long as that takes: a limit here would judge the machine. The suite's own limit ends a test that hangs."""
    while True:
        await quiet()
        if not _at_work(pilot.app):
            if not (painted and paint(pilot.app)):
                return
            await quiet()
            if not _at_work(pilot.app):
                return
        for worker in [worker for worker in pilot.app.workers if not worker.is_finished]:
            with suppress(WorkerCancelled, WorkerFailed):
                await worker.wait()
        await breath()


First = Session | Path | Literal["sessions"]
"""What an app shows first."""


def _at_work(app: App[None]) -> bool:
    front = app.screen
    if type(front) is Screen or isinstance(front, LoadingScreen):
        return True
    benches = [screen for screen in app.screen_stack if isinstance(screen, BenchScreen)]
    unready = any(screen.view.counting or screen.view.checks is None for screen in benches)
    return unready or any(not worker.is_finished for worker in app.workers)


async def until(met: Callable[[], bool]) -> None:
    """Wait while a worker is still at work, for what it shows on the way."""
    while True:
        await quiet()
        if met():
            paint(active_app.get())
            return
        await breath()


async def press(pilot: Pilot[None], *keys: str, painted: bool = True) -> None:
    """Press keys as a person does: when what was done before is there. Only what the last one does is painted."""
    await quiet()
    for left, key in enumerate(keys, 1 - len(keys)):
        await pilot.press(key)
        await settled(pilot, painted=painted and left == 0)


async def write_down(pilot: Pilot[None], text: str, *keys: str) -> None:
    """Put `text` into the input that has the focus, in place of what stands there, and press `keys`."""
    typed = pilot.app.focused
    assert isinstance(typed, Input)
    typed.value = text
    await settled(pilot, painted=not keys)
    await press(pilot, *keys)


async def done(pilot: Pilot[None], *actions: str) -> None:
    """Do actions of the bench as its palette does, whether or not they have a key."""
    for id in actions:
        do(bench_screen(pilot), id)
        await settled(pilot)


def bench_screen(pilot: Pilot[None]) -> BenchScreen:
    screen = next(s for s in pilot.app.screen_stack if isinstance(s, BenchScreen))
    assert isinstance(screen, BenchScreen)
    return screen


@asynccontextmanager
async def on_bench(
    source: Session | Path, size: tuple[int, int] = (120, 40), **settings: object
) -> AsyncIterator[tuple[Pilot[None], BenchScreen]]:
    """The session on the bench, planned, counted and checked."""
    async with at_rest(source, size, **settings) as pilot:
        yield pilot, bench_screen(pilot)


@asynccontextmanager
async def at_rest(first: First, size: tuple[int, int] = (120, 40), **settings: object) -> AsyncIterator[Pilot[None]]:
    """The app with whatever it opens with, once nothing is at work any more."""
    async with app_of(first, **settings).run_test(size=size) as pilot:
        await settled(pilot)
        yield pilot


S = TypeVar("S", bound=Screen[Any])


async def brought(pilot: Pilot[None], kind: type[S], *keys: str) -> S:
    """The screen in front once `keys` are pressed, which is of this kind."""
    await press(pilot, *keys)
    assert isinstance(pilot.app.screen, kind), pilot.app.screen
    return pilot.app.screen


def notes(pilot: Pilot[None]) -> list[str]:
    """What was notified and not cleared away, in order; it does not go by itself here."""
    return [note.message for note in pilot.app._notifications]


def in_one_line(place: Static) -> str:
    """The text of a widget, wherever its lines break."""
    return " ".join(str(place.render()).split())


def app_of(first: First, **settings: object) -> WorkbenchApp:
    return WorkbenchApp(first, **settings)  # type: ignore[arg-type]
