"""Summarizer that runs a program: the request on its standard input, the summary on its standard output."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import signal
from collections.abc import Sequence
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.base.secrets import error_line
from workbench.base.text import clip
from workbench.compaction.summary_request import Answer, Summary, SummaryFailed, SummaryRequest
from workbench.summarizers.summarizer import Summarizer

TIMEOUT_S = 600.0
"""Time limit for requests without one, in seconds."""

MAX_BYTES = 4_000_000
"""Maximum length of an answer in bytes; the program is ended beyond it."""

LINGER_S = 2.0
"""Seconds to wait for the pipes of an ended program."""

ERROR_CHARS = 300
"""Maximum length of standard error in a failure message, in characters."""


def command_summarizer(line: str) -> Summarizer:
    """Return a summarizer that runs `line`, split like a shell command but without a shell (`command:sh -c '…'` runs
    one).

    The program gets the complete request as UTF-8. It fails by its exit status, by text that is empty or not UTF-8, or
    by its time limit. Then, and on cancel, it is killed with all programs that it started. Raises BadInput for a line
    that cannot be split.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise BadInput(f"command:{line} cannot be split into words ({error}); close its quotes.") from None
    if not words:
        raise BadInput("command: names no program.")

    async def summarize(request: SummaryRequest) -> Answer:
        text = await asyncio.to_thread(lambda: request.text.encode("utf-8", "replace"))
        try:
            program = await _start(words)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            return SummaryFailed("error", error_line(f"{words[0]} cannot be run ({reason})"))
        limit = request.timeout_s or TIMEOUT_S
        try:
            async with asyncio.timeout(limit):
                return await _answer(program, words[0], text)
        except TimeoutError:
            return SummaryFailed("timeout", f"{words[0]} wrote no complete answer within {limit:g} s")
        finally:
            await _kill(program)

    return summarize


async def _start(words: Sequence[str]) -> asyncio.subprocess.Process:
    """Start the program. A cancel takes effect after it has started, because asyncio leaves a half-started program that
    nobody can end; then the program is killed and the cancel raised."""
    pipe = asyncio.subprocess.PIPE
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
    )
    try:
        await _wait_for(starting)
    except asyncio.CancelledError:
        if starting.exception() is None:
            await _kill(starting.result())
        raise
    return starting.result()


async def _wait_for(work: asyncio.Future[Any]) -> None:
    """Wait for `work` to finish, and raise a cancel only afterwards."""
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled


async def _answer(program: asyncio.subprocess.Process, name: str, text: bytes) -> Answer:
    stdin, stdout, stderr = program.stdin, program.stdout, program.stderr
    if stdin is None or stdout is None or stderr is None:
        raise TypeError("a program without pipes")
    writing, reading_errors = (
        asyncio.ensure_future(_write(stdin, text)),
        asyncio.ensure_future(_read(stderr, MAX_BYTES)),
    )
    try:
        output = await _read(stdout, MAX_BYTES)
        if len(output) > MAX_BYTES:
            return SummaryFailed("inflated", f"{name} wrote more than {grouped(MAX_BYTES)} bytes")
        await writing
        stderr_text = await reading_errors
    finally:
        writing.cancel()
        reading_errors.cancel()
    status = await program.wait()
    if status:
        error_text = clip(error_line(stderr_text.decode("utf-8", "replace")), ERROR_CHARS)
        how = f"was ended by signal {-status}" if status < 0 else f"exited with {status}"
        return SummaryFailed("error", f"{name} {how}" + (f": {error_text}" if error_text else ""))
    try:
        summary = output.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        return SummaryFailed("error", f"{name} wrote text that is not UTF-8, at byte {error.start}")
    return Summary(summary, model=name) if summary else SummaryFailed("empty", f"{name} wrote nothing")


async def _write(pipe: asyncio.StreamWriter, text: bytes) -> None:
    """Write the complete text; the program need not read all of it."""
    with contextlib.suppress(ConnectionError):
        pipe.write(text)
        await pipe.drain()
    pipe.close()


async def _read(pipe: asyncio.StreamReader, most: int) -> bytes:
    """Read to the end, or to a little over `most` bytes."""
    found = bytearray()
    while len(found) <= most and (more := await pipe.read(65_536)):
        found += more
    return bytes(found)


async def _kill(program: asyncio.subprocess.Process) -> None:
    """Kill the program and those that it started. A cancel is raised afterwards."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(program.pid, signal.SIGKILL)
    await _wait_for(asyncio.ensure_future(_drain(program)))


async def _drain(program: asyncio.subprocess.Process) -> None:
    """Read the pipes to their end, so that they close. If a program that left the group holds them, they are closed
    anyway, because they cannot be closed after the loop."""
    try:
        async with asyncio.timeout(LINGER_S):
            await program.communicate()
    except TimeoutError:
        program._transport.close()  # type: ignore[attr-defined]  # asyncio has no other way
