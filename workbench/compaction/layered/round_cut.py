"""Cut off whole rounds: the archived head, messages that stay before the cut, and the archive's place.

No round and no tool pair is cut in two.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.base.figures import grouped
from workbench.base.text import counted, plural
from workbench.compaction.assembled.prompt import open_from
from workbench.compaction.context import Context
from workbench.compaction.invariants import must_stay, pinned_with_pairs, with_pairs
from workbench.compaction.spans import without
from workbench.session import Message, Span, leading_system


@dataclass(frozen=True, slots=True)
class RoundCut:
    """A cut, by message index.

    `tail`: first message after the archived rounds. `head`: messages that the archive replaces, ascending; if empty,
    `why_empty` is the reason. `stays`: messages before the tail that stay, ascending (own system messages, pins with
    their pairs, kept earlier summaries with their pairs). `earlier`: other summaries before the tail. `ended`: end of
    the last finished round.
    """

    tail: int
    head: tuple[Span, ...]
    stays: tuple[int, ...]
    pins: frozenset[int]
    earlier: tuple[int, ...]
    ended: int
    why_empty: str = ""


def cut_rounds(context: Context, min_rounds: int, *, keep_summaries: bool, trace: list[str]) -> RoundCut:
    """Cut that keeps the newest `min_rounds` complete rounds, or those from a split set by hand. An open round, the
    current input, and the round of a call with a late result stay as well. Appends to `trace`."""
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
    ideal = archived
    starts = [*shape.round_starts, current.start]
    while archived and shape.open_across[starts[archived]]:
        archived -= 1
    if archived < ideal:
        trace.append(f"moved back by {counted(ideal - archived, 'round')}: a tool result is in a later round")
    words = f"{finished} finished {plural(finished, 'round')}"
    if not archived:
        by_hand = "no complete round comes before the split"
        why = f"{words}; at least {min_rounds} are kept" if context.split_at is None else by_hand
        return RoundCut(0, (), (), pins, (), ended, why)

    tail = starts[archived]
    earlier = tuple(i for i in shape.summaries if i < tail)
    stays = sorted(i for i in must_stay(context, earlier if keep_summaries else ()) if i < tail)
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
    """Cut for a compaction without a summary. Earlier summaries stay, because nothing replaces them. A pinned answer at
    the front keeps the user message before it, because a conversation begins with the user."""
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


def archive_place(messages: Sequence[Message], before: Sequence[int]) -> int:
    """Number of kept messages before the archive: leading system messages, and all up to the last earlier summary,
    unless an answer would then open the conversation."""
    system = leading_system([messages[i] for i in before])
    summaries = [place for place, i in enumerate(before, 1) if messages[i].is_summary]
    spoken = next((messages[i] for i in before if not messages[i].is_own_system), None)
    if not summaries or (spoken is not None and spoken.role in ("assistant", "tool")):
        return system
    return summaries[-1]
