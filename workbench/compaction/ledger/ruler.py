"""Measure for a budget, in tokens or in characters, because agents count in either."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from workbench.compaction.context import Context
from workbench.session import Message


@dataclass(frozen=True, slots=True)
class Ruler:
    """Measure for a budget. `sums`: prefix sums of the context's messages."""

    unit: Literal["tokens", "characters"]
    sums: array[int]
    of_text: Callable[[str], int]
    of_new: Callable[[Message], int]
    """Size of a new message; cached."""

    def span(self, start: int, stop: int) -> int:
        """Size of messages `start`..`stop`."""
        return self.sums[stop] - self.sums[start]

    def each(self, indexes: Iterable[int]) -> int:
        """Size of the messages at these indexes."""
        return sum(self.span(index, index + 1) for index in indexes)


def in_tokens(context: Context) -> Ruler:
    """Measure in tokens: messages by their figures in the context, new text by its meter."""
    layout = context.layout
    return Ruler("tokens", layout.tokens, layout.sizes.meter.text_tokens, lambda one: layout.measured(one).tokens)


def in_characters(context: Context) -> Ruler:
    """Measure in characters."""
    return Ruler("characters", context.shape.chars, len, lambda one: context.layout.measured(one).chars)
