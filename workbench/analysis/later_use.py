"""Share of the items that the session needed later and an outcome keeps.

The items (`workbench.analysis.needed_items`) are independent of the workbench's own facts. They are known only if the
file has later epochs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from workbench.analysis.needed_items import KINDS, Item, ItemSearch, Kind, needed_items, texts
from workbench.analysis.recorded import following, recorded_outcome
from workbench.analysis.retention import is_unreadable, new_messages
from workbench.compaction.outcome import Outcome
from workbench.session import Message, Session


@dataclass(frozen=True)
class LaterUse:
    """Items needed again in the order of first use, each with whether it is kept."""

    items: tuple[tuple[Item, bool], ...]

    @cached_property
    def kinds(self) -> dict[Kind, tuple[int, int]]:
        """Kept and all items by kind; kinds without an item are left out."""
        counts = {kind: [held for item, held in self.items if item.kind == kind] for kind in KINDS}
        return {kind: (sum(held), len(held)) for kind, held in counts.items() if held}

    @property
    def share(self) -> float:
        """Share kept, 0 to 1."""
        return sum(held for _, held in self.items) / len(self.items)

    @property
    def lost(self) -> tuple[Item, ...]:
        """Items that are not kept."""
        return tuple(item for item, held in self.items if not held)


def needed_after(session: Session, epoch: int) -> tuple[Item, ...]:
    """Return the items of an epoch's context that the session needed later; empty for the newest epoch. Linear in the
    messages: a second per ten megabytes."""
    later = following(session, epoch)
    return needed_items(
        session.context(epoch), messages_after(session, epoch, later), project_folder(session), session.system
    )


def messages_after(session: Session, epoch: int, later: Sequence[Message]) -> list[Message]:
    """Return the messages after an epoch, except those that the recorded compaction added, which belong to its
    outcome."""
    ended = epoch < len(session.epochs) and session.epochs[epoch - 1].ended_by is not None
    added = {message.id for message in new_messages(recorded_outcome(session, epoch))} if ended else set()
    return [message for message in later if message.id not in added]


def later_use(items: Sequence[Item], outcome: Outcome, folder: str) -> LaterUse | None:
    """Return the items with their fate in an outcome; None without items, or if its summary cannot be read."""
    if not items or is_unreadable(outcome):
        return None
    holding = ItemSearch((text for message in outcome.messages for text in texts(message)), folder)
    return LaterUse(tuple((item, holding.holds(item)) for item in items))


def project_folder(session: Session) -> str:
    """Return the project's folder without a trailing slash; paths are relative to it."""
    return (session.cwd or "").rstrip("/")
