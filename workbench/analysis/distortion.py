"""Decide whether a sentence with the words of a fact distorts it: adds or drops an exception, exchanges two words, puts
another name or the opposite in place of a word, or negates one of several verbs.

`workbench.analysis.contradiction` compares what sentences mean word by word; this module compares how they are built.
"""

from __future__ import annotations

import re
from collections.abc import Container
from functools import cache
from itertools import combinations, takewhile

from workbench.analysis.concepts import concept_of, content_terms, tables_of, token_terms
from workbench.analysis.sense import Sense
from workbench.analysis.sentence_form import WORD_CLASSES
from workbench.facts.terms import TOKEN
from workbench.facts.word_tables import pattern, table, words


def distorts(fact: Sense, text: Sense, language: str, complete: bool) -> bool:
    """True if a text with most words of a fact distorts it. `complete`: with nearly all of them, so that each of its
    verbs can be compared; otherwise they are compared together."""
    return (
        _is_limited_otherwise(fact, text, language)
        or _is_verb_negated(fact, text, complete)
        or _is_rivalled(fact, text, language)
        or _is_name_replaced(fact, text, language)
        or _is_substituted(fact.text, text.text, language)
        or _is_exchanged(fact.text, text.text, language)
        or _has_other_roles(fact.text, text.text)
    )


# --- exceptions and limits --------------------------------------------------------------------------------------------

_EXCEPT, _BUT_ALL, _ONLY, _WHEN = (pattern("sense", name) for name in ("except", "but_all", "only_this", "only_when"))
_RESTRICTED = pattern("sense", "restricted")
_REQUIRED = pattern("sense", "only_when", "requires")
_ONLY_WHEN = re.compile(rf"(?:{_ONLY.pattern}) (?:\w+ )?(?:{_WHEN.pattern})")
_LIMIT_END = re.compile(r"[.,;:!?](?:\s|$)|[，。；：]")


def _is_limited_otherwise(fact: Sense, text: Sense, language: str) -> bool:
    """True if only one of the sentences makes an exception, or names something as the only one."""
    fact_except, fact_only = _limits(fact.text, language)
    text_except, text_only = _limits(text.text, language)
    if fact_except is not None and text_except is None:
        return True
    if fact_only is not None and text_only is None and (text_except is not None or not _RESTRICTED.search(text.text)):
        return not (_ONLY_WHEN.search(fact.text) and _REQUIRED.search(text.text))  # "after" for "only after"
    if fact_except is not None or fact_only is not None:
        return False
    known = fact.signs.keys()
    if text_except and not text_except <= known:
        return True
    return _RESTRICTED.search(fact.text) is None and bool(text_only) and not (text_only or frozenset()) <= known


def _limits(low: str, language: str) -> tuple[frozenset[str] | None, frozenset[str] | None]:
    """Return the words that a sentence excepts, and those that it names as the only ones; None without such a limit."""
    found: list[frozenset[str] | None] = []
    for several in ((_EXCEPT, _BUT_ALL), (_ONLY,)):
        match = next((match for one in several if (match := one.search(low))), None)
        if match is None:
            found.append(None)
            continue
        end = _LIMIT_END.search(low, match.end())
        found.append(frozenset(content_terms(low[match.end() : end.start() if end else len(low)], language)))
    return found[0], found[1]


# --- one sign per verb ------------------------------------------------------------------------------------------------


def _is_verb_negated(fact: Sense, text: Sense, complete: bool) -> bool:
    """True if the text has the opposite sign for all words of a part of the fact, or of the fact unless `complete`: its
    verb is negated, or no longer."""
    for part in fact.parts if complete else (fact.signs.keys(),):
        common = [term for term in part if fact.signs.get(term) and text.signs.get(term)]
        enough = 2 * len(common) >= len(part) if complete else len(common) >= LEAST_NEGATED
        if enough and common and all(fact.signs[one] != text.signs[one] for one in common):
            return True
    return False


LEAST_NEGATED = 3
"""Fewest words that show a negation of only part of a sentence."""


# --- names and opposites ----------------------------------------------------------------------------------------------


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
    """Return the words of a text without plain endings, each with the word as written; a concept instead of its
    words."""
    found: dict[str, str] = {}
    for match in TOKEN.finditer(low):
        concept = concept_of(match[0], language)
        for word in (concept,) if concept else {match[0], _INFLECTED.sub("", match[0]), match[0].removesuffix("s")}:
            found[word] = match[0]
    return found


_INFLECTED = re.compile(r"(?<=\w{3})(?:e?s|ed|ing|ly)$")


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


_TECHNICAL = re.compile(
    r"(?<![\w./:@-])(?!\d+(?:[.,:]\d+)?[^\W\d_]*(?![\w./:@-]))(?=[\w./:@-]*[\d_./@-])[\w./~@][\w./:@-]*\w"
)
"""Name with a digit or sign in it; no number with a unit."""


def _is_name_replaced(fact: Sense, text: Sense, language: str) -> bool:
    """True if a technical name of the fact (with a digit, dot, dash, slash or underscore) is missing, and the text has
    another of the same form."""
    mine, yours = ({*_TECHNICAL.findall(one.text)} for one in (fact, text))
    missing = [name for name in mine - yours if not text.signs.keys() >= {*token_terms(name, language)}]
    more = [name for name in yours - mine if not fact.signs.keys() >= {*token_terms(name, language)}]
    return any(_are_alike(one, other) for one in missing for other in more)


def _are_alike(one: str, other: str) -> bool:
    """True for names that begin or end with the same part ("billing-events", "billing-jobs"), or have digits in the
    same places ("eu-west-1", "us-east-1")."""
    first, second = _SPLIT.split(one), _SPLIT.split(other)
    if min(len(first), len(second)) > 1 and (first[0] == second[0] or first[-1] == second[-1]):
        return True
    return any(map(str.isdigit, one)) and _form(one) == _form(other)


_SPLIT = re.compile(r"[\W_]+")


def _form(name: str) -> str:
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", name))


# --- replaced and exchanged words -------------------------------------------------------------------------------------

_SPOKEN = words("compared", "spoken")
"""Words of reports ("the user wants"), which may also name a thing ("the user service")."""
_LEXEME = re.compile(rf"{TOKEN.pattern}|[,;:]")
_VERBS = frozenset(word for word, sort in WORD_CLASSES.items() if sort == "verb")
_VOICE = frozenset({"verb", "preposition"})
_NO_RELATION = frozenset({"link", "article", "person"})
_COPULAS = re.compile(r"is|are|was|were|be|ist|sind|war|est|sont|es|son|é|são|[,;:]")

LEAST_EXCHANGED, MOST_EXCHANGED = 3, 40
"""Fewest and most words, little ones included, of two sentences that are searched for exchanged phrases."""


def _is_substituted(fact: str, text: str, language: str) -> bool:
    """True if only one word differs, and it is not the first: the skipped rows for the stopped ones. The first word is
    often a verb for which there are many others: use, prefer, keep."""
    first, second = _lexemes(fact, language), _lexemes(text, language)
    if len(first) != len(second):
        return False
    differ = [at for at, (one, other) in enumerate(zip(first, second, strict=True)) if one != other]
    if len(differ) != 1 or differ[0] == 0 or first[differ[0] - 1][0].isdigit():  # "75 minutes", "75 min"
        return False
    (one, full), (other, whole) = first[differ[0]], second[differ[0]]
    return full and whole and "=" not in (one[0], other[0]) and one[:SAME_STEM] != other[:SAME_STEM]


SAME_STEM = 4
"""First letters of words that are forms of one."""


def _is_exchanged(fact: str, text: str, language: str) -> bool:
    """True if two phrases of the fact change places around the words between them: "B calls A" for "A calls B". "A is
    called by B" has other little words, and "B and A" says the same as "A and B"."""
    first = _lexemes(fact, language)
    second = _lexemes(text, language)
    common = {*first} & {*second}
    mine, yours = ([word for word in several if word in common] for several in (first, second))
    if not LEAST_EXCHANGED <= len(mine) <= MOST_EXCHANGED or mine == yours or sorted(mine) != sorted(yours):
        return False
    differ = [at for at, (one, other) in enumerate(zip(mine, yours, strict=True)) if one != other]
    begin, end = differ[0], differ[-1] + 1
    inner, turned = mine[begin:end], yours[begin:end]
    spans = [
        {*several[several.index(part[0]) : several.index(part[-1]) + 1]}
        for several, part in ((first, inner), (second, turned))
    ]
    if any(not full and WORD_CLASSES.get(word) in _VOICE for word, full in spans[0] ^ spans[1]):
        return False
    for left, right in combinations(range(1, len(inner)), 2):
        one, between, other = inner[:left], inner[left:right], inner[right:]
        alike = [full for _, full in one] == [full for _, full in other]  # "service of X", "service of Y"
        if turned == other + between + one and (alike or all(full for _, full in one + other)):
            relation = [word for word in between if _relates(*word)]
            return bool(relation) and relation != mine[max(begin - len(relation), 0) : begin]  # "no tabs, no spaces"
    return False


_USER = r"(?:the user|l'utilisateur|der nutzer|el usuario)(?!')\b"
_OTHER = r"(?:was|were|is|are|got|gets) \w+(?:ed|en|nt|ld)|ha(?:s|ve|d) (?:no|an?|the)|may|can|must|should|wants|needs"
_DOES = re.compile(rf"(?:^|[,;:] )(?:i|we|j'|je|nous|ich|wir|yo|{_USER})\b(?! (?:{_OTHER})\b)")
_GETS = re.compile(rf"\b(?:me|us|mir|uns)\b|(?:to|for|à|an|al) {_USER}|\w (?:the user|dem nutzer) (?:a|\w+s|sein\w*)\b")
_AGENT = re.compile(r"\b(?:by|from|of|par|de|von|por) (?!\d)|'s ")
_OWNER = re.compile(r"\b(?:my|our|user's|(?!(?:day|week|month|year|today)\b)(?P<owner>\w+)'s) (?=(?P<thing>\w+))")


def _has_other_roles(fact: str, text: str) -> bool:
    """True if a thing belongs to somebody else ("Ida's boat" for "my boat"), or the user does to another what the other
    does to the user."""
    if not _AGENT.search(f"{fact} {text}"):
        for one, other in ((fact, text), (text, fact)):
            if _DOES.search(one) and _GETS.search(other) and not (_GETS.search(one) or _DOES.search(other)):
                return True
    mine, yours = ({one["thing"]: one["owner"] for one in _OWNER.finditer(low)} for low in (fact, text))
    return any(mine[thing] != yours[thing] for thing in mine.keys() & yours.keys())


_LABEL = re.compile(r"[^:.]{1,40}: ")


def label_words(low: str, known: Container[str], language: str) -> frozenset[str]:
    """Return the words of the label of a sentence ("Architecture: …"), if none of them is known."""
    label = _LABEL.match(low)
    found = frozenset(content_terms(label[0], language) if label else ())
    return frozenset() if any(one in known for one in found) else found


def has_other_subject(fact: Sense, text: Sense, language: str, same: Container[str]) -> bool:
    """True if the text says the same of something else: "the test database is up" for "the production database is up".
    Other words stand in the same place, at the beginning or before the verb. `same` are words that say the same."""
    first = _lexemes(fact.text, language)
    of_user = first[:1] == [("user", True)]
    if not of_user and not _BEGINS_WITH_NAME.match(fact.text) and _VERBS.isdisjoint(word for word, _ in first[1:3]):
        return False  # may begin with a verb
    second = [one for one in _lexemes(text.text, language) if one[0] not in same]
    common = {*first} & {*second}
    mine, yours = (_between_common(one, common) for one in (first, second))
    known = [one in common for one in first if one[1]]
    most = sum(known) >= ALL_BUT_SUBJECT * len(known)
    if len(known) > LONGEST_SUBJECT and not (of_user or known[0] or most) and any(yours.values()):
        return True
    begins, named = ([*takewhile(lambda one: one[0] not in _VERBS, each)] for each in (first, second))
    if not fact.names <= text.signs.keys() and len(named) == 1 and not common.issuperset(named):
        return True  # "Ulm was where …" for "… was in Bonn"
    subject = {word for word, full in begins if full and not of_user and len(begins) < len(first)}
    subject |= {term for match in _WITH_ARTICLE.finditer(fact.text) for term in token_terms(match[1], language)}
    return any(
        mine[ends] and 0 < len(yours[ends]) <= LONGEST_SUBJECT
        for ends in mine.keys() & yours.keys()
        if ends[0] == ""
        or ends[1] in _VERBS
        or not subject.isdisjoint(mine[ends])
        or (ends[1] == "" and _COPULAS.fullmatch(ends[0]))
    )


ARTICLES = "|".join(word for word, sort in WORD_CLASSES.items() if sort == "article")
_BEGINS_WITH_NAME = re.compile(rf"(?:{ARTICLES}) |[\u3400-\u9fff]|\w+ \w+s (?:{ARTICLES}) ")
"""Beginning of a sentence that is no command: "the cat", "Marta feeds the"."""
_WITH_ARTICLE = re.compile(rf"\b(?:{ARTICLES}) (\w+)")
ALL_BUT_SUBJECT = 0.72
"""Share of words from which a sentence without the first one, but with words of its own, may say the same."""
LONGEST_SUBJECT = 3
"""Most content words of another subject."""


def _between_common(
    lexemes: list[tuple[str, bool]], common: Container[tuple[str, bool]]
) -> dict[tuple[str, str], list[str]]:
    """Return the content words between each two common content words or verbs, by the two words; "" at the beginning
    and at the end."""
    found: dict[tuple[str, str], list[str]] = {}
    left, between = "", list[str]()
    for word, full in lexemes:
        if (word, full) in common and (full or word in _VERBS):
            found.setdefault((left, word), between)
            left, between = word, []
        elif full and not word[0].isdigit():
            between.append(word)
    found.setdefault((left, ""), between)
    return found


def _lexemes(low: str, language: str) -> list[tuple[str, bool]]:
    """Return the words and commas of a sentence without articles: the term of a content word with True, any other word
    as written with False."""
    return [
        ("user", True) if term in _FIRST_PERSON else (term, bool(terms) or term in _SPOKEN)
        for match in _LEXEME.finditer(low)
        for terms in (token_terms(match[0], language) if match[0] not in ",;:" else (),)
        for term in terms or (match[0],)
        if terms or WORD_CLASSES.get(term) != "article"
    ]


_FIRST_PERSON = frozenset({"i", "me", "je", "ich", "user", "user's", "utilisateur", "nutzer"})
"""Words for the user, who is called so in a summary."""


def _relates(word: str, full: bool) -> bool:
    return full or (not _COPULAS.fullmatch(word) and WORD_CLASSES.get(word) not in _NO_RELATION)
