"""Epochs in one line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui.app import session_of, story
from workbench.analysis.recorded_compactions import following, recorded_outcome
from workbench.analysis.retention import retention
from workbench.analysis.timeline import TimelineEpoch, facts_lost, size_when_compacted, sizes_at_end, timeline
from workbench.compaction.opening import context_at
from workbench.session import Compaction, Epoch, Message, Session, Text
from workbench.tokens import Counter

ENDED = Compaction("auto", 9_000, "s")


def compacted(summary: str) -> Session:
    told = story(2).messages
    more = (Message("s", "user", (Text(summary),), kind="summary"), Message("n", "user", (Text("Go on."),)))
    members = range(len(told))
    epochs = (Epoch(1, members, ENDED), Epoch(2, range(len(told), len(told) + 2)))
    return replace(session_of((*told, *more)), epochs=epochs)


def test_an_epoch_is_as_large_as_its_context_at_its_end_whatever_was_recorded() -> None:
    session, counter = compacted("It went on."), Counter()
    sizes = sizes_at_end(session, counter)
    assert sizes == tuple(context_at(session, number, counter).total.tokens for number in (1, 2))
    assert timeline(session, sizes) == (TimelineEpoch(1, sizes[0], ENDED), TimelineEpoch(2, sizes[1], None))
    assert [one.tokens for one in timeline(session)] == [0, 0]
    assert [one.lost for one in timeline(session, sizes, {1: 4, 2: None})] == [4, None]
    assert [one.again for one in timeline(session, sizes, {}, {1: 6})] == [6, None]


@pytest.mark.parametrize(
    ("ended", "word"),
    [
        (ENDED, "auto"),
        (Compaction("manual"), "by hand"),
        (Compaction(""), "compacted"),
        (Compaction("auto", way="clearing"), "cleared"),
        (Compaction("auto", way="removal"), "cut"),
        (None, ""),
    ],
)
def test_how_it_was_compacted_is_a_word(ended: Compaction | None, word: str) -> None:
    assert TimelineEpoch(1, 0, ended).trigger == word


def test_lost_facts_are_those_not_kept_at_all() -> None:
    session, counter = compacted("It went on."), Counter()
    held = retention(context_at(session, 1, counter), recorded_outcome(session, 1), following(session, 1))
    assert facts_lost(session, 1, counter) == held.overall.lost > 0
    assert facts_lost(session, 2, counter) is None  # it did not end
    assert facts_lost(compacted(""), 1, counter) is None  # nobody can read its summary


def test_the_agents_limit_is_that_of_this_epoch_or_of_the_one_before() -> None:
    by_hand = Compaction("manual", 300)
    one, two, three = TimelineEpoch(1, 100, ENDED), TimelineEpoch(2, 200, ENDED), TimelineEpoch(3, 50, None)
    assert [size_when_compacted((one, two, three), epoch) for epoch in (1, 2, 3)] == [100, 200, 200]
    assert size_when_compacted((one, TimelineEpoch(2, 300, by_hand), three), 3) == 0
    assert size_when_compacted((one, TimelineEpoch(2, 0, None), three), 3) == 0
    assert size_when_compacted((three,), 1) == 0
