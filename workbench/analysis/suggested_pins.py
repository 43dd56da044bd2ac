"""Suggested pins: the user's rules and answers, each with reason and cost."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from workbench.compaction.context import Context
from workbench.compaction.invariants import with_pairs
from workbench.compaction.shape import Shape, per_shape
from workbench.compaction.shape_facts import standing_of
from workbench.facts.decisions import decision_facts
from workbench.facts.fact import Fact
from workbench.facts.standing import PIN_REASON, StandingRule

AUTO_PIN_TOKENS = 1_000
"""Largest message, in tokens, that is pinned automatically. A sentence in a long paste is better pinned by hand or
repeated."""


class SuggestedPin(Struct, frozen=True):
    """Sentence worth keeping, and the message to pin for it.

    `text` is the sentence, `reason` the kind of rule, or `ANSWER`. `message` is the message's id, `index` its position
    in the context, from 0, `tokens` the cost of the whole message with its tool pairs. `superseded_by` is the id of the
    message that replaced the rule. `pinned`: already pinned.
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
        """True if it is pinned automatically: in force, and cheap or marked by the user."""
        return self.superseded_by is None and (self.tokens <= AUTO_PIN_TOKENS or self.reason == PIN_REASON)


ANSWER = "an answer to a question"


def suggest(context: Context) -> tuple[SuggestedPin, ...]:
    """Return every rule of the context and every answer to a tool's question, in order, one entry per sentence.
    Computed once per layout."""
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


def auto_pins(suggested: Iterable[SuggestedPin]) -> tuple[str, ...]:
    """Return the ids of the messages to pin automatically, each once, in order."""
    return tuple(dict.fromkeys(one.message for one in suggested if one.accepted_unasked))


def pin_tokens(context: Context, index: int) -> int:
    """Return the tokens of a message with the other halves of its tool pairs."""
    return sum(context.size(i, i + 1).tokens for i in with_pairs(context.shape, (index,)))


@per_shape
def answers_of(shape: Shape) -> tuple[Fact, ...]:
    """Return the answers to questions that the agent asked through a tool. Answers in prose ("yes, go ahead") are left
    out, because they mean nothing without their question."""
    answering = {index for index, message in enumerate(shape.messages) if any(one.user_text for one in message.results)}
    return tuple(fact for fact in decision_facts(shape.masked) if fact.detail and fact.index in answering)
