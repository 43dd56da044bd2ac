"""Where exchanges are cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.compaction.exchange.cut import HistorySize, guarded_start, head_length, history_of
from workbench.compaction.shape import api_chars
from workbench.conformance.building import context_of
from workbench.session import Message, Text


@pytest.mark.parametrize(
    ("sizes", "tail_chars", "min_tail", "head"),
    [
        ([1_300, 1_300, 1_300, 1_300, 1_200, 1_200, 800, 800, 800, 800], 3_000, 1, 7),
        ([1_000] * 10, 3_000, 1, 8),
        ([500, 9_000], 3_000, 1, 1),
        ([9_000], 3_000, 1, 0),
        ([500, 500, 500], 1_000, 0, 2),
    ],
)
def test_the_tail_is_below_its_limit(sizes: list[int], tail_chars: int, min_tail: int, head: int) -> None:
    assert head_length(sizes, tail_chars, min_tail) == head


@pytest.mark.parametrize(("segments", "start"), [(3, 0), (4, 2), (5, 2), (6, 4), (7, 4)])
def test_vector_4_segments(segments: int, start: int) -> None:
    sizes = [200_000] * segments  # one exchange fills a segment of 800 000 / 3: two of them do not fit
    assert guarded_start(sizes, 800_000) == start


def test_an_oversize_first_exchange_opens_an_empty_first_segment() -> None:
    # [], [300k], [200k], [200k] are four segments: the third begins at exchange 1.
    assert guarded_start([300_000, 200_000, 200_000], 800_000) == 1


@given(st.lists(st.integers(1, 5_000), max_size=40), st.integers(0, 20_000), st.integers(0, 5))
def test_the_walk_agrees_with_the_document(sizes: list[int], tail_chars: int, min_tail: int) -> None:
    """The document's own loop, which goes on after the first exchange of the head."""
    total, tail, head = 0, [], []
    for size in reversed(sizes):
        (tail if total + size < tail_chars or len(tail) < min_tail else head).append(size)
        total += size
    assert head_length(sizes, tail_chars, min_tail) == len(head)


@pytest.mark.parametrize(("limit", "start"), [(1_199, 6), (1_200, 4), (1_201, 4)])
def test_a_segment_holds_a_third_of_the_limit_and_no_more(limit: int, start: int) -> None:
    """Two exchanges of 200 are a third of 1 200: four segments. Where they are over it, each is one of its own."""
    assert guarded_start([200] * 8, limit) == start


ANY = st.builds(
    Message,
    st.uuids().map(str),
    st.sampled_from(["system", "user", "assistant", "tool"]),
    st.text(max_size=9).map(lambda text: (Text(text),)),
    kind=st.sampled_from(["normal", "summary", "meta"]),
)


@given(st.lists(ANY, max_size=12), st.data(), st.booleans())
def test_the_running_size_of_the_history_is_that_of_its_exchanges(
    messages: list[Message], data: st.DataObject, enabled: bool
) -> None:
    versions = {message.id: data.draw(st.integers(2, 4)) for message in messages[::2]}
    running = HistorySize(versions, version=3, enabled=enabled)
    for count, message in enumerate(messages, 1):
        running.add(message, api_chars(message), 0)
        context = context_of(messages[:count], summary_versions=versions)
        assert running.value == sum(history_of(context, version=3, enabled=enabled).sizes)
