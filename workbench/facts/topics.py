"""Topic of a sentence: words, terms, values and cues, by which `workbench.facts.supersession` compares sentences."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cache

from msgspec import Struct

from workbench.base.session_caches import session_cache
from workbench.facts.amounts import units, with_digits
from workbench.facts.languages import languages_of
from workbench.facts.terms import FUNCTION_WORDS, LANGUAGES_OF_STEMS, TOKEN, content_terms, stem, token_terms
from workbench.facts.values import values_by_kind, without_values
from workbench.facts.word_tables import LANGUAGES, SPACED, pattern, table
from workbench.facts.wording import normalize


class Topic(Struct, frozen=True):
    """Sentence as compared.

    words: in order, without words that only say when ("now"); "," ends a clause.
    bare: its words without possessive endings.
    terms: content terms without values.
    order: the same in order, without rejected phrases ("instead of npm") and words of change or permission.
    things: its terms and values together.
    values: by kind. names: words of its names. fields: its terms by field.
    ended: terms of clauses in which something ends.
    rejected: terms and values of each rejected phrase, and of each thing that ended.
    cues: entries of the word tables that it has, and "forbids".
    orders: an order of work. chat: an order, a feeling or code, hardly a fact.
    """

    words: tuple[str, ...]
    bare: frozenset[str]
    terms: frozenset[str]
    order: tuple[str, ...]
    things: frozenset[str]
    values: Mapping[str, frozenset[str]]
    names: frozenset[str]
    fields: Mapping[str, set[str]]
    ended: frozenset[str]
    rejected: tuple[frozenset[str], ...]
    cues: frozenset[str]
    orders: bool
    chat: bool
    languages: tuple[str, ...]
    language: str

    @property
    def about(self) -> frozenset[str]:
        return frozenset(self.order)


_CUES = ("allowed", "changes", "explains", "ends", "feels", "now", "once")
CHANGES = frozenset(["changes", "now", "elliptic"])


@session_cache(4_096)
def topic_of(text: str, language: str) -> Topic:
    """Return the topic of a sentence. `language` is that of all sentences together, so that equal words have equal
    terms."""
    low = normalize(text)
    possible = {*languages_of(low), SPACED[LANGUAGES_OF_STEMS.index(language)]}
    languages = tuple(one for one in LANGUAGES if one in possible)

    def signs(*names: str) -> re.Pattern[str]:
        return pattern("replaced", *names, languages=languages)

    def terms_of(part: str) -> list[str]:
        bare = without_values(with_digits(part), languages).translate(_LIGHT_CHARACTERS)
        return [
            term
            for term in content_terms(bare, language)
            if not (term[0].isdigit() or "'" in term or term in units(language) or term in light_words(language))
        ]

    def things(part: str) -> frozenset[str]:
        values = values_by_kind(part, languages)
        return frozenset((*terms_of(part), *(value for kind in values if kind != "name" for value in values[kind])))

    values = values_by_kind(text, languages)
    clauses = [clause for clause in _CLAUSE.split(low) if clause]
    spans = [*_rejected_spans(low, signs("rejected"), things)]
    chosen = low
    for start, stop, _ in reversed(spans):
        chosen = f"{chosen[:start]} {chosen[stop:]}"
    chosen = chosen if things(chosen) else low
    ended = [clause[: found.start()] for clause in clauses if (found := signs("ends").search(clause))]
    order = tuple(dict.fromkeys(terms_of(signs("changes", "allowed").sub(" ", chosen))))
    words = tuple(_words(signs("now").sub(" ", text.lower().replace("’", "'"))))
    denies = pattern("sense", "denies", languages=languages)
    if "tongue" in values and _terms_listed("speaking", language).issuperset(order):
        order = ()
    cues = {name for name in _CUES if signs(name).search(low)}
    if signs("elliptic").match(low):
        cues.add("elliptic")
    if signs("no").search(chosen) or denies.search(chosen):
        cues.add("forbids")
    if any(signs("if").match(clause.strip()) for clause in clauses):
        cues.add("once")
    # in German every noun has a capital letter, but two in a row are a name
    known = [name for name in values.get("name", ()) if " " in name or language != "german"]
    orders = len(words) > 1 and words[1] != "," and _ORDER.match(words[0]) is not None
    terms = frozenset(terms_of(text))
    return Topic(
        words=words,
        bare=frozenset(map(bare, words)),
        terms=terms,
        order=order,
        things=terms.union(*(values[kind] for kind in values if kind != "name")),
        values=values,
        names=frozenset(bare(word) for name in known for word in name.split() if word.lower() not in FUNCTION_WORDS),
        fields=_fields_of(without_values(text, languages).lower(), terms, language),
        ended=frozenset(
            content_terms(
                " ".join(part for part in _PART.split(low) if signs("ends", "rejected").search(part)), language
            )
        ),
        rejected=tuple(filter(None, (*(found for *_, found in spans), *map(things, ended)))),
        cues=frozenset(cues),
        orders=orders,
        chat=orders or "feels" in cues or text.endswith("!") or _ODD.search(text) is not None,
        languages=languages,
        language=language,
    )


def is_correction(sentence: str) -> bool:
    """Return whether a sentence announces a change, rejects or permits something."""
    low = normalize(sentence)
    names = ("changes", "ends", "rejected", "allowed")
    return pattern("replaced", *names, languages=languages_of(low)).search(low) is not None


def bare(word: str) -> str:
    return word.lower().removesuffix("'s").removesuffix("’s")


_CLAUSE = re.compile(r"[,;:—–] |[，、；：]|(?<=\w): ")
_PART = re.compile(r"[,;:—]\s|\s-\s|\s(?=(?:so|because|since|and|but|as)\s)")
_ODD = re.compile(r"[{}<>|=*\\]|->")
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


_END = re.compile(r"[,;:，。；：、!?]|\.(?!\w)")


def _rejected_spans(
    text: str, rejecting: re.Pattern[str], things: Callable[[str], frozenset[str]]
) -> Iterator[tuple[int, int, frozenset[str]]]:
    """Yield where rejected phrases begin and end, and their terms and values. A phrase ends at punctuation, or before
    the verb of the alternative ("instead of npm use yarn")."""
    for match in rejecting.finditer(text):
        end = _END.search(text, match.end())
        found: set[str] = set()
        stop = match.end()
        for token in TOKEN.finditer(text, match.end(), end.start() if end else len(text)):
            words = things(token[0])
            if found and not words and token[0] not in FUNCTION_WORDS:
                break
            found |= words
            stop = token.end()
        if found:
            yield match.start(), stop, frozenset(found)


def _fields_of(low: str, terms: frozenset[str], language: str) -> Mapping[str, set[str]]:
    """Return the terms of a text by the fields of their words."""
    found: dict[str, set[str]] = defaultdict(set)
    for match in TOKEN.finditer(low):
        for term in terms.intersection(token_terms(match[0], language)):
            for field in _fields(language).get(_base(match[0]), ()):
                found[field].add(term)
    return found


@cache
def _fields(language: str) -> Mapping[str, list[str]]:
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


def light_words(language: str) -> frozenset[str]:
    """Return the light words (to use, to put, now) as terms."""
    return _terms_listed("light", language)


@cache
def _terms_listed(name: str, language: str) -> frozenset[str]:
    """Return the words of a table entry as terms: of the language, of English (used everywhere), and of Korean."""
    found: set[str] = set()
    for one in {SPACED[LANGUAGES_OF_STEMS.index(language)], "en"}:
        for word in table(one, "replaced").get(name, "").split():
            found |= {word, stem(word, language), *token_terms(word, language)}
    return frozenset(found | {word[:2] for word in table("ko", "replaced").get(name, "").split()})


_LIGHT_CHARACTERS = {
    ord(character): " " for one in ("zh", "ja") for character in table(one, "replaced")["light"] if character != " "
}
