"""Sentences of the user that supersede earlier ones.

A later sentence supersedes an earlier one in three ways. It repeats the words with another value in the same place: "A
ticket costs nine pounds." after "A ticket costs seven pounds." It announces a change, permits what was forbidden, or
rejects a choice, and has no further topic. Or it says the thing in other words. Then it collects points: for shared
rare words and names, for words of the same field ("the movers", "the van"), for another value of the same kind, and for
words of change.

An additional word ("in answers about travel") is another scope, and both sentences stay: a sentence superseded by
mistake is lost, while one kept by mistake is only repeated. Sentences of one message do not supersede each other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import pairwise, takewhile
from math import log

from workbench.base.session_caches import session_cache
from workbench.facts.amounts import units
from workbench.facts.terms import FUNCTION_WORDS, MODIFIERS, NUMBER_WORDS, language_of
from workbench.facts.topics import CHANGES, Topic, topic_of
from workbench.facts.values import values_by_kind, without_values
from workbench.facts.word_tables import words as listed

COMPARED = 30
"""Most sentences with which one is compared for a shared word, name, field or pair of words."""

_Words = tuple[str, ...]
_Form = tuple[_Words, ...]
_Pair = tuple[int, int]


@session_cache(16)
def superseding(
    sentences: tuple[str, ...], messages: tuple[int, ...], *, works: bool = False
) -> tuple[int | None, ...]:
    """Return for each sentence the index of the later one that supersedes it, or None. `messages`: number of each
    sentence's message. `works`: the session has tool calls. Nearly linear: a sentence is compared with at most
    `COMPARED` for each of its words. Cached for the bench, replays and presets."""
    language = language_of(" ".join(sentences))
    ones = [topic_of(text, language) for text in sentences]
    found: list[int | None] = [None] * len(ones)
    judged = _exchanges(ones, messages)
    for (old, new), updated in judged.items():
        if updated:
            found[old] = new
    for old, new in _corrections(ones, messages):
        if found[old] is None and judged.get((old, new)) is not True:
            found[old] = new
    taken = {new for new in found if new is not None}
    chat = sum(one.chat for one in ones) / max(1, len(ones))
    needed = NEEDED + CHAT * chat + WORK * works
    for points, old, new in sorted(_likely(ones, messages, judged), reverse=True):
        if points > needed and found[old] is None and new not in taken:
            found[old] = new
            taken.add(new)
    return tuple(found)


# --- the same words with another value --------------------------------------------------------------------------------

MOST_EXCHANGED = 6
FEWEST_SHARED = 2
LIST = 3


def _exchanges(ones: Sequence[Topic], messages: Sequence[int]) -> dict[_Pair, bool]:
    """Return the pairs of an older and a newer sentence that differ in one place, and whether that is an update. Three
    sentences of one form are a list."""
    frames: dict[_Words, list[int]] = defaultdict(list)
    forms: dict[_Pair, _Form | None] = {}
    several: dict[_Form, set[int]] = defaultdict(set)
    for new, one in enumerate(ones):
        keys = [*pairwise(one.words), (*one.words[:1], *one.words[-1:])]
        for old in sorted({old for key in keys for old in frames.get(key, ())[-COMPARED:]}):
            if messages[old] == messages[new] or (place := _place(ones[old].words, one.words)) is None:
                continue
            form = _form(ones[old], one, *place)
            at, start, stop, end = place
            now = one.words[at + start : stop - end]
            exact = at == 0 and stop == len(one.words)
            if form is not None or (exact and (len(now) > 1 or _is_value(now, one))):
                forms[old, new] = form
            if form:
                several[form] |= {old, new}
        for key in {one.words[:2], one.words[-2:], (*one.words[:1], *one.words[-1:])}:
            frames[key].append(new)
    return {pair: form is not None and (not form or len(several[form]) < LIST) for pair, form in forms.items()}


def _form(old: Topic, new: Topic, at: int, start: int, stop: int, end: int) -> _Form | None:
    """Return the words around the only value that `new` exchanges; () if it announces a change, None if no update."""
    head, tail = old.words[:start], old.words[len(old.words) - end :]
    was, now = old.words[start : len(old.words) - end], new.words[at + start : stop - end]
    before, after = (values_by_kind(" ".join(words), new.languages) for words in (was, now))
    if before == after != {} or not (_is_value(was, old) and _is_value(now, new)):
        return None
    if not any(map(_is_content, (*head, *tail))) or _is_of_another(old, new):
        return None
    if "forbids" in old.cues and "forbids" in new.cues and not any(kind.startswith("number") for kind in old.values):
        return None  # two forbidden days are both forbidden
    if not new.cues.isdisjoint(CHANGES):
        return ()
    whole = not at and (stop == len(new.words) or new.words[stop] == ",")
    return (head, tail) if whole and _is_one_valued(old, new, head, tail, was, now) else None


def _is_one_valued(old: Topic, new: Topic, head: _Words, tail: _Words, was: _Words, now: _Words) -> bool:
    """Return whether words around a value leave room for one value only. "Part 2" names a part, "it holds 32" does not;
    "my brother Tom" may be another brother; and two orders of one form both hold."""
    if old.orders or not (head or any(word in FUNCTION_WORDS for word in tail)):
        return False
    behind_noun = bool(head) and _is_content(head[-1]) and head[-1] not in old.names
    if old.names >= {*was} - {"the"}:
        return not behind_noun and new.names >= {*now} - {"the"}
    counts = bool(tail) and _is_content(tail[0])
    labels = behind_noun and not counts and was[0].isdigit() and len(was[0]) < 3 and not head[-1].endswith("s")
    address = was[0][0].isdigit() and not old.names.isdisjoint(was)  # "3 Mill Lane"
    return not (address or labels) and len(_changed(old, new)) < 2


def _changed(old: Topic, new: Topic) -> set[str]:
    """Return the kinds of values, except names, that both have and that differ; day and time are one."""
    both = (
        kind for kind in old.values.keys() & new.values.keys() - {"name"} if not old.values[kind] & new.values[kind]
    )
    return {"when" if kind in _WHEN else kind for kind in both}


def _place(first: _Words, second: _Words) -> tuple[int, int, int, int] | None:
    """Return the part of `second` that shares the most words with `first` around another value: its start, the number
    of shared words before the value, its end, and the number of shared words after the value. None without one."""
    best: tuple[int, int, int, int] | None = None
    for at in range(len(second)):
        if at and second[at - 1] != ",":
            continue
        start = _run(first, second[at:])
        for stop in range(len(second), at + start, -1):
            if stop < len(second) and second[stop] != ",":
                continue
            end = min(_run(first[::-1], second[at + start : stop][::-1]), len(first) - start)
            was, now = len(first) - start - end, second[at + start : stop - end]
            is_value = was > 0 < len(now) and max(was, len(now)) <= MOST_EXCHANGED and "," not in now
            if is_value and start + end >= (FEWEST_SHARED if best is None else best[1] + best[3] + 1):
                best = at, start, stop, end
    return best


_STATES = listed("replaced", "states")
_WHEN = frozenset(["date", "time", "weekday"])


def _run(first: Sequence[str], second: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def _is_content(word: str) -> bool:
    return word not in FUNCTION_WORDS and word not in MODIFIERS and word != ","


def _is_value(words: Sequence[str], one: Topic) -> bool:
    """Return whether words are a value and nothing else."""
    text = (" " if words[0] < "\u3400" else "").join(words)
    rest = without_values(text, one.languages).split()
    plain = one.names | units(one.language) | NUMBER_WORDS.keys()
    left = [word for word in rest if _is_content(word) and word not in plain and not any(map(str.isdigit, word))]
    return not left and any(map(_is_content, words))


# --- announced changes ------------------------------------------------------------------------------------------------


def _corrections(ones: Sequence[Topic], messages: Sequence[int]) -> Iterator[_Pair]:
    """Yield the pairs of an older sentence and one that corrects it. "Make that eight" corrects the last one with a
    number."""
    places: dict[str, list[int]] = defaultdict(list)
    for new, one in enumerate(ones):
        keys = one.terms.union(*one.rejected, {"tongue"} & one.values.keys())
        if "elliptic" in one.cues and not one.order:
            before = range(new - 1, max(-1, new - 1 - COMPARED), -1)
            last = next((old for old in before if _other_value(ones[old], one)), new)
            if messages[last] != messages[new]:
                yield last, new
        else:
            near = sorted({old for key in keys for old in places.get(key, ())[-COMPARED:]})
            yield from ((old, new) for old in near if messages[old] != messages[new] and _is_corrected(ones[old], one))
        for key in keys:
            places[key].append(new)


def _is_corrected(old: Topic, new: Topic) -> bool:
    """Return whether `new` announces a change of `old`, permits what it forbids, or rejects its choice."""
    small_talk = "feels" in old.cues or (new.chat and not new.orders)
    if small_talk or "once" in new.cues or _is_of_another(old, new):
        return False
    same, left, more = old.about & new.about, old.about - new.about, new.about - old.about
    changes = not new.cues.isdisjoint(CHANGES)
    forbid = "forbids" in old.cues, "forbids" in new.cues
    frees = any(forbid) and "allowed" in new.cues - old.cues
    if (forbid[0] != forbid[1] or frees) and same and not more:
        return changes or (len(same) > 1 and not left)
    turns = changes and not any(forbid)
    if turns and _other_value(old, new):
        speaks = not old.order and not new.order and "tongue" in new.values
        return not more and (speaks or bool(same)) and len(left) < max(len(same), 1)
    if any(some <= old.things and len(left - some) <= changes for some in new.rejected):
        return True
    chosen = left <= old.names or not set(old.words[:1]).isdisjoint(new.words[:2])
    in_one_place = _is_contiguous(old.order, left) and _is_contiguous(new.order, more)
    alike = old.values.keys() - {"name"} == new.values.keys() - {"name"}
    return (
        turns
        and bool(same and left and more)
        and alike
        and chosen
        and in_one_place
        and max(len(left), len(more)) <= len(same)
    )


def _other_value(old: Topic, new: Topic) -> bool:
    """Return whether `new` has another value of a kind that both have."""
    if "number" in new.values:  # without a unit: "make that five"
        return any(kind.startswith("number") and old.values[kind] != new.values["number"] for kind in old.values)
    return bool(_changed(old, new))


def _is_of_another(old: Topic, new: Topic) -> bool:
    """Return whether `old` is about something of the user ("my") and `new` about something of another ("her")."""
    return not (_OURS.isdisjoint(old.words) or _THEIRS.isdisjoint(new.words))


def _is_contiguous(order: Sequence[str], some: frozenset[str]) -> bool:
    """Return whether these words are adjacent."""
    places = [at for at, term in enumerate(order) if term in some]
    return not places or places[-1] - places[0] < len(places)


# --- other words ------------------------------------------------------------------------------------------------------

POINTS = {
    "shared": 2.2, "rarest": 1.3, "name": 0.8, "field": 4.1, "gone": 1.6, "kind": 1.8, "when": 1.5,
    "swap": 2.0, "changes": 0.5, "quiet": -0.7, "subject": 0.8, "length": -0.29,
    "newer length": 0.08,
}  # fmt: skip
"""Points per unit of each feature of two sentences (`_points`). A shared word counts up to 1: the rarer, the more."""
NEEDED, CHAT, WORK = 4.3, 9.0, 3.0
"""Points that an update in other words needs; how many more if all sentences are chat; and how many more in a session
with tool calls, where most sentences are orders and reports."""
MOST_SHARED = 3.0


def _likely(
    ones: Sequence[Topic], messages: Sequence[int], judged: Container[_Pair]
) -> Iterator[tuple[float, int, int]]:
    """Yield the points of each sentence with the older one that it most likely updates."""
    counts = Counter(key for one in ones for key in _keys(one))
    most = log(len(ones) + 1)
    rarity = {key: 1 - log(count) / most for key, count in counts.items()}
    places: dict[str, list[int]] = defaultdict(list)
    for new, one in enumerate(ones):
        near = {
            old
            for key in _keys(one)
            for old in places[key][-COMPARED:]
            if messages[old] != messages[new] and (old, new) not in judged and not _both_hold(ones[old], one)
        }
        if near:
            yield max((_points(ones[old], one, rarity), old, new) for old in near)
        for key in _keys(one):
            places[key].append(new)


def _both_hold(old: Topic, new: Topic) -> bool:
    """Return whether `new` repeats `old`, is about another's, or has other values of two kinds or more."""
    repeats = (
        bool(old.values)
        and old.terms <= new.terms
        and all(old.values[kind] == new.values.get(kind) for kind in old.values)
    )
    return _is_of_another(old, new) or (repeats and old.terms.isdisjoint(new.ended)) or len(_changed(old, new)) > 1


_TELLING = CHANGES | {"explains", "ends"}


def _keys(one: Topic) -> frozenset[str]:
    return one.terms | {f"~{word}" for word in one.names} | {f"={field}" for field in one.fields}


def _points(old: Topic, new: Topic, rarity: Mapping[str, float]) -> float:
    """Return the points of two sentences."""
    name = max((rarity[f"~{word}"] for word in old.names & new.bare), default=0.0)
    shared = [rarity[term] for term in old.terms & new.terms]
    other = bool(old.names) and bool(new.names - old.names)
    fields = (
        one
        for one in old.fields.keys() & new.fields.keys()
        if not (old.fields[one] <= new.fields[one] or new.fields[one] <= old.fields[one])
    )
    first = old.words[0] if old.words else ""
    facts = {
        "shared": min(sum(shared), MOST_SHARED),
        "rarest": max(shared, default=0.0),
        "name": name,
        "field": max((rarity[f"={field}"] for field in fields), default=0.0),
        "gone": max((rarity[term] for term in old.terms & new.terms & new.ended), default=0.0),
        "kind": any(
            kind != "name" and kind in old.values and not old.values[kind] & now for kind, now in new.values.items()
        ),
        "when": all(not _WHEN.isdisjoint(one.values) for one in (old, new)),
        "swap": name * other * (not new.cues.isdisjoint(_TELLING)),
        "length": min(len(old.words), 30),
        "newer length": min(len(new.words), 40),
        "subject": first in _SUBJECTS | old.names or first.endswith("s") or not _STATES.isdisjoint(old.words),
        "changes": not new.cues.isdisjoint(CHANGES),
        "quiet": new.cues.isdisjoint(_TELLING),
    }
    return sum(POINTS[name] * value for name, value in facts.items())


_OURS, _THEIRS = frozenset(["my", "our"]), listed("replaced", "theirs")
_SUBJECTS = listed("replaced", "subjects")
