"""Cuts between exchanges."""

from hypothesis import given
from hypothesis import strategies as st

from workbench.compaction.exchange.cut import CutSettings, ExchangeCut, HistorySize, cut_exchanges, history_of
from workbench.compaction.shape import api_chars
from workbench.conformance.building import context_of, loop, summary
from workbench.session import Message, Span, Text

ANY = st.builds(
    Message,
    st.uuids().map(str),
    st.sampled_from(["system", "user", "assistant", "tool"]),
    st.text(max_size=9).map(lambda text: (Text(text),)),
    kind=st.sampled_from(["normal", "summary", "meta"]),
)


@given(st.lists(ANY, max_size=12), st.data(), st.booleans(), st.booleans())
def test_the_running_size_of_the_history_is_that_of_its_exchanges(
    messages: list[Message], data: st.DataObject, enabled: bool, side_by_side: bool
) -> None:
    versions = {message.id: data.draw(st.integers(2, 4)) for message in messages[::2]}
    running = HistorySize(versions, version=3, enabled=enabled, side_by_side=side_by_side)
    for count, message in enumerate(messages, 1):
        running.add(message, api_chars(message), 0)
        context = context_of(messages[:count], summary_versions=versions)
        found = history_of(context, version=3, enabled=enabled, side_by_side=side_by_side)
        assert running.value == sum(found.sizes)


def test_an_earlier_summary_between_exchanges_of_the_head_is_not_summarized() -> None:
    messages = [*loop("1", 0), summary("s", "old"), *loop("2", 0), *loop("3", 0)]
    context = context_of(messages, split_at="3u")
    history = history_of(context, version=3, enabled=True, side_by_side=True)
    cut = cut_exchanges(context, history, CutSettings(0, 0, 0), [])
    assert isinstance(cut, ExchangeCut)
    assert (cut.head, cut.shown) == ((Span(0, 2), Span(3, 5)),) * 2
    assert (cut.earlier, cut.last, cut.tail) == ((2,), Span(3, 5), 5)
