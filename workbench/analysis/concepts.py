"""Terms for comparing a text with facts: words of one meaning are one term ("fix", "repaired").

Word tables hold the words, in the section `concepts`. The comparison of a user's own sentences (`workbench.facts`)
keeps them apart, because a replacement must name the same thing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from workbench.base.session_caches import session_cache
from workbench.facts import terms
from workbench.facts.terms import LANGUAGES_OF_STEMS, SYNONYMS, TOKEN
from workbench.facts.word_tables import SPACED, table


def content_terms(text: str, language: str) -> list[str]:
    """Return the content terms of a text in order."""
    return [term for match in TOKEN.finditer(text) for term in token_terms(match[0], language)]


@session_cache(1 << 16)
def token_terms(token: str, language: str) -> tuple[str, ...]:
    """Return the terms of one token; () for a function word."""
    if time := CLOCK.fullmatch(token):
        return (f"{int(time[1]) % 12}h{time[2]}",)
    low = token.lower()
    if low in _particles(language):
        return ()
    if concept := concept_of(low, language):
        return (concept,)
    return terms.token_terms(token, language)


def concept_of(low: str, language: str) -> str:
    """Return the term of a lower-case word that the table of concepts has, otherwise ""."""
    return _concepts(language).get(low.removesuffix("'s"), "")


def tables_of(language: str) -> tuple[str, ...]:
    """Return the ids of the word tables of a language and of English."""
    return tuple(sorted({SPACED[LANGUAGES_OF_STEMS.index(language)], "en"}))


def _name(entry: str) -> str:
    """Return the term of an entry; an entry of the section `alike` has the same term there."""
    return f"={entry}" if f"={entry}" in SYNONYMS else f"~{entry}"


@cache
def _concepts(language: str) -> Mapping[str, str]:
    """Return the concept of each word. The table has all forms, because stems of a thousand words take long."""
    return {word: term for term, several in SYNONYMS.items() for word in several} | {
        word: _name(name)
        for one in tables_of(language)
        for name, several in table(one, "concepts").items()
        for word in several.split()
    }


@cache
def _particles(language: str) -> frozenset[str]:
    return frozenset(" ".join(table(one, "sense").get("particle", "") for one in tables_of(language)).split())


CLOCK = re.compile(r"(\d\d?)h(\d\d)")
"""Time of day in a plain form (`workbench.analysis.plain_form`); the half of the day is often left out."""
