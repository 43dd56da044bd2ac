"""Head of a context, which a summary replaces: messages in it that stay, fates, and the order of the result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from workbench.compaction.context import Context
from workbench.compaction.excerpt import Excerpt
from workbench.compaction.fates import Stroke, painted
from workbench.compaction.invariants import may_open, must_stay, pinned_with_pairs
from workbench.compaction.outcome import Fate, FateSpan, KeptSpan, NewMessage, Piece
from workbench.compaction.spans import joined, kept_pieces, spans_of, without
from workbench.compaction.summary_template import summaries_in_request
from workbench.compaction.vocabulary import EarlierSummary
from workbench.formats.roles import is_gap
from workbench.session import Message, Role, Span, Text


def preamble_of(context: Context) -> tuple[int, ...]:
    """Indexes of instructions and context that the agent injected before its first answer: the first run of messages
    that nobody typed; summaries may lie between. A gap message of an earlier compaction is excluded, because moving it
    would leave its gap open."""
    found: list[int] = []
    for index, message in enumerate(context.messages):
        if message.role == "assistant" and message.kind == "normal":
            break
        if is_gap(message):
            continue
        if message.kind == "meta" or message.is_own_system:
            found.append(index)
        elif found and message.kind != "summary":
            break
    return tuple(found)


class Head(Struct, frozen=True):
    """Messages before `stop`, which a summary is to replace. `lead`: number of leading system messages.

    `must_stay`: messages that no strategy removes (own system messages and earlier summaries that the policy keeps,
    both with their pairs, and pins). `pins`: pinned messages of the whole context. `fresh`: messages to summarize, pins
    included. `earlier`: summaries in the head; `in_request`: those whose text goes into the request;
    `dropped_summaries`: those that are dropped unread.
    """

    lead: int
    stop: int
    must_stay: frozenset[int]
    pins: frozenset[int]
    earlier: tuple[int, ...]
    in_request: tuple[int, ...]
    dropped_summaries: tuple[int, ...]
    fresh: tuple[Span, ...]

    def is_spent(self, staying: Iterable[int]) -> bool:
        """True if nothing new would be summarized: the head has no fresh message, or all of them stay."""
        return not without(self.fresh, staying)


def head_of(context: Context, stop: int, choice: EarlierSummary) -> Head:
    """Head before message `stop`."""
    layout, lead = context.layout, context.shape.lead
    earlier = tuple(index for index in layout.shape.summaries if lead <= index < stop)
    start = earlier[-1] + 1 if earlier and choice == "extend" else lead
    staying = must_stay(context, earlier if choice == "keep" else ())
    return Head(
        lead,
        stop,
        frozenset(index for index in staying if lead <= index < stop),
        pinned_with_pairs(context),
        earlier,
        summaries_in_request(context, earlier, choice),
        earlier if choice == "drop" else (),
        tuple(without([Span(start, stop)], {*layout.shape.own_system, *earlier})) if start < stop else (),
    )


def head_fates(
    context: Context, head: Head, shown: Excerpt, staying: Iterable[int], compressed: Iterable[Span] = ()
) -> tuple[FateSpan, ...]:
    """Fates of all messages. `staying`: messages of the head that are kept; other messages that the request does not
    show are dropped."""
    strokes = [
        *shown.strokes(),
        Stroke(Fate.SUMMARIZED, spans_of(head.in_request), "all"),
        Stroke(Fate.COMPRESSED, compressed),
        Stroke(Fate.KEPT, [Span(0, head.lead), Span(head.stop, len(context)), *spans_of(sorted(staying))]),
        Stroke(Fate.PINNED, spans_of(sorted(head.pins))),
    ]
    return painted(len(context), strokes)


def summary_messages(
    context: Context, head: Head, staying: Iterable[int], role: Role, text: str, reply: str
) -> list[NewMessage]:
    """New summary message, with an id made from the newest message that it replaces, and the agent's reply if any."""
    newest = context.messages[head.fresh[-1].stop - 1]
    replaced = joined(without(head.fresh, staying), head.in_request)
    name = f"summary-{newest.id}"
    new = [NewMessage(Message(name, role, (Text(text),), kind="summary", time=newest.time), tuple(replaced))]
    if reply:
        answer = Message(f"{name}:reply", "assistant", (Text(reply),), kind="summary", time=newest.time)
        new.append(NewMessage(answer, tuple(replaced)))
    return new


def ordered_pieces(
    context: Context, before: Sequence[Piece], new: Sequence[NewMessage], after: Sequence[KeptSpan]
) -> tuple[Piece, ...]:
    """Arrange the leading system messages, `before`, the new messages, and `after`, in this order.

    If the agent would then speak first, which APIs reject, the new messages come before `before`.
    """
    system = kept_pieces([Span(0, context.shape.lead)])
    if may_open(context, (index for piece in before for index in _source_indexes(piece))):
        return (*system, *before, *new, *after)
    return (*system, *new, *before, *after)


def _source_indexes(piece: Piece) -> Iterable[int]:
    return range(piece.start, piece.stop) if isinstance(piece, KeptSpan) else (piece.replaces[0].start,)
