"""`memories-rewrite`."""

from typing import Any

import pytest

from workbench.compaction.context import Context
from workbench.compaction.outcome import Outcome, verdict
from workbench.compaction.strategies.memories_rewrite import STRATEGY, MemoriesRewritePolicy
from workbench.compaction.summary_request import SummaryRequest
from workbench.conformance.building import agent, context_of, user
from workbench.conformance.strategies import Answered
from workbench.conformance.strategies import run as by_hand

LINES = [f"- memory {n} about the project and its many rules" for n in range(1, 71)]


def context(memories: list[str] = LINES, **wishes: Any) -> Context:
    return context_of([user("u", "hi"), agent("a", "ok")], memories="\n".join(memories), **wishes)


def run(
    context: Context, chosen: MemoriesRewritePolicy, answer: Answered = "- one\n- two"
) -> tuple[Outcome, list[SummaryRequest]]:
    return by_hand(STRATEGY, context, chosen, answer)


def test_an_answer_with_the_newest_in_it_or_in_tags_is_only_its_memories() -> None:
    answer = f"<memories>\n- one\n{LINES[60].upper()}\n\n- two\n</memories>"
    outcome, _ = run(context(), MemoriesRewritePolicy(), answer)
    assert outcome.memories == "\n".join(["- one", "- two", *LINES[60:]])
    assert "1 line of the answer repeated the newest memories" in outcome.trace
    only = run(context(), MemoriesRewritePolicy(), "\n".join(LINES[60:]))[0]
    assert (only.status, only.memories) == ("unchanged", None)
    assert "only the newest memories" in only.reason


def test_the_newest_are_not_shown_where_nothing_says_so() -> None:
    _, (request,) = run(context(), MemoriesRewritePolicy(recent_memories_subprompt=" "))
    assert request.text.endswith(f"{LINES[59]}\n</memories>\n")
    _, (request,) = run(context(), MemoriesRewritePolicy(num_recent_memories_to_keep=0))
    assert request.text.endswith(f"{LINES[69]}\n</memories>\n")


def test_without_memories_there_is_nothing_to_rewrite() -> None:
    assert "there are no memories" in run(context([]), MemoriesRewritePolicy())[0].reason


@pytest.mark.parametrize(("keep", "room"), [(49, 1), (50, 0)])
def test_the_newest_alone_may_fill_the_lines(keep: int, room: int) -> None:
    outcome, requests = run(context(), MemoriesRewritePolicy(num_recent_memories_to_keep=keep))
    assert [request.max_lines for request in requests] == [room] * bool(room)
    assert outcome.status == ("compacted" if room else "unchanged")
    assert room or "already fill 50 lines" in outcome.reason


def test_a_verdict_says_its_status_once() -> None:
    outcome, _ = run(context(), MemoriesRewritePolicy(), "\n".join(LINES[:40]) + "x" * 4_000)
    assert outcome.status == "not_smaller"
    assert verdict(outcome.status, outcome.reason) == outcome.reason
    assert outcome.reason.startswith("not smaller: memories: 70 → 50 lines, ")
    assert verdict("unchanged", "nothing to do") == "unchanged: nothing to do"
