"""History before a context, as stored; no compaction shortens it.

A compacted context has only a summary of older messages. The abridged history (document 000) uses the original
messages, even those before several summaries.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from workbench.compaction.shape import Shape
from workbench.session import Message, Session

Place = tuple[Shape, int]
"""A message: a shape, and the index of the message in it."""


@dataclass(frozen=True, eq=False)
class StoredHistory:
    """Stored history before a context.

    `before`: stored history before the previous context, None if that had none. `messages`: messages of the previous
    context, which a compaction replaced; without `before`, those of all earlier epochs. `until`: number of leading
    messages of the current context that are stored here already or were created by a compaction. `copies`: ids of
    messages that repeat, fully or shortened, what is stored.
    """

    before: StoredHistory | None = None
    messages: Sequence[Message] = ()
    until: int = 0
    copies: frozenset[str] = frozenset()

    @cached_property
    def all_copies(self) -> frozenset[str]:
        """Union of the `copies` of this and all older contexts."""
        return self.copies | self.before.all_copies if self.before else self.copies

    @cached_property
    def abridged_texts(self) -> dict[Hashable, tuple[Sequence[Message], str]]:
        """Cached texts of entries of the abridged history, by key; each with its messages, to keep them alive."""
        return self.before.abridged_texts if self.before else {}

    @cached_property
    def shape(self) -> Shape:
        """Stored messages, oldest first, without summaries and own system messages; computed on demand."""
        if self.before is None:
            return Shape([message for message in self.messages if _is_history(message)])
        older, since = self.before.shape, self.messages[self.before.until :]
        stored, all_copies = older.index_of, self.before.all_copies
        new = [one for one in since if _is_history(one) and one.id not in stored and one.id not in all_copies]
        return older.grown_by(new)

    def size_outside(self, context: Shape) -> int:
        """Size in `api_chars` of the stored messages that the context does not have."""
        sizes, messages = self.shape.api_chars, self.shape.messages
        here = context.index_of
        return sum(sizes[at + 1] - sizes[at] for at, message in enumerate(messages) if message.id not in here)

    def backwards(self, context: Shape, stop: int) -> Iterator[Place]:
        """Messages before message `stop` of the context, newest first, without summaries: first those of the context,
        then the stored ones. A message that is in both comes as the context has it, at its stored place."""
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


def stored_history_of(session: Session, epoch: int) -> StoredHistory:
    """StoredHistory of an epoch's context: the messages of earlier epochs. The first epoch is 1."""
    earlier = session.epochs[: epoch - 1]
    copies = frozenset[int]().union(*(one.copies for one in session.epochs[:epoch]))
    members = dict.fromkeys(member for one in earlier for member in one.members if member not in copies)
    ids = frozenset(session.messages[member].id for member in copies)
    return StoredHistory(None, [session.messages[member] for member in members], copies=ids)


def first_context_of(session: Session, epoch: int) -> Shape | None:
    """First context of the session; None if `epoch` is 1, whose own context is the first. Without messages if
    only the end of the session's file was read."""
    if session.begins_at:
        return Shape(())
    return Shape(session.context(1)) if epoch > 1 else None


def _is_history(message: Message) -> bool:
    return message.kind not in ("summary", "boundary") and not message.is_own_system
