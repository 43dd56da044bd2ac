"""Updates: sentences of the user that give another value for what an earlier sentence says.

An update repeats the earlier sentence with another value in the same place: "A ticket costs nine pounds." after "A
ticket costs seven pounds."; if it announces a change, other clauses may stand around it. Or it says the thing in other
words. Then it collects points: for shared rare words and names, for words of the same field ("the movers", "the
van"), for another value of the same kind, for a name that is there no more beside a new one, and for words of change.
Sentences of one message do not update each other, and one sentence updates at most one in other words.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise, takewhile
from math import log

from msgspec import Struct

from workbench.base.session_caches import session_cache
from workbench.facts.amounts import units
from workbench.facts.phrases import phrases_for
from workbench.facts.terms import (
    FUNCTION_WORDS,
    LANGUAGES_OF_STEMS,
    MODIFIERS,
    NUMBER_WORDS,
    TOKEN,
    content_terms,
    language_of,
    token_terms,
)
from workbench.facts.topics import light_words, topic_of
from workbench.facts.values import DATE, VALUE, values_by_kind
from workbench.facts.word_tables import SPACED, table
from workbench.facts.word_tables import words as listed
from workbench.facts.wording import normalize

COMPARED = 30
"""Most sentences with which one is compared for a shared word, name, field or pair of words."""


_Words = tuple[str, ...]
_Form = tuple[_Words, ...]


@session_cache(16)
def updates(sentences: tuple[str, ...], messages: tuple[int, ...], *, works: bool = False) -> tuple[int | None, ...]:
    """Return for each sentence the index of the newest later one that updates it, or None. `messages`: number of each
    sentence's message. `works`: the session has tool calls. Nearly linear: a sentence is compared with at most
    `COMPARED` for each of its words."""
    language = language_of(" ".join(sentences))
    ones = [_read(text, language) for text in sentences]
    found: list[int | None] = [None] * len(ones)
    judged = _exchanges(ones, messages)
    for (old, new), updated in judged.items():
        if updated:
            found[old] = new
    taken = {new for new in found if new is not None}
    chat = sum(one.chat for one in ones) / max(1, len(ones))
    needed = NEEDED + CHAT * chat + WORK * works
    for points, old, new in sorted(_likely(ones, messages, judged), reverse=True):
        if points > needed and found[old] is None and new not in taken:
            found[old] = new
            taken.add(new)
    return tuple(found)


class _Sentence(Struct, frozen=True):
    """A sentence as compared. `words`: in order, without words that only say when ("now"); "," ends a clause. `terms`:
    content terms without values. `plain_words`: its words without possessive endings. `fields`: its terms by field.
    `dropped`: terms of the clauses in which something ends. `cues`: its functions (entries of the word tables, marks of
    its topic). `chat`: an order, a feeling or code, hardly a fact. `older`, `newer`: its own points as the older and as
    the newer sentence."""

    words: tuple[str, ...]
    terms: frozenset[str]
    values: Mapping[str, frozenset[str]]
    names: frozenset[str]
    plain_words: frozenset[str]
    fields: Mapping[str, set[str]]
    dropped: frozenset[str]
    cues: frozenset[str]
    orders: bool
    chat: bool
    language: str
    older: float
    newer: float


def _read(text: str, language: str) -> _Sentence:
    low = normalize(text)
    phrases = phrases_for(low, language)
    values = values_by_kind(text)
    words = tuple(_words(phrases.pattern("now").sub(" ", text.lower().replace("’", "'"))))
    orders = len(words) > 1 and words[1] != "," and _ORDER.match(words[0]) is not None
    topic = topic_of(text, language)
    cues = frozenset(name for name in _ENTRIES if phrases.pattern(name).search(low)) | topic.marks
    ends = phrases.pattern("leaves", "gone", "taken", "rejected")
    leaving = " ".join(part for part in _PART.split(low) if ends.search(part))
    known = () if language == "german" else values.get("name", ())  # in German every noun has a capital letter
    names = frozenset(_bare(word) for name in known for word in name.split() if word.lower() not in FUNCTION_WORDS)
    bare = VALUE.sub(" ", text)
    terms = (
        frozenset(term for term in content_terms(bare, language) if not term[0].isdigit())
        - units(language)
        - light_words(language)
    )
    chat = orders or "feels" in cues or text.endswith("!") or _ODD.search(text) is not None
    older = {
        "chat": chat,
        "length": min(len(words), 30),
        "past": "past" in cues,
        "subject": bool(words)
        and (words[0] in _SUBJECTS | names or words[0].endswith("s") or not _STATES.isdisjoint(words)),
    }
    newer = {
        "chat": chat,
        "newer length": min(len(words), 40),
        "you": not {"you", "your", "let's"}.isdisjoint(words),
        "announces": not cues.isdisjoint(("announces", "revises", "leans")),
        "changes": not cues.isdisjoint(("now", "changes", "moved", "sets")),
        "quiet": cues.isdisjoint(_TELLING),
    }
    plain_words = frozenset(map(_bare, words))
    dropped = frozenset(content_terms(leaving, language))
    fields: dict[str, set[str]] = defaultdict(set)
    for match in TOKEN.finditer(bare.lower()):
        for term in terms.intersection(token_terms(match[0], language)):
            for field in _fields(language).get(_base(match[0]), ()):
                fields[field].add(term)
    return _Sentence(
        words,
        terms,
        values,
        names,
        plain_words,
        fields,
        dropped,
        cues,
        orders,
        chat,
        language,
        _points(older),
        _points(newer),
    )


def _bare(word: str) -> str:
    return word.lower().removesuffix("'s").removesuffix("’s")


_ENTRIES = ("announces", "now", "explains", "feels", "leaves", "moved", "past", "sets")
_PART = re.compile(r"[,;:—]\s|\s-\s|\s(?=(?:so|because|since|and|but|as)\s)")
_ODD = re.compile(r"[{}<>|=*\\]|->")
_SUBJECTS = listed("replaced", "subjects")
_ORDER = re.compile(
    r"(?:add|build|check|commit|create|delete|explain|fix|implement|look|merge|move|open|read|refactor|remove|rename|"
    r"review|run|see|show|test|update|write)\Z",
    re.IGNORECASE,
)

_TOKEN = re.compile(r"[\u3400-\u9fff]|[(,;:—、，；：](?!\w)|\(|[^\s,;!?()\"“”`*。，、；：—\u3400-\u9fff]+(?:[,:]\d+)*")


def _words(text: str) -> Iterator[str]:
    """Yield the words of a text, each Chinese character as one, and "," for a sign between clauses."""
    for match in _TOKEN.finditer(text):
        word = match[0].rstrip(".")
        if word and word in "(,;:—、，；：":
            yield ","
        elif word:
            yield word.removesuffix(":")
            if word.endswith(":") or (word[-1].isdigit() and match[0].endswith(".") and match.end() < len(text)):
                yield ","


@cache
def _fields(language: str) -> Mapping[str, Sequence[str]]:
    """Return the fields of each word without its ending, in a language and English."""
    found: dict[str, list[str]] = defaultdict(list)
    for one in {SPACED[LANGUAGES_OF_STEMS.index(language)], "en"}:
        for name, several in table(one, "fields").items():
            for base in {_base(word) for word in several.split()}:
                found[base].append(name)
    return found


def _base(word: str) -> str:
    """Return a word without a usual ending: a stemmer would need too long for all words of the fields."""
    return _ENDING.sub("", word)


_ENDING = re.compile(r"(?<=\w{3})(?:'s|(?:er|ing)s?|ed|e?s|en?|n)\Z")


# --- the same words with another value --------------------------------------------------------------------------------

MOST_EXCHANGED = 6
FEWEST_SHARED = 2
LIST = 3


def _exchanges(ones: Sequence[_Sentence], messages: Sequence[int]) -> dict[tuple[int, int], bool]:
    """Return the pairs of an older and a newer sentence that differ in one place, and whether that is an update. Three
    sentences of one form are a list."""
    frames: dict[_Words, list[int]] = defaultdict(list)
    forms: dict[tuple[int, int], _Form | None] = {}
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


def _form(old: _Sentence, new: _Sentence, at: int, start: int, stop: int, end: int) -> _Form | None:
    """Return the words around the only value that `new` exchanges, () if it announces that; None if it is no update."""
    head, tail = old.words[:start], old.words[len(old.words) - end :]
    was, now = old.words[start : len(old.words) - end], new.words[at + start : stop - end]
    exact = not at and stop == len(new.words)
    before, after = values_by_kind(" ".join(was)), values_by_kind(" ".join(now))
    if "," in was or before == after != {} or ("apart" in new.cues and not exact):
        return None
    has_content = any(map(_is_content, (*head, *tail)))
    announced = not new.cues.isdisjoint(_ANNOUNCING)
    if not (_is_value(was, old) and _is_value(now, new)):
        # announced, for the state of a thing: "the worktop will be oak"
        of_state = "," not in head and any(word in _STATES or "'" in word for word in head)
        alike = set(was).isdisjoint(now) and bool(before) == bool(after)
        return () if announced and has_content and of_state and alike and not exact else None
    if not has_content and not (announced and start + end > MOST_EXCHANGED // 2):
        return None
    whole = not at and (exact or new.words[stop] == ",")
    told = start + end > MOST_EXCHANGED // 2 and at > 2 and new.words[at - 1] == "," and new.words[0] not in _SCOPES
    if not whole and not told:
        return () if announced or not new.cues.isdisjoint(("changes", "moved", "sets")) else None
    return (head, tail) if _is_one_valued(old, new, head, tail, was, now) else None


def _is_one_valued(old: _Sentence, new: _Sentence, head: _Words, tail: _Words, was: _Words, now: _Words) -> bool:
    """Return whether words around a value leave room for one value only. "Part 2" names a part, "2 parts" counts them;
    "my brother Tom" may be another brother; and two orders of one form both hold."""
    if old.orders or not (head or any(word in FUNCTION_WORDS for word in tail)):
        return False
    dated = bool(head) and DATE.search(f"{head[-1]} {was[0]}") is not None
    behind_noun = bool(head) and _is_content(head[-1]) and head[-1] not in _TITLES | old.names and not dated
    labels = behind_noun and was[0].isdigit() and not head[-1].endswith("s")  # "the hall holds 32"
    if old.names.issuperset(was):
        return not behind_noun and new.names.issuperset(now) and not _DEFINITE.union(_STATES).isdisjoint((*head, *tail))
    counts = bool(tail) and _is_content(tail[0])
    address = was[0][0].isdigit() and not old.names.isdisjoint(was)  # "3 Mill Lane"
    return not address and len(_changed(old, new)) < 2 and (counts or not labels)


def _changed(old: _Sentence, new: _Sentence) -> set[str]:
    """Return the kinds of values, except names, that both have and that differ; day and time are one."""
    both = (
        kind for kind in old.values.keys() & new.values.keys() - {"name"} if not old.values[kind] & new.values[kind]
    )
    return {"when" if kind in _WHEN else kind for kind in both}


def _place(first: _Words, second: _Words) -> tuple[int, int, int, int] | None:
    """Return where `second` has the most words of `first` around another value: where they begin, the number of words
    before the value, where they stop, and the number of words behind the value."""
    best: tuple[int, int, int, int] | None = None
    for at, word in enumerate(second):
        if at and second[at - 1] not in _BEFORE and word not in _DEFINITE:
            continue
        start = _run(first, second[at:])
        for stop in range(len(second), at + start, -1):
            if stop < len(second) and second[stop] != "," and second[stop - 1] != first[-1]:
                continue
            end = min(_run(first[::-1], second[at + start : stop][::-1]), len(first) - start)
            was, now = len(first) - start - end, second[at + start : stop - end]
            is_value = was > 0 < len(now) and max(was, len(now)) <= MOST_EXCHANGED and "," not in now
            if is_value and start + end >= (FEWEST_SHARED if best is None else best[1] + best[3] + 1):
                best = at, start, stop, end
    return best


_TELLING = frozenset(["explains", "announces", "now", "revises", "leaves"])
_ANNOUNCING = frozenset(["announces", "now", "revises", "leans"])
_BEFORE = listed("replaced", "joins") | {","}
_DEFINITE = frozenset(["the", "our", "my", "his", "her", "their", "we"])
_SCOPES = listed("sense", "preposition")
_STATES = listed("replaced", "states")
_TITLES = frozenset(["dr", "mr", "mrs", "ms", "prof"])


def _run(first: Sequence[str], second: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def _is_content(word: str) -> bool:
    return word not in FUNCTION_WORDS and word not in MODIFIERS and word != ","


def _is_value(words: Sequence[str], one: _Sentence) -> bool:
    """Return whether words are a value and nothing else."""
    text = (" " if words[0] < "\u3400" else "").join(words)
    rest = phrases_for(text, one.language).value.sub(" ", VALUE.sub(" ", text)).split()
    plain = frozenset(["next", "last"]) | one.names | units(one.language) | NUMBER_WORDS.keys()
    left = [word for word in rest if _is_content(word) and word not in plain and not any(map(str.isdigit, word))]
    return not left and any(map(_is_content, words))


# --- other words ------------------------------------------------------------------------------------------------------

POINTS = {
    "shared": 2.2, "rarest": 1.3, "name": 0.8, "field": 4.1, "gone": 1.6, "kind": 1.8, "when": 1.5, "other name": 0.8,
    "swap": 1.3, "announces": 0.2, "changes": 0.5, "quiet": -0.7, "owner": -5.0, "subject": 0.8, "length": -0.29,
    "newer length": 0.08, "past": -0.8, "chat": -1.0, "you": -0.7,
}  # fmt: skip
"""Points of what two sentences have in common (a rare word gives up to 1), and of what one of them is."""
NEEDED, CHAT, WORK = 4.3, 9.0, 3.0
"""Points that an update in other words needs; how many more if all sentences are chat; and how many more in a session
with tool calls, where most sentences are orders and reports."""
MOST_SHARED = 3.0


def _points(facts: Mapping[str, float]) -> float:
    return sum(POINTS[name] * value for name, value in facts.items())


def _likely(
    ones: Sequence[_Sentence], messages: Sequence[int], judged: Container[tuple[int, int]]
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
            yield max(
                (ones[old].older + one.newer + _points(_common(ones[old], one, rarity)), old, new) for old in near
            )
        for key in _keys(one):
            places[key].append(new)


def _both_hold(old: _Sentence, new: _Sentence) -> bool:
    """Return whether `new` repeats `old`, or says without a word of change what holds at another time as well."""
    repeats = (
        bool(old.values)
        and old.terms <= new.terms
        and all(old.values[kind] == new.values.get(kind) for kind in old.values)
    )
    return (repeats and old.terms.isdisjoint(new.dropped)) or (
        len(_changed(old, new)) > 1 and new.cues.isdisjoint(_TELLING)
    )


def _keys(one: _Sentence) -> frozenset[str]:
    return one.terms | {f"~{word}" for word in one.names} | {f"={field}" for field in one.fields}


def _common(old: _Sentence, new: _Sentence, rarity: Mapping[str, float]) -> dict[str, float]:
    """Return what two sentences have in common, with its share of the points."""
    name = max((rarity[f"~{word}"] for word in old.names & new.plain_words), default=0.0)
    shared = [rarity[term] for term in old.terms & new.terms]
    other = bool(old.names) and bool(new.names - old.names)
    fields = (
        one
        for one in old.fields.keys() & new.fields.keys()
        if not (old.fields[one] <= new.fields[one] or new.fields[one] <= old.fields[one])
    )
    return {
        "shared": min(sum(shared), MOST_SHARED),
        "rarest": max(shared, default=0.0),
        "name": name,
        "field": max((rarity[f"={field}"] for field in fields), default=0.0),
        "gone": max((rarity[term] for term in old.terms & new.terms & new.dropped), default=0.0),
        "kind": any(
            kind != "name" and kind in old.values and not old.values[kind] & now for kind, now in new.values.items()
        ),
        "when": all(not _WHEN.isdisjoint(one.values) for one in (old, new)),
        "other name": other,
        "owner": not (_OURS.isdisjoint(old.words) or _THEIRS.isdisjoint(new.words)),
        "swap": name * other * (not new.cues.isdisjoint(_TELLING)),
    }


_OURS, _THEIRS = frozenset(["my", "our"]), listed("replaced", "theirs")
_WHEN = frozenset(["date", "time", "weekday"])
