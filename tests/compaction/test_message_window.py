"""`message-window`, beyond what `tests/documents/test_003_message_window.py` holds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from workbench.compaction.outcome import Fate
from workbench.compaction.preset import default_preset
from workbench.compaction.render import LABELS, Limits, labelled
from workbench.compaction.strategies.message_window import STRATEGY, MessageWindowPolicy, prompt_of, safe_end
from workbench.compaction.strategy import SummaryFailed
from workbench.conformance.building import agent, call, chat, context_of, loop, result, summary, user
from workbench.conformance.drawn import contexts, policies
from workbench.conformance.strategies import FAILED, run
from workbench.session import Message, Text


def test_safe_ends() -> None:
    tools = [
        user("1", "do"),
        agent("2", "yes"),
        agent("3", "", call("c")),
        result("4", ("c", "r")),
        user("5", "thanks"),
    ]
    assert safe_end(context_of(tools).layout.shape, 0, 4, "whole_pairs") == 4
    assert safe_end(context_of(tools).layout.shape, 0, 4, "user_message") == 4
    assert safe_end(context_of(tools).layout.shape, 0, 3, "user_message") == 0
    assert safe_end(context_of(tools).layout.shape, 0, 2, "user_message", forward_to=5) == 4
    assert safe_end(context_of([*tools, agent("6", "ok")]).layout.shape, 0, 5, "user_message", forward_to=6) == 6


def test_the_transcript_tells_how_much_it_shows() -> None:
    text = labelled(user("1", "X" * 1_000), LABELS["zh"], Limits(500, 0, 200), 1_000)
    assert (text.seen, text.of) == (500, 1_000)


def test_the_transcript_may_be_cut_at_its_start() -> None:
    messages = [user(str(n), f"{n:02} " + "y" * 497) for n in range(40)]
    newest, _ = run(STRATEGY, context_of(messages), MessageWindowPolicy(request_cut="start"))
    assert newest.fate_at(0).fate is Fate.DROPPED
    assert newest.fate_at(29).saw == "all"


def test_the_prompt_asks_for_its_limit_in_its_language() -> None:
    assert "不超过 1500 字符" in prompt_of(MessageWindowPolicy())
    assert "no more than 900 characters" in prompt_of(MessageWindowPolicy(language="en", summary_char_limit=900))


def test_a_failure_may_also_leave_everything_as_it_is() -> None:
    outcome, _ = run(
        STRATEGY, context_of(chat(40)), MessageWindowPolicy(fallback="unchanged"), SummaryFailed("timeout", "120 s")
    )
    assert (outcome.status, outcome.reason) == ("unchanged", "the summary failed (timeout): 120 s")


SPOKEN = {"cut": "newest_spoken", "keep_messages": 2, "safe_end": "whole_pairs", "min_tail_messages": 0}
FIRST = {"keep_first": 2, "summary_role": "user", "reply": "Ok."}


@pytest.mark.parametrize(
    ("messages", "split_at", "fields", "left"),
    [
        (chat(5), None, {}, "u0 a0 u1 a1 u2 a2 u3 a3 u4 a4"),
        (chat(8), None, {}, "summary-a2 u3 a3 u4 a4 u5 a5 u6 a6 u7 a7"),
        (loop("1", 5), "1r2", {}, "summary-1r1 1a2 1r2 1a3 1r3 1a4 1r4 1z"),
        (loop("1", 5), None, SPOKEN, "summary-1r3 1a4 1r4 1z"),
        (chat(4), None, SPOKEN | {"keep_messages": 3}, "summary-u2 a2 u3 a3"),
        ([*loop("1", 3), *chat(20)], None, FIRST, "1u summary-a10 summary-a10:reply u11"),
        ([*loop("1", 3), *chat(20)], None, {"keep_first": 3}, "1u 1a0 1r0"),
    ],
)
def test_what_stays(messages: list[Message], split_at: str | None, fields: dict[str, Any], left: str) -> None:
    """The newest ten, or from a split by hand moved back to a whole pair; and the first."""
    outcome, _ = run(STRATEGY, context_of(messages, split_at=split_at), MessageWindowPolicy(**fields))
    assert [m.id for m in outcome.messages][: len(left.split()) if "keep_first" in fields else None] == left.split()


@pytest.mark.parametrize(
    ("fields", "left", "trace"),
    [
        ({"fallback_messages": 18}, 18, "58 → 56 tokens"),
        ({"fallback_messages": 6}, 6, "58 → 20 tokens"),
        ({"fallback_messages": 5}, 4, "58 → 14 tokens"),  # an answer would open; with a marker they are six
        ({"fallback_messages": 6, "earlier_summary": "keep"}, 6, "58 → 19 tokens"),
    ],
)
def test_a_hard_trim_says_what_it_left(fields: dict[str, Any], left: int, trace: str) -> None:
    messages = [Message("s", "system", (Text("rule"),)), summary("old", "before"), *chat(9)]
    outcome, _ = run(STRATEGY, context_of(messages), MessageWindowPolicy(**fields), SummaryFailed("timeout", "120 s"))
    spared = ["s", "old"] if "earlier_summary" in fields else ["s"]
    newest = [message.id for message in messages][len(messages) + len(spared) - 1 - left :]
    assert [message.id for message in outcome.messages] == spared + newest
    assert (outcome.status, outcome.reason) == (
        "fallback", f"the summary failed (timeout): 120 s; hard trim: {trace}",
    )  # fmt: skip
    limit = fields["fallback_messages"]
    assert outcome.trace[2:] == (f"hard trim: 19 messages to {left}, at most {limit} wanted", trace)


@given(contexts(), policies(default_preset(STRATEGY.id).policy))
def test_a_hard_trim_leaves_no_more_than_its_number_but_for_what_is_spared(
    context: Any, chosen: MessageWindowPolicy
) -> None:
    """And for what the user is made to say between spared messages that the API would refuse side by side."""
    outcome, _ = run(STRATEGY, context, chosen, FAILED)
    if outcome.status == "fallback":
        spared = [i for i in range(len(context)) if outcome.fate_at(i).fate in (Fate.PINNED, Fate.KEPT)]
        left = [message for message in outcome.messages if not message.id.startswith("gap-")]
        assert len(left) <= max(chosen.fallback_messages, len(spared) + 1)
