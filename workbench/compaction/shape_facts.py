"""What the messages of a shape say that a strategy asks for: calls with their results, deeds, facts. Looked up once."""

from __future__ import annotations

from workbench.compaction.shape import Shape, per_shape
from workbench.facts import Fact, Standing, Stated, find, standing, stated
from workbench.facts.calls import Called, calls_in
from workbench.facts.tools import Action, actions_of
from workbench.session import Message


@per_shape
def calls_of(shape: Shape) -> tuple[Called, ...]:
    """Every tool call with its result."""
    return calls_in(shape.messages)


@per_shape
def facts_of(shape: Shape) -> tuple[Fact, ...]:
    """Every fact of the messages: seconds for 60 000 of them."""
    return find(shape.messages)


@per_shape
def standing_of(shape: Shape) -> tuple[Standing, ...]:
    """The user's standing instructions."""
    return standing(shape.messages)


@per_shape
def stated_of(shape: Shape) -> tuple[Stated, ...]:
    """What the user stated."""
    return stated(shape.messages)


def actions_at(shape: Shape, index: int) -> tuple[Action, ...]:
    """What the calls of message `index` did to files and on the command line."""
    return shape.once(_actions_in, (shape.messages[index],))


def _actions_in(message: Message) -> tuple[Action, ...]:
    return tuple(action for call in message.calls for action in actions_of(call))
