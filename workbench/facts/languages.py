"""Possible languages of a sentence: by script, in Latin script by common words and special letters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from workbench.facts.terms import LANGUAGES_OF_STEMS, language_of
from workbench.facts.word_tables import SPACED, table

SURE_WORDS = 2
"""Number of common words that identify a language of Latin script; with fewer, a sentence may also be English."""


def languages_of(low: str) -> tuple[str, ...]:
    """Return the possible languages of a lower-case sentence. Its script decides; in Latin script its common words;
    without common words its function words, and English if it has none of them either."""
    for language, script in _SCRIPTS:
        if script.search(low):
            return (language,)
    words = set(_WORD.findall(low))
    found = {
        id: len(words & common) + (marks.search(low) is not None) for id, (common, marks) in _common_words().items()
    }
    most = max(found.values())
    if not most:
        return (SPACED[LANGUAGES_OF_STEMS.index(language_of(low))],)
    return tuple(one for one, count in found.items() if count == most or (most < SURE_WORDS and one == "en"))


_SCRIPTS = tuple(
    (language, re.compile(script))
    for language, script in (
        ("ja", r"[\u3040-\u30ff]"),
        ("ko", r"[\uac00-\ud7af]"),
        ("zh", r"[\u3400-\u9fff]"),
        ("ru", r"[\u0400-\u04ff]{3}"),
    )
)
_WORD = re.compile(r"[^\W\d_]+(?:'t)?")


@cache
def _common_words() -> Mapping[str, tuple[frozenset[str], re.Pattern[str]]]:
    """Return the most common words of each language in Latin script, and a pattern of its special letters."""
    tables = {language: table(language, "standing") for language in ("en", "de", "fr", "es", "pt")}
    return {id: (frozenset(table["common"].split()), re.compile(table["marks"])) for id, table in tables.items()}
