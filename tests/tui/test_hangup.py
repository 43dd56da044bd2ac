"""A terminal that goes away under the real program, or a system that ends it: what was asked for is kept, and nothing
is left behind."""

from __future__ import annotations

import asyncio
import os
import pty
import signal
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.commands import program_on
from tests.products import mostly_full
from tests.summarizers.fake_api import KEY, MODEL, fake_api, stalling
from tests.summarizers.live_calls import client_talks_to
from tests.tui.app import story_file
from workbench.base import paths
from workbench.bench import saved_work
from workbench.formats.files import load
from workbench.summarizers import run_history
from workbench.tui.terminal import leave_without_terminal, resume_only_what_was_stopped

HALF = "The user wants "


class Terminal:
    """A terminal, and what was drawn on it: read all the time, or who draws would wait."""

    def __init__(self) -> None:
        self.outer, self.inner = pty.openpty()
        self.seen = b""
        self.drawn = asyncio.Event()
        asyncio.get_running_loop().add_reader(self.outer, self._read)

    def _read(self) -> None:
        try:
            self.seen += os.read(self.outer, 65_536)
        except OSError:  # what Linux says when the other side is closed
            asyncio.get_running_loop().remove_reader(self.outer)
        self.drawn.set()

    async def until(self, mark: str, *, forget: bool = True) -> None:
        """Return once `mark` was drawn; `forget` empties `seen`."""
        while mark.encode() not in self.seen:
            self.drawn.clear()
            await self.drawn.wait()
        if forget:
            self.seen = b""

    def type(self, keys: str) -> None:
        os.write(self.outer, keys.encode())

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self.outer)
        os.close(self.outer)


def processes_of(group: int) -> list[str]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, fields = stat.read_text().rpartition(") ")
        except OSError:  # it ended meanwhile
            continue
        state, _, of, *_ = fields.split()
        if int(of) == group and state != "Z":
            found.append(name)
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="what runs is read in /proc")
@pytest.mark.parametrize("how", ["told by a signal", "its window closed"])
async def test_a_run_under_way_and_unsaved_work_are_kept(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = story_file(tmp_path)
    before = file.read_bytes()
    async with fake_api(stalling(HALF)) as api:
        client_talks_to(api, monkeypatch)
        for name, value in {"TERM": "xterm-256color", "TEXTUAL_ANIMATIONS": "none"}.items():
            monkeypatch.setenv(name, value)
        terminal = Terminal()
        was = termios.tcgetattr(terminal.inner)
        child = program_on(terminal.inner, "open", file, "--preset", "claude-code")
        try:
            await terminal.until("≈")  # it is counted
            terminal.type("pR")
            await terminal.until("(offline, no model)")
            terminal.type("m")
            await terminal.until("type to search")
            terminal.type(MODEL)
            await terminal.until(f"anthropic:{MODEL}: ")
            terminal.type("\r")
            await terminal.until("prices: the dated")
            assert api.received == []
            terminal.type("\r")
            await terminal.until(HALF.strip())
            assert termios.tcgetattr(terminal.inner) != was
            if how == "told by a signal":
                os.kill(child.pid or 0, signal.SIGTERM)
                await terminal.until("\033[?1049l")
                await asyncio.to_thread(child.join)
                assert termios.tcgetattr(terminal.inner) == was
                os.close(terminal.inner)
                terminal.close()
            else:
                os.close(terminal.inner)
                terminal.close()
                await asyncio.to_thread(child.join)
        finally:
            child.kill()
        await api.gone.wait()
        assert len(api.received) == 1
    assert child.exitcode == 0
    assert processes_of(child.pid or 0) == []
    (entry,) = run_history.list_runs()
    kept = run_history.load_run(entry.id)
    (call,) = kept.calls
    assert (kept.end, call.failure, call.detail, call.text) == ("cancelled", "error", "cancelled", HALF)
    assert KEY not in kept.model_dump_json()
    work = saved_work.load_work(load(file), paths.state() / "sessions")
    assert work is not None
    assert len(work.pins) == 1
    assert file.read_bytes() == before


TOLD = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def test_each_signal_that_ends_a_program_ends_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    async def told_of_each() -> None:
        ended = asyncio.Event()
        app = SimpleNamespace(is_headless=False, exit=ended.set, set_interval=lambda *_: None)
        leave_without_terminal(app)  # type: ignore[arg-type]
        for told in TOLD:
            assert callable(signal.getsignal(told))  # or it would end the tests
            signal.raise_signal(told)
            await ended.wait()
            ended.clear()

    outer, inner = pty.openpty()
    with open(inner) as terminal, as_before(signal.SIGTSTP, signal.SIGCONT):
        monkeypatch.setattr(sys, "__stdin__", terminal)
        asyncio.run(told_of_each())
    os.close(outer)


@contextmanager
def as_before(*signals: signal.Signals) -> Iterator[None]:
    before = [signal.getsignal(one) for one in signals]
    yield
    for one, handler in zip(signals, before, strict=True):
        signal.signal(one, handler)


@pytest.mark.parametrize("told", mostly_full(TOLD[1:], TOLD[1:2]), ids=lambda told: told.name)  # SIGTERM is above
async def test_f14_a_signal_that_ends_the_screen_leaves_the_terminal_as_it_was(
    told: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"TERM": "xterm-256color", "TEXTUAL_ANIMATIONS": "none"}.items():
        monkeypatch.setenv(name, value)
    terminal = Terminal()
    was = termios.tcgetattr(terminal.inner)
    child = program_on(terminal.inner, "open", story_file(tmp_path))
    try:
        await terminal.until("≈")
        assert termios.tcgetattr(terminal.inner) != was
        os.kill(child.pid or 0, told)
        await asyncio.to_thread(child.join)
        os.write(terminal.inner, b"the end")
        await terminal.until("the end", forget=False)
    finally:
        child.kill()
    assert child.exitcode == 0
    assert termios.tcgetattr(terminal.inner) == was
    for off in ("1049l", "1000l", "1003l", "2004l", "25h"):  # alternate screen, mouse twice, pasting, cursor
        assert f"\033[?{off}".encode() in terminal.seen, off
    os.close(terminal.inner)
    terminal.close()


def test_what_was_not_stopped_is_not_resumed() -> None:
    """A second thread that reads keys would be left behind, and take a whole core."""
    heard: list[int] = []
    several = (signal.SIGTSTP, signal.SIGCONT)
    before = [signal.signal(one, lambda number, frame: heard.append(number)) for one in several]
    try:
        resume_only_what_was_stopped()
        for one in (signal.SIGCONT, signal.SIGTSTP, signal.SIGCONT, signal.SIGCONT, signal.SIGTSTP, signal.SIGCONT):
            signal.raise_signal(one)
    finally:
        for one, handler in zip(several, before, strict=True):
            signal.signal(one, handler)
    assert heard == [*several, *several]
