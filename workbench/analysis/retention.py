"""What of the head an outcome still holds: its facts by kind, in full, in part or not, and whether what is said of them
is right. Needs no model.

A fact stays in full where a message that states it stays as it is; else the new messages (summaries, compressed
results) are read (`workbench.analysis.holding`), both without their secrets. The head is what stands before the
outcome's tail. Where nobody can read the new messages (an encrypted summary, or none in the file) it is unknown what is
held of the rest.

Here alone it is said what an outcome lost: what the head has and the outcome does not hold, not even in part, whatever
a summarizer was shown of it.

A fact weighs `USED` when it is needed afterwards, else `UNUSED`. Needed is what the tail or the messages after it use
again (`workbench.facts.distinct`), and without that: an instruction that was not superseded, the first request and an
unanswered last one, an error that was not fixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from msgspec import Struct

from workbench.analysis.became import State
from workbench.analysis.head_index import texts_of
from workbench.analysis.holding import Held, Said, Sought, Verdict, sought
from workbench.analysis.suggested_pins import pin_tokens
from workbench.compaction.context import Context
from workbench.compaction.outcome import Fate, KeptSpan, NewMessage, Outcome
from workbench.compaction.shape import Shape, newest_per_shape, per_shape
from workbench.compaction.shape_facts import facts_of, standing_of, stated_of
from workbench.facts.all_facts import find_facts
from workbench.facts.calls import is_check
from workbench.facts.distinct import DistinctFact, FactUses, distinct_facts
from workbench.facts.fact import Fact, FactKind
from workbench.facts.pastes import without_paste
from workbench.session import Message
from workbench.session.masked import searched_message

USED, UNUSED = 1.0, 0.25
HALF = 0.5
"""What a fact counts that is held in part."""

NAMES: tuple[FactKind, ...] = ("identifier", "path")
"""Kinds that are held by every message that uses the name."""

KINDS: tuple[FactKind, ...] = get_args(FactKind)


FactState = Literal["full", "part", "wrong", "stale", "none", "unknown"]
"""The one verdict on a fact, the same in every output: kept in full or in part, kept and contradicted, kept although it
was replaced, lost, or unknown."""


class HeldFact(Struct, frozen=True):
    """A fact of the head and what became of it: held in `full`, in `part`, not at all (`none`), or `unknown`.

    `right`: held, and nothing that is said of it is wrong. `stale`: a later word of the user's replaced it, and the new
    messages say it as if it still held.

    `message` is the id of the newest message of the head that states it, `index` its place in the context, from 0.
    `used`: needed afterwards. `why` says what it is ("modified", "not fixed", …), `rank` how grave its loss is, larger
    is graver. `pin_tokens` is what it costs to pin that message with its tool pairs; 0 where they stay anyway."""

    kind: FactKind
    text: str
    message: str
    index: int
    held: Held
    used: bool
    why: str
    rank: float
    pin_tokens: int
    right: bool = True
    stale: bool = False

    @property
    def weight(self) -> float:
        return USED if self.used else UNUSED

    @property
    def state(self) -> FactState:
        if self.stale:
            return "stale"
        return "wrong" if self.held in ("full", "part") and not self.right else self.held


@dataclass(frozen=True, slots=True)
class Share:
    """How many facts there are and what became of them. `used` of them are needed afterwards, `wrong` are held and told
    wrongly, `stale` of these are told as if they still held."""

    facts: int
    full: int
    part: int
    unknown: int
    wrong: int
    stale: int
    used: int
    share: float | None
    """Held of all (*present*), 0 to 1, a part counting half; None where there is no fact, or where it is unknown."""
    right: float | None
    """The same of what is told rightly."""
    weighted: float | None
    """What is held, by weight."""

    @property
    def lost(self) -> int:
        """How many are not held at all."""
        return self.facts - self.full - self.part - self.unknown


@dataclass(frozen=True)
class Retention:
    """The facts of the first `head` messages, in the order in which they were first stated. `tail` are those that only
    the tail states: it stays, and so do they."""

    head: int
    facts: tuple[HeldFact, ...]
    tail: tuple[HeldFact, ...]

    @cached_property
    def kinds(self) -> dict[FactKind, Share]:
        """By kind; kinds without a fact are left out."""
        return _by_kind(self.facts)

    @cached_property
    def overall(self) -> Share:
        """Over all kinds."""
        return share(self.facts)

    @cached_property
    def whole_kinds(self) -> dict[FactKind, Share]:
        """Of all the context's facts, the tail's included: what outcomes with different heads are compared by."""
        return _by_kind((*self.facts, *self.tail))

    @cached_property
    def whole(self) -> Share:
        """The same over all kinds."""
        return share((*self.facts, *self.tail))

    @property
    def in_tail(self) -> int:
        """How many facts only the tail states."""
        return len(self.tail)

    @property
    def of_context(self) -> float | None:
        """The share held of all the context's facts, from 0 to 1. None where there is no fact, or it is unknown."""
        return self.whole.share

    @cached_property
    def lacking(self) -> tuple[HeldFact, ...]:
        """What is not held in full or told wrongly, the gravest first; what is unknown is not known to lack."""
        wanting = (
            fact for fact in self.facts if fact.held in ("part", "none") or (fact.held == "full" and not fact.right)
        )
        return tuple(sorted(wanting, key=lambda fact: -fact.rank))

    @property
    def lost(self) -> tuple[HeldFact, ...]:
        """What is not held at all, the gravest first."""
        return tuple(fact for fact in self.lacking if fact.held == "none")

    @cached_property
    def rules_kept(self) -> tuple[int, int]:
        """Count the user's rules that still hold: how many are kept, and how many there are."""
        facts = (*self.facts, *self.tail)
        rules = [one for one in facts if one.kind == "instruction" and one.why != "superseded"]
        return sum(one.state in ("full", "part") for one in rules), len(rules)


def _by_kind(facts: Sequence[HeldFact]) -> dict[FactKind, Share]:
    by_kind = {kind: [fact for fact in facts if fact.kind == kind] for kind in KINDS}
    return {kind: share(several) for kind, several in by_kind.items() if several}


def share(facts: Sequence[HeldFact]) -> Share:
    present = [_COUNTS[fact.held] for fact in facts]
    weight = sum(fact.weight for fact in facts)
    known = bool(facts) and not any(fact.held == "unknown" for fact in facts)
    return Share(
        len(facts),
        sum(fact.held == "full" for fact in facts),
        sum(fact.held == "part" for fact in facts),
        sum(fact.held == "unknown" for fact in facts),
        sum(not fact.right for fact in facts if fact.held in ("full", "part")),
        sum(fact.stale for fact in facts),
        sum(fact.used for fact in facts),
        sum(present) / len(facts) if known else None,
        sum(count for count, fact in zip(present, facts, strict=True) if fact.right) / len(facts) if known else None,
        sum(count * fact.weight for count, fact in zip(present, facts, strict=True)) / weight if known else None,
    )


_COUNTS = {"full": 1.0, "part": HALF, "none": 0.0, "unknown": 0.0}


def retention(context: Context, outcome: Outcome, later: Sequence[Message] = ()) -> Retention:
    """What `outcome`, made of `context`, still holds of its head. `later` are messages that came after the context,
    where they are known: what they use weighs more. Linear in the messages; the context's facts are found once."""
    new = None if unread(outcome) else new_messages(outcome)
    return still_held(context, head_end(outcome), staying(outcome), new, later)


def still_held(
    context: Context, stop: int, stays: Sequence[int], new: Sequence[Message] | None, later: Sequence[Message] = ()
) -> Retention:
    """What is held of the first `stop` messages where of the context's messages those stay that `stays` marks, and
    `new` ones were put in the place of the others; None for what nobody can read."""
    said = None if new is None else Said(text for message in new for text in texts_of(searched_message(message)))
    costs: dict[int, int] = {}
    held: list[HeldFact] = []
    tail: list[HeldFact] = []
    for one in _wanted_of(context.shape, tuple(later)):
        mentions = one.known.mentions
        stated = [fact for fact in mentions if fact.index < stop]
        newest = (stated or mentions)[-1]
        used = one.needed or one.last_use >= stop
        if not stated:
            verdict = Verdict("full", True)
        else:
            kept = any(stays[index] for index in one.places)
            verdict = Verdict("full", True) if kept else said.judges(one.form) if said else UNKNOWN
            if newest.index not in costs:
                costs[newest.index] = 0 if stays[newest.index] else pin_tokens(context, newest.index)
        fact = HeldFact(
            one.known.kind,
            newest.text,
            newest.message,
            newest.index,
            verdict.held,
            used,
            one.why,
            one.rank + (1 if used else 0) + newest.index / (len(context) or 1),
            costs[newest.index] if stated else 0,
            verdict.right,
            verdict.stale,
        )
        (held if stated else tail).append(fact)
    return Retention(stop, tuple(held), tuple(tail))


UNKNOWN = Verdict("unknown", False)


class _Wanted(Struct, frozen=True):
    """A fact with everything that is the same in every outcome. It stays where one of the messages `places` stays.

    `last_use`: index of the last message that states or uses it. `needed`: needed afterwards, wherever the head ends.
    `rank` and `why` are its importance."""

    known: DistinctFact
    form: Sought
    places: tuple[int, ...]
    last_use: int
    needed: bool
    rank: float
    why: str


@newest_per_shape
def _wanted_of(shape: Shape, later: tuple[Message, ...]) -> tuple[_Wanted, ...]:
    """Every fact of the messages that can be looked for; `later` are the messages after them."""
    all_known, uses, gone = known_of(shape), uses_of(shape), replaced_of(shape)
    masked = tuple(map(shape.masking, later))
    afterwards = FactUses(masked, find_facts(masked), all_known)
    requests = [one for one in all_known if one.kind == "request"]
    wanted: list[_Wanted] = []
    for one, form in sought_of(shape):
        used_in = uses.of(one)
        rank, why = importance(one.mentions)
        # A name stays where a message that uses it does; what is said stays only where it is said.
        places = used_in if one.kind in NAMES else [fact.index for fact in one.mentions]
        needed = bool(afterwards.of(one)) or _in_force(one, requests, gone)
        why = "superseded" if form.state == "gone" else why
        wanted.append(_Wanted(one, form, tuple(places), used_in[-1], needed, rank, why))
    return tuple(wanted)


def _looked_for(one: DistinctFact) -> str:
    """A request is looked for without the log that stands in it."""
    return without_paste(one.text) or one.text if one.kind == "request" else one.text


def state_of(one: DistinctFact, gone: frozenset[str] = frozenset()) -> State:
    """What became of what a fact names, as the calls show it; "" where they do not."""
    last = one.last
    match one.kind:
        case "instruction" | "stated":
            return "gone" if one.text.lower() in gone else ""
        case "path":
            did = [fact.detail for fact in one.mentions if fact.ok is not False and fact.detail in _DONE]
            return _DONE[did[-1]] if did else ""
        case "command":
            return "" if last.ok is None else "passed" if last.ok else "failed"
        case "error":
            return "fixed" if last.state == "resolved" else "open" if last.state == "open" else ""
    return ""


_DONE: dict[str, State] = {
    "created": "created",
    "modified": "modified",
    "deleted": "deleted",
    "reverted": "reverted",
}


def head_end(outcome: Outcome) -> int:
    """How many messages stand before the tail, or before what follows the last change, if that is later: what is
    shortened in a tail may lose facts, too."""
    if outcome.status == "unchanged":
        return 0
    tail = outcome.split if outcome.split < len(outcome.source) or not outcome.fates else 0
    changed = (span.stop for span in reversed(outcome.fates) if span.fate not in (Fate.KEPT, Fate.PINNED))
    return max(tail, next(changed, 0))


def new_messages(outcome: Outcome) -> tuple[Message, ...]:
    """What the outcome says in place of what it took away."""
    return tuple(piece.message for piece in outcome.pieces if isinstance(piece, NewMessage))


def unread(outcome: Outcome) -> bool:
    """Whether a summary took the place of messages that nobody can read: none in the file, or an encrypted one. What it
    holds is not known then."""
    return outcome.summarizes and not any(message.text.strip() for message in new_messages(outcome))


@per_shape
def replaced_of(shape: Shape) -> frozenset[str]:
    """What the user said that a later word of theirs replaced, in lower case."""
    orders = (one.fact for one in standing_of(shape) if one.superseded_by)
    statements = (one.fact for one in stated_of(shape) if one.superseded_by)
    return frozenset(fact.text.lower() for fact in (*orders, *statements))


@per_shape
def known_of(shape: Shape) -> tuple[DistinctFact, ...]:
    return distinct_facts(facts_of(shape))


@per_shape
def sought_of(shape: Shape) -> tuple[tuple[DistinctFact, Sought], ...]:
    """Every fact that can be looked for, with how: the same in whatever is made of the messages."""
    gone = replaced_of(shape)
    forms = ((one, sought(one.kind, _looked_for(one), one.last.detail, state_of(one, gone))) for one in known_of(shape))
    return tuple((one, form) for one, form in forms if form is not None)


@per_shape
def uses_of(shape: Shape) -> FactUses:
    return FactUses(shape.masked, facts_of(shape), known_of(shape))


def staying(outcome: Outcome) -> bytearray:
    """For each message of the input whether it stays as it is."""
    marks = bytearray(len(outcome.source))
    for piece in outcome.pieces:
        if isinstance(piece, KeptSpan):
            marks[piece.start : piece.stop] = b"\x01" * (piece.stop - piece.start)
    return marks


def _in_force(one: DistinctFact, requests: Sequence[DistinctFact], gone: frozenset[str]) -> bool:
    match one.kind:
        case "instruction":
            return one.text.lower() not in gone
        case "request":
            return one is requests[0] or (one is requests[-1] and not one.last.ok)
        case "error":
            return one.last.state == "open"
    return False


def importance(same: Sequence[Fact]) -> tuple[float, str]:
    """How grave the loss of a fact is, and why; `same` are its mentions, oldest first."""
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
