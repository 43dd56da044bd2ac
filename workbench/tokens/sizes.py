"""Sizes of messages, and on what each number stands."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from workbench.base.figures import grouped
from workbench.session import Message
from workbench.tokens.visible import visible_parts


class Basis(Enum):
    """Basis of a token figure; the value is the sign shown before it."""

    EXACT = ""
    CALIBRATED = "≈"
    ESTIMATE = "~"


@dataclass(frozen=True, slots=True)
class Size:
    """How large some messages are. `chars` is what a model would read, `tokens` by the basis named."""

    messages: int
    chars: int
    tokens: int
    basis: Basis

    def __str__(self) -> str:
        return f"{self.basis.value}{grouped(self.tokens)}"


def usage_words(total: Size, usage: int | None) -> str:
    """The parts of a context's size, `229 684 recorded + ≈10 450 since`, where `usage` is what the newest call recorded
    of its prompt and answer; "" where that is all, or none is recorded."""
    if usage is None or usage == total.tokens:
        return ""
    if usage > total.tokens:
        return f"{grouped(usage)} recorded, {grouped(usage - total.tokens)} of it not sent again"
    return f"{grouped(usage)} recorded + {total.basis.value}{grouped(total.tokens - usage)} since"


class Meter(Protocol):
    """Counts a message's tokens: locally, scaled to the session's model. Pure and cached; the same message always gives
    the same number, in a loaded session as in a compacted one."""

    @property
    def method(self) -> str:
        """How, in words a person can check ("o200k × claude-4.7 coefficients × 1.04 from 38 calls")."""
        ...

    @property
    def basis(self) -> Basis: ...

    def tokens(self, message: Message) -> int: ...

    def text_tokens(self, text: str) -> int: ...


@dataclass(frozen=True, slots=True)
class Sizes:
    """Token figures for the messages of one context, parallel to it.

    `overhead` is what the model was sent beyond them (system prompt, tool definitions); 0 and ESTIMATE when unknown.
    `anchored_until`: messages before this index sum, together with `overhead`, to a number the provider billed.
    """

    tokens: array[int]
    basis: tuple[Basis, ...] | Basis
    overhead: int
    overhead_basis: Basis
    anchored_until: int
    meter: Meter

    @property
    def total(self) -> int:
        """Tokens of the context, overhead included."""
        return sum(self.tokens) + self.overhead

    def basis_of(self, index: int) -> Basis:
        return self.basis if isinstance(self.basis, Basis) else self.basis[index]


def measure(messages: Sequence[Message], meter: Meter) -> Size:
    """The size of any messages by the meter alone, for contexts that no provider has billed."""
    chars = sum(visible_chars(message) for message in messages)
    return Size(len(messages), chars, sum(map(meter.tokens, messages)), meter.basis)


def visible_chars(message: Message) -> int:
    """Characters of the message as a model reads it: texts, thinking, calls, results; media as placeholders."""
    return sum(len(part if isinstance(part, str) else part.placeholder) for part in visible_parts(message))
