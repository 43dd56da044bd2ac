"""Rounds, exchanges and pairs."""

import itertools

import pytest
from hypothesis import given

from workbench.conformance.building import agent, call, result, summary, user
from workbench.conformance.drawn import conversations
from workbench.session import Message, Span, Text, exchanges_of, pairs_of, rounds_of


def spans(found: tuple[Span, ...]) -> list[tuple[int, int]]:
    return [(span.start, span.stop) for span in found]


DO, ON, CALLING, GOT = user("u", "do"), agent("a", "on"), agent("c", "", call("c1")), result("r", ("c1", "x"))
EARLIER = summary("s", "earlier")


@pytest.mark.parametrize(
    ("messages", "preamble", "rounds", "current_input"),
    [
        ([DO, CALLING, GOT, ON, DO, ON], (0, 0), [(0, 4), (4, 6)], (6, 6)),
        # A summary, what the tool put in and an interruption start no round.
        ([EARLIER, user("i", "<x>", "meta"), DO, ON, user("x", "[stop]", "meta"), ON], (0, 2), [(2, 6)], (6, 6)),
        # The last messages without an answer are the current input.
        ([DO, ON, DO, DO], (0, 0), [(0, 2)], (2, 4)),
    ],
)
def test_a_round_goes_from_a_users_message_to_the_end_of_the_answer(
    messages: list[Message], preamble: tuple[int, int], rounds: list[tuple[int, int]], current_input: tuple[int, int]
) -> None:
    found = rounds_of(messages)
    assert spans((found.preamble, *found.rounds, found.current_input)) == [preamble, *rounds, current_input]


@pytest.mark.parametrize(
    ("messages", "exchanges"),
    [
        ([Message("s", "system", (Text("You are"),)), DO, CALLING, GOT, GOT, ON, DO], [(1, 3), (3, 6), (6, 7)]),
        # A summary stands in an exchange of its own, with the answer that belongs to it.
        ([EARLIER, ON], [(0, 1), (1, 2)]),
        ([DO, EARLIER, agent("k", "Ok.", kind="summary"), ON], [(0, 1), (1, 3), (3, 4)]),
    ],
)
def test_exchanges(messages: list[Message], exchanges: list[tuple[int, int]]) -> None:
    assert spans(exchanges_of(messages)) == exchanges


@pytest.mark.parametrize(
    ("messages", "pairs"),
    [
        ([CALLING, GOT, CALLING, GOT], [(0, 1), (2, 3)]),  # repeated ids, in order
        ([result("r1", ("gone", "x")), CALLING], [(None, 0), (1, None)]),
    ],
)
def test_calls_and_results_are_paired(messages: list[Message], pairs: list[tuple[int | None, int | None]]) -> None:
    assert [(pair.call, pair.result) for pair in pairs_of(messages)] == pairs


@given(conversations())
def test_units_cover_the_context_without_gap_or_overlap(messages: tuple[Message, ...]) -> None:
    found = rounds_of(messages)
    bounds = [found.preamble, *found.rounds, found.current_input]
    assert bounds[0].start == 0
    assert bounds[-1].stop == len(messages)
    assert all(a.stop == b.start for a, b in itertools.pairwise(bounds))
    covered = exchanges_of(messages)
    assert all(a.stop == b.start for a, b in itertools.pairwise(covered))
    assert not covered or covered[-1].stop == len(messages)
    assert all(sum(m.role == "assistant" for m in messages[s.start : s.stop]) <= 1 for s in covered)
