"""Usage of calls that were billed for a context which is no more."""

import pytest

from workbench.formats.kit.stale import without_stale
from workbench.session import Message, Usage


@pytest.mark.parametrize(
    ("recorded", "left"),
    [
        ([100, 200, 300], [100, 200, 300]),
        ([100, 200, 0], [None, None, None]),  # nothing came after the reset
        ([100, 200, 0, 50, 60], [None, None, None, 50, 60]),  # the next call had a shorter context
        ([100, 0, 150], [100, None, 150]),  # nothing was cut: only that call recorded nothing
        ([0, 10], [None, 10]),
        ([], []),
    ],
)
def test_what_is_forgotten(recorded: list[int], left: list[int | None]) -> None:
    messages = [Message(str(n), "assistant", (), usage=Usage(size)) for n, size in enumerate(recorded)]
    assert [m.usage.context if m.usage else None for m in without_stale(messages)] == left
