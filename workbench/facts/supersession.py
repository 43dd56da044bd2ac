"""Which later sentence takes an earlier one's place: only where both speak of the same thing, in the same scope.

A sentence has words, and values of some kind: numbers, days, paces, languages, currencies. It takes another's place
where both have the same words and one value is another, or one forbids what the other asks for. What says itself that
it changes something ("now", "from now on", "moved to") may leave words out; what revises ("actually", "instead") may
put one phrase in a phrase's place ("paint the fence blue" for "paint the fence green"); what is turned down ("no longer
in S3", "8080 is taken") holds no more. Without words of its own ("make that eight") it leans on the last sentence with
such a value.

One word more is another scope ("in answers about travel"), and then both stay: one that is wrongly taken for replaced
is lost, one that stays too many is only told twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from workbench.base.session_caches import session_cache
from workbench.facts.terms import language_of
from workbench.facts.topics import Topic, changing_clauses, speaking_words, topic_of


@session_cache(16)
def superseding(sentences: tuple[str, ...]) -> tuple[int | None, ...]:
    """For each the number of the last later one that replaces it, None where none does. What two share tells which are
    compared: near linear. The bench, a replay and each preset ask of the same sentences."""
    if len(sentences) < 2:
        return (None,) * len(sentences)
    # By the endings of one language all: that two sentences are read alike says more than that each is read well.
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
        gone = (other for other in later if any(supersedes(part, one) for part in (topics[other], *parts[other])))
        found.append(max(gone, default=None))
    for number, one in enumerate(topics):
        before = range(number - 1, max(-1, number - 1 - COMPARED_SENTENCES), -1)
        if (
            "leans" in one.marks
            and (meant := next((at for at in before if _refers_to(one, topics[at])), None)) is not None
        ):
            found[meant] = max(number, found[meant] or 0)
        if one.withdraws:
            # What is taken back has to be told apart from all else that was said.
            named = [at for at in before if one.withdraws <= topics[at].about]
            if len(named) == 1 and found[named[0]] is None:
                found[named[0]] = number
    return tuple(found)


COMPARED_SENTENCES = 100
"""Of those that share something the last so many are compared."""

LOOKUP_WORDS = 60
"""By more of its words no sentence is looked for."""


def _index_keys(one: Topic) -> Iterator[object]:
    yield one.about, "speaks" in one.marks
    if "changes" in one.marks or one.dropped:
        # in an order of their own: that of a set is another in every run
        yield from islice(sorted(one.all.union(one.aside, *one.dropped)), LOOKUP_WORDS)


def _lookup_keys(one: Topic) -> Iterator[object]:
    yield one.about, "speaks" in one.marks
    yield from islice(sorted(one.all), LOOKUP_WORDS)


def supersedes(later: Topic, one: Topic) -> bool:
    """Whether a later sentence says of the same another thing, so that the earlier one holds no more."""
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
    """Of the same words: another value, or the opposite."""
    forbid = "forbids" in later.marks, "forbids" in one.marks
    if all(forbid):  # two days or languages that are both forbidden are forbidden both
        freed = ("permits" in later.marks) != ("permits" in one.marks)
        return freed or (later.of("number") != one.of("number") and _same_kinds(later, one))
    if any(forbid):
        return later.values == one.values or not later.values or not one.values
    if "frees" in later.marks and "permits" not in one.marks:
        return True
    if "changes" in later.marks:
        return _has_other_value(later, one)
    others = sum(mine != yours for mine, yours in zip(one.values, later.values, strict=False))
    return _same_kinds(later, one) and others == 1


def _same_kinds(later: Topic, one: Topic) -> bool:
    return [kind for kind, _ in later.values] == [kind for kind, _ in one.values]


def _restates(later: Topic, one: Topic) -> bool:
    """What says that it changes something: fewer words and another value, or the opposite; what revises: one phrase in
    a phrase's place."""
    same, left, more = one.about & later.about, one.about - later.about, later.about - one.about
    if ("forbids" in later.marks) != ("forbids" in one.marks):
        lifted = "permits" in later.marks or one.order[:1] == later.order[:1]
        return lifted and bool(same) and not more and (not later.values or later.values == one.values)
    if not more and (same or later.aside & one.about) and _has_other_value(later, one):
        named = any(some <= one.all - one.about for some in later.dropped)  # "2 MB is too little, make it 5"
        return named or left <= later.aside or len(left) <= max(len(same), 1)
    if _has_other_value(later, one) or "forbids" in one.marks or not (same and left and more):
        return False
    both_choose = "chooses" in later.marks and "chooses" in one.marks
    chosen = "revises" in later.marks or both_choose or (left <= one.names and more <= later.names)
    in_one_place = _is_contiguous(one.order, left) and _is_contiguous(later.order, more)
    return chosen and in_one_place and len(left) <= len(same) and len(more) <= len(same)


def _has_other_value(later: Topic, one: Topic) -> bool:
    """Whether of a kind that both have the later one has another value."""
    return any(kind in later.by_kind and later.by_kind[kind] != values for kind, values in one.by_kind.items())


def _is_contiguous(order: Sequence[str], some: frozenset[str]) -> bool:
    """Whether these words stand side by side."""
    places = [at for at, term in enumerate(order) if term in some]
    return places[-1] - places[0] < len(places)


def _rejects(later: Topic, one: Topic) -> bool:
    """Whether it turns down what that one chose and speaks of nothing that this one does not."""
    if "forbids" in one.marks:
        return False
    turned = [some for some in later.dropped if some <= one.all]
    if not turned:
        return False
    known = later.about | later.aside | speaking_words()
    slack = "changes" in later.marks or bool(later.about & one.about)
    return any(len(one.about - some - known) <= slack or _fills_slot(later, one, some) for some in turned)


def _fills_slot(later: Topic, one: Topic, some: frozenset[str]) -> bool:
    """Whether it says of something else what stands beside what it turns down: "ping Ines instead" of "ping Martin"."""
    if "revises" not in later.marks or not later.about - one.about:
        return False
    beside = {frozenset(pair) for pair in pairwise(one.order)}
    return any(frozenset((word, gone)) in beside for word in later.about & one.about for gone in some)


def _lifts_gate(later: Topic, one: Topic) -> bool:
    """Whether it needs no asking for what that one wanted to be asked about."""
    if _ASK not in one.about & (later.about | later.aside) or "forbids" in one.marks:
        return False
    lifts = not later.marks.isdisjoint(("forbids", "permits", "frees"))
    shared = one.about.intersection(later.about | later.aside) - {_ASK}
    return lifts and bool(shared) and later.about <= one.about


_ASK = "=ask"


def _changes_state(later: Topic, one: Topic) -> bool:
    """Whether both tell a state of the same subject, in the same manner."""
    same_mood = ("forbids" in later.marks) == ("forbids" in one.marks)
    return bool(one.state[0]) and later.state == one.state and same_mood


def _refers_to(later: Topic, one: Topic) -> bool:
    """Whether what has no words of its own can be said of an earlier sentence: another value of its kind, or another
    phrase beside a word that both have."""
    if ("forbids" in later.marks) != ("forbids" in one.marks):
        return False
    if later.values:
        return later.about <= one.about and _has_other_value(later, one)
    same, more = later.about & one.about, later.about - one.about
    if "changes" in later.marks:  # "actually, camel case": another word beside the same
        asks = "forbids" not in later.marks and len(later.order) == 2
        return asks and any(
            pair[1] == later.order[1] and pair[0] in one.about - same for pair in pairwise(one.order[1:])
        )
    return bool(same and more) and len(later.about) <= REFERRING_WORDS


REFERRING_WORDS = 3
"""A sentence of more words has words of its own."""
