"""Two composed outcomes, in terms of the first one's input."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.compaction.compose import composed
from workbench.compaction.outcome import Fate, FateSpan, KeptSpan, NewMessage, Outcome
from workbench.conformance.building import agent, summary, user
from workbench.session import Span

MESSAGES = tuple(user(f"u{n}", "x") if n % 2 == 0 else agent(f"a{n}", "x") for n in range(8))


def first() -> Outcome:
    """0 is kept, 1 and 2 summarized, 3 dropped, 4 pinned, the rest kept."""
    return Outcome(
        "compacted",
        "one",
        MESSAGES,
        (KeptSpan(0, 1), NewMessage(summary("s1", "S1"), (Span(1, 3),)), KeptSpan(4, 8)),
        (
            FateSpan(0, 1, Fate.KEPT),
            FateSpan(1, 3, Fate.SUMMARIZED, "part"),
            FateSpan(3, 4, Fate.DROPPED),
            FateSpan(4, 5, Fate.PINNED),
            FateSpan(5, 8, Fate.KEPT),
        ),
        trace=("first",),
    )


def test_fates_and_provenance_speak_of_the_input_through_generations() -> None:
    one = first()
    source = one.messages
    assert [m.id for m in source] == ["u0", "s1", "u4", "a5", "u6", "a7"]
    two = Outcome(
        "compacted",
        "two",
        source,
        (KeptSpan(0, 1), NewMessage(summary("s2", "S2"), (Span(1, 2), Span(3, 5))), KeptSpan(2, 3), KeptSpan(5, 6)),
        (
            FateSpan(0, 1, Fate.KEPT),
            FateSpan(1, 2, Fate.SUMMARIZED, "all"),
            FateSpan(2, 3, Fate.PINNED),
            FateSpan(3, 5, Fate.SUMMARIZED, "all"),
            FateSpan(5, 6, Fate.KEPT),
        ),
        trace=("second",),
    )
    both = composed(one, two)
    assert both.source is MESSAGES
    assert both.messages == two.messages
    assert both.provenance == ((Span(0, 1),), (Span(1, 3), Span(5, 7)), (Span(4, 5),), (Span(7, 8),))
    told = [f"{both.fate_at(i).fate.value} {both.fate_at(i).saw}" for i in range(8)]
    assert told[:3] == ["kept nothing", "summarized part", "summarized part"]
    assert told[3:] == ["dropped nothing", "pinned nothing", "summarized all", "summarized all", "kept nothing"]
    assert (both.reason, both.trace) == ("two", ("first", "second"))


def test_a_summary_that_the_second_keeps_still_names_its_inputs() -> None:
    one = first()
    count = len(one.messages)
    pieces = (KeptSpan(0, 3), KeptSpan(3, count))
    two = Outcome("compacted", "", one.messages, pieces, (FateSpan(0, count, Fate.KEPT),))
    both = composed(one, two)
    assert both.pieces == one.pieces  # what follows one another is one piece again
    assert both.provenance == one.provenance
    fates = [one.fate_at(i).fate for i in range(8)]
    assert [both.fate_at(i).fate for i in range(8)] == [Fate.KEPT if f is Fate.PINNED else f for f in fates]


@pytest.mark.parametrize(
    ("fate", "expected"),
    [
        (Fate.KEPT, (Fate.COMPRESSED, "part")),
        (Fate.PINNED, (Fate.COMPRESSED, "part")),
        (Fate.SUMMARIZED, (Fate.SUMMARIZED, "part")),
        (Fate.ABRIDGED, (Fate.ABRIDGED, "part")),
        (Fate.DROPPED, (Fate.DROPPED, "part")),
    ],
)
def test_what_the_first_compressed_has_the_seconds_fate_unless_that_keeps_it(
    fate: Fate, expected: tuple[Fate, str]
) -> None:
    fates = (FateSpan(0, 1, Fate.KEPT), FateSpan(1, 2, Fate.COMPRESSED, "part"))
    one = Outcome("compacted", "", MESSAGES[:2], (KeptSpan(0, 1), NewMessage(agent("a1", "-"), (Span(1, 2),))), fates)
    two = Outcome(
        "compacted", "", one.messages, (KeptSpan(0, 2),), (FateSpan(0, 1, Fate.KEPT), FateSpan(1, 2, fate, "all"))
    )
    assert [(span.fate, span.saw) for span in composed(one, two).fates] == [(Fate.KEPT, "nothing"), expected]


@pytest.mark.parametrize(("place", "stood"), [(0, 0), (1, 1), (2, 4), (3, 5), (5, 7), (6, 8)])
def test_a_tail_is_told_where_it_stood(place: int, stood: int) -> None:
    one = first()
    two = Outcome("compacted", "", one.messages, (KeptSpan(0, 6),), (FateSpan(0, 6, Fate.KEPT),), tail=place)
    assert composed(one, two).tail == stood


@pytest.mark.parametrize(
    ("before", "after", "left"),
    [(None, None, None), ("1", None, "1"), (None, "2", "2"), ("1", "2", "2"), ("1", "", "")],
)
def test_memories_are_the_seconds_where_it_wrote_any(before: str | None, after: str | None, left: str | None) -> None:
    one = replace(first(), memories=before)
    two = Outcome("compacted", "", one.messages, (KeptSpan(0, 6),), (FateSpan(0, 6, Fate.KEPT),), memories=after)
    assert composed(one, two).memories == left
