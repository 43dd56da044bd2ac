"""Terms of a sentence for comparing wordings: stems, synonyms as one term, function words left out.

Stems come from the Snowball stemmer of the sentence's language (English, German, French, Spanish, Portuguese, Russian).
Chinese is compared by pairs of characters, Japanese by runs of kanji and katakana, Korean by the first two syllables.
"""

from __future__ import annotations

import re
from functools import cache

from workbench.base.figures import ordinal
from workbench.base.session_caches import session_cache
from workbench.facts.word_tables import LANGUAGES, SPACED, table
from workbench.facts.word_tables import words as listed

LANGUAGES_OF_STEMS = ("english", "german", "french", "spanish", "portuguese", "russian")

FUNCTION_WORDS = listed("compared", "glue")
"""Function words. A text without any is a list of words."""

_CHAT_WORDS = listed("compared", "spoken")
_EMPTY_WORDS = listed("compared", "empty")
SYNONYMS = {
    f"={name}": [word for one in LANGUAGES for word in table(one, "alike").get(name, "").split()]
    for name in table("en", "alike")
}
"""Synonyms by their common term; a paraphrase may exchange them."""

NUMBER_WORDS = {
    word: str(number)
    for one in SPACED
    for number, word in enumerate(table(one, "compared").get("numbers", "").split())
    if word not in FUNCTION_WORDS
} | {
    word: ordinal(number)
    for number, word in enumerate(table("en", "compared")["ordinals"].split(), 1)
    if word not in ("first", "second")
}

_HAN = "\u3400-\u9fff"
_KATAKANA = "\u30a0-\u30ff\u31f0-\u31ff"
_HANGUL = "\uac00-\ud7af"
TOKEN = re.compile(
    rf"[{_HAN}]+|[{_KATAKANA}]+|[{_HANGUL}]+|[\u3040-\u309f]+"
    rf"|[^\W{_HAN}{_KATAKANA}{_HANGUL}\u3040-\u309f]+(?:['’.,/:_@\\-]+[^\W{_HAN}{_KATAKANA}{_HANGUL}\u3040-\u309f]+)*"
)
_PLAIN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_HAN_GLUE = re.compile(f"[{table('zh', 'compared')['glue_characters']}]")
_HAN_MARKS = re.compile(table("zh", "compared")["mark"])


@session_cache(1 << 12)
def language_of(text: str, otherwise: str = "english") -> str:
    """Return the language of a text by its function words, for the choice of a stemmer; `otherwise` if it has none."""
    words = [word for word in _PLAIN.findall(text.lower()) if word.isalpha()]
    if not words:
        return otherwise
    if any("\u0400" <= word[0] <= "\u04ff" for word in words):
        return "russian"
    scores = dict.fromkeys(LANGUAGES_OF_STEMS, 0.0)
    for word in words:
        known = _languages_by_word().get(word, ())
        for language in known:
            scores[language] += 1 / len(known)
    best = max(LANGUAGES_OF_STEMS, key=lambda language: scores[language])  # the first of equally frequent ones
    return best if scores[best] else otherwise


@cache
def _languages_by_word() -> dict[str, list[str]]:
    """Return the function words of all languages, each with the languages that have it."""
    found: dict[str, list[str]] = {}
    for one, language in zip(SPACED, LANGUAGES_OF_STEMS, strict=True):
        lists = (table(one, "compared").get(name, "") for name in ("little", "glue", "mark", "empty", "spoken"))
        for word in {word for several in lists for word in several.split()}:
            found.setdefault(word, []).append(language)
    return found


def content_terms(text: str, language: str) -> list[str]:
    """Return the content terms of a text in order. A name with dots is one term; a path is represented by its last
    part."""
    found: list[str] = []
    for match in TOKEN.finditer(text):
        found += token_terms(match[0], language)
    return found


@session_cache(1 << 16)
def token_terms(token: str, language: str) -> tuple[str, ...]:
    """Return the terms of one token; () for a function word."""
    low = token.lower().replace("’", "'")
    first = low[0]
    if "\u3400" <= first <= "\u9fff":
        return tuple(_character_pairs(low))
    if "\u30a0" <= first <= "\u30ff":
        return (low.rstrip("ー"),)
    if "\u3040" <= first <= "\u309f":
        return ()
    if "\uac00" <= first <= "\ud7af":
        return (low[:2],) if len(low) > 1 and low[:2] not in _KOREAN_MARKS else ()
    if "/" in low or "\\" in low or "." in low or "_" in low or any(map(str.isdigit, low)):
        name = re.split(r"[/\\]", low)[-1].strip(".,:-'")
        return (name.replace(",", "") if name.replace(",", "").isdigit() else name,) if name else ()
    parts = re.split(r"[-:,]+", low)
    # Within a compound, function words count: "Du-Form".
    return tuple(term for part in parts if (term := _term(part, language) or (part if len(parts) > 1 else "")))


_KOREAN_MARKS = frozenset(table("ko", "compared")["mark"].split())


def _term(word: str, language: str) -> str:
    if word in NUMBER_WORDS:
        return NUMBER_WORDS[word]
    bare = re.sub(r"^[dljmnstcq]+u?'(?=\w{2})", "", word) if language == "french" else word.removesuffix("'s")
    if not bare or bare in _function_words(language) or bare in MODIFIERS:
        return ""
    if found := _synonyms().get(bare):
        return found
    if language == "german" and (participle := _PARTICIPLE.fullmatch(bare)):
        bare = f"{participle[1] or ''}{participle[2]}en"  # "ausgeliefert", "gefragt": the stemmer leaves them
    root = stem(bare, language)
    if language == "german" and len(root) > 4:
        root = root.removesuffix("t")  # "deployt", "geprüft": the stemmer leaves it
    return "" if bare in _EMPTY_WORDS or bare in _CHAT_WORDS else _synonym_stems(language).get(root, root)


_PARTICIPLE = re.compile(
    r"(ab|an|auf|aus|bei|durch|ein|fest|frei|her|hin|hoch|los|mit|nach|um|vor|weg|weiter|zu|zurück|zusammen)?"
    r"ge(\w{2,}?)e?t"
)
"""A German participle with an optional separable prefix."""


@cache
def _function_words(language: str) -> frozenset[str]:
    """Return the function words of one language and of English. Languages are kept apart: "son" is a function word in
    French only."""
    own = SPACED[LANGUAGES_OF_STEMS.index(language)]
    return frozenset(word for one in {own, "en"} for word in table(one, "compared").get("glue", "").split())


@cache
def _synonyms() -> dict[str, str]:
    return {word: term for term, several in SYNONYMS.items() for word in several}


@cache
def _synonym_stems(language: str) -> dict[str, str]:
    return {stem(word, language): term for word, term in _synonyms().items()}


def _character_pairs(run: str) -> list[str]:
    """Return the pairs of characters in a run of Han characters, split at function characters."""
    found: list[str] = []
    for part in _HAN_GLUE.sub(" ", _HAN_MARKS.sub(" ", run)).split():
        found += [part[at : at + 2] for at in range(len(part) - 1)] or [part]
    return found


@session_cache(1 << 16)
def stem(word: str, language: str) -> str:
    """Return the stem of a lower-case word."""
    import snowballstemmer  # loads thirty languages; needed only to compare wordings

    if len(word) > _LONGEST or not word.isalpha():
        return word
    # a new stemmer per word, because it stores its word, and several threads compare at once
    return str(snowballstemmer.stemmer(language).stemWord(word))


_LONGEST = 32


MODIFIERS = frozenset().union(*(table(one, "compared")["mark"].split() for one in SPACED))
"""Words that negate or restrict a sentence. They are no content terms; `workbench.analysis.sense` compares them."""
