"""Rounds, exchanges and pairs."""

import itertools

from hypothesis import given

from workbench.conformance.building import agent, call, result, summary, user
from workbench.conformance.drawn import conversations
from workbench.session import Message, Span, Text, exchanges_of, pairs_of, rounds_of


def spans(found: tuple[Span, ...]) -> list[tuple[int, int]]:
    return [(span.start, span.stop) for span in found]


def test_a_round_goes_from_a_users_message_to_the_end_of_the_answer() -> None:
    messages = [
        user("u1", "do"),
        agent("a1", "", call("c1")),
        result("r1", ("c1", "x")),
        agent("a2", "done"),
        user("u2", "more"),
        agent("a3", "done"),
    ]
    assert spans(rounds_of(messages).rounds) == [(0, 4), (4, 6)]


def test_what_starts_no_round() -> None:
    messages = [
        summary("s", "earlier"),
        user("i", "<system-reminder>", kind="meta"),
        user("u1", "do"),
        agent("a1", "ok"),
        user("x", "[Request interrupted by user]", kind="meta"),
        agent("a2", "ok"),
    ]
    found = rounds_of(messages)
    assert (found.preamble.start, found.preamble.stop) == (0, 2)
    assert spans(found.rounds) == [(2, 6)]


def test_a_last_message_without_an_answer_is_the_current_input() -> None:
    found = rounds_of([user("u1", "do"), agent("a1", "ok"), user("u2", "and"), user("u3", "also")])
    assert spans(found.rounds) == [(0, 2)]
    assert (found.current_input.start, found.current_input.stop) == (2, 4)


def test_exchanges() -> None:
    messages = [
        Message("s", "system", (Text("You are"),)),
        user("u1", "do"),
        agent("a1", "", call("c1"), call("c2")),
        result("r1", ("c1", "x")),
        result("r2", ("c2", "x")),
        agent("a2", "done"),
        user("u2", "more"),
    ]
    assert spans(exchanges_of(messages)) == [(1, 3), (3, 6), (6, 7)]


def test_a_summary_stands_in_an_exchange_of_its_own() -> None:
    claude = [summary("s", "earlier"), agent("a1", "going on")]
    assert spans(exchanges_of(claude)) == [(0, 1), (1, 2)]
    augment = [user("u", "x"), summary("s", "earlier"), agent("a1", "Ok.", kind="summary"), agent("a2", "on")]
    assert spans(exchanges_of(augment)) == [(0, 1), (1, 3), (3, 4)]


def test_repeated_ids_pair_in_order() -> None:
    messages = [
        agent("a1", "", call("c")),
        result("r1", ("c", "1")),
        agent("a2", "", call("c")),
        result("r2", ("c", "2")),
    ]
    assert [(p.call, p.result) for p in pairs_of(messages)] == [(0, 1), (2, 3)]


def test_open_calls_and_orphan_results() -> None:
    found = pairs_of([result("r1", ("gone", "x")), agent("a1", "", call("c"))])
    assert [(p.call, p.result) for p in found] == [(None, 0), (1, None)]


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
