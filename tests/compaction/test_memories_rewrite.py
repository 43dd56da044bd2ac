"""`memories-rewrite`."""

from typing import Any

from workbench.compaction.context import Context
from workbench.compaction.outcome import Outcome
from workbench.compaction.strategies.memories_rewrite import STRATEGY, MemoriesRewritePolicy
from workbench.compaction.strategy import SummaryFailed, SummaryRequest
from workbench.conformance.building import agent, context_of, user
from workbench.conformance.strategies import Answered
from workbench.conformance.strategies import run as by_hand

MEMORIES = "\n".join(f"- memory {n} about the project and its many rules" for n in range(1, 71))


def context(memories: str = MEMORIES, **wishes: Any) -> Context:
    return context_of([user("u", "hi"), agent("a", "ok")], memories=memories, **wishes)


def run(
    context: Context, chosen: MemoriesRewritePolicy, answer: Answered = "- one\n- two"
) -> tuple[Outcome, list[SummaryRequest]]:
    return by_hand(STRATEGY, context, chosen, answer)


def test_the_newest_are_kept_word_for_word_and_not_shown() -> None:
    outcome, (request,) = run(context(), MemoriesRewritePolicy())
    assert outcome.status == "compacted"
    lines = (outcome.memories or "").split("\n")
    assert lines[:2] == ["- one", "- two"]
    assert lines[3:] == MEMORIES.split("\n")[-10:]
    assert "word for word" in lines[2]
    assert "memory 60 " in request.text
    assert "memory 61 " not in request.text
    assert "at most 50 lines" in request.text
    assert tuple(outcome.messages) == tuple(outcome.source)


def test_without_a_prompt_it_is_skipped() -> None:
    outcome, requests = run(context(), MemoriesRewritePolicy(prompt=" "))
    assert (outcome.status, requests) == ("unchanged", [])
    assert "no prompt" in outcome.reason


def test_failures_change_nothing() -> None:
    outcome, _ = run(context(), MemoriesRewritePolicy(), SummaryFailed("refused", "no"))
    assert (outcome.status, outcome.memories) == ("unchanged", None)
    assert run(context("- one"), MemoriesRewritePolicy())[0].status == "unchanged"
