"""The words of each language, in one table a language: `words/<language>.toml`.

An entry is a list of alternatives of a pattern, or words with blanks between. Its sections, each with its own use:

    sense       what denies, contrasts and orders, and the sorts of little words: `workbench.analysis.sense`
    opposites   words of which two cannot both be right of a thing: `workbench.analysis.contradiction`
    claims      what is said to have become of something: `workbench.analysis.state_claims`
    standing    how a standing instruction is built: the roles of `workbench.facts.standing_grammar`
    compared    what holds a sentence together, turns it round or says nothing: `workbench.facts.terms`
    alike       words that stand for one another there, by the one that stands for all
    decided     how something is settled, taken up and turned down: `workbench.facts.decisions`
    stated      how a person speaks of themselves, and what they are, have and like: `workbench.facts.statements`
    replaced    what a sentence is about, and how it says that it replaces another: `workbench.facts.topics`
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files

SPACED = ("en", "de", "fr", "es", "pt", "ru")
UNSPACED = ("zh", "ja", "ko")
"""Languages whose words have no edges that a pattern could ask for."""
LANGUAGES = (*SPACED, *UNSPACED)


@cache
def table(language: str, section: str) -> Mapping[str, str]:
    """A section's entries; the alternatives of a list are joined by `|`. Empty where the language has none of it."""
    entries = _read(language).get(section, {})
    return {name: "|".join(words) if isinstance(words, list) else words for name, words in entries.items()}


def alternatives(section: str, name: str, languages: Iterable[str] = LANGUAGES) -> str:
    """An entry of all `languages` as one pattern's alternatives, for what is searched without knowing the language."""
    return "|".join(found for one in languages if (found := table(one, section).get(name, "")))


def bounded(section: str, name: str) -> str:
    """An entry of all languages as one pattern: with edges in those that have spaces."""
    spaced, unspaced = (alternatives(section, name, languages) for languages in (SPACED, UNSPACED))
    return "|".join(filter(None, (rf"(?<!\w)(?:{spaced})(?!\w)" if spaced else "", unspaced)))


@cache
def pattern(section: str, *names: str) -> re.Pattern[str]:
    """Entries of all languages as one pattern, made when it is first asked for."""
    return re.compile("|".join(bounded(section, name) for name in names))


def words(section: str, name: str) -> frozenset[str]:
    """An entry of words with blanks between, those of all languages together."""
    return frozenset(word for one in LANGUAGES for word in table(one, section).get(name, "").split())


@cache
def _read(language: str) -> Mapping[str, Mapping[str, str | list[str]]]:
    text = (files("workbench.facts") / "words" / f"{language}.toml").read_text("utf-8")
    return tomllib.loads(text)
