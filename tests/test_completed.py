"""Work that a command runs to its end."""

import signal

import pytest

from workbench.cli.running import run_to_end


class Long:
    """What a run gives: to put it into words takes seconds."""

    said = 0

    def __repr__(self) -> str:
        Long.said += 1
        return "words"


def test_what_a_run_gives_is_not_put_into_words() -> None:
    """With Ctrl-C as Python has it, of which asyncio asks when a task has ended; a test's own handler would hide it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    given = Long()

    async def work() -> Long:
        return given

    try:
        assert (run_to_end(work()) is given, Long.said) == (True, 0)
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_fails_fails() -> None:
    async def work() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run_to_end(work())
