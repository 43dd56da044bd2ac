"""What a session held before a context: the history as it is stored, which no compaction shortens.

A compacted context says of what its summary stands for only the summary's words. Who retells the history itself
(document 000's abridged history) goes back to what was said, however many summaries ago that was.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from workbench.compaction.shape import Shape
from workbench.session import Message, Session

Place = tuple[Shape, int]
"""A message: whose it is, and its index there."""


@dataclass(frozen=True, eq=False)
class Past:
    """The stored history up to a context: that of `before`, and what the context `messages` held besides.

    Of the context that it is the past of, the first `until` messages are here already or were made by a compaction.
    `copies` are ids of messages there that say again, or say less of, what is stored.
    """

    before: Past | None = None
    messages: Sequence[Message] = ()
    until: int = 0
    copies: frozenset[str] = frozenset()

    @cached_property
    def all_copies(self) -> frozenset[str]:
        """All such ids, those of older contexts too."""
        return self.copies | self.before.all_copies if self.before else self.copies

    @cached_property
    def abridged_texts(self) -> dict[Hashable, tuple[Sequence[Message], str]]:
        """What was retold of it and of all that it goes back to, by whom that concerns; with the messages, so that they
        live as long."""
        return self.before.abridged_texts if self.before else {}

    @cached_property
    def shape(self) -> Shape:
        """Its messages, oldest first, without summaries and the session's own system messages; found out when asked."""
        if self.before is None:
            return Shape([message for message in self.messages if _is_history(message)])
        older, since = self.before.shape, self.messages[self.before.until :]
        stored, all_copies = older.index_of, self.before.all_copies
        new = [one for one in since if _is_history(one) and one.id not in stored and one.id not in all_copies]
        return older.grown_by(new)

    def size_outside(self, context: Shape) -> int:
        """The size in `api_chars` of the stored messages that the context does not hold."""
        sizes, messages = self.shape.api_chars, self.shape.messages
        here = context.index_of
        return sum(sizes[at + 1] - sizes[at] for at, message in enumerate(messages) if message.id not in here)

    def backwards(self, context: Shape, stop: int) -> Iterator[Place]:
        """What was said before message `stop` of the context, newest first, summaries left out: first of the context,
        then of what is stored. A message that stands in both is the context's, in its stored place."""
        stored = self.shape
        for index in range(stop - 1, self.until - 1, -1):
            message = context.messages[index]
            if _is_history(message) and message.id not in stored.index_of and message.id not in self.all_copies:
                yield context, index
        tail = (stored.index_of.get(message.id) for message in context.messages[stop:]) if stored.messages else ()
        end = next((place for place in tail if place is not None), len(stored.messages))
        messages, place_of = stored.messages, context.index_of.get
        for index in range(end - 1, -1, -1):
            here = place_of(messages[index].id)
            yield (stored, index) if here is None else (context, here)


def past_of(session: Session, epoch: int) -> Past:
    """The past of an epoch's context: what the epochs before it held. Epochs are numbered from 1."""
    earlier = session.epochs[: epoch - 1]
    copies = frozenset[int]().union(*(one.copies for one in session.epochs[:epoch]))
    members = dict.fromkeys(member for one in earlier for member in one.members if member not in copies)
    ids = frozenset(session.messages[member].id for member in copies)
    return Past(None, [session.messages[member] for member in members], copies=ids)


def first_context_of(session: Session, epoch: int) -> Shape | None:
    """The session's first context as seen from an epoch's: None for the first epoch itself, without messages where only
    the end of the session's file is read."""
    if session.begins_at:
        return Shape(())
    return Shape(session.context(1)) if epoch > 1 else None


def _is_history(message: Message) -> bool:
    return message.kind not in ("summary", "boundary") and not message.is_own_system
