"""Sentences that supersede earlier ones about the same topic in the same scope.

A sentence has words and values of a kind: numbers, days, paces, languages, currencies. It supersedes an earlier one if
the words are equal and one value differs, or if one of the two forbids what the other requests. A sentence that
announces a change ("now", "from now on", "moved to") may omit words. A revision ("actually", "instead") may replace one
phrase ("paint the fence blue" for "paint the fence green"). A sentence about something that is rejected later ("no
longer in S3", "8080 is taken") no longer holds. A sentence without words of its own ("make that eight") refers to the
last sentence with a value of that kind.

An additional word ("in answers about travel") is another scope, and both sentences stay: a sentence superseded by
mistake is lost, while one kept by mistake is only repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from workbench.base.session_caches import session_cache
from workbench.facts.terms import language_of
from workbench.facts.topics import Topic, changing_clauses, speaking_words, topic_of


@session_cache(16)
def superseding(sentences: tuple[str, ...]) -> tuple[int | None, ...]:
    """Return for each sentence the index of the newest later one that supersedes it, or None. Only sentences that share
    a word are compared, which is nearly linear. Cached for the bench, replays and presets."""
    if len(sentences) < 2:
        return (None,) * len(sentences)
    # Use one language for all, because equal sentences must give equal terms.
    language = language_of(" ".join(sentences))
    topics = [topic_of(text, language) for text in sentences]
    parts = [changing_clauses(text, language) for text in sentences]
    near: dict[object, list[int]] = {}
    for number, one in enumerate(topics):
        for key in _index_keys(one):
            near.setdefault(key, []).append(number)
    found: list[int | None] = []
    for number, one in enumerate(topics):
        later = {
            other for key in _lookup_keys(one) for other in near.get(key, ())[-COMPARED_SENTENCES:] if other > number
        }
        superseding_ones = (
            other for other in later if any(supersedes(part, one) for part in (topics[other], *parts[other]))
        )
        found.append(max(superseding_ones, default=None))
    for number, one in enumerate(topics):
        before = range(number - 1, max(-1, number - 1 - COMPARED_SENTENCES), -1)
        if (
            "leans" in one.marks
            and (target := next((at for at in before if _refers_to(one, topics[at])), None)) is not None
        ):
            found[target] = max(number, found[target] or 0)
        if one.withdraws:
            # A withdrawal must match exactly one sentence.
            matches = [at for at in before if one.withdraws <= topics[at].about]
            if len(matches) == 1 and found[matches[0]] is None:
                found[matches[0]] = number
    return tuple(found)


COMPARED_SENTENCES = 100
"""Number of the newest candidates that are compared."""

LOOKUP_WORDS = 60
"""Most words by which a sentence is looked up."""


def _index_keys(one: Topic) -> Iterator[object]:
    yield one.about, "speaks" in one.marks
    if "changes" in one.marks or one.dropped:
        # sorted, because the order of a set differs in every run
        yield from islice(sorted(one.all.union(one.asides, *one.dropped)), LOOKUP_WORDS)


def _lookup_keys(one: Topic) -> Iterator[object]:
    yield one.about, "speaks" in one.marks
    yield from islice(sorted(one.all), LOOKUP_WORDS)


def supersedes(later: Topic, one: Topic) -> bool:
    """Return whether `later` says something else about the same topic, so that `one` no longer holds."""
    if "apart" in later.marks or ("speaks" in later.marks) != ("speaks" in one.marks):
        return False
    if later.about == one.about and (one.about or "speaks" in one.marks):
        return _changes_same_topic(later, one)
    changes = "changes" in later.marks
    return (
        _rejects(later, one)
        or _lifts_gate(later, one)
        or (changes and (_restates(later, one) or _changes_state(later, one)))
    )


def _changes_same_topic(later: Topic, one: Topic) -> bool:
    """Return whether, about the same words, `later` has another value or says the opposite."""
    forbid = "forbids" in later.marks, "forbids" in one.marks
    if all(forbid):  # two forbidden days or languages are both forbidden
        freed = ("permits" in later.marks) != ("permits" in one.marks)
        return freed or (later.of("number") != one.of("number") and _same_kinds(later, one))
    if any(forbid):
        return later.values == one.values or not later.values or not one.values
    if "frees" in later.marks and "permits" not in one.marks:
        return True
    if "changes" in later.marks:
        return _has_other_value(later, one)
    others = sum(value != other_value for value, other_value in zip(one.values, later.values, strict=False))
    return _same_kinds(later, one) and others == 1


def _same_kinds(later: Topic, one: Topic) -> bool:
    return [kind for kind, _ in later.values] == [kind for kind, _ in one.values]


def _restates(later: Topic, one: Topic) -> bool:
    """Return whether `later`, which announces a change, restates `one`: with another value or the opposite and no new
    words, or, as a revision, with one phrase replaced by another."""
    same, left, more = one.about & later.about, one.about - later.about, later.about - one.about
    if ("forbids" in later.marks) != ("forbids" in one.marks):
        lifted = "permits" in later.marks or one.order[:1] == later.order[:1]
        return lifted and bool(same) and not more and (not later.values or later.values == one.values)
    if not more and (same or later.asides & one.about) and _has_other_value(later, one):
        matches = any(some <= one.all - one.about for some in later.dropped)  # "2 MB is too little, make it 5"
        return matches or left <= later.asides or len(left) <= max(len(same), 1)
    if _has_other_value(later, one) or "forbids" in one.marks or not (same and left and more):
        return False
    both_choose = "chooses" in later.marks and "chooses" in one.marks
    chosen = "revises" in later.marks or both_choose or (left <= one.names and more <= later.names)
    in_one_place = _is_contiguous(one.order, left) and _is_contiguous(later.order, more)
    return chosen and in_one_place and len(left) <= len(same) and len(more) <= len(same)


def _has_other_value(later: Topic, one: Topic) -> bool:
    """Return whether `later` has another value of a kind that both have."""
    return any(kind in later.by_kind and later.by_kind[kind] != values for kind, values in one.by_kind.items())


def _is_contiguous(order: Sequence[str], some: frozenset[str]) -> bool:
    """Return whether these words are adjacent."""
    places = [at for at, term in enumerate(order) if term in some]
    return places[-1] - places[0] < len(places)


def _rejects(later: Topic, one: Topic) -> bool:
    """Return whether `later` rejects a choice of `one` and mentions nothing that `one` does not."""
    if "forbids" in one.marks:
        return False
    rejected = [some for some in later.dropped if some <= one.all]
    if not rejected:
        return False
    known = later.about | later.asides | speaking_words()
    slack = "changes" in later.marks or bool(later.about & one.about)
    return any(len(one.about - some - known) <= slack or _fills_slot(later, one, some) for some in rejected)


def _fills_slot(later: Topic, one: Topic, some: frozenset[str]) -> bool:
    """Return whether `later` revises `one` and has a word next to which `one` has a rejected term `some`: "ping" in
    "ping Ines instead" and "ping Martin"."""
    if "revises" not in later.marks or not later.about - one.about:
        return False
    neighbours = {frozenset(pair) for pair in pairwise(one.order)}
    return any(
        frozenset((word, superseding_ones)) in neighbours
        for word in later.about & one.about
        for superseding_ones in some
    )


def _lifts_gate(later: Topic, one: Topic) -> bool:
    """Return whether `later` permits an action without asking for which `one` requires to ask."""
    if _ASK not in one.about & (later.about | later.asides) or "forbids" in one.marks:
        return False
    lifts = not later.marks.isdisjoint(("forbids", "permits", "frees"))
    shared = one.about.intersection(later.about | later.asides) - {_ASK}
    return lifts and bool(shared) and later.about <= one.about


_ASK = "=ask"


def _changes_state(later: Topic, one: Topic) -> bool:
    """Return whether both state a place or value of the same subject, and both or neither forbid."""
    same_mood = ("forbids" in later.marks) == ("forbids" in one.marks)
    return bool(one.state[0]) and later.state == one.state and same_mood


def _refers_to(later: Topic, one: Topic) -> bool:
    """Return whether `later`, a sentence without a topic of its own, refers to `one`: it gives another value of the
    same kind, or another phrase next to a shared word."""
    if ("forbids" in later.marks) != ("forbids" in one.marks):
        return False
    if later.values:
        return later.about <= one.about and _has_other_value(later, one)
    same, more = later.about & one.about, later.about - one.about
    if "changes" in later.marks:  # "actually, camel case" replaces the word before "case"
        asks = "forbids" not in later.marks and len(later.order) == 2
        return asks and any(
            pair[1] == later.order[1] and pair[0] in one.about - same for pair in pairwise(one.order[1:])
        )
    return bool(same and more) and len(later.about) <= REFERRING_WORDS


REFERRING_WORDS = 3
"""Maximum number of words of a sentence that only refers to another."""
