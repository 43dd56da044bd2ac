"""The compactions that the agent itself recorded: where they lie, and each as an outcome that can be judged like any
other."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from workbench.analysis.course import Course
from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.base.values import json_text
from workbench.compaction.outcome import Fate, FateSpan, KeptSpan, NewMessage, Outcome, Piece, unchanged
from workbench.compaction.spans import spans_of, without
from workbench.session import Compaction, Message, Session, Span, Text, ToolResult, ToolUse, Way

DONE: Mapping[Way, str] = {
    "summary": "compacted",
    "clearing": "cleared old contents",
    "removal": "removed messages",
    "empty": "recorded a compaction that removed nothing",
}
"""What an agent did to make room, in words."""


class MadeRoom(Struct, frozen=True):
    """A compaction that the file records, as it lies in a course: before its call number `call` (from 1), at the end of
    `epoch`. `asked`: at the user's command. `tokens` is the context's size then, as the agent recorded it or, if that
    is more, as it was last sent; 0 where neither is known."""

    epoch: int
    call: int
    way: Way
    asked: bool
    tokens: int

    def __str__(self) -> str:
        asked = " at the user's request" if self.asked else ""
        at = f" (recorded: {grouped(self.tokens)} tokens)" if self.tokens else ""
        return f"{DONE[self.way]}{asked} before call {grouped(self.call)}{at}"


def made_room(course: Course) -> tuple[MadeRoom, ...]:
    """Every compaction that the agent itself recorded, in the order of the calls."""
    ends = zip(course.numbers, course.starts[1:], strict=False)
    return tuple(
        MadeRoom(
            number,
            bisect_left(course.calls, start) + 1,
            ended.way,
            ended.trigger == "manual",
            size_at_end(course, number),
        )
        for number, start in ends
        if (ended := course.session.epochs[number - 1].ended_by)
    )


def told_room(found: Sequence[MadeRoom]) -> str:
    """What the agent did by its own record, in a sentence: the first time, and how often; "" for never."""
    if not found:
        return ""
    more = f", and {counted(len(found) - 1, 'time')} more" if len(found) > 1 else ""
    return f"The file records that the agent itself {found[0]}{more}."


def size_at_end(course: Course, epoch: int) -> int:
    """The tokens of an epoch's context when it ended: what the agent recorded of its compaction or, if that is more,
    the largest prompt; 0 where neither is known."""
    ended = course.session.epochs[epoch - 1].ended_by
    sent = max((point.tokens for point in course.growth_in.get(epoch, ())), default=0)
    return max(sent, (ended.tokens_before if ended else None) or 0)


def recorded_outcome(session: Session, epoch: int) -> Outcome:
    """What the compaction that ended `epoch` made of it: what the next epoch still has of it, as it was or with less in
    it, the summaries that are new there, and what the tool put beside them. Raises KeyError where the epoch does not
    exist or was not ended by a compaction."""
    ended = session.epochs[epoch - 1].ended_by if 1 <= epoch < len(session.epochs) else None
    if ended is None:
        raise KeyError(epoch)
    source = session.context(epoch)
    place = {index: here for here, index in enumerate(session.epochs[epoch - 1].members)}
    after = session.epochs[epoch].members
    kept = sorted({*(place[index] for index in after if index in place), *_written_again(session, epoch, ended)})
    if len(kept) == len(source):
        return unchanged(source, "nothing was removed")
    less = _with_less(session, epoch, place) if ended.way == "clearing" else {}
    new = [] if less else [session.messages[index] for index in _put_there(session, epoch, place)]
    gone = tuple(without([Span(0, len(source))], [*kept, *less]))
    summarized = ended.way == "summary" or any(message.kind == "summary" for message in new)
    lead = [here for here in kept if source[here].is_own_system]
    rest = sorted({*kept, *less}.difference(lead))
    pieces: list[Piece] = [KeptSpan(span.start, span.stop) for span in spans_of(lead)]
    pieces += [NewMessage(message, gone if message.kind == "summary" else ()) for message in new]
    pieces += [
        NewMessage(less[here], (Span(here, here + 1),)) if here in less else KeptSpan(here, here + 1) for here in rest
    ]
    spans = sorted(
        [FateSpan(span.start, span.stop, Fate.KEPT) for span in spans_of(kept)]
        + [FateSpan(here, here + 1, Fate.COMPRESSED) for here in less]
        + [FateSpan(span.start, span.stop, Fate.SUMMARIZED if summarized else Fate.DROPPED) for span in gone],
        key=lambda span: span.start,
    )
    return Outcome("compacted", "recorded", source, tuple(_joined(pieces)), tuple(spans))


def _written_again(session: Session, epoch: int, ended: Compaction) -> range:
    """The newest messages that a compaction which wrote down anew what it kept has left: the places in the context of
    those that are said again in the next epoch, whatever messages their parts stand in there."""
    source, following = session.context(epoch), session.epochs[epoch]
    if ended.way != "summary" or not following.copies:
        return range(0)
    again = {part for message in session.context(epoch + 1) if message.kind != "summary" for part in _parts(message)}
    start = len(source)
    while start and all(part in again for part in _parts(source[start - 1])):
        start -= 1
    return range(start, len(source))


def _parts(message: Message) -> Iterator[tuple[str, str]]:
    """What a message says, without its thoughts: in which role, and the words; of a call its name and input."""
    for block in message.blocks:
        match block:
            case Text(text):
                yield message.role, text
            case ToolUse(_, name, given):
                yield name, given if isinstance(given, str) else json_text(given)
            case ToolResult():
                yield "tool", block.text


def _with_less(session: Session, epoch: int, place: Mapping[int, int]) -> dict[int, Message]:
    """The messages that say less after a clearing, by the place in the context of what they stand for: a clearing
    leaves all in its order."""
    copies = session.epochs[epoch].copies
    found: dict[int, Message] = {}
    at = 0
    for index in session.epochs[epoch].members:
        if index in place:
            at = place[index] + 1
        elif index in copies and at < len(place):
            found[at] = session.messages[index]
            at += 1
    return found


def _put_there(session: Session, epoch: int, place: Mapping[int, int]) -> Iterator[int]:
    """What is new after a compaction before anybody said anything: summaries, and what the tool put beside them."""
    seen_summary = False
    for index in session.epochs[epoch].members:
        kind = session.messages[index].kind
        seen_summary = seen_summary or (kind == "summary" and index not in place)
        if index in place:
            continue
        if kind not in ("summary", "meta"):
            return
        if kind == "summary" or seen_summary:
            yield index


def _joined(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """With neighbouring kept messages in one piece."""
    run: KeptSpan | None = None
    for piece in pieces:
        if run is not None and isinstance(piece, KeptSpan) and piece.start == run.stop:
            run = KeptSpan(run.start, piece.stop)
            continue
        if run is not None:
            yield run
        run = piece if isinstance(piece, KeptSpan) else None
        if not isinstance(piece, KeptSpan):
            yield piece
    if run is not None:
        yield run


def following(session: Session, epoch: int) -> tuple[Message, ...]:
    """The messages that came after an epoch's context: those of later epochs, without summaries and repetitions, and
    without what says again what was said."""
    seen = set(session.epochs[epoch - 1].members)
    found: list[Message] = []
    for later in session.epochs[epoch:]:
        for index in later.members:
            if index not in seen and index not in later.copies:
                seen.add(index)
                if session.messages[index].kind != "summary":
                    found.append(session.messages[index])
    return tuple(found)
