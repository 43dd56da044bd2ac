"""What an outcome holds of what the session really needed afterwards: the measure that does not ask the workbench's own
facts (`workbench.analysis.needed`). Known only where the file goes on after the context, in later epochs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from workbench.analysis.needed import KINDS, Holding, Item, Kind, needed, texts
from workbench.analysis.recorded import following, recorded_outcome
from workbench.analysis.retention import new_messages, unread
from workbench.compaction.outcome import Outcome
from workbench.session import Message, Session


@dataclass(frozen=True)
class LaterUse:
    """The items needed again, in the order of their first use, and whether each is `held`."""

    items: tuple[tuple[Item, bool], ...]

    @cached_property
    def kinds(self) -> dict[Kind, tuple[int, int]]:
        """By kind how many are held, and of how many; kinds of which nothing was needed are left out."""
        counts = {kind: [held for item, held in self.items if item.kind == kind] for kind in KINDS}
        return {kind: (sum(held), len(held)) for kind, held in counts.items() if held}

    @property
    def share(self) -> float:
        """Held of all, 0 to 1."""
        return sum(held for _, held in self.items) / len(self.items)

    @property
    def lost(self) -> tuple[Item, ...]:
        return tuple(item for item, held in self.items if not held)


def needed_after(session: Session, epoch: int) -> tuple[Item, ...]:
    """What the session needed again of an epoch's context once that was over; nothing for the newest. Linear in the
    messages: a second for each ten megabytes."""
    later = following(session, epoch)
    return needed(session.context(epoch), told_later(session, epoch, later), folder_of(session), session.system)


def told_later(session: Session, epoch: int, later: Sequence[Message]) -> list[Message]:
    """The messages that came afterwards, without those that the recorded compaction itself put there: they are part of
    what it kept."""
    ended = epoch < len(session.epochs) and session.epochs[epoch - 1].ended_by is not None
    beside = {message.id for message in new_messages(recorded_outcome(session, epoch))} if ended else set()
    return [message for message in later if message.id not in beside]


def later_use(items: Sequence[Item], outcome: Outcome, folder: str) -> LaterUse | None:
    """None where nothing is known to have been needed, and where nobody can read what the outcome's summary says."""
    if not items or unread(outcome):
        return None
    holding = Holding((text for message in outcome.messages for text in texts(message)), folder)
    return LaterUse(tuple((item, holding.holds(item)) for item in items))


def folder_of(session: Session) -> str:
    """The project's folder, of which every path is told without it."""
    return (session.cwd or "").rstrip("/")
