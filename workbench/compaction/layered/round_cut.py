"""Where whole rounds are cut off: what goes, what stays before the cut, and where an archive of the rest stands.

No round and no tool pair is ever cut in two.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.base.figures import grouped
from workbench.base.text import counted, plural
from workbench.compaction.assembled.prompt import open_from
from workbench.compaction.context import Context
from workbench.compaction.keeping import pinned_with_pairs, with_pairs
from workbench.compaction.spans import without
from workbench.session import Message, Span, leading_system


@dataclass(frozen=True, slots=True)
class RoundCut:
    """Where the context is cut, by message index.

    `tail`: the first message after the archived rounds; `head`: what the archive stands for, ascending; empty with a
    reason in `why_empty`. `stays`: messages before the tail that stay, ascending (own system messages, pins with their
    pairs, earlier summaries that are kept, with theirs). `earlier`: the other summaries before the tail; `ended`: where
    the last finished round ends.
    """

    tail: int
    head: tuple[Span, ...]
    stays: tuple[int, ...]
    pins: frozenset[int]
    earlier: tuple[int, ...]
    ended: int
    why_empty: str = ""


def cut_rounds(context: Context, min_rounds: int, *, keep_summaries: bool, trace: list[str]) -> RoundCut:
    """The newest `min_rounds` whole rounds stay, or those from the split set by hand on; an open round, the current
    input, and the round of a call whose result came later stay besides. `trace` tells of it."""
    shape = context.shape
    rounds, current = shape.rounds.rounds, shape.rounds.current_input
    ended = open_from(shape)
    finished = len(rounds) - int(bool(rounds) and rounds[-1].stop > ended)
    pins = pinned_with_pairs(context)
    archived = max(0, finished - min_rounds)
    if context.split_at is not None:
        at = shape.index_of[context.split_at]
        inside = bisect_right(shape.round_starts, at) - 1
        archived = len(rounds) if len(current) and at >= current.start else max(0, inside)
        trace.append(f"manual split before round {archived + 1}")
    wanted = archived
    starts = [*shape.round_starts, current.start]
    while archived and shape.open_across[starts[archived]]:
        archived -= 1
    if archived < wanted:
        trace.append(f"moved back by {counted(wanted - archived, 'round')}: a tool result is in a later round")
    words = f"{finished} finished {plural(finished, 'round')}"
    if not archived:
        by_hand = "no complete round comes before the split"
        why = f"{words}; at least {min_rounds} are kept" if context.split_at is None else by_hand
        return RoundCut(0, (), (), pins, (), ended, why)

    tail = starts[archived]
    earlier = tuple(i for i in shape.summaries if i < tail)
    kept = with_pairs(context.shape, earlier) if keep_summaries else frozenset()
    stays = sorted({i for i in (*shape.own_system, *pins, *kept) if i < tail})
    head = tuple(without([Span(0, tail)], {*stays, *earlier}))
    if not head:
        return RoundCut(
            0, (), (), pins, (), ended, "the oldest rounds contain only pins, system messages and summaries"
        )
    size = context.size(0, tail)
    trace.append(
        f"archived: the oldest {archived} of {words}, {counted(tail, 'message')}, {grouped(size.tokens)} tokens; "
        f"kept: the newest {len(rounds) - archived}" + (", the last one still open" if finished < len(rounds) else "")
    )
    return RoundCut(tail, head, tuple(stays), pins, tuple(i for i in earlier if i not in stays), ended)


def without_archive(context: Context, cut: RoundCut, *, keep_summaries: bool) -> RoundCut:
    """What stays without a summary: earlier summaries too, for nothing takes their place, and before an answer that is
    pinned the user's message that it answers, for a conversation begins with the user."""
    again = cut.earlier if keep_summaries else ()
    stays = {*cut.stays, *(i for i in with_pairs(context.shape, again) if i < cut.tail)}
    messages = context.messages
    spoken = [i for i in sorted(stays) if not messages[i].is_own_system]
    if spoken and messages[spoken[0]].role in ("assistant", "tool"):
        before = [i for i in range(spoken[0]) if not messages[i].is_own_system]
        opener = next((i for i in reversed(before) if messages[i].role == "user"), before[0] if before else spoken[0])
        stays |= with_pairs(context.shape, (opener,))
    earlier = tuple(i for i in cut.earlier if i not in stays)
    head = without([Span(0, cut.tail)], {*stays, *earlier})
    return replace(cut, head=tuple(head), stays=tuple(sorted(stays)), earlier=earlier)


def place_of_archive(messages: Sequence[Message], before: Sequence[int]) -> int:
    """How many of the messages that stay stand before the archive: the leading system messages, and all up to the last
    earlier summary, unless an answer would then open the conversation."""
    system = leading_system([messages[i] for i in before])
    summaries = [place for place, i in enumerate(before, 1) if messages[i].is_summary]
    spoken = next((messages[i] for i in before if not messages[i].is_own_system), None)
    if not summaries or (spoken is not None and spoken.role in ("assistant", "tool")):
        return system
    return summaries[-1]
