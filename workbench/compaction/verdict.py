"""Finish an outcome: insert user messages where the API's role rules need one, and compare its size with the input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from workbench.base.figures import grouped
from workbench.compaction.context import Context
from workbench.compaction.outcome import Fate, KeptSpan, NewMessage, Outcome, Piece
from workbench.compaction.spans import kept_pieces, merge_adjacent
from workbench.formats.roles import GAP, KNOWN, Api, Roles
from workbench.session import Message, Span, Text


def with_verdict(context: Context, draft: Outcome) -> Outcome:
    """Finish a draft: make it valid for its API and compare its size. An outcome that is not smaller in tokens gets the
    status `not_smaller`, which is not a success. Strategies pass every outcome that changes something through this
    function."""
    draft = insert_gaps(draft, context.api)
    before, after = context.total, context.outcome_size(draft)
    line = f"{grouped(before.tokens)} → {grouped(after.tokens)} tokens"
    trace = (*draft.trace, line)
    if draft.status == "compacted" and after.tokens >= before.tokens:
        return replace(draft, status="not_smaller", reason=f"not smaller: {line}", trace=trace)
    return replace(draft, reason=f"{draft.reason}: {line}" if draft.reason else line, trace=trace)


_REMOVED = (Fate.SUMMARIZED, Fate.ABRIDGED, Fate.DROPPED)


def insert_gaps(outcome: Outcome, api: Api | None) -> Outcome:
    """Insert a user message `GAP` before each message that the API would now reject: an agent's message that opens the
    conversation, or a call directly after an answer. O(pieces), because only messages at their edges have new
    neighbours."""
    roles = KNOWN[api]
    if "assistant" in roles.opens or not any(one.fate in _REMOVED for one in outcome.fates):
        return outcome
    pieces: list[Piece] = []
    before: Message | None = None
    for number, piece in enumerate(outcome.pieces):
        if before is not None and not roles.calls_answer:
            pieces += outcome.pieces[number:]
            break
        turns = _turns(outcome.source, piece, roles)
        if turns and roles.why_not(before, turns[0]):
            pieces += _with_gap(outcome, piece, turns[0], before, roles)
        else:
            pieces.append(piece)
        before = turns[-1] if turns else before
    return replace(outcome, pieces=tuple(pieces)) if len(pieces) > len(outcome.pieces) else outcome


def _turns(source: Sequence[Message], piece: Piece, roles: Roles) -> list[Message]:
    """First and last turn of a piece (the same message if it has one); empty if it has none."""
    if isinstance(piece, NewMessage):
        return [piece.message] if roles.is_turn(piece.message) else []
    directions = range(piece.start, piece.stop), range(piece.stop - 1, piece.start - 1, -1)
    ends = (next((source[at] for at in way if roles.is_turn(source[at])), None) for way in directions)
    return [end for end in ends if end is not None]


def _with_gap(outcome: Outcome, piece: Piece, met: Message, before: Message | None, roles: Roles) -> Iterator[Piece]:
    """Piece with a gap before its message `met`, unless `met` followed `before` in the source as well. The gap replaces
    the removed messages before `met`; if there are none (a reply was put before a pin), all removed messages."""
    if isinstance(piece, NewMessage):
        at, removed = 0, piece.replaces
    else:
        at = next(at for at in range(piece.start, piece.stop) if outcome.source[at] is met)
        *_, previous = (None, *_turns(outcome.source, KeptSpan(0, at), roles))
        spans = [Span(one.start, one.stop) for one in outcome.fates if one.fate in _REMOVED]
        earlier = [span for span in spans if span.start < at]
        removed = () if previous is before else tuple(merge_adjacent(earlier or spans))
    if not removed:
        yield piece
        return
    if isinstance(piece, KeptSpan):
        yield from kept_pieces([Span(piece.start, at)])
        piece = KeptSpan(at, piece.stop)
    yield NewMessage(Message(f"gap-{met.id}", "user", (Text(GAP),), kind="meta", time=met.time), removed)
    yield piece
