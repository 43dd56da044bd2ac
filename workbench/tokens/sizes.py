"""Sizes of messages, each number with its basis."""

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
    """Size of some messages. `chars`: characters that a model would read. `tokens`: figure on the named basis."""

    messages: int
    chars: int
    tokens: int
    basis: Basis

    def __str__(self) -> str:
        return f"{self.basis.value}{grouped(self.tokens)}"


def usage_words(total: Size, usage: int | None) -> str:
    """Parts of a context's size in words: `229 684 recorded + ≈10 450 since`. `usage`: recorded tokens of the newest
    call, prompt and answer. "" if there is none, or if it is the whole size."""
    if usage is None or usage == total.tokens:
        return ""
    if usage > total.tokens:
        return f"{grouped(usage)} recorded, {grouped(usage - total.tokens)} of it not sent again"
    return f"{grouped(usage)} recorded + {total.basis.value}{grouped(total.tokens - usage)} since"


class Meter(Protocol):
    """Counter of a message's tokens: local, scaled to the session's model, pure and cached. A message has the same
    figure in a loaded session and in a compacted one."""

    @property
    def method(self) -> str:
        """Method in words that a user can check ("o200k × claude-4.7 coefficients × 1.04 from 38 calls")."""
        ...

    @property
    def basis(self) -> Basis: ...

    def tokens(self, message: Message) -> int: ...

    def text_tokens(self, text: str) -> int: ...


@dataclass(frozen=True, slots=True)
class Sizes:
    """Token figures of one context's messages, in their order.

    `overhead`: tokens sent in addition (system prompt, tool definitions); 0 and ESTIMATE if unknown. `anchored_until`:
    the messages before this index and `overhead` together add up to a number that the provider billed.
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
    """Size of any messages by the meter alone, for contexts without usage."""
    chars = sum(visible_chars(message) for message in messages)
    return Size(len(messages), chars, sum(map(meter.tokens, messages)), meter.basis)


def visible_chars(message: Message) -> int:
    """Characters of the message as a model reads it: texts, thinking, calls, results; media as placeholders."""
    return sum(len(part if isinstance(part, str) else part.placeholder) for part in visible_parts(message))
