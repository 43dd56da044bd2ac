"""A stranger's strategy, as a distribution of its own would bring it: `headline` keeps the first line of every answer
once the agent has said enough words. It has a meter of its own, and no preset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workbench.compaction.context import Context, Gauge
from workbench.compaction.invariants import pinned_with_pairs, with_verdict
from workbench.compaction.policy import Policy, setting
from workbench.compaction.strategies.clear_tool_results import Replacements
from workbench.compaction.strategy import Compacting, ProgressStep, Strategy, Trigger
from workbench.session import Message, Text


class HeadlinePolicy(Policy):
    trigger_words: int = setting(400, "trigger", "Compact when the agent has said so many words.", unit="words", ge=1)


class Words:
    added = 0
    """How often any meter was given a message."""

    def __init__(self) -> None:
        self.value = 0

    def add(self, message: Message, chars: int, tokens: int) -> None:
        type(self).added += 1
        self.value += len(message.text.split()) if message.role == "assistant" else 0


def triggers(now: Gauge, policy: HeadlinePolicy) -> tuple[Trigger, ...]:
    words = now.meters["words"]
    return (Trigger("words", words, policy.trigger_words, "words", words >= policy.trigger_words),)


def compact(context: Context, policy: HeadlinePolicy, trace: list[str]) -> Compacting:
    yield ProgressStep("headlines")
    pins = pinned_with_pairs(context)
    shorter = Replacements(len(context), _headlines(context, pins))
    return with_verdict(context, replace(shorter.outcome(context, {}, pins), trace=trace))


def _headlines(context: Context, pins: frozenset[int]) -> Mapping[int, Message]:
    found: dict[int, Message] = {}
    for index, message in enumerate(context.messages):
        first, _, rest = message.text.partition("\n")
        if index not in pins and rest and first.strip() and message.role == "assistant" and not message.calls:
            found[index] = replace(message, blocks=(Text(first),), source=())
    return found


STRATEGY: Strategy[Any] = Strategy(
    id="headline",
    title="Headline",
    about="Of every answer the first line stays.",
    policy_type=HeadlinePolicy,
    triggers=triggers,
    compact=compact,
    meters={"words": lambda context, policy: Words()},
    movable=False,
)
