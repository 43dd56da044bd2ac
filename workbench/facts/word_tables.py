"""Words and patterns per language, from the tables `words/<language>.toml`.

An entry is a list of alternatives of a pattern, or a string of words separated by blanks. Each section, with
the module that uses it most:

    sense       negation, contrast, order and function words: `workbench.analysis.sense`
    opposites   words that cannot both be true of a thing: `workbench.analysis.contradiction`
    claims      claims about the state of something: `workbench.analysis.claims`
    standing    roles of the grammar of standing rules: `workbench.facts.standing_grammar`
    compared    function words, modifiers and empty words: `workbench.facts.terms`
    alike       synonyms, by the word that represents them: `workbench.facts.terms`
    concepts    words of one meaning in all their forms, by a name: `workbench.analysis.concepts`
    phrases     phrases, by the words in which they are compared: `workbench.analysis.sense`
    decided     words of deciding, accepting and rejecting: `workbench.facts.decisions`
    stated      words with which users describe themselves and their situation: `workbench.facts.statements`
    typed       first person singular, and words of address and pointing: `workbench.facts.pasted_lines`
    fields      words of one attribute of a thing (its cost, its place): `workbench.facts.topics`
    replaced    words that decide the topic of a sentence, and whether it replaces another: `workbench.facts.topics`
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from importlib.resources import files

SPACED = ("en", "de", "fr", "es", "pt", "ru")
UNSPACED = ("zh", "ja", "ko")
"""Languages without word boundaries."""
LANGUAGES = (*SPACED, *UNSPACED)


@cache
def table(language: str, section: str) -> Mapping[str, str]:
    """Return the entries of a section, with alternatives joined by `|`; empty if the language has no such section."""
    entries = _read(language).get(section, {})
    return {name: "|".join(words) if isinstance(words, list) else words for name, words in entries.items()}


def alternatives(section: str, name: str, languages: Iterable[str] = LANGUAGES) -> str:
    """Return the alternatives of an entry in several languages, joined to one pattern."""
    return "|".join(found for one in languages if (found := table(one, section).get(name, "")))


def bounded(section: str, name: str, languages: Collection[str] = LANGUAGES) -> str:
    """Return an entry of several languages as one pattern, with word boundaries in languages with spaces."""
    kinds = ([one for one in several if one in languages] for several in (SPACED, UNSPACED))
    spaced, unspaced = (alternatives(section, name, several) for several in kinds)
    return "|".join(filter(None, (rf"(?<!\w)(?:{spaced})(?!\w)" if spaced else "", unspaced)))


@cache
def pattern(section: str, *names: str, languages: tuple[str, ...] = LANGUAGES) -> re.Pattern[str]:
    """Return entries of several languages as one compiled pattern, which matches nothing if there are none."""
    return re.compile("|".join(filter(None, (bounded(section, name, languages) for name in names))) or r"(?!)")


def words(section: str, name: str) -> frozenset[str]:
    """Return the words of an entry in all languages."""
    return frozenset(word for one in LANGUAGES for word in table(one, section).get(name, "").split())


@cache
def _read(language: str) -> Mapping[str, Mapping[str, str | list[str]]]:
    text = (files("workbench.facts") / "words" / f"{language}.toml").read_text("utf-8")
    return tomllib.loads(text)
