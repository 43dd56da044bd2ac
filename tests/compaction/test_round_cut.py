"""Cutting off whole rounds: the archived head, messages that stay, and the archive's place."""

from __future__ import annotations

import pytest

from workbench.compaction.layered.round_cut import RoundCut, archive_place, cut_rounds, without_archive
from workbench.conformance.building import agent, call, chat, context_of, result, summary, user
from workbench.session import Message, Span, Text

RULE = Message("s", "system", (Text("rule"),))
NOTE = user("n", "note", "meta")
OLD = summary("old", "before")
LOOSE = result("r", ("elsewhere", "1"))


@pytest.mark.parametrize(
    ("left", "place"),
    [
        ([RULE, OLD, user("u", "x")], 2),
        ([RULE, user("u", "x"), OLD, NOTE], 3),
        ([OLD, user("u", "x"), summary("older", "y"), NOTE], 3),
        ([RULE, user("u", "x"), NOTE], 1),
        ([RULE, agent("a", "x"), OLD], 1),
        ([RULE, LOOSE, OLD], 1),
        ([OLD, agent("a", "x")], 1),
        ([], 0),
    ],
)
def test_the_archive_stands_after_earlier_ones_unless_an_answer_would_open(left: list[Message], place: int) -> None:
    gone = user("gone", "x")
    messages = [one for message in left for one in (gone, message)]
    assert archive_place(messages, range(1, len(messages), 2)) == place


LAST = [user("u", "x"), agent("a", "", call("c")), result("b", ("c", "1"))]


@pytest.mark.parametrize(
    ("last", "ended"),
    [
        ([], 2),
        ([user("u", "x")], 2),
        ([user("u", "x"), agent("a", "y")], 4),
        ([user("u", "x"), agent("a", "y"), NOTE], 5),
        (LAST[:2], 2),
        (LAST, 2),
        ([*LAST, NOTE], 2),
        ([*LAST, agent("z", "done"), NOTE], 7),
        ([user("u", "x"), agent("a", "y"), LOOSE], 2),
        ([user("u", "x"), agent("a", "y"), LOOSE, NOTE], 2),
    ],
)
def test_a_round_is_open_until_an_answer_ends_it(last: list[Message], ended: int) -> None:
    assert cut_rounds(context_of([*chat(1, "0"), *last]), 1, keep_summaries=False, trace=[]).ended == ended


def test_rounds_that_hold_only_what_stays_are_not_archived() -> None:
    context = context_of([RULE, *chat(3)], pins=frozenset({"u0", "a0"}))
    why = "the oldest rounds contain only pins, system messages and summaries"
    assert cut_rounds(context, 2, keep_summaries=False, trace=[]) == RoundCut(0, (), (), frozenset({1, 2}), (), 7, why)
    few = "3 finished rounds; at least 3 are kept"
    assert cut_rounds(context, 3, keep_summaries=False, trace=[]) == RoundCut(0, (), (), frozenset({1, 2}), (), 7, few)


@pytest.mark.parametrize(
    ("keep", "stays", "earlier", "head"),
    [(False, (0,), (3,), (Span(1, 3), Span(4, 6))), (True, (0, 3), (), (Span(1, 3), Span(4, 6)))],
)
def test_earlier_summaries_stay_or_are_told_apart(
    keep: bool, stays: tuple[int, ...], earlier: tuple[int, ...], head: tuple[Span, ...]
) -> None:
    context = context_of([RULE, *chat(1, "0"), OLD, *chat(3)])
    cut = cut_rounds(context, 2, keep_summaries=keep, trace=(trace := []))
    assert cut == RoundCut(6, head, stays, frozenset(), earlier, 10)
    assert trace == ["archived: the oldest 2 of 4 finished rounds, 6 messages, 16 tokens; kept: the newest 2"]
    bare = without_archive(context, cut, keep_summaries=True)
    assert bare == RoundCut(6, (Span(1, 3), Span(4, 6)), (0, 3), frozenset(), (), 10)


def test_without_an_archive_a_pinned_answer_keeps_what_it_answers() -> None:
    context = context_of([RULE, *chat(4)], pins=frozenset({"a1"}))
    cut = cut_rounds(context, 2, keep_summaries=False, trace=[])
    assert (cut.stays, cut.head) == ((0, 4), (Span(1, 4),))
    bare = without_archive(context, cut, keep_summaries=False)
    assert (bare.stays, bare.head) == ((0, 3, 4), (Span(1, 3),))
    first = context.with_(pins=frozenset({"u0", "a1"}))
    cut = cut_rounds(first, 2, keep_summaries=False, trace=[])
    assert without_archive(first, cut, keep_summaries=False) == cut
