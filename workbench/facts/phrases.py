"""Patterns of the section `replaced` of the word tables, in the possible languages of a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property

from workbench.facts.languages import languages_of
from workbench.facts.terms import LANGUAGES_OF_STEMS, NUMBER_WORDS
from workbench.facts.word_tables import LANGUAGES, SPACED, UNSPACED, alternatives, pattern

KINDS = ("tongue", "pace", "day", "currency", "mask", "number")
"""Kinds of values: name of a language, frequency, day, currency, format of a date, number."""


@dataclass(frozen=True)
class Phrases:
    """Patterns of some languages, each compiled on first use: most sentences need one language of nine.

    languages: ids of word tables. stems: language of the stems in which the sentence is compared.
    """

    languages: tuple[str, ...]
    stems: str

    def pattern(self, *names: str) -> re.Pattern[str]:
        """Return entries as one pattern."""
        return pattern("replaced", *names, languages=self.languages)

    @cached_property
    def lead(self) -> re.Pattern[str]:
        """A leading phrase that only announces a correction."""
        fine = rf"(?:(?:{self._alternatives('fine')})[,:，]? )?"
        lead, word = self._alternatives("lead"), self.pattern("lead_word").pattern
        return re.compile(rf"^\W*{fine}(?:(?:{lead})\s?[:：,，.–-]+|(?:{word})[,:.，、]?)\s*(?=\S)")

    @cached_property
    def forbids(self) -> re.Pattern[str]:
        denies = pattern("sense", "denies", languages=self.languages)
        return re.compile(f"{self.pattern('no').pattern}|{denies.pattern}")

    @cached_property
    def amending(self) -> re.Pattern[str]:
        """A sign that a sentence corrects another or rejects something."""
        signs = self.pattern("new", "sets", "rejected", "gone", "taken", "moved", "withdraw", "allowed").pattern
        return re.compile(f"{self.lead.pattern}|^(?:{self.pattern('elliptic').pattern})|{signs}")

    @cached_property
    def comparing(self) -> re.Pattern[str]:
        """A bound of a number ("no more than"), which denies nothing."""
        return pattern("sense", "no_more", "no_less", languages=self.languages)

    @cached_property
    def withdraws(self) -> re.Pattern[str]:
        """A withdrawal of a rule."""
        fine, withdraw, rule = (self.pattern(name).pattern for name in ("fine", "withdraw", "rule"))
        return re.compile(rf"^\W*(?:{fine})?\W*(?:{withdraw}).{{0,60}}(?:{rule})", re.DOTALL)

    @cached_property
    def value(self) -> re.Pattern[str]:
        """A value, with a group per kind. A digit in a name (file1, step-3, v2/a.py) is no value."""
        spaced = {kind: self._alternatives(kind, SPACED) for kind in KINDS}
        unspaced = {kind: self._alternatives(kind, UNSPACED) for kind in KINDS}
        spaced["number"] = (
            rf"(?:[$€£¥]?(?<![./\\-])\d(?:[\d,.:/-]*\d)?|(?:{spaced['number']}))"
            rf"(?: ?(?:%|°c|{self._alternatives('measure', SPACED)}))?"
        )
        unspaced["number"] = "|".join(filter(None, (unspaced["number"], r"(?<![A-Za-z\d_./\\-])\d+(?!\w*\.\w)")))
        either = (
            rf"(?P<{kind}>(?<!\w)(?:{spaced[kind]})(?!\w)" + (f"|{unspaced[kind]}" if unspaced[kind] else "") + ")"
            for kind in KINDS
            if spaced[kind]
        )
        return re.compile("|".join(either))

    def values(self, statement: str) -> Iterator[tuple[str, str]]:
        """Yield the values of a statement, each with its kind."""
        for match in self.value.finditer(statement):
            kind = match.lastgroup or ""
            words = match[0].split() if kind == "number" else ()
            yield kind, " ".join(NUMBER_WORDS.get(word, word) for word in words) or match[0]

    def _alternatives(self, name: str, among: tuple[str, ...] = LANGUAGES) -> str:
        return alternatives("replaced", name, [one for one in among if one in self.languages])


def phrases_for(low: str, stems: str = "english") -> Phrases:
    """Return the patterns for a lower-case sentence, in its possible languages and the language of `stems`, which is
    the session's."""
    possible = {*languages_of(low), SPACED[LANGUAGES_OF_STEMS.index(stems)]}
    return _phrases(tuple(one for one in LANGUAGES if one in possible), stems)


_phrases = cache(Phrases)
