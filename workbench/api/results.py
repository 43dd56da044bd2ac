"""What the calls give: a compaction with its report, and whether one is due."""

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

if TYPE_CHECKING:  # with a default from Python 3.13 on; until then only a type checker needs to know of it
    from typing_extensions import TypeVar

    M = TypeVar("M", default=dict[str, Any])
else:
    from typing import TypeVar

    M = TypeVar("M")


@dataclass(frozen=True)
class Report:
    """What a compaction did and why. Ids of messages are the session's, and `m1`, `m2`, … for plain dicts."""

    status: Status
    """`compacted`; `fallback`: a summary failed and the strategy did without; `unchanged`: there was nothing to do;
    `not_smaller`: the result would have been as large, and the old context stays."""
    reason: str
    """Why the status is what it is, in one sentence."""
    before: Size
    """Of the old context: messages, characters as a model reads them, tokens with what is sent beside the messages."""
    after: Size
    """Of the new one, by the same measure."""
    trace: tuple[str, ...]
    """What was decided in order, in plain sentences with figures."""
    checks: tuple[Check, ...]
    """Everything that was looked at, passed or not, hard checks first."""
    fates: Mapping[str, Fate]
    """What became of each message of the old context, by its id and in its order."""
    entries: tuple[LedgerEntry, ...] = ()
    """What the ledger keeps, in the order of its text; empty under another strategy."""
    left_out: tuple[tuple[str, int], ...] = ()
    """What the ledger had no room for, as (group, number of entries), the least important first."""

    @property
    def failed(self) -> tuple[Check, ...]:
        """The hard checks that failed: a result with any must not be sent."""
        return failures(self.checks)


@dataclass(frozen=True)
class Compacted(Generic[M]):
    """The new context, in the kind in which the old one was given, and the report on it."""

    messages: list[M]
    """What was kept as the same objects that were given, new messages as the library's own, or as dicts for a library
    that takes those; without the system prompt that a body holds apart. Of a session, and in a style that is only read,
    dicts in the style of Anthropic's Messages API."""
    report: Report
    session: Session
    """The source as it was read."""
    context: Context
    """The old context, with its pins."""
    outcome: Outcome
    """The result as the workbench's own messages, each with the input messages it stands for."""
    epoch: int = 1
    """The epoch of the session that the old context is, from 1."""
    pins: frozenset[str] = frozenset()
    """The ids that the pinned messages have in `messages`: `pins` of the next call on these and what follows them."""

    @property
    def summary(self) -> str:
        """The text of the new summary alone, or of the ledger; "" where there is none."""
        made = (piece.message for piece in self.outcome.pieces if isinstance(piece, NewMessage))
        return "\n\n".join(one.text for one in made if one.kind == "summary" and one.role != "assistant")


@dataclass(frozen=True)
class Due:
    """Whether a policy would compact now; true where it would."""

    triggers: tuple[Trigger, ...]
    """Each with its value and limit, and whether it fires."""
    size: Size
    """Of the context, with what is sent beside the messages."""
    why: str
    """Why it would, or would not, in one sentence."""

    @property
    def fired(self) -> tuple[Trigger, ...]:
        """The triggers that fire."""
        return tuple(trigger for trigger in self.triggers if trigger.fires)

    def __bool__(self) -> bool:
        return bool(self.fired)


def in_force(given: Context, outcome: Outcome) -> tuple[Message, ...]:
    """The context to go on with: the old one where the result would have been as large."""
    return tuple(given.messages) if outcome.status == "not_smaller" else outcome.messages
