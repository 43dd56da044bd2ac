"""Tool calls of a shape's messages, with secrets masked; computed once. Code that needs only calls imports this module,
because the patterns of `shape_facts` take a tenth of a second to load."""

from __future__ import annotations

from workbench.compaction.shape import Shape, per_shape
from workbench.facts.calls import ToolCall, calls_in
from workbench.facts.tools import ToolAction, actions_of
from workbench.session import Message


@per_shape
def calls_of(shape: Shape) -> tuple[ToolCall, ...]:
    """Every tool call with its result."""
    return calls_in(shape.masked)


def actions_at(shape: Shape, index: int) -> tuple[ToolAction, ...]:
    """Actions of the calls of message `index` on files and on the command line."""
    return shape.once(_actions_in, (shape.masked_at(index),))


def _actions_in(message: Message) -> tuple[ToolAction, ...]:
    return tuple(action for call in message.calls for action in actions_of(call))
