"""Requests made of the messages themselves: their content, messages omitted over the limit, and the key of recorded
answers."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.compaction.context import Context
from workbench.compaction.outcome import Fate, Outcome
from workbench.compaction.strategies import context_reset, message_window, user_messages
from workbench.compaction.strategy import Strategy
from workbench.compaction.summary_request import ASK, MessagesBody, RequestShape, SummaryRequest, TextBody
from workbench.conformance.building import agent, call, chat, context_of, result, summary, user
from workbench.conformance.strategies import run
from workbench.session import Message, Text, Tool

TOOL = Tool("Bash", '{"name":"Bash"}')
RULE = Message("sys", "system", (Text("be brief"),))
ROUND = [user("u", "go"), agent("a", "", call("c")), result("r", ("c", "x" * 100)), agent("z", "done")]
STRATEGIES = (user_messages.STRATEGY, context_reset.STRATEGY, message_window.STRATEGY)


def asked(
    messages: list[Message], shape: RequestShape, strategy: Strategy[Any] = user_messages.STRATEGY, **settings: Any
) -> tuple[Context, Outcome, SummaryRequest]:
    settings = {"user_message_tokens": 0} | settings if strategy is user_messages.STRATEGY else settings
    context = context_of(messages, system="You are careful.", tools=(TOOL,))
    policy = strategy.policy_type(prompt="Sum up.", request_shape=shape, **settings)
    outcome, requests = run(strategy, context, policy)
    return context, outcome, requests[0]


def body_of(request: SummaryRequest) -> MessagesBody:
    assert isinstance(request.body, MessagesBody)
    return request.body


@pytest.mark.parametrize(
    ("shape", "system", "tools", "last"),
    [
        ("messages", "You are careful.", (TOOL,), "Sum up."),
        ("messages_without_tools", "You are careful.", (), "Sum up."),
        ("messages_under_prompt", "Sum up.", (), ASK["en"]),
    ],
)
def test_what_stands_around_the_messages(shape: RequestShape, system: str, tools: tuple[Tool, ...], last: str) -> None:
    context, outcome, request = asked([RULE, *ROUND], shape)
    assert request.body == MessagesBody(shape, system, tools, context.messages, last)  # type: ignore[arg-type]
    assert [message.id for message in request.messages] == ["u", "a", "r", "z"], "what is summarized"
    assert [span.saw for span in outcome.fates if span.fate is Fate.SUMMARIZED] == ["all"]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda one: one.id)
def test_one_text_is_the_default_and_the_outcome_is_the_same(strategy: Strategy[Any]) -> None:
    messages = [summary("old", "the lexer was done"), *ROUND, *chat(20)]
    window = {"safe_end": "whole_pairs", "language": "en", "call_char_limit": 100}
    wishes = window if strategy is message_window.STRATEGY else {}
    _, text, told = asked(messages, "text", strategy, **wishes)
    _, whole, sent = asked(messages, "messages", strategy, **wishes)
    assert isinstance(told.body, TextBody)
    assert isinstance(sent.body, MessagesBody)
    assert (text.messages, text.fates) == (whole.messages, whole.fates)
    assert [m.id for m in told.messages] == [m.id for m in sent.messages]
    assert told.key != sent.key


@pytest.mark.parametrize(
    ("choice", "ids", "last"),
    [
        ("drop", ["u", "a", "r", "z"], "Sum up."),
        ("nest", ["old", "u", "a", "r", "z"], "Sum up."),
        ("keep", ["old", "u", "a", "r", "z"], "Sum up."),
        ("extend", ["old", "u", "a", "r", "z"], "Sum up.\n\nAn earlier summary of what came before. It is carried on"),
    ],
)
def test_an_earlier_summary_stands_among_the_messages(choice: str, ids: list[str], last: str) -> None:
    _, _, request = asked([summary("old", "the lexer was done"), *ROUND], "messages", earlier_summary=choice)
    body = body_of(request)
    assert [message.id for message in body.messages] == ids
    assert body.last.startswith(last)
    assert "the lexer" not in body.last


SYSTEM, FIRST, *_ = LIMITED = [RULE, user("o", "first"), *ROUND]
API = context_of(LIMITED).shape.api_chars
FROM = [API[-1] - API[index] + len("Sum up.") for index in range(len(LIMITED) + 1)]
"""Characters of a request with the messages from an index on."""


@pytest.mark.parametrize(
    ("limit", "ids"),
    [
        (0, "sys o u a r z"),
        (FROM[1], "sys o u a r z"),
        (FROM[1] - 1, "sys u a r z"),
        (FROM[2], "sys u a r z"),
        (FROM[2] - 1, "sys a r z"),
        (FROM[3], "sys a r z"),
        (FROM[3] - 1, "sys z"),  # a result does not go without its call
        (FROM[4], "sys z"),
        (FROM[5], "sys z"),
    ],
)
def test_over_the_limit_the_oldest_messages_are_not_sent(limit: int, ids: str) -> None:
    context, outcome, request = asked(LIMITED, "messages", request_char_limit=limit)
    assert [message.id for message in body_of(request).messages] == ids.split()
    dropped = {context.messages[i].id for i in range(len(context)) if outcome.fate_at(i).fate is Fate.DROPPED}
    assert dropped == {message.id for message in LIMITED} - set(ids.split())
    told = [line for line in outcome.trace if "request over its limit" in line]
    many = f"{len(dropped)} message{'s' if len(dropped) > 1 else ''}"
    assert told == ([f"request over its limit: the oldest {many} not sent"] if dropped else [])


def test_where_not_even_the_newest_fits_nothing_happens() -> None:
    policy = user_messages.UserMessagesPolicy(
        user_message_tokens=0, prompt="Sum up.", request_shape="messages", request_char_limit=FROM[5] - 1
    )
    outcome, requests = run(user_messages.STRATEGY, context_of(LIMITED), policy)
    assert (outcome.status, requests) == ("unchanged", [])
    assert outcome.reason == f"the summarizer failed (overflow): no message fits into {FROM[5] - 1} characters"


def test_a_conversation_is_read_in_tags() -> None:
    _, _, request = asked([user("u", "go"), agent("z", "done")], "messages")
    assert request.text == (
        "<system_prompt>\nYou are careful.\n</system_prompt>\n"
        '<tools>\n{"name":"Bash"}\n</tools>\n'
        "<user>\ngo\n</user>\n<agent>\ndone\n</agent>\n<user>\nSum up.\n</user>"
    )
