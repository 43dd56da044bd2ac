"""A program as the summarizer: what it gets, what it may write, and every way in which it fails."""

from __future__ import annotations

import asyncio
import gc
import shlex
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.summarizers.fake_api import go_ahead
from tests.summarizers.live_calls import request
from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.compaction.summary_request import Summary, SummaryFailed
from workbench.summarizers.by_name import SummarizerName, parse_name, summarizer_named
from workbench.summarizers.command import MAX_BYTES, command_summarizer

SH = "sh -c "

found_again = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are not told of here")


def test_a_command_is_named_whole() -> None:
    assert parse_name("command:llm -m x 'a: b'") == SummarizerName("command", "llm -m x 'a: b'")
    assert (parse_name("command:cat").model, parse_name("command:cat").has_run_record) == ("", True)
    with pytest.raises(BadInput, match="close its quotes"):
        summarizer_named("command:sh -c 'echo")


async def test_the_request_goes_in_and_the_summary_comes_out(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    asked = request("half a pair: \ud83d. " * 9_000)
    got = await summarizer_named(f"command:{SH}{shlex.quote(f'cat > {seen}; echo; echo Done.')}")(asked)
    assert isinstance(got, Summary)
    assert (got.text, got.model) == ("Done.", "sh")
    assert seen.read_text("utf-8") == asked.text.replace("\ud83d", "?")


async def test_no_shell_is_asked(tmp_path: Path) -> None:
    got = await command_summarizer("echo $HOME; *")(request())
    assert isinstance(got, Summary)
    assert got.text == "$HOME; *"


async def test_a_program_need_not_read() -> None:
    got = await command_summarizer(f"{SH}'echo at once'")(request("much " * 200_000))
    assert isinstance(got, Summary)
    assert got.text == "at once"


@pytest.mark.parametrize(
    ("line", "failed"),
    [
        ("no-such-one", SummaryFailed("error", "no-such-one cannot be run (No such file or directory)")),
        (f"{SH}'echo bad news >&2; exit 3'", SummaryFailed("error", "sh exited with 3: bad news")),
        (f"{SH}'kill -9 $$'", SummaryFailed("error", "sh was ended by signal 9")),
        ("true", SummaryFailed("empty", "true wrote nothing")),
        (f"{SH}\"printf '\\\\377'\"", SummaryFailed("error", "sh wrote text that is not UTF-8, at byte 0")),
        ("yes", SummaryFailed("inflated", f"yes wrote more than {grouped(MAX_BYTES)} bytes")),
    ],
)  # fmt: skip
async def test_what_is_no_summary_is_told(line: str, failed: SummaryFailed) -> None:
    assert await command_summarizer(line)(request()) == failed


@found_again
async def test_what_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    asked = asyncio.ensure_future(command_summarizer(marked(tmp_path, "sleep 600 & wait"))(request(timeout_s=60.0)))
    await until(lambda: len(running(tmp_path)) == 2)
    while not asked.done():  # it may not have begun to wait when what it started is there already
        go_ahead(60)
        await asyncio.sleep(0.001)
    assert await asked == SummaryFailed("timeout", "env wrote no complete answer within 60 s")
    await until(lambda: not running(tmp_path))


@found_again
async def test_cancelling_ends_it(tmp_path: Path) -> None:
    task = asyncio.ensure_future(command_summarizer(marked(tmp_path, "sleep 600 & wait"))(request()))
    await until(lambda: len(running(tmp_path)) == 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: not running(tmp_path))


@found_again
@pytest.mark.parametrize("cancelled", [1, 2, 3])
@pytest.mark.parametrize("turns", [1, 4, 30])
async def test_it_leaves_nothing_however_often_and_early_it_is_cancelled(
    turns: int, cancelled: int, tmp_path: Path
) -> None:
    """An application that is left cancels what it has cancelled before. Cancelled twice while the program started,
    asyncio waited for good; and what is open when its loop is closed cannot be closed any more."""
    task = asyncio.ensure_future(command_summarizer(marked(tmp_path, "sleep 600 & wait"))(request()))
    for _ in range(turns):
        await asyncio.sleep(0.001)
    for _ in range(cancelled):
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task
    del task
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ResourceWarning)
        gc.collect()
    assert [str(one.message) for one in told] == []
    await until(lambda: not running(tmp_path))


async def until(met: Callable[[], bool]) -> None:
    """Let other processes have their turn: one that is killed ends when it has its own."""
    while True:
        if met():
            return
        await asyncio.sleep(0.001)


def marked(mark: Path, line: str) -> str:
    """A command line for a shell, of which all that it starts can be found again."""
    return f"env STARTED_FOR={mark} {SH}{shlex.quote(line)}"


def running(mark: Path) -> list[str]:
    """The processes that were started so and run: what one was told is gone with it, also where nobody waits for it."""
    told, found = f"STARTED_FOR={mark}".encode(), []
    for said in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if told in said.read_bytes().split(b"\0"):
                found.append(said.parent.name)
    return found
