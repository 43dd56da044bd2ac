"""The growth of a context: one point per answer, bills where there are any."""

from __future__ import annotations

import pytest

from tests.paths import SAMPLES
from workbench.analysis.growth import Point, growth
from workbench.session import Epoch, Message, Records, Session, Text, Usage
from workbench.tokens import Basis


def message(number: int, role: str = "assistant", *, bill: int | None = None, kind: str = "normal") -> Message:
    usage = None if bill is None else Usage(input=bill)
    return Message(f"m{number}", role, (Text("x"),), kind=kind, time=float(number), usage=usage)  # type: ignore[arg-type]


def session(messages: list[Message], *epochs: list[int]) -> Session:
    members = tuple(Epoch(number, members) for number, members in enumerate(epochs, 1))
    return Session("claude-code", None, tuple(messages), range(len(messages)), members, Records(b""))


def ten(message: Message) -> int:
    return 10


def test_without_bills_the_sum_of_what_stands_before_each_answer_is_an_estimate() -> None:
    messages = [message(0, "user"), message(1), message(2, "tool"), message(3)]
    assert growth(session(messages, [0, 1, 2, 3]), ten) == (
        Point(1, 1, 10, Basis.ESTIMATE, False),
        Point(3, 1, 30, Basis.ESTIMATE, False),
    )


def test_a_bill_is_exact_and_what_follows_it_is_added() -> None:
    messages = [message(0, "user"), message(1, bill=5_000), message(2, "tool"), message(3), message(4, bill=5_400)]
    found = growth(session(messages, range(5)), ten)  # type: ignore[arg-type]
    assert [(point.tokens, point.basis) for point in found] == [
        (5_000, Basis.EXACT),
        (5_020, Basis.ESTIMATE),
        (5_400, Basis.EXACT),
    ]


def test_a_compaction_is_marked_once_and_kept_answers_count_only_where_they_were_given() -> None:
    messages = [
        message(0, "user"),
        message(1, bill=9_000),
        message(2, bill=9_500),
        message(3, "user", kind="summary"),
        message(4, bill=2_000),
        message(5, bill=2_200),
    ]
    found = growth(session(messages, [0, 1, 2], [3, 2, 4, 5]), ten)
    assert [(point.message, point.epoch, point.tokens, point.compacted) for point in found] == [
        (1, 1, 9_000, False),
        (2, 1, 9_500, False),
        (4, 2, 2_000, True),
        (5, 2, 2_200, False),
    ]


def test_messages_are_not_measured_where_bills_say_everything() -> None:
    def never(message: Message) -> int:
        raise AssertionError(message)

    messages = [message(number, bill=1_000 + number) for number in range(5)]
    assert len(growth(session(messages, list(range(5))), never)) == 5


def test_the_sample_grows_until_it_overflows() -> None:
    path = SAMPLES / "claude-code-overflow.jsonl"
    if not path.exists():
        pytest.skip("the sample session is not made yet")
    from workbench.formats.files import load

    loaded = load(path, lambda done, total: None)
    found = growth(loaded, ten)
    assert [point.epoch for point in found] == sorted(point.epoch for point in found)
    assert {point.epoch for point in found} <= {epoch.number for epoch in loaded.epochs}
    assert sum(point.compacted for point in found) == len({point.epoch for point in found}) - 1
