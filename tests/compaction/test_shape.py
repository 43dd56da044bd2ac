"""Shapes are shared and figures are not: nothing computed for one context is used for another."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.compaction.context import Layout
from workbench.compaction.outcome import unchanged
from workbench.compaction.shape import Shape, newest_per_shape, per_shape
from workbench.compaction.strategies.trim import STRATEGY as TRIM
from workbench.compaction.strategies.trim import TrimPolicy
from workbench.conformance.building import agent, context_of, user
from workbench.session import Message, Text, Usage

MESSAGES = (user("u1", "Why?"), replace(agent("a1", "Because."), usage=Usage(100, 10)), user("u2", "I see."))
FIGURES = sorted(name for name, value in vars(Layout).items() if isinstance(value, cached_property))


def test_other_figures_are_another_layout_of_the_same_shape() -> None:
    before = context_of(MESSAGES).layout
    read = [getattr(before, name) for name in FIGURES]
    doubled = replace(before.sizes, tokens=array("q", [2 * tokens for tokens in before.sizes.tokens]), anchored_until=2)
    after = Layout(before.shape, doubled)
    assert [getattr(after, name) for name in FIGURES] == [
        getattr(Layout(Shape(MESSAGES), doubled), name) for name in FIGURES
    ]
    assert [getattr(before, name) for name in FIGURES] == read
    assert (list(after.tokens), after.last_usage) == ([2 * tokens for tokens in before.tokens], 110)
    assert after.measured(MESSAGES[0]) is not before.measured(MESSAGES[0])


@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))
def test_sums_are_carried_on(first: int, start: int, stop: int) -> None:
    start, stop = sorted((start, stop))
    joined = Shape(MESSAGES[:first]).followed_by(Shape(MESSAGES), start, stop)
    fresh = Shape((*MESSAGES[:first], *MESSAGES[start:stop]))
    assert (joined.messages, joined.chars, joined.api_chars) == (fresh.messages, fresh.chars, fresh.api_chars)


def test_what_is_kept_with_a_shape_is_computed_once_and_of_the_newest_key_only() -> None:
    asked: list[object] = []

    @per_shape
    def count(shape: Shape) -> int:
        asked.append(shape)
        return len(shape.messages)

    @newest_per_shape
    def of(shape: Shape, key: int) -> int:
        asked.append(key)
        return key * len(shape.messages)

    shape, other = Shape(MESSAGES), Shape(MESSAGES[:1])
    assert [count(shape), count(shape), count(other)] == [3, 3, 1]
    assert [of(shape, 2), of(shape, 2), of(other, 2), of(shape, 3), of(shape, 2)] == [6, 6, 2, 9, 6]
    assert asked == [shape, other, 2, 2, 3, 2]


def test_a2_threads_that_ask_at_once_get_the_same_object() -> None:
    """While the first computes, a second asks, computes and has its answer: the first one must get that, too."""
    answers: list[object] = []

    @per_shape
    def alone(shape: Shape) -> object:
        if not answers:
            answers.append(None)
            in_a_thread(lambda: answers.append(alone(shape)))
        return object()

    @newest_per_shape
    def of(shape: Shape, key: int) -> object:
        if len(answers) == 2:
            answers.append(None)
            in_a_thread(lambda: answers.append(of(shape, key)))
        return object()

    shape = Shape(MESSAGES)
    assert alone(shape) is answers[1]
    assert alone(shape) is answers[1]
    assert of(shape, 2) is answers[3]
    assert of(shape, 2) is answers[3]
    assert of(shape, 3) is not answers[3]


def in_a_thread(ask: Callable[[], None]) -> None:
    thread = Thread(target=ask)
    thread.start()
    thread.join()


def test_what_is_found_out_of_parts_lasts_while_it_is_asked_for_after_each_compaction() -> None:
    asked: list[tuple[str, int]] = []

    def of(message: Message, limit: int) -> int:
        asked.append((message.id, limit))
        return limit

    first, second = MESSAGES[:2]
    whole = Shape(MESSAGES)
    assert [whole.once(of, (one,), 7) for one in (first, first, second, replace(first))] == [7] * 4
    assert asked == [("u1", 7), ("a1", 7), ("u1", 7)], "an equal message is another"
    assert [whole.once(of, (first,), limit) for limit in (8, 8, 7)] == [8, 8, 7]
    assert asked[3:] == [("u1", 8), ("u1", 7)], "the newest alone is kept"
    left = whole.left_by(unchanged(MESSAGES, ""))
    grown = left.followed_by(Shape(MESSAGES), 0, 1)
    assert [grown.once(of, (first,), 7), left.once(of, (first,), 7)] == [7, 7]
    assert len(asked) == 5, "it stands there still"
    again = grown.left_by(unchanged(grown.messages, ""))
    assert [again.once(of, (one,), 7) for one in (first, second)] == [7, 7]
    assert asked[5:] == [("a1", 7)], "nobody had asked for it since"
    assert again.grown_by(MESSAGES[2:]).once(of, (first,), 7) == 7
    assert len(asked) == 6


def test_a_context_is_metered_again_only_for_what_a_meter_begins_with() -> None:
    read: list[bool] = []

    @dataclass
    class Counting:
        marker: bool
        value: int = 0

        def add(self, message: Message, chars: int, tokens: int) -> None:
            read.append(self.marker)
            self.value += 1

    one = replace(TRIM, meters={"n": lambda context, policy: Counting(policy.marker)})
    context, policy = context_of(MESSAGES), TrimPolicy()
    again = context.with_(layout=Layout(context.shape, replace(context.layout.sizes, overhead=9)))
    for given_to, chosen in (
        (context, policy),
        (context.with_(summary_versions={"s": 3}), policy.with_(target_messages=7)),
        (context, policy.with_(marker=True)),
        (again, policy.with_(marker=True)),
    ):
        assert one.gauge(given_to, chosen).meters == {"n": 3}
    assert read == [False] * 3 + [True] * 6


def test_a_shape_that_has_grown_knows_the_places_of_all() -> None:
    first = Shape([user(id, "word") for id in "ab"])
    assert first.index_of == {"a": 0, "b": 1}
    one, other = (first.grown_by([user(id, "word") for id in ids]) for ids in ("cd", "e"))
    assert [message.id for message in one.messages] == ["a", "b", "c", "d"]
    assert (one.index_of, other.index_of) == ({"a": 0, "b": 1, "c": 2, "d": 3}, {"a": 0, "b": 1, "e": 2})
    assert first.index_of == {"a": 0, "b": 1}, "found out again"


@pytest.mark.parametrize(
    ("kinds", "unread"),
    [
        ("", ""),
        ("u", "0"),
        ("uu", "1"),
        ("uuu", "2"),
        ("su", "1"),
        ("suu", "12"),
        ("us", ""),
        ("usu", "2"),
        ("uua", ""),
        ("uau", "2"),
        ("uauu", "23"),
        ("sauu", "23"),
        ("asuu", "23"),
        ("y", ""),
        ("uy", ""),
        ("yu", "1"),
        ("yuu", "2"),
        ("uam", "2"),
    ],
)
def test_c_where_nobody_answered_the_newest_or_what_follows_a_summary_is_unread(kinds: str, unread: str) -> None:
    """User, agent, summary, the session's own system message, what a tool put there (meta)."""
    made = {
        "u": lambda id: user(id, "word"),
        "m": lambda id: user(id, "word", "meta"),
        "a": lambda id: agent(id, "word"),
        "s": lambda id: user(id, "word", "summary"),
        "y": lambda id: Message(id, "system", (Text("word"),)),
    }
    messages = [made[kind](f"{kind}{n}") for n, kind in enumerate(kinds)]
    assert Shape(messages).unread == tuple(map(int, unread))
