"""Compactions that the agent recorded: their positions, and their outcomes in the form of simulated ones."""

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

ACTIONS: Mapping[Way, str] = {
    "summary": "compacted",
    "clearing": "cleared old contents",
    "removal": "removed messages",
    "empty": "recorded a compaction that removed nothing",
}
"""Descriptions of the agent's compactions."""


class RecordedCompaction(Struct, frozen=True):
    """Recorded compaction in a course: before its call number `call` (from 1), at the end of `epoch`. `manual`:
    requested by the user. `tokens` is the context's size, as recorded or as last sent if that is more; 0 if unknown."""

    epoch: int
    call: int
    way: Way
    manual: bool
    tokens: int

    def __str__(self) -> str:
        by_user = " at the user's request" if self.manual else ""
        at = f" (recorded: {grouped(self.tokens)} tokens)" if self.tokens else ""
        return f"{ACTIONS[self.way]}{by_user} before call {grouped(self.call)}{at}"


def recorded_compactions(course: Course) -> tuple[RecordedCompaction, ...]:
    """Return every compaction that the agent recorded, in the order of calls."""
    ends = zip(course.numbers, course.starts[1:], strict=False)
    return tuple(
        RecordedCompaction(
            number,
            bisect_left(course.calls, start) + 1,
            ended.way,
            ended.trigger == "manual",
            size_at_end(course, number),
        )
        for number, start in ends
        if (ended := course.session.epochs[number - 1].ended_by)
    )


def recorded_compactions_report(found: Sequence[RecordedCompaction]) -> str:
    """Return a sentence on the first recorded compaction and the number of further ones; "" for none."""
    if not found:
        return ""
    more = f", and {counted(len(found) - 1, 'time')} more" if len(found) > 1 else ""
    return f"The file records that the agent itself {found[0]}{more}."


def size_at_end(course: Course, epoch: int) -> int:
    """Return the tokens of an epoch's context at its end: the recorded size or the largest prompt, whichever is larger;
    0 if unknown."""
    ended = course.session.epochs[epoch - 1].ended_by
    sent = max((point.tokens for point in course.growth_in.get(epoch, ())), default=0)
    return max(sent, (ended.tokens_before if ended else None) or 0)


def recorded_outcome(session: Session, epoch: int) -> Outcome:
    """Return the compaction that ended `epoch` as an outcome: messages kept unchanged or shortened in the next epoch,
    its new summaries, and what the agent added next to them. Raises KeyError if the epoch does not exist or was not
    compacted."""
    ended = session.epochs[epoch - 1].ended_by if 1 <= epoch < len(session.epochs) else None
    if ended is None:
        raise KeyError(epoch)
    source = session.context(epoch)
    place = {index: here for here, index in enumerate(session.epochs[epoch - 1].members)}
    after = session.epochs[epoch].members
    kept = sorted({*(place[index] for index in after if index in place), *_repeated_tail(session, epoch, ended)})
    if len(kept) == len(source):
        return unchanged(source, "nothing was removed")
    less = _shortened_messages(session, epoch, place) if ended.way == "clearing" else {}
    new = [] if less else [session.messages[index] for index in _added_messages(session, epoch, place)]
    removed = tuple(without([Span(0, len(source))], [*kept, *less]))
    summarized = ended.way == "summary" or any(message.kind == "summary" for message in new)
    lead = [here for here in kept if source[here].is_own_system]
    rest = sorted({*kept, *less}.difference(lead))
    pieces: list[Piece] = [KeptSpan(span.start, span.stop) for span in spans_of(lead)]
    pieces += [NewMessage(message, removed if message.kind == "summary" else ()) for message in new]
    pieces += [
        NewMessage(less[here], (Span(here, here + 1),)) if here in less else KeptSpan(here, here + 1) for here in rest
    ]
    spans = sorted(
        [FateSpan(span.start, span.stop, Fate.KEPT) for span in spans_of(kept)]
        + [FateSpan(here, here + 1, Fate.COMPRESSED) for here in less]
        + [FateSpan(span.start, span.stop, Fate.SUMMARIZED if summarized else Fate.DROPPED) for span in removed],
        key=lambda span: span.start,
    )
    return Outcome("compacted", "recorded", source, tuple(_merge_spans(pieces)), tuple(spans))


def _repeated_tail(session: Session, epoch: int, ended: Compaction) -> range:
    """Return the indexes of the tail that a compaction kept as rewritten copies: the newest messages whose parts all
    occur again in the next epoch. Empty for compactions without copies."""
    source, following = session.context(epoch), session.epochs[epoch]
    if ended.way != "summary" or not following.copies:
        return range(0)
    again = {part for message in session.context(epoch + 1) if message.kind != "summary" for part in _parts(message)}
    start = len(source)
    while start and all(part in again for part in _parts(source[start - 1])):
        start -= 1
    return range(start, len(source))


def _parts(message: Message) -> Iterator[tuple[str, str]]:
    """Yield the parts of a message without its reasoning: (role, text), (name, input) of a call, ("tool", text) of a
    result."""
    for block in message.blocks:
        match block:
            case Text(text):
                yield message.role, text
            case ToolUse(_, name, given):
                yield name, given if isinstance(given, str) else json_text(given)
            case ToolResult():
                yield "tool", block.text


def _shortened_messages(session: Session, epoch: int, place: Mapping[int, int]) -> dict[int, Message]:
    """Return {index of the original: message} for the messages that a clearing shortened. A clearing keeps the order of
    messages."""
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


def _added_messages(session: Session, epoch: int, place: Mapping[int, int]) -> Iterator[int]:
    """Yield the indexes of the messages that a compaction added before the next turn: summaries, and what the agent
    inserts after them. Codex writes its system message again before the summary."""
    seen_summary = False
    for index in session.epochs[epoch].members:
        kind = session.messages[index].kind
        seen_summary = seen_summary or (kind == "summary" and index not in place)
        if index in place:
            continue
        if kind not in ("summary", "meta") and not session.messages[index].is_own_system:
            return
        if kind == "summary" or seen_summary:
            yield index


def _merge_spans(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Yield the pieces; adjacent spans of kept messages are merged."""
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
    """Return the messages after an epoch's context: those of later epochs, without summaries and copies."""
    seen = set(session.epochs[epoch - 1].members)
    found: list[Message] = []
    for later in session.epochs[epoch:]:
        for index in later.members:
            if index not in seen and index not in later.copies:
                seen.add(index)
                if session.messages[index].kind != "summary":
                    found.append(session.messages[index])
    return tuple(found)
