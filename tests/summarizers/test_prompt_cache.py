"""A request that goes on with the agent's own conversation: where the marks stand, that what is shown is what is sent,
and what was read from the cache is told and priced."""

from __future__ import annotations

import json

import pytest

from tests.summarizers.fake_api import MODEL, FakeApi, answer, error, in_one_piece, usage
from tests.summarizers.live_calls import ask, over
from tests.summarizers.test_anthropic import SESSION, conversation
from workbench.base import paths
from workbench.compaction.summary_request import RequestShape, Summary
from workbench.session import Usage
from workbench.summarizers.by_name import SummarizerName, parse_name, request_as_sent
from workbench.summarizers.connections import connection_named
from workbench.summarizers.live_events import FieldDropped
from workbench.summarizers.protocols.cache_marks import MARK, with_cache_marks
from workbench.summarizers.spend_limit import uncached_usage
from workbench.tokens.cost import actual, actual_of_all, usage_words

SHAPES: tuple[RequestShape, ...] = ("messages", "messages_without_tools", "messages_under_prompt")


def text(words: str, **more: object) -> dict[str, object]:
    return {"type": "text", "text": words, **more}


OLD = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
NEW = {"cache_control": MARK}
ASKS = {"role": "user", "content": "Sum up."}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            {"system": "Be brief.", "messages": [{"role": "user", "content": "go"}, ASKS]},
            {"system": [text("Be brief.", **NEW)],
             "messages": [{"role": "user", "content": [text("go", **NEW)]}, ASKS]},
        ),
        (
            {"system": [text("a", **OLD), text("b", **OLD)], "messages": [
                {"role": "user", "content": [text("go", **OLD)]},
                {"role": "assistant", "content": [text("done"), {"type": "thinking", "thinking": "x"}]},
                {"role": "assistant", "content": [text("  ")]},
                ASKS]},
            {"system": [text("a"), text("b", **NEW)], "messages": [
                {"role": "user", "content": [text("go")]},
                {"role": "assistant", "content": [text("done", **NEW), {"type": "thinking", "thinking": "x"}]},
                {"role": "assistant", "content": [text("  ")]},
                ASKS]},
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c"}]}, ASKS]},
            {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", **NEW}]}, ASKS]},
        ),
        (
            {"tools": [{"name": "a", **OLD}, {"name": "b", "input_schema": {"cache_control": 1}, **OLD}],
             "messages": [{"role": "user", "content": [
                 {"type": "tool_result", "tool_use_id": "c", "content": [text("x", **OLD)]}]}, ASKS]},
            {"tools": [{"name": "a"}, {"name": "b", "input_schema": {"cache_control": 1}}],
             "messages": [{"role": "user", "content": [
                 {"type": "tool_result", "tool_use_id": "c", "content": [text("x")], **NEW}]}, ASKS]},
        ),
        ({"messages": [ASKS]}, {"messages": [ASKS]}),
    ],
)  # fmt: skip
def test_a_mark_ends_the_system_prompt_and_the_conversation(
    body: dict[str, object], expected: dict[str, object]
) -> None:
    before = json.dumps(body)
    assert with_cache_marks(body) == expected
    assert json.dumps(body) == before


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("protocol", ["messages", "chat", "responses"])
async def test_what_is_shown_is_what_is_sent(protocol: str, shape: RequestShape, api: FakeApi) -> None:
    paths.settings().parent.mkdir(parents=True, exist_ok=True)
    here = f'base_url = "{api.url}{"" if protocol == "messages" else "/v1"}"'
    paths.settings().write_text(f'[connections.here]\nprotocol = "{protocol}"\n{here}\n')
    over(protocol, api)
    api.replies = [answer("A summary.")]
    asked = conversation(shape)
    await ask(asked, connection=connection_named("here"), session=SESSION)
    shown = json.loads(request_as_sent(asked, SummarizerName("here", MODEL), SESSION))
    sent = api.received[0].body
    assert {**shown, "stream": True} == sent
    assert ("cache_control" in json.dumps(sent)) == (protocol == "messages" and shape == "messages")
    assert request_as_sent(asked, parse_name("extractive"), SESSION) == asked.text


async def test_a_server_that_takes_no_marks_is_asked_without(api: FakeApi) -> None:
    api.replies = [error(400, "invalid_request_error", "cache_control: extra inputs"), answer("A summary.")]
    got, events = await ask(conversation("messages"), session=SESSION)
    assert isinstance(got, Summary)
    assert [event.field for event in events if isinstance(event, FieldDropped)] == ["cache_control"]
    assert [("cache_control" in json.dumps(sent.body)) for sent in api.received] == [True, False]
    assert api.received[1].body["system"] == "You are careful."


async def test_what_the_cache_gave_is_told_and_priced(api: FakeApi) -> None:
    """By hand, for Claude Sonnet 4.5 at $3, $15, $0.30 and $3.75 a million: 0.0003 + 0.003 + 0.0075 + 0.00105."""
    api.replies = [
        in_one_piece("Fixed.", usage=usage(100, 70, cache_read_input_tokens=10_000, cache_creation_input_tokens=2_000))
    ]
    got, _ = await ask(conversation("messages"), session=SESSION)
    assert isinstance(got, Summary)
    assert got.usage == Usage(100, 70, 10_000, 2_000)
    assert actual(got.usage, "claude-sonnet-4-5").dollars == pytest.approx(0.01185)
    said = usage_words(got.usage).replace("\u202f", " ")
    assert said == "12 100 tokens in (10 000 read from the cache, 2 000 written to it), 70 out"


@pytest.mark.parametrize(
    ("shape", "name", "billed"),
    [
        ("messages", SummarizerName("anthropic", MODEL), Usage(0, 20, cache_write=900)),
        ("messages_under_prompt", SummarizerName("anthropic", MODEL), Usage(900, 20)),
        ("messages", SummarizerName("openai", "gpt-5"), Usage(900, 20)),
    ],
)
def test_what_nothing_holds_yet_is_priced_as_written_to_the_cache(
    shape: RequestShape, name: SummarizerName, billed: Usage
) -> None:
    assert uncached_usage(conversation(shape), name.connection, 900, 20) == billed


def test_prices_of_long_contexts_are_those_of_a_call() -> None:
    """Two calls of 150 000 tokens at $3 a million, and none of 300 000 at $6."""
    two = [Usage(150_000)] * 2
    assert actual_of_all(two, "claude-sonnet-4-5").dollars == pytest.approx(0.90)
    assert actual(Usage(300_000), "claude-sonnet-4-5").dollars == pytest.approx(1.80)
