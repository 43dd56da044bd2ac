"""Usage of summaries: a conversation reads its beginning from the cache, a single text does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.analysis.compaction_cost import SummaryUsage, summary_usage
from workbench.compaction.context import Context, Layout
from workbench.compaction.strategies.user_messages import STRATEGY, UserMessagesPolicy
from workbench.compaction.summary_request import RequestShape, Summary
from workbench.conformance.building import agent, context_of, summary, user
from workbench.session import Tool
from workbench.summarizers.driver import drive
from workbench.tokens.cost import rates_of

TALK = [user("u", "x" * 39_996), agent("a", "y" * 159_996)]
"""10 000 and 40 000 tokens, and 10 000 of system prompt and tools before them."""


def beside(context: Context, tokens: int) -> Context:
    sizes = replace(context.layout.sizes, overhead=tokens)
    return context.with_(layout=Layout(context.shape, sizes))


def taken(shape: RequestShape, fresh: int = 0, *, talk: list = TALK, **settings: object) -> SummaryUsage:  # type: ignore[type-arg]
    """A prompt of 1 000 tokens, an answer of 2 000."""
    tools = (Tool("Bash", "t" * 12_000),)
    context = beside(context_of(talk, system="s" * 28_000, tools=tools), 10_000)
    ends = {"user_message_tokens": 0, "unread": "summarize"}
    policy = UserMessagesPolicy(**ends, prompt="p" * 4_000, request_shape=shape, **settings)  # type: ignore[arg-type]
    run = drive(STRATEGY.run(context, policy), lambda request: Summary("z" * 8_000))
    return summary_usage(context, run, fresh)


@pytest.mark.parametrize(
    ("shape", "fresh", "expected", "dollars"),
    [
        # 51 006 × $3 + 2 000 × $15, a million each; 6 are the words that say who speaks
        ("text", 0, SummaryUsage(1, 51_006, 2_000), 0.183018),
        # 60 000 × $0.30 + 1 000 × $3 + 2 000 × $15
        ("messages", 0, SummaryUsage(1, 61_000, 2_000, 60_000), 0.051),
        # 45 000 × $0.30 + 16 000 × $3 + 2 000 × $15: an answer of 15 000 tokens was not sent yet
        ("messages", 15_000, SummaryUsage(1, 61_000, 2_000, 45_000), 0.0915),
        # without 3 000 tokens of tools no prefix is the same: 58 000 × $3 + 2 000 × $15
        ("messages_without_tools", 0, SummaryUsage(1, 58_000, 2_000), 0.204),
        # the prompt, the messages, "Write the summary now, …": 51 013 × $3 + 2 000 × $15
        ("messages_under_prompt", 0, SummaryUsage(1, 51_013, 2_000), 0.183039),
    ],
)
def test_the_body_decides_the_cost_of_a_summary(
    shape: RequestShape, fresh: int, expected: SummaryUsage, dollars: float
) -> None:
    found = taken(shape, fresh)
    assert found == expected
    assert found.cost(rates_of("claude-sonnet-4-5")) == pytest.approx(dollars)


def test_a_left_out_message_breaks_the_prefix() -> None:
    """An earlier summary that is given up is not sent: behind it nothing is in the cache, before it all is."""
    talk = [*TALK, summary("old", "o" * 396), user("n", "n" * 3_596), agent("z", "z" * 396)]
    found = taken("messages", talk=talk, earlier_summary="drop")
    assert found == SummaryUsage(1, 62_000, 2_000, 60_000)
    assert taken("messages", talk=talk, earlier_summary="nest") == SummaryUsage(1, 62_100, 2_000, 61_100)
