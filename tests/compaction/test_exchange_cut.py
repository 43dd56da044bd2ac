"""Cuts between exchanges."""

from hypothesis import given
from hypothesis import strategies as st

from workbench.compaction.exchange.cut import HistorySize, history_of
from workbench.compaction.shape import api_chars
from workbench.conformance.building import context_of
from workbench.session import Message, Text

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
