"""A program as the summarizer: what it gets, what it may write, and every way in which it fails."""

from __future__ import annotations

import asyncio
import gc
import os
import shlex
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.summarizers.fake_api import go_ahead
from tests.summarizers.live_calls import request
from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.compaction.strategy import Summary, SummaryFailed
from workbench.summarizers.command import MOST, by_command
from workbench.summarizers.named import Name, named, parsed

SH = "sh -c "


def test_a_command_is_named_whole() -> None:
    assert parsed("command:llm -m x 'a: b'") == Name("command", "llm -m x 'a: b'")
    assert (parsed("command:cat").model, parsed("command:cat").is_kept) == ("", True)
    with pytest.raises(BadInput, match="close its quotes"):
        named("command:sh -c 'echo")


async def test_the_request_goes_in_and_the_summary_comes_out(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    asked = request("half a pair: \ud83d. " * 9_000)
    got = await named(f"command:{SH}{shlex.quote(f'cat > {seen}; echo; echo Done.')}")(asked)
    assert isinstance(got, Summary)
    assert (got.text, got.model) == ("Done.", "sh")
    assert seen.read_text("utf-8") == asked.text.replace("\ud83d", "?")


async def test_no_shell_is_asked(tmp_path: Path) -> None:
    got = await by_command("echo $HOME; *")(request())
    assert isinstance(got, Summary)
    assert got.text == "$HOME; *"


async def test_a_program_need_not_read() -> None:
    got = await by_command(f"{SH}'echo at once'")(request("much " * 200_000))
    assert isinstance(got, Summary)
    assert got.text == "at once"


@pytest.mark.parametrize(
    ("line", "failed"),
    [
        ("no-such-one", SummaryFailed("error", "no-such-one cannot be run (No such file or directory)")),
        (f"{SH}'echo bad news >&2; exit 3'", SummaryFailed("error", "sh left with 3: bad news")),
        (f"{SH}'kill -9 $$'", SummaryFailed("error", "sh was ended by signal 9")),
        ("true", SummaryFailed("empty", "true wrote nothing")),
        (f"{SH}\"printf '\\\\377'\"", SummaryFailed("error", "sh wrote what is no UTF-8 text, at byte 0")),
        ("yes", SummaryFailed("inflated", f"yes wrote more than {grouped(MOST)} bytes")),
    ],
)  # fmt: skip
async def test_what_is_no_summary_is_told(line: str, failed: SummaryFailed) -> None:
    assert await by_command(line)(request()) == failed


async def test_what_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    alive = tmp_path / "pid"
    line = f"{SH}{shlex.quote(f'sleep 600 & echo $! > {alive}; wait')}"
    asked = asyncio.ensure_future(by_command(line)(request(timeout_s=60.0)))
    await until(lambda: alive.exists() and alive.read_text().endswith("\n"))
    while not asked.done():  # it may not have begun to wait when what it started is there already
        go_ahead(60)
        await asyncio.sleep(0.001)
    assert await asked == SummaryFailed("timeout", "sh wrote no whole answer within 60 s")
    await until(lambda: has_ended(alive))


async def test_cancelling_ends_it(tmp_path: Path) -> None:
    own, begun = tmp_path / "pid", tmp_path / "begun"
    os.mkfifo(begun)
    line = f"{SH}{shlex.quote(f'echo $$ > {own}; echo > {begun}; sleep 600')}"
    task = asyncio.ensure_future(by_command(line)(request()))
    await asyncio.to_thread(begun.read_text)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: has_ended(own))


@pytest.mark.parametrize("cancelled", [1, 2, 3])
@pytest.mark.parametrize("turns", [1, 4, 30])
async def test_it_leaves_nothing_however_often_and_early_it_is_cancelled(
    turns: int, cancelled: int, tmp_path: Path
) -> None:
    """An application that is left cancels what it has cancelled before. Cancelled twice while the program started,
    asyncio waited for good; and what is open when its loop is closed cannot be closed any more."""
    own = tmp_path / "pid"
    task = asyncio.ensure_future(by_command(f"{SH}{shlex.quote(f'echo $$ > {own}; sleep 600')}")(request()))
    for _ in range(turns):
        await asyncio.sleep(0.001)
    for _ in range(cancelled):
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 60)
    del task
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ResourceWarning)
        gc.collect()
    assert [str(one.message) for one in told] == []
    await until(lambda: has_ended(own))


async def until(met: Callable[[], bool]) -> None:
    """Let other processes have their turn: one that is killed ends when it has its own."""
    for _ in range(50_000):
        if met():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it never came to that")


def has_ended(pid: Path) -> bool:
    """Whether the process whose number stands in a file runs no more; one that nobody waits for yet has ended, too."""
    try:
        state = Path(f"/proc/{pid.read_text().strip()}/stat").read_text()
    except OSError:
        return True
    return state.split()[2] == "Z"
