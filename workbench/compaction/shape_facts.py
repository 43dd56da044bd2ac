"""The facts of a shape's messages, without their secrets, that a strategy asks for. Looked up once; of calls
`shape_calls` tells."""

from __future__ import annotations

from workbench.compaction.shape import Shape, per_shape
from workbench.facts.fact import Fact
from workbench.facts.found import find
from workbench.facts.standing import Standing, standing
from workbench.facts.stated import Stated, stated


@per_shape
def facts_of(shape: Shape) -> tuple[Fact, ...]:
    """Every fact of the messages: seconds for 60 000 of them."""
    return find(shape.masked)


@per_shape
def standing_of(shape: Shape) -> tuple[Standing, ...]:
    """The user's standing instructions."""
    return standing(shape.masked)


@per_shape
def stated_of(shape: Shape) -> tuple[Stated, ...]:
    """What the user stated."""
    return stated(shape.masked)
