"""Reading takes as many steps for each message of a long session as for each of a short one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import orjson
import pytest

from benchmarks.other_formats import written_database, written_events
from workbench.formats.files import load
from workbench.formats.registry import by_id
from workbench.repairs.engine import repair
from workbench.session import Message, Records, Session, Text, ToolResult, ToolUse, Usage

FEW = 30
"""Turns of four messages."""


def turns(count: int) -> Session:
    messages: list[Message] = []
    for number in range(count):
        used = Usage(input=1_000 + 400 * number, output=30)
        call = ToolUse(f"call_{number}", "read", {"path": f"/w/{number}.py"})
        result = ToolResult(call.id, (Text(f"{number} lines of it"),))
        messages += [
            Message(f"u{number}", "user", (Text(f"Please read file {number}."),), time=1e9 + 10 * number),
            Message(f"a{number}", "assistant", (Text("I look."), call), time=1e9 + 10 * number + 1, usage=used),
            Message(f"t{number}", "tool", (result,), time=1e9 + 10 * number + 2),
            Message(f"b{number}", "assistant", (Text(f"It has {number} lines."),), time=1e9 + 10 * number + 3),
        ]
    return Session("test", None, tuple(messages), Records(b""), id="s", model="claude-opus-4-6", cwd="/w")


def as_file(format: str, session: Session, folder: Path) -> Path:
    write = by_id(format).codec.write
    assert write is not None
    data = write(session, session.messages).data
    match format:
        case "opencode":
            return written_database(folder / "opencode.db", orjson.loads(data))
        case "openhands":
            return written_events(folder / "openhands", orjson.loads(data))
    file = folder / ("rollout-2026-01-01T00-00-00-00000000-0000-4000-8000-000000000000.jsonl")
    file.write_bytes(data)
    return file


def steps(work: Callable[[], object]) -> int:
    """How many lines of the workbench's own run in it; each turn of a comprehension is one."""
    count = 0

    def called(frame: FrameType, event: str, argument: Any) -> Any:
        return line if "workbench" in frame.f_code.co_filename else None

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return line

    before = sys.gettrace()
    sys.settrace(called)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def grows_linearly(format: str, few: int, folder: Path, work: Callable[[Path], object]) -> bool:
    taken = []
    for times in (1, 2, 4):
        (inner := folder / str(times)).mkdir()
        file = as_file(format, turns(few * times), inner)
        assert len(load(file).messages) >= 4 * few * times  # and what is made once by whoever loads first is made
        taken.append(steps(lambda file=file: work(file)))  # type: ignore[misc]
    return taken[2] - taken[1] < 2.1 * (taken[1] - taken[0])


@pytest.mark.parametrize("format", ["claude-code", "codex", "opencode", "openhands"])
def test_reading_is_linear_in_the_messages(format: str, tmp_path: Path) -> None:
    assert grows_linearly(format, FEW, tmp_path, load)


def test_a_sound_session_is_looked_through_for_repairs_in_linear_time(tmp_path: Path) -> None:
    assert grows_linearly("claude-code", 15, tmp_path, repair)
