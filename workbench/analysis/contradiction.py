"""Contradictions: a sentence with most words of a fact negates it, puts its steps in another order, gives another value
or name, adds or drops an exception, puts an opposite in place of a word, or combines its words differently."""

from __future__ import annotations

import re
from collections.abc import Container
from functools import cache
from itertools import combinations, takewhile

from workbench.analysis.concepts import concept_of, content_terms, tables_of, token_terms
from workbench.analysis.sense import Sense, denials
from workbench.analysis.sentence_form import WORD_CLASSES
from workbench.facts.amounts import units
from workbench.facts.terms import TOKEN
from workbench.facts.word_tables import pattern, table


def contradicts(fact: Sense, text: Sense, language: str) -> bool:
    """True if a text with most words of a fact contradicts or distorts it."""
    return (
        is_negated(fact, text)
        or differs_in_value(fact, text)
        or _is_reordered(fact, text)
        or _is_name_replaced(fact, text)
        or _is_word_replaced(fact, text)
        or _is_modifier_replaced(fact, text, language)
        or _recombines_parts(fact, text)
        or _is_limited_otherwise(fact, text, language)
        or _is_opposite(fact.text, text.text)
        or _is_rivalled(fact, text, language)
        or _is_exchanged(fact.text, text.text, language)
        or _has_other_roles(fact.text, text.text)
    )


# --- negation, order and values ---------------------------------------------------------------------------------------

LEAST_NEGATED = 0.3
"""Least share of the common words that only one of two opposite sentences negates."""


def is_negated(fact: Sense, text: Sense) -> bool:
    """True if one sentence negates the other, or one of its parts."""
    agreed = _denied_in_both(fact, text)
    clear = {term: sign != text.signs[term] for term, sign in fact.signs.items() if sign and text.signs.get(term)}
    counted = [differs for term, differs in clear.items() if term not in agreed]
    if counted and sum(counted) >= LEAST_NEGATED * len(counted):
        return True
    parts = ([clear[term] for term in part if term in clear] for part in fact.parts)
    return any(len(part) > 1 and all(part) for part in parts)


def _denied_in_both(fact: Sense, text: Sense) -> frozenset[str]:
    """Return the words of each part of the fact in which both sentences negate a word: "use no cookies on the page" for
    "the page has to do without cookies"."""
    if denials(fact.text) != denials(text.text):
        return frozenset()
    denied = {term for term, sign in fact.signs.items() if sign == text.signs.get(term) == -1}
    return frozenset[str]().union(*(part for part in fact.parts if part & denied))


def _is_reordered(fact: Sense, text: Sense) -> bool:
    """True if the two sentences put the same steps in another order."""
    turned = len(fact.earlier & text.later) + len(fact.later & text.earlier)
    return turned > len(fact.earlier & text.earlier) + len(fact.later & text.later)


def differs_in_value(fact: Sense, text: Sense) -> bool:
    """True if a number, day, date or time of the fact has another value in the text."""
    missing = [value for value in fact.values if not any(map(value.same, text.values))]
    more = [value for value in text.values if not any(map(value.same, fact.values))]
    if any(value.rivals(other) for value in missing for other in more):
        return True
    return any(
        _lacks_one(fact.kinds[kind], text.kinds[kind]) and _lacks_one(text.kinds[kind], fact.kinds[kind])
        for kind in fact.kinds.keys() & text.kinds.keys()
    )


def _lacks_one(several: frozenset[str], others: frozenset[str]) -> bool:
    return any(not any(_is_same(one, other) for other in others) for one in several)


def _is_same(one: str, other: str) -> bool:
    """True for equal words, and for two times of day that may be the same."""
    if not one[0].isdigit():
        return one == other
    first, second = (int(time[:-3]) for time in (one, other))
    return one[-3:] == other[-3:] and (
        first == second or ((first - second) % 12 == 0 and "0" not in (one[0], other[0]))
    )


# --- exceptions and limits --------------------------------------------------------------------------------------------

_EXCEPT, _ONLY = pattern("sense", "except", "but_all"), pattern("sense", "only_this")
_RESTRICTED = pattern("sense", "restricted")
_LIMIT_END = re.compile(r"[.,;:!?](?:\s|$)|[，。；：]|$")


def _is_limited_otherwise(fact: Sense, text: Sense, language: str) -> bool:
    """True if only one of the sentences makes an exception, or names something as the only one."""
    fact_except, text_except = (_limited(_EXCEPT, one.text, language) for one in (fact, text))
    fact_only, text_only = (_limited(_ONLY, one.text, language) for one in (fact, text))
    if fact_except is not None:
        return text_except is None
    if fact_only is not None:
        return text_only is None and (text_except is not None or not _RESTRICTED.search(text.text))
    known = fact.signs.keys()
    return bool(text_except) or (not _RESTRICTED.search(fact.text) and text_only is not None and not text_only <= known)


def _limited(limit: re.Pattern[str], low: str, language: str) -> frozenset[str] | None:
    """Return the words after a limit; None without one."""
    if (match := limit.search(low)) is None:
        return None
    end = _LIMIT_END.search(low, match.end())
    return frozenset(content_terms(low[match.end() : end.start() if end else len(low)], language))


# --- words put in place of others -------------------------------------------------------------------------------------


def _is_name_replaced(fact: Sense, text: Sense) -> bool:
    """True if the text lacks a name of the fact and has another one."""
    return not fact.names <= text.signs.keys() and not text.names <= fact.signs.keys()


def _is_word_replaced(fact: Sense, text: Sense) -> bool:
    """True if only one word differs, and it is not the first: "skipped rows" for "stopped rows". The first word is
    often a verb for which there are many others: use, prefer, keep."""
    differ = [at for at, (one, other) in enumerate(zip(fact.order, text.order, strict=False)) if one != other]
    if len(fact.order) != len(text.order) or len(differ) != 1 or differ[0] == 0:
        return False
    return not fact.order[differ[0] - 1][0].isdigit()  # a unit, after its number


def _is_modifier_replaced(fact: Sense, text: Sense, language: str) -> bool:
    """True if a text has "seat" of "the aisle seat" without "aisle"."""
    pairs = ([token_terms(word, language) for word in match.groups()] for match in _MODIFIED.finditer(fact.text))
    have = text.signs.keys()
    return any(have >= {*of} and not have >= {*one} for one, of in pairs if of)


_ARTICLES = "|".join(word for word, sort in WORD_CLASSES.items() if sort == "article")
_MODIFIED = re.compile(rf"\b(?:{_ARTICLES}) (\w+) (?=(\w+))")
_OPPOSITES = (("before", "after"), *zip(*[iter(table("en", "opposites"))] * 2, strict=True))
"""Pairs of opposites, by the names of their entries in the word tables, which are listed in pairs."""


def _is_opposite(fact: str, text: str) -> bool:
    """True if the fact has one of two opposites and the text only the other."""
    for names in _OPPOSITES:
        one, other = (pattern("opposites", name) for name in names)
        for mine, yours in ((one, other), (other, one)):
            if mine.search(fact) and yours.search(text) and not (yours.search(fact) or mine.search(text)):
                return True
    return False


@cache
def _rivals(language: str) -> dict[str, frozenset[str]]:
    """Return the words that cannot be true of a thing at the same time as a word, by the word."""
    found: dict[str, frozenset[str]] = {}
    groups = " ".join(table(one, "sense").get("rivals", "") for one in tables_of(language))
    for group in groups.split():
        several = frozenset(concept_of(word, language) or word for word in group.split("/"))
        for one in several:
            found[one] = found.get(one, frozenset()) | several - {one}
    return found


def _keys(low: str, language: str) -> dict[str, str]:
    """Return the words of a text as written, by key: a word's concept; without one, the word itself, with and without a
    plural's "s"."""
    found: dict[str, str] = {}
    for match in TOKEN.finditer(low):
        concept = concept_of(match[0], language)
        for word in (concept,) if concept else (match[0], match[0].removesuffix("s")):
            found[word] = match[0]
    return found


def _is_rivalled(fact: Sense, text: Sense, language: str) -> bool:
    """True if the text has a rival of a word of the fact ("right" for "left", "aunt" for "uncle"), and not the word
    itself; "not open" and "closed" agree."""
    mine, yours = _keys(fact.text, language), _keys(text.text, language)
    rivals = _rivals(language)
    return any(
        _sign(fact, mine[one], language) * _sign(text, yours[other], language) >= 0
        for one in mine.keys() - yours.keys()
        if one in rivals and not rivals[one] & mine.keys()
        for other in rivals[one] & yours.keys()
    )


def _sign(sense: Sense, word: str, language: str) -> int:
    return sense.signs.get(next(iter(token_terms(word, language)), ""), 1)


# --- words combined differently ---------------------------------------------------------------------------------------


def _recombines_parts(fact: Sense, text: Sense) -> bool:
    """True if the text combines words of different parts of the fact: "keep the job, drop the queue" for "keep the
    queue, drop the job"."""
    for mine, yours in ((one - other, other - one) for one, other in combinations(fact.parts, 2)):
        if mine & fact.names & text.signs.keys() and any(
            part & mine and not part & mine & fact.names and part & yours and part & yours <= fact.names
            for part in text.parts
        ):
            return True  # "born in Ulm, raised in Bonn" for "born in Bonn, raised in Ulm"
        mixed = [part for part in text.parts if part & mine and part & yours]
        if len(mixed) > 1:
            return True
    return False


_LEXEME = re.compile(rf"{TOKEN.pattern}|[,;:]")
_VERBS = frozenset(word for word, sort in WORD_CLASSES.items() if sort == "verb")
_VOICE = frozenset({"verb", "preposition"})
_NO_RELATION = frozenset({"link", "article", "person", "denial"})
_COPULAS = re.compile(r"is|are|was|were|be|ist|sind|war|est|sont|es|son|é|são|[,;:]")

MOST_EXCHANGED = 40
"""Most words, function words included, of two sentences that are searched for exchanged phrases."""


def _is_exchanged(fact: str, text: str, language: str) -> bool:
    """True if two phrases of the fact change places around the words between them: "B calls A" for "A calls B". "A is
    called by B" has other function words, and "B and A" says the same as "A and B"."""
    first, second = _lexemes(fact, language), _lexemes(text, language)
    common = {*first} & {*second}
    mine, yours = ([word for word in several if word in common] for several in (first, second))
    if mine == yours or len(mine) > MOST_EXCHANGED or sorted(mine) != sorted(yours):
        return False
    differ = [at for at, (one, other) in enumerate(zip(mine, yours, strict=True)) if one != other]
    inner, turned = mine[differ[0] : differ[-1] + 1], yours[differ[0] : differ[-1] + 1]
    spans = [
        {*several[several.index(part[0]) : several.index(part[-1]) + 1]}
        for several, part in ((first, inner), (second, turned))
    ]
    if any(WORD_CLASSES.get(word) in _VOICE for word, _ in spans[0] ^ spans[1]):
        return False
    for left, right in combinations(range(1, len(inner)), 2):
        one, between, other = inner[:left], inner[left:right], inner[right:]
        alike = [full for _, full in one] == [full for _, full in other]  # "service of X", "service of Y"
        if turned == other + between + one and (alike or all(full for _, full in one + other)):
            return any(
                full or (not _COPULAS.fullmatch(word) and WORD_CLASSES.get(word) not in _NO_RELATION)
                for word, full in between
            )
    return False


_USER = r"(?:the user|l'utilisateur|der nutzer|el usuario)(?!')\b"
_OTHER = r"(?:was|were|is|are|got|gets) \w+(?:ed|en|nt|ld)|ha(?:s|ve|d) (?:no|an?|the)|may|can|must|should|wants|needs"
_DOES = re.compile(rf"(?:^|[,;:] )(?:i|we|j'|je|nous|ich|wir|yo|{_USER})\b(?! (?:{_OTHER})\b)")
_GETS = re.compile(rf"\b(?:me|us|mir|uns)\b|(?:to|for|à|an|al) {_USER}|\w (?:the user|dem nutzer) (?:a|\w+s|sein\w*)\b")
_AGENT = re.compile(r"\b(?:by|from|of|par|de|von|por) (?!\d)|'s ")


def _has_other_roles(fact: str, text: str) -> bool:
    """True if the user acts in one of the sentences and receives in the other: "I sent Eva", "Eva sent me"."""
    if _AGENT.search(f"{fact} {text}"):
        return False
    return any(_DOES.search(one) and _GETS.search(other) for one, other in ((fact, text), (text, fact)))


def has_other_subject(fact: Sense, text: Sense, language: str) -> bool:
    """True if the text says the same of something else: "the test database is up" for "the production database is up".
    Other words stand in the same place, at the beginning or before the verb."""
    first, second = (_lexemes(one.text, language) for one in (fact, text))
    of_user = first[:1] == [("user", True)]
    if not of_user and not _BEGINS_WITH_NAME.match(fact.text) and _VERBS.isdisjoint(word for word, _ in first[1:3]):
        return False  # may begin with a verb
    common = {*first} & {*second}
    mine, yours = (_between_common(one, common, units(language)) for one in (first, second))
    known = [one in common for one in first if one[1]]
    most = sum(known) >= ALL_BUT_SUBJECT * len(known)
    if len(known) > LONGEST_SUBJECT and not (of_user or known[0] or most) and any(yours.values()):
        return True
    begins, named = ([*takewhile(lambda one: one[0] not in _VERBS, each)] for each in (first, second))
    if not fact.names <= text.signs.keys() and len(named) == 1 and not common.issuperset(named):
        return True  # "Ulm was where …" for "… was in Bonn"
    subject = {word for word, full in begins if full and len(begins) < len(first)}
    return any(
        mine[ends] and 0 < len(yours[ends]) <= LONGEST_SUBJECT
        for ends in mine.keys() & yours.keys()
        if ends[0] == "" or not subject.isdisjoint(mine[ends]) or _COPULAS.fullmatch(ends[0])
    )


_BEGINS_WITH_NAME = re.compile(rf"(?:{_ARTICLES}) |[\u3400-\u9fff]|\w+ \w+s (?:{_ARTICLES}) ")
"""Beginning of a sentence that is no command: "the cat", "Marta feeds the"."""
ALL_BUT_SUBJECT = 0.72
"""Least share of the fact's words in a text that may say the same, although the fact's first word is missing."""
LONGEST_SUBJECT = 3
"""Most content words of another subject."""


def _between_common(
    lexemes: list[tuple[str, bool]], common: Container[tuple[str, bool]], without: Container[str]
) -> dict[tuple[str, str], list[str]]:
    """Return the content words between each two common content words or verbs, by the two words; "" at the beginning
    and at the end. Numbers and the words `without` are left out."""
    found: dict[tuple[str, str], list[str]] = {}
    left, between = "", list[str]()
    for word, full in lexemes:
        if (word, full) in common and (full or word in _VERBS):
            found.setdefault((left, word), between)
            left, between = word, []
        elif full and not word[0].isdigit() and word not in without:
            between.append(word)
    found.setdefault((left, ""), between)
    return found


def _lexemes(low: str, language: str) -> list[tuple[str, bool]]:
    """Return the words and commas of a sentence without articles: the term of a content word with True, any other word
    as written with False."""
    return [
        ("user", True) if term in _FIRST_PERSON else (term, bool(terms))
        for match in _LEXEME.finditer(low)
        for terms in (token_terms(match[0], language) if match[0] not in ",;:" else (),)
        for term in terms or (match[0],)
        if terms or WORD_CLASSES.get(term) != "article"
    ]


_FIRST_PERSON = frozenset({"i", "me", "je", "ich", "user", "user's", "utilisateur", "nutzer"})
"""Words for the user, whom summaries call "the user"."""
