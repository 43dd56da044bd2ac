"""Whether of two sentences about the same thing one says the opposite of the other: by sign, order, value, name, or by
what belongs to what."""

from __future__ import annotations

from workbench.analysis.sense import Sense
from workbench.facts.word_tables import pattern

TURNED = 0.3
"""So much of what two sentences both say must be denied in the one and not in the other for them to be opposites."""


def contradicts(fact: Sense, text: Sense) -> bool:
    """Whether the text says another thing than the fact, of which it has most words."""
    return any(asked(fact, text) for asked in (turned, _reordered, _exchanged, _crossed, another_value, _opposed))


def turned(fact: Sense, text: Sense) -> bool:
    """Whether one denies what the other says. To keep a thing is not to change it."""
    mine, yours = _keeps(fact), _keeps(text)
    if mine and yours and mine[0] != yours[0]:
        return mine[1] != yours[1]
    both = [(fact.signs[term], text.signs[term]) for term in fact.signs if term in text.signs]
    clear = [(one, other) for one, other in both if one and other]
    flips = {(one, other) for one, other in clear if one != other}
    if len(flips) == 2:
        return True
    return bool(clear) and sum(one != other for one, other in clear) >= TURNED * len(clear)


def _keeps(sense: Sense) -> tuple[str, int] | None:
    """By which word a sentence says that something stays, and whether it does."""
    for term, way in (("=change", -1), ("=erase", -1), ("=keep", 1)):
        if sign := sense.signs.get(term, 0):
            return ("keep" if way > 0 else "change"), way * sign
    return None


def another_value(fact: Sense, text: Sense) -> bool:
    """Whether a number, day, language or place of the fact's is another one here."""
    return _other_value(fact, text) or _another_of_its_kind(fact, text)


def _reordered(fact: Sense, text: Sense) -> bool:
    """Whether what comes first in the one comes then in the other."""
    (named, when), (other, then) = fact.anchor, text.anchor
    if named and named == other and when != then:
        return True
    turned = len(fact.earlier & text.later) + len(fact.later & text.earlier)
    return turned > len(fact.earlier & text.earlier) + len(fact.later & text.later)


def _exchanged(fact: Sense, text: Sense) -> bool:
    """Whether one word alone is another one here: in the same place, or the only name where all else is the same."""
    missing = [at for at, term in enumerate(fact.order) if term not in text.signs]
    more = [at for at, term in enumerate(text.order) if term not in fact.signs]
    if len(missing) != 1 or not more:
        return False
    (at,) = missing
    word = fact.order[at]
    if len(more) == 1 and len(fact.order) > 2 and (word in fact.names or text.order[more[0]] in text.names):
        return True
    neighbours = (fact.order[at - 1 : at], fact.order[at + 1 : at + 2])
    for here in more:
        beside = (text.order[max(here - 1, 0) : here], text.order[here + 1 : here + 2])
        same = [one == other for one, other in zip(neighbours, beside, strict=True)]
        if not (word in fact.names or text.order[here] in text.names):
            continue
        if all(same) or (
            word in fact.names and any(one and other for one, other in zip(same, neighbours, strict=True))
        ):
            return True
    return False


def _crossed(fact: Sense, text: Sense) -> bool:
    """Whether what belongs together in the one belongs to the other's other part: "keep the job, drop the queue"."""
    for at, one in enumerate(fact.parts):
        for other in fact.parts[at + 1 :]:
            mine, yours = one - other, other - one
            mixed = [part for part in text.parts if part & mine and part & yours]
            if (
                len(mixed) > 1
                and len(mine & frozenset().union(*mixed)) > 1
                and len(yours & frozenset().union(*mixed)) > 1
            ):
                return True
    return False


def _another_of_its_kind(fact: Sense, text: Sense) -> bool:
    """Whether a day or language is another one here, or a name behind the same little word."""
    for kind, mine in fact.kinds.items():
        if (yours := text.kinds.get(kind)) and mine.isdisjoint(yours):
            return True
    for word, mine in fact.places.items():
        yours = text.places.get(word)
        if yours and mine.isdisjoint(text.order) and yours.isdisjoint(fact.order):
            return True
    return False


def _other_value(fact: Sense, text: Sense) -> bool:
    """Whether a number of the fact's is another one here."""
    missing = [value for value in fact.values if not any(map(value.same, text.values))]
    more = [value for value in text.values if not any(map(value.same, fact.values))]
    return any(value.rivals(other) for value in missing for other in more)


_OPPOSITES = (
    ("before", "after"), ("only", "anyone"), ("at_least", "at_most"), ("under", "over"), ("within", "outside"),
    ("removed", "added"), ("enabled", "disabled"), ("kept", "changed"), ("allowed", "refused"), ("first", "last"),
    ("up", "down"), ("single", "double"), ("upper", "lower"), ("ascending", "descending"), ("newest", "oldest"),
    ("public", "private"), ("required", "optional"), ("more", "less"), ("included", "excluded"),
)  # fmt: skip
"""What is the opposite of what, by the name of an entry in every language's words."""


def _opposed(fact: Sense, text: Sense) -> bool:
    """Whether one of two opposites stands in the fact, and the other alone in the text."""
    for names in _OPPOSITES:
        one, other = (pattern("opposites", name) for name in names)
        for mine, yours in ((one, other), (other, one)):
            alone = mine.search(fact.text) and not yours.search(fact.text)
            if alone and yours.search(text.text) and not mine.search(text.text):
                return True
    return False
