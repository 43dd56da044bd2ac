"""Messages of a context with their token figures. Results that depend on these figures are computed once."""

from __future__ import annotations

from array import array
from functools import cached_property
from itertools import accumulate

from workbench.compaction.outcome import Piece
from workbench.compaction.shape import Shape
from workbench.session import Message
from workbench.tokens.anchoring import billed_points
from workbench.tokens.sizes import Basis, Size, Sizes, measure


class Layout:
    """Shape and sizes of a context. Neither changes: other figures for the same messages need another layout of the
    same shape, so no outdated sum can remain."""

    def __init__(self, shape: Shape, sizes: Sizes) -> None:
        self.shape = shape
        self.sizes = sizes
        self.messages = shape.messages
        self.sized: dict[int, tuple[tuple[Piece, ...], Size]] = {}
        """Cached sizes of the pieces of some outcomes, by identity; see `Context.outcome_size`."""
        self._measured: dict[int, tuple[Message, Size]] = {}

    @cached_property
    def tokens(self) -> array[int]:
        """Prefix sums of the messages' tokens."""
        return array("q", accumulate(self.sizes.tokens, initial=0))

    @cached_property
    def has_estimates(self) -> bool:
        """True if any message's figure is an estimate."""
        basis = self.sizes.basis
        return basis is Basis.ESTIMATE if isinstance(basis, Basis) else Basis.ESTIMATE in basis

    def measured(self, message: Message) -> Size:
        """Size of a new message, cached: a strategy that changes 20 000 results in place returns the same new messages
        in every plan."""
        known = self._measured.get(id(message))
        if known is None:
            if len(self._measured) >= len(self.messages):
                self._measured.clear()
            known = self._measured[id(message)] = (message, measure((message,), self.sizes.meter))
        return known[1]

    @cached_property
    def billed(self) -> dict[int, int]:
        """Billed tokens at places between messages; see `span_basis`."""
        return billed_points(self.sizes, self.messages)

    @cached_property
    def last_usage(self) -> int | None:
        """Input, cache and output tokens of the newest API call that the sizes are anchored on; None without one. A
        call billed for messages that a compaction has since replaced is not used."""
        anchor = min(self.sizes.anchored_until, len(self.messages) - 1)
        for index in range(anchor, -1, -1) if self.sizes.anchored_until else ():
            message = self.messages[index]
            if message.usage is not None and message.role == "assistant" and message.bill:
                return message.bill + message.usage.output
        return None
