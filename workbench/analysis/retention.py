"""Facts of the head that an outcome keeps in full, in part or not at all, and correctly or not; by kind, without a
model.

A fact is kept in full if a message that states it stays unchanged; otherwise the new messages (summaries, compressed
results) are searched for it (`workbench.analysis.fact_check`), with secrets masked on both sides. The head precedes the
outcome's tail. If the new messages cannot be read (encrypted summary, or none in the file), facts without an unchanged
message are unknown.

Lost facts are those of the head that an outcome does not keep even in part, whatever the summarizer was shown; all
outputs use this definition.

A fact weighs `USED` if it is needed afterwards, else `UNUSED`. A fact is needed if the tail or a later message uses it
again (`workbench.facts.distinct`). Always needed: rules in force, the first request, an unanswered last request, and
errors that were not fixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from msgspec import Struct

from workbench.analysis.claims import State
from workbench.analysis.fact_check import FactQuery, FactVerdict, Presence, SearchedText, fact_query
from workbench.analysis.head_index import texts_of
from workbench.analysis.suggested_pins import pin_tokens
from workbench.compaction.context import Context
from workbench.compaction.outcome import Fate, KeptSpan, NewMessage, Outcome
from workbench.compaction.shape import Shape, newest_per_shape, per_shape
from workbench.compaction.shape_facts import facts_of, sentence_states_of, standing_of
from workbench.facts.all_facts import find_facts
from workbench.facts.calls import is_check
from workbench.facts.distinct import DistinctFact, FactUses, distinct_facts
from workbench.facts.fact import Fact, FactKind
from workbench.facts.pastes import without_paste
from workbench.session import Message
from workbench.session.masked import searched_message

USED, UNUSED = 1.0, 0.25
HALF = 0.5
"""Weight of a fact that is kept in part."""

NAMES: tuple[FactKind, ...] = ("identifier", "path")
"""Kinds of facts that are names: any unchanged message that uses the name keeps the fact."""

KINDS: tuple[FactKind, ...] = get_args(FactKind)


FactState = Literal["full", "part", "wrong", "stale", "none", "unknown"]
"""Verdict on a fact, the same in every output: kept in full, kept in part, `wrong` (kept but contradicted), `stale`
(superseded, but stated as if in force), `none` (lost), or unknown."""


class TrackedFact(Struct, frozen=True):
    """Fact of the head, with its `presence` in the outcome.

    `right`: present and stated correctly. `stale`: superseded by the user, but stated as if in force. `message` is the
    id of the newest message of the head that states it, `index` its position in the context, from 0. `used`: needed
    afterwards. `why` explains the importance in words ("modified", "not fixed", …); a larger `rank` is a graver loss.
    `pin_tokens` is the cost of pinning that message with its tool pairs; 0 if it stays anyway.
    """

    kind: FactKind
    text: str
    message: str
    index: int
    presence: Presence
    used: bool
    why: str
    rank: float
    pin_tokens: int
    right: bool = True
    stale: bool = False

    @property
    def weight(self) -> float:
        """Weight of its loss."""
        return USED if self.used else UNUSED

    @property
    def state(self) -> FactState:
        """Verdict on the fact."""
        if self.stale:
            return "stale"
        return "wrong" if self.presence in ("full", "part") and not self.right else self.presence


@dataclass(frozen=True, slots=True)
class FactCounts:
    """Counts and shares of facts. `used`: needed afterwards; `wrong`: kept but stated wrongly; `stale`: the part of
    `wrong` that is superseded."""

    facts: int
    full: int
    part: int
    unknown: int
    wrong: int
    stale: int
    used: int
    share: float | None
    """Share kept, 0 to 1; a fact kept in part counts half. None without a fact, or if the state of one is unknown."""
    right: float | None
    """Share kept and correct."""
    weighted: float | None
    """Share kept by weight."""

    @property
    def lost(self) -> int:
        """Number of facts that are lost completely."""
        return self.facts - self.full - self.part - self.unknown


@dataclass(frozen=True)
class Retention:
    """Facts of the first `head` messages in the order in which they were first stated. `tail` has the facts that only
    the tail states; they are always kept."""

    head: int
    facts: tuple[TrackedFact, ...]
    tail: tuple[TrackedFact, ...]

    @cached_property
    def kinds(self) -> dict[FactKind, FactCounts]:
        """Shares by kind; kinds without a fact are left out."""
        return _by_kind(self.facts)

    @cached_property
    def overall(self) -> FactCounts:
        """Share over all kinds."""
        return fact_counts_of(self.facts)

    @cached_property
    def whole_kinds(self) -> dict[FactKind, FactCounts]:
        """Shares by kind of all facts of the context, the tail's included: comparable between outcomes with different
        heads."""
        return _by_kind((*self.facts, *self.tail))

    @cached_property
    def whole(self) -> FactCounts:
        """Share of all facts of the context, the tail's included."""
        return fact_counts_of((*self.facts, *self.tail))

    @property
    def in_tail(self) -> int:
        """Number of facts that only the tail states."""
        return len(self.tail)

    @property
    def of_context(self) -> float | None:
        """Share kept of all facts of the context, 0 to 1. None without a fact, or if the state of one is unknown."""
        return self.whole.share

    @cached_property
    def lacking(self) -> tuple[TrackedFact, ...]:
        """Facts of the head that are lost, wrong or kept only in part, gravest first; unknown ones are left out."""
        wanting = (
            fact
            for fact in self.facts
            if fact.presence in ("part", "none") or (fact.presence == "full" and not fact.right)
        )
        return tuple(sorted(wanting, key=lambda fact: -fact.rank))

    @property
    def lost(self) -> tuple[TrackedFact, ...]:
        """Facts lost completely, gravest first."""
        return tuple(fact for fact in self.lacking if fact.presence == "none")

    @cached_property
    def rule_counts(self) -> tuple[int, int]:
        """Number of the user's rules in force that are kept and correct, in part at least, and number of all these
        rules."""
        facts = (*self.facts, *self.tail)
        rules = [one for one in facts if one.kind == "instruction" and one.why != "superseded"]
        return sum(one.state in ("full", "part") for one in rules), len(rules)


def _by_kind(facts: Sequence[TrackedFact]) -> dict[FactKind, FactCounts]:
    by_kind = {kind: [fact for fact in facts if fact.kind == kind] for kind in KINDS}
    return {kind: fact_counts_of(several) for kind, several in by_kind.items() if several}


def fact_counts_of(facts: Sequence[TrackedFact]) -> FactCounts:
    """Return the counts and shares of `facts`."""
    present = [_COUNTS[fact.presence] for fact in facts]
    weight = sum(fact.weight for fact in facts)
    known = bool(facts) and not any(fact.presence == "unknown" for fact in facts)
    return FactCounts(
        len(facts),
        sum(fact.presence == "full" for fact in facts),
        sum(fact.presence == "part" for fact in facts),
        sum(fact.presence == "unknown" for fact in facts),
        sum(not fact.right for fact in facts if fact.presence in ("full", "part")),
        sum(fact.stale for fact in facts),
        sum(fact.used for fact in facts),
        sum(present) / len(facts) if known else None,
        sum(count for count, fact in zip(present, facts, strict=True) if fact.right) / len(facts) if known else None,
        sum(count * fact.weight for count, fact in zip(present, facts, strict=True)) / weight if known else None,
    )


_COUNTS = {"full": 1.0, "part": HALF, "none": 0.0, "unknown": 0.0}


def retention(context: Context, outcome: Outcome, later: Sequence[Message] = ()) -> Retention:
    """Return the facts of the head that `outcome`, a compaction of `context`, keeps. `later` are the messages after the
    context, if known: facts that they use weigh more. Linear in the messages; facts of a context are found once."""
    new = None if is_unreadable(outcome) else new_messages(outcome)
    return retention_of_head(context, head_end(outcome), unchanged_marks(outcome), new, later)


def retention_of_head(
    context: Context,
    stop: int,
    unchanged_marks: Sequence[int],
    new_messages: Sequence[Message] | None,
    later: Sequence[Message] = (),
) -> Retention:
    """Return the retention of the facts of the first `stop` messages if the messages marked in `unchanged_marks` are
    kept and `new_messages` replace the others. `new_messages` is None if they cannot be read."""
    searched = (
        None
        if new_messages is None
        else SearchedText(text for message in new_messages for text in texts_of(searched_message(message)))
    )
    costs: dict[int, int] = {}
    held: list[TrackedFact] = []
    tail: list[TrackedFact] = []
    for one in _facts_to_find(context.shape, tuple(later)):
        mentions = one.known.mentions
        stated = [fact for fact in mentions if fact.index < stop]
        newest = (stated or mentions)[-1]
        used = one.needed or one.last_use >= stop
        if not stated:
            verdict = FactVerdict("full", True)
        else:
            kept = any(unchanged_marks[index] for index in one.places)
            verdict = FactVerdict("full", True) if kept else searched.judge(one.form) if searched else UNKNOWN
            if newest.index not in costs:
                costs[newest.index] = 0 if unchanged_marks[newest.index] else pin_tokens(context, newest.index)
        fact = TrackedFact(
            one.known.kind,
            newest.text,
            newest.message,
            newest.index,
            verdict.presence,
            used,
            one.why,
            one.rank + (1 if used else 0) + newest.index / (len(context) or 1),
            costs[newest.index] if stated else 0,
            verdict.right,
            verdict.stale,
        )
        (held if stated else tail).append(fact)
    return Retention(stop, tuple(held), tuple(tail))


UNKNOWN = FactVerdict("unknown", False)


class _FactToFind(Struct, frozen=True):
    """Fact with its query and importance, which do not depend on the outcome. It is kept while one of the messages
    `places` stays.

    `last_use`: index of the last message that states or uses it. `needed`: needed afterwards, wherever the head ends.
    `rank` and `why` are its importance.
    """

    known: DistinctFact
    form: FactQuery
    places: tuple[int, ...]
    last_use: int
    needed: bool
    rank: float
    why: str


@newest_per_shape
def _facts_to_find(shape: Shape, later: tuple[Message, ...]) -> tuple[_FactToFind, ...]:
    """Return every searchable fact of the messages; `later` are the messages after them."""
    all_known, uses, superseded = known_of(shape), uses_of(shape), superseded_texts(shape)
    masked = tuple(map(shape.masking, later))
    afterwards = FactUses(masked, find_facts(masked), all_known)
    requests = [one for one in all_known if one.kind == "request"]
    facts: list[_FactToFind] = []
    for one, form in fact_queries(shape):
        used_in = uses.of(one)
        rank, why = importance(one.mentions)
        # A name stays with any message that uses it, a sentence only with one that states it.
        places = used_in if one.kind in NAMES else [fact.index for fact in one.mentions]
        needed = bool(afterwards.of(one)) or _is_in_force(one, requests, superseded)
        why = "superseded" if form.state == "gone" else why
        facts.append(_FactToFind(one, form, tuple(places), used_in[-1], needed, rank, why))
    return tuple(facts)


def _search_text(one: DistinctFact) -> str:
    """Return the text to search for: of a request only the typed part, if there is one."""
    return without_paste(one.text) or one.text if one.kind == "request" else one.text


def state_of(one: DistinctFact, superseded: frozenset[str] = frozenset()) -> State:
    """Return the last state of the rule, file, command or error of a fact; "" if unknown or for other kinds."""
    last = one.last
    match one.kind:
        case "instruction" | "stated":
            return "gone" if one.text.lower() in superseded else ""
        case "path":
            done = [fact.detail for fact in one.mentions if fact.ok is not False]
            return next((state for detail in reversed(done) for state in _CHANGES if state == detail), "")
        case "command":
            return "" if last.ok is None else "passed" if last.ok else "failed"
        case "error":
            return "fixed" if last.state == "resolved" else "open" if last.state == "open" else ""
    return ""


_CHANGES: tuple[State, ...] = ("created", "modified", "deleted", "reverted")


def head_end(outcome: Outcome) -> int:
    """Return the number of messages before the tail, or up to the last changed message if that is in the tail:
    shortening a tail may lose facts, too. 0 for an unchanged outcome."""
    if outcome.status == "unchanged":
        return 0
    tail = outcome.split if outcome.split < len(outcome.source) or not outcome.fates else 0
    changed = (span.stop for span in reversed(outcome.fates) if span.fate not in (Fate.KEPT, Fate.PINNED))
    return max(tail, next(changed, 0))


def new_messages(outcome: Outcome) -> tuple[Message, ...]:
    """Return the messages that an outcome puts in place of removed ones."""
    return tuple(piece.message for piece in outcome.pieces if isinstance(piece, NewMessage))


def is_unreadable(outcome: Outcome) -> bool:
    """True if the summary of an outcome cannot be read: missing in the file, or encrypted."""
    return outcome.summarizes and not any(message.text.strip() for message in new_messages(outcome))


@per_shape
def superseded_texts(shape: Shape) -> frozenset[str]:
    """Return the lower-case texts of rules and sentences that the user later replaced."""
    orders = (one.fact for one in standing_of(shape) if one.superseded_by)
    sentences = (one.fact for one in sentence_states_of(shape) if one.superseded_by)
    return frozenset(fact.text.lower() for fact in (*orders, *sentences))


@per_shape
def known_of(shape: Shape) -> tuple[DistinctFact, ...]:
    """Return the facts of a context, each once with all its mentions."""
    return distinct_facts(facts_of(shape))


@per_shape
def fact_queries(shape: Shape) -> tuple[tuple[DistinctFact, FactQuery], ...]:
    """Return every searchable fact with its query, which does not depend on the outcome."""
    superseded = superseded_texts(shape)
    forms = (
        (one, fact_query(one.kind, _search_text(one), one.last.detail, state_of(one, superseded)))
        for one in known_of(shape)
    )
    return tuple((one, form) for one, form in forms if form is not None)


@per_shape
def uses_of(shape: Shape) -> FactUses:
    """Return the index of uses of each fact."""
    return FactUses(shape.masked, facts_of(shape), known_of(shape))


def unchanged_marks(outcome: Outcome) -> bytearray:
    """Return a mark per message of the input: 1 if it stays unchanged."""
    marks = bytearray(len(outcome.source))
    for piece in outcome.pieces:
        if isinstance(piece, KeptSpan):
            marks[piece.start : piece.stop] = b"\x01" * (piece.stop - piece.start)
    return marks


def _is_in_force(one: DistinctFact, requests: Sequence[DistinctFact], superseded: frozenset[str]) -> bool:
    match one.kind:
        case "instruction":
            return one.text.lower() not in superseded
        case "request":
            return one is requests[0] or (one is requests[-1] and not one.last.ok)
        case "error":
            return one.last.state == "open"
    return False


def importance(same: Sequence[Fact]) -> tuple[float, str]:
    """Return (gravity of a loss, its reason in words) for a fact. `same` are its mentions, oldest first."""
    last = same[-1]
    match last.kind:
        case "instruction":
            return 10.0, "a standing instruction"
        case "request":
            return (5.0, "answered") if last.ok else (9.0, "not answered")
        case "stated":
            return 4.5, "stated by the user"
        case "decision":
            return (8.5, "the user's answer") if last.detail else (7.0, "a decision")
        case "error":
            return {"resolved": (3.0, "fixed"), "open": (8.0, "not fixed")}.get(last.state, (5.0, "not seen fixed"))
        case "path":
            did = {fact.detail for fact in same if fact.ok is not False}
            changed = next((word for word in ("reverted", "deleted", "created", "modified") if word in did), "")
            return (6.0, changed) if changed else (2.0, "read") if did - {"mentioned"} else (1.0, "not opened")
        case "command":
            often = f"ran {len(same)} times" if len(same) > 1 else "ran once"
            if last.ok is False:
                return 5.0, "failed"
            return (4.0, often) if is_check(last.text) else (2.5, often)
        case "identifier":
            sort, _, uses = last.detail.partition(" ")
            return (3.5 if sort in ("ticket", "uuid", "hash") else 1.5), f"{sort} {uses}"
    return 1.0, last.detail
