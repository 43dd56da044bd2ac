"""Growth of a context: one point per answer, exact with usage; the same points wherever it is shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from tests.paths import SAMPLES
from workbench.analysis.course import Course, Point, course_messages, course_of, growth, growth_messages
from workbench.analysis.pictures import COMPACTED, REFUSED, growth_picture, replay_picture
from workbench.analysis.why.diagnosis import diagnose
from workbench.analysis.why.overflow import RejectedRequest
from workbench.bench import open_bench, with_counts
from workbench.compaction.preset import load_preset
from workbench.conformance.drawn import conversations
from workbench.formats.files import load
from workbench.session import Epoch, Message, Records, Session, Text, Usage
from workbench.tokens import Basis, Counter


def message(number: int, role: str = "assistant", *, bill: int | None = None, kind: str = "normal") -> Message:
    usage = None if bill is None else Usage(input=bill)
    return Message(f"m{number}", role, (Text("x"),), kind=kind, time=float(number), usage=usage)  # type: ignore[arg-type]


def session(messages: list[Message], *epochs: list[int], system: str = "") -> Session:
    members = tuple(Epoch(number, members) for number, members in enumerate(epochs, 1))
    return Session("claude-code", None, tuple(messages), Records(b""), epochs=members, system=system)


def counter_for(one: Session) -> Counter:
    counter = Counter()
    counter.count_all(course_messages(one), lambda done, total: None, lambda: False)
    return counter


EACH = 1
"""Tokens of a message "x", its model unknown."""


def test_without_usage_the_messages_before_each_answer_are_an_estimate() -> None:
    messages = [message(0, "user"), message(1), message(2, "tool"), message(3)]
    one = session(messages, [0, 1, 2, 3])
    assert growth(one, counter_for(one)) == (
        Point(1, 1, EACH, Basis.ESTIMATE, False),
        Point(3, 1, 3 * EACH, Basis.ESTIMATE, False),
    )


def test_without_usage_the_system_prompt_counts_too() -> None:
    messages = [message(0, "user"), message(1), message(2, "tool"), message(3)]
    bare, told = (session(messages, [0, 1, 2, 3], system=text) for text in ("", "You are an agent. " * 40))
    counter = counter_for(bare)
    overhead = counter.text(told.system)
    assert overhead > 100
    before, after = growth(bare, counter), growth(told, counter)
    assert [point.tokens + overhead for point in before] == [point.tokens for point in after]


def test_usage_is_exact_and_later_messages_are_added() -> None:
    messages = [message(0, "user"), message(1, bill=5_000), message(2, "tool"), message(3), message(4, bill=5_400)]
    one = session(messages, [0, 1, 2, 3, 4])
    found = growth(one, counter_for(one))
    assert [point.basis for point in found] == [Basis.EXACT, Basis.ESTIMATE, Basis.EXACT]
    assert (found[0].tokens, found[2].tokens) == (5_000, 5_400)
    assert 5_000 < found[1].tokens < 5_400


def test_points_before_the_first_usage_subtract_the_messages_between() -> None:
    messages = [message(0, "user"), message(1), message(2, "user"), message(3, bill=5_000)]
    one = session(messages, [0, 1, 2, 3])
    assert [point.tokens for point in growth(one, counter_for(one))] == [5_000 - 2 * EACH, 5_000]


def test_a_compaction_is_marked_once_and_kept_answers_count_only_where_they_were_given() -> None:
    messages = [
        message(0, "user"),
        message(1, bill=9_000),
        message(2, bill=9_500),
        message(3, "user", kind="summary"),
        message(4, bill=2_000),
        message(5, bill=2_200),
    ]
    found = growth(session(messages, [0, 1, 2], [3, 2, 4, 5]), Counter())
    assert [(point.message, point.epoch, point.tokens, point.compacted) for point in found] == [
        (1, 1, 9_000, False),
        (2, 1, 9_500, False),
        (4, 2, 2_000, True),
        (5, 2, 2_200, False),
    ]


def test_messages_are_not_counted_if_every_answer_has_usage() -> None:
    class Blind(Counter):
        def glance(self, message: Message) -> Any:
            raise AssertionError(message)

    messages = [message(number, bill=1_000 + number) for number in range(5)]
    one = session(messages, list(range(5)))
    assert len(growth(one, Blind())) == 5
    assert growth_messages(one) == ()


@given(conversations())
def test_growth_equals_the_uncompacted_course_of_one_epoch(messages: tuple[Message, ...]) -> None:
    one = session(list(messages), list(range(len(messages))), system="Say so.")
    course = course_of(one, Counter())
    assert [point.tokens for point in course.growth] == list(course.plain)


# --- the same everywhere --------------------------------------------------------------------------------------------

BILLED, UNBILLED = "claude-code-overflow.jsonl", "openai-chat-tools.json"


@pytest.mark.parametrize("name", [BILLED, UNBILLED])
def test_bench_why_replay_and_report_draw_the_same_points(name: str) -> None:
    one = load(SAMPLES / name)
    counter = Counter()
    counter.count_all(growth_messages(one), lambda done, total: None, lambda: False)
    on_bench = growth(one, counter)
    course = course_of(one, counter_for(one))
    last = len(one.epochs)
    bench = with_counts(open_bench(one, course.counter, epoch=last), course.counter)
    here = diagnose(bench.context, course_of(one, course.counter, first=last), last, load_preset("claude-code"))

    assert on_bench == course.growth == here.points
    drawn = {point for line in growth_picture(here).lines for point in line.points}
    assert drawn == set(enumerate((point.tokens for point in on_bench), 1))
    refused = replace(here, refusals=(RejectedRequest("whenever"), RejectedRequest("before all", member=-1)))
    signs = {call: COMPACTED for call, point in enumerate(on_bench, 1) if point.compacted}
    picture = growth_picture(refused)
    assert (picture.title, picture.marks) == (
        "Growth of the context, call by call", {**signs, len(on_bench): REFUSED, 1: REFUSED},
    )  # fmt: skip
    recorded = replay_picture(course, (), None).lines[0]
    assert [tokens for _, tokens in recorded.points] == [point.tokens for point in on_bench]
    assert _in_its_epoch(course) == [point.tokens for point in on_bench if point.epoch == 1]


@pytest.mark.parametrize(("epoch", "lines"), [(1, [2, 1]), (2, [1, 1, 1]), (3, [2, 1])])
def test_no_line_of_other_epochs_crosses_the_one_looked_at(epoch: int, lines: list[int]) -> None:
    points = tuple(Point(number, number, 100, Basis.EXACT, False) for number in (1, 2, 3))
    one, counter = load(SAMPLES / UNBILLED), Counter()
    last = len(one.epochs)
    course = course_of(one, counter_for(one), first=last)
    bench = with_counts(open_bench(one, course.counter, epoch=last), counter)
    found = replace(diagnose(bench.context, course, last, load_preset("claude-code")), points=points, epoch=epoch)
    assert [len(line.points) for line in growth_picture(found).lines] == lines


def _in_its_epoch(course: Course) -> list[int]:
    """What a replay without any compaction is sent in the first epoch."""
    return [tokens for index, tokens in zip(course.calls, course.plain, strict=True) if index < course.recorded]
