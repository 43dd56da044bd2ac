"""Facts of a shape's messages that strategies need, with secrets masked; computed once. Calls are in `shape_calls`."""

from __future__ import annotations

from workbench.compaction.shape import Shape, per_shape
from workbench.facts.all_facts import find_facts
from workbench.facts.fact import Fact
from workbench.facts.standing import StandingRule, standing_rules
from workbench.facts.statements import SentenceState, sentence_states


@per_shape
def facts_of(shape: Shape) -> tuple[Fact, ...]:
    """Every fact in the messages: takes seconds for 60 000 of them."""
    return find_facts(shape.masked)


@per_shape
def standing_of(shape: Shape) -> tuple[StandingRule, ...]:
    """The user's standing instructions."""
    return standing_rules(shape.masked)


@per_shape
def sentence_states_of(shape: Shape) -> tuple[SentenceState, ...]:
    """The user's typed sentences, each with the later one that supersedes it."""
    return sentence_states(shape.masked)
