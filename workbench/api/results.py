"""Results of the library: a compaction with its report, and whether one is due."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

from workbench.compaction.checks import Check, failures
from workbench.compaction.context import Context
from workbench.compaction.ledger.entries import LedgerEntry
from workbench.compaction.outcome import Fate, NewMessage, Outcome, Status
from workbench.compaction.strategy import Trigger
from workbench.session import Message, Session
from workbench.tokens.sizes import Size

if TYPE_CHECKING:  # `typing.TypeVar` has defaults only from Python 3.13 on, and only a type checker needs this one
    from typing_extensions import TypeVar

    M = TypeVar("M", default=dict[str, Any])
else:
    from typing import TypeVar

    M = TypeVar("M")


@dataclass(frozen=True)
class Report:
    """Effects of a compaction and their reasons. Ids of messages are the session's, or `m1`, `m2`, … for plain
    messages."""

    status: Status
    """`compacted`; `fallback`: a summary failed and the strategy worked without it; `unchanged`: nothing to do;
    `not_smaller`: the result would have been as large, so the old context is kept."""
    reason: str
    """Reason of the status, in one sentence."""
    before: Size
    """Size of the old context: messages, characters as a model reads them, tokens including system prompt and tools."""
    after: Size
    """Size of the new context."""
    trace: tuple[str, ...]
    """Decisions in order, in sentences with figures."""
    checks: tuple[Check, ...]
    """All checks, passed or not, required ones first."""
    fates: Mapping[str, Fate]
    """Fate of each message of the old context, by id, in order."""
    entries: tuple[LedgerEntry, ...] = ()
    """Entries of the ledger, in the order of its text; empty under another strategy."""
    left_out: tuple[tuple[str, int], ...] = ()
    """Entries that did not fit into the ledger, as (group, number of entries), the least important first."""

    @property
    def failed(self) -> tuple[Check, ...]:
        """Required checks that failed: a result with any must not be sent."""
        return failures(self.checks)


@dataclass(frozen=True)
class Compacted(Generic[M]):
    """The new context as messages of the caller's kind, and its report."""

    messages: list[M]
    """Kept messages are the caller's own objects; new ones are objects of the same library, or dicts if it accepts
    those. A system prompt outside the messages is not included. For a session and a read-only style they are dicts in
    the style of Anthropic's Messages API."""
    report: Report
    session: Session
    """Source as a session."""
    context: Context
    """Old context, with its pins."""
    outcome: Outcome
    """Outcome in the workbench's own messages, each with the input messages it replaces."""
    epoch: int = 1
    """Epoch of the old context, from 1."""
    pins: frozenset[str] = frozenset()
    """Ids of the pinned messages in `messages`: pass them as `pins` of the next call on these messages."""

    @property
    def summary(self) -> str:
        """Text of the new summary, or of the ledger; "" if there is none."""
        new = (piece.message for piece in self.outcome.pieces if isinstance(piece, NewMessage))
        return "\n\n".join(one.text for one in new if one.kind == "summary" and one.role != "assistant")


@dataclass(frozen=True)
class Due:
    """Answer of `should_compact`; true if the policy would compact now."""

    triggers: tuple[Trigger, ...]
    """Triggers with their value and limit."""
    size: Size
    """Size of the context, including system prompt and tools."""
    why: str
    """Reason, in one sentence."""

    @property
    def fired(self) -> tuple[Trigger, ...]:
        """Triggers that fire."""
        return tuple(trigger for trigger in self.triggers if trigger.fires)

    def __bool__(self) -> bool:
        return bool(self.fired)


def messages_after(context: Context, outcome: Outcome) -> tuple[Message, ...]:
    """Return the messages to continue with: the old ones where the result would have been as large."""
    return tuple(context.messages) if outcome.status == "not_smaller" else outcome.messages
