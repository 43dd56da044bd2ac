"""What makes the API that a session goes to take an outcome: a word of the user's where its roles demand one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from workbench.compaction.outcome import Fate, KeptSpan, NewMessage, Outcome, Piece
from workbench.compaction.spans import kept_pieces, merged
from workbench.formats.roles import GAP, KNOWN, Api, Roles
from workbench.session import Message, Span, Text

_GONE = (Fate.SUMMARIZED, Fate.ABRIDGED, Fate.DROPPED)


def insert_gaps(outcome: Outcome, api: Api | None) -> Outcome:
    """The outcome with `GAP` said by the user before each message that the API would refuse where it stands now: the
    agent's that would open, and a call right behind an answer. O(pieces): only there do messages meet that did not, and
    only where some are gone."""
    roles = KNOWN[api]
    if "assistant" in roles.opens or not any(one.fate in _GONE for one in outcome.fates):
        return outcome
    pieces: list[Piece] = []
    before: Message | None = None
    for number, piece in enumerate(outcome.pieces):
        if before is not None and not roles.calls_answer:
            pieces += outcome.pieces[number:]
            break
        turns = _turns(outcome.source, piece, roles)
        if turns and roles.why_not(before, turns[0]):
            pieces += _led_in(outcome, piece, turns[0], before, roles)
        else:
            pieces.append(piece)
        before = turns[-1] if turns else before
    return replace(outcome, pieces=tuple(pieces)) if len(pieces) > len(outcome.pieces) else outcome


def _turns(source: Sequence[Message], piece: Piece, roles: Roles) -> list[Message]:
    """The first turn and the last of a piece, the same one where there is no other; nothing where it has none."""
    if isinstance(piece, NewMessage):
        return [piece.message] if roles.is_turn(piece.message) else []
    ways = range(piece.start, piece.stop), range(piece.stop - 1, piece.start - 1, -1)
    ends = (next((source[at] for at in way if roles.is_turn(source[at])), None) for way in ways)
    return [end for end in ends if end is not None]


def _led_in(outcome: Outcome, piece: Piece, met: Message, before: Message | None, roles: Roles) -> Iterator[Piece]:
    """The piece with a gap before its message `met`, which stands for what is gone before it, or where nothing is (a
    reply was put before what is pinned) for all that is; as it is where that message stood behind the same one
    before."""
    if isinstance(piece, NewMessage):
        at, gone = 0, piece.stands_for
    else:
        at = next(at for at in range(piece.start, piece.stop) if outcome.source[at] is met)
        *_, previous = (None, *_turns(outcome.source, KeptSpan(0, at), roles))
        spans = [Span(one.start, one.stop) for one in outcome.fates if one.fate in _GONE]
        earlier = [span for span in spans if span.start < at]
        gone = () if previous is before else tuple(merged(earlier or spans))
    if not gone:
        yield piece
        return
    if isinstance(piece, KeptSpan):
        yield from kept_pieces([Span(piece.start, at)])
        piece = KeptSpan(at, piece.stop)
    yield NewMessage(Message(f"gap-{met.id}", "user", (Text(GAP),), kind="meta", time=met.time), gone)
    yield piece
