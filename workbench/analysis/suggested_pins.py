"""Pins worth setting: the user's standing instructions, constraints and answers, with the reason and the cost of
each."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from workbench.compaction.context import Context
from workbench.compaction.keeping import with_pairs
from workbench.compaction.shape import Shape, per_shape
from workbench.compaction.shape_facts import standing_of
from workbench.facts.decisions import decision_facts
from workbench.facts.fact import Fact
from workbench.facts.standing import PIN_REASON, StandingRule

DEAR = 1_000
"""Tokens from which a message is not pinned unasked: a sentence in a long paste is better pinned by hand, or said
again."""


class SuggestedPin(Struct, frozen=True):
    """A sentence worth keeping, and the message that pinning keeps for it.

    `text` is the sentence, `reason` for which kind of standing instruction it is taken, or `ANSWER`. `message` is the
    message's id, `index` its place in the context, from 0, `tokens` what the whole message costs with its tool pairs.
    `superseded_by` is the id of the message that replaced the instruction: the latest wins. `pinned`: it is already.
    """

    message: str
    index: int
    text: str
    reason: str
    tokens: int
    superseded_by: str | None = None
    pinned: bool = False

    @property
    def accepted_unasked(self) -> bool:
        """Whether to take it along when all are accepted: in force, and not dear unless the user marked it."""
        return self.superseded_by is None and (self.tokens <= DEAR or self.reason == PIN_REASON)


ANSWER = "an answer to a question"


def suggest(context: Context) -> tuple[SuggestedPin, ...]:
    """Every standing instruction of the context and every answer that settles something, in order, one entry a
    sentence. Found once for a layout; O(found)."""
    answers = (StandingRule(fact, ANSWER) for fact in answers_of(context.shape))
    return tuple(
        SuggestedPin(
            one.fact.message,
            one.fact.index,
            one.fact.text,
            one.reason,
            pin_tokens(context, one.fact.index),
            one.superseded_by.message if one.superseded_by else None,
            one.fact.message in context.pins,
        )
        for one in sorted((*standing_of(context.shape), *answers), key=lambda one: one.fact.index)
    )


def accepted(suggested: Iterable[SuggestedPin]) -> tuple[str, ...]:
    """The messages to pin when all suggestions are accepted, each once, in order."""
    return tuple(dict.fromkeys(one.message for one in suggested if one.accepted_unasked))


def pin_tokens(context: Context, index: int) -> int:
    """What it costs to keep a message with the other halves of its tool pairs."""
    return sum(context.size(i, i + 1).tokens for i in with_pairs(context.shape, (index,)))


@per_shape
def answers_of(shape: Shape) -> tuple[Fact, ...]:
    """Answers to a question that the agent put through a tool. One that the user only says ("yes, go ahead") allows a
    step, and pinning it without its question keeps nothing."""
    asked = {index for index, message in enumerate(shape.messages) if any(one.said for one in message.results)}
    return tuple(fact for fact in decision_facts(shape.masked) if fact.detail and fact.index in asked)
