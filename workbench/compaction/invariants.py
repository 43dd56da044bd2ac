"""Invariants of every outcome, and the functions with which strategies keep them. `checks.py` checks the outcome.

    tool pairs           a call and its results are kept or removed together   with_pairs, allowed_cuts
    pins                 kept unchanged, with their tool pairs                 pinned_with_pairs, must_stay
    own system messages  kept unchanged                                        must_stay
    unanswered messages  kept, unless the policy says otherwise                before_unread, end_of_head
    order of roles       the API accepts it                                    may_open, with_verdict
    size                 smaller in tokens, or the status is `not_smaller`     with_verdict

Cut c lies before message c: messages from c on are the tail.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from workbench.base.figures import grouped
from workbench.compaction.context import Context
from workbench.compaction.outcome import Fate, KeptSpan, NewMessage, Outcome, Piece
from workbench.compaction.shape import Shape
from workbench.compaction.spans import kept_pieces, merge_adjacent
from workbench.compaction.vocabulary import Unread
from workbench.formats.roles import GAP, KNOWN, Api, Roles
from workbench.session import Message, Span, Text


def with_pairs(shape: Shape, indexes: Iterable[int]) -> frozenset[int]:
    """Add to these messages every message at the other end of their tool pairs, so that parallel calls stay
    complete."""
    waiting, found = list(indexes), set[int]()
    while waiting:
        index = waiting.pop()
        if index not in found:
            found.add(index)
            waiting.extend(shape.partners.get(index, ()))  # computed only if needed, because it is slow
    return frozenset(found)


def allowed_cuts(shape: Shape, cuts: Iterable[int]) -> Iterator[int]:
    """Yield those of `cuts` that split no tool pair, in their order."""
    return (cut for cut in cuts if not shape.open_across[cut])


def pinned_with_pairs(context: Context) -> frozenset[int]:
    """Pinned messages, with every message at the other end of their tool pairs."""
    index_of = context.shape.index_of
    return with_pairs(context.shape, (index_of[id] for id in context.pins if id in index_of))


def must_stay(context: Context, indexes: Iterable[int] = ()) -> frozenset[int]:
    """Messages that no strategy removes: pins and the session's own system messages. `indexes`: further messages that
    this one keeps. All with complete tool pairs."""
    return with_pairs(context.shape, [*indexes, *context.shape.own_system]) | pinned_with_pairs(context)


def before_unread(shape: Shape) -> int:
    """Last allowed cut that leaves every unanswered message, with the calls of its results, in the tail. Number of all
    messages if none is unanswered."""
    start = min(with_pairs(shape, shape.unread), default=len(shape.messages))
    return next(allowed_cuts(shape, range(start, 0, -1)), 0)


def end_of_head(shape: Shape, unread: Unread) -> int:
    """Index at which the head ends, by the policy for unanswered messages."""
    if unread == "summarize":
        return len(shape.messages)
    stop = before_unread(shape)
    if unread == "answer" and stop == len(shape.messages):
        answers = (i for i in range(stop - 1, -1, -1) if shape.messages[i].role == "assistant")
        newest = next((i for i in answers if shape.messages[i].kind == "normal"), stop)
        stop = next(allowed_cuts(shape, range(newest, 0, -1)), 0)
    return stop


def may_open(context: Context, indexes: Iterable[int]) -> bool:
    """True if the API accepts these messages (ascending indexes) at the start, after own system messages: the user must
    speak first, unless the session itself starts otherwise."""
    messages = context.messages
    spoken = next((index for index in indexes if not messages[index].is_own_system), None)
    if spoken is None or messages[spoken].role in ("user", "system"):
        return True
    return all(messages[index].is_own_system for index in range(spoken))


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
