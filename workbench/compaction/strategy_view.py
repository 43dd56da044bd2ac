"""View of a strategy for a screen: parts of its context, notes on messages, remarks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from msgspec import Struct

from workbench.compaction.context import Context
from workbench.compaction.layers import Layer, layers
from workbench.compaction.outcome import Outcome
from workbench.compaction.policy import Policy
from workbench.compaction.prompt_parts import PromptPart, prompt_parts
from workbench.compaction.shape import Shape
from workbench.session import Span

P = TypeVar("P", bound=Policy)


class StrategyNote(Struct, frozen=True):
    """Note next to a message. `warns`: something may be wrong."""

    text: str
    warns: bool = False


class AbridgedHistory(Struct, frozen=True):
    """History abridged without a model. `entries`: messages of the context with the text for them, oldest first, at
    most `limit` characters. `whole`: false if older entries did not fit. An entry for a time before the context has no
    messages in the context."""

    entries: tuple[tuple[tuple[Span, ...], str], ...]
    limit: int
    whole: bool


def _no_notes(*_: object) -> tuple[()]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyView(Generic[P]):
    """Views that a screen shows of a strategy's contexts. Every field has a default that suits any strategy."""

    layers: Callable[[Context, Outcome], tuple[Layer, ...]] = layers
    """Parts of a context by size."""
    prompt_parts: Callable[[Context, P], tuple[PromptPart, ...]] = lambda context, policy: prompt_parts(context)
    """Text of the whole next prompt, part by part."""
    notes: Callable[[Shape, P, int], Iterable[StrategyNote]] = _no_notes
    """Notes on the message at an index."""
    remark: Callable[[Shape, P], str] | None = None
    """Sentence about the whole session; may take a second to compute."""
    abridged: Callable[[Context, P, int], AbridgedHistory] | None = None
    """Abridged history before the message at an index; None if the strategy has no such history."""
