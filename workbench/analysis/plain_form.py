"""Rewrite a sentence so that one meaning has one wording: numbers in digits, "nobody but" as "only", "not before" as
"only after", "not unless" as "only if". Word tables hold the words of each language."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.base.session_caches import session_cache
from workbench.facts.terms import NUMBER_WORDS
from workbench.facts.word_tables import SPACED, alternatives, pattern, table


@session_cache(1 << 13)
def plain_form(text: str) -> str:
    """Return a sentence with numbers in digits and negated exceptions as "only". Other words keep their case."""
    text = with_digits(text)
    if _EXCEPTS.search(text):
        text = _NOBODY_BUT.sub("only", text)
        text = _NOT_UNLESS.sub(_affirmed, text)
    return text


_IGNORED = re.IGNORECASE
_EXCEPTS = re.compile(pattern("sense", "nobody_but", "unless", "until", "except_for").pattern, _IGNORED)
_NOBODY_BUT = re.compile(rf"\b(?:{alternatives('sense', 'nobody_but')})(?!\w)", _IGNORED)
_NOT_UNLESS = re.compile(
    rf"\b(?P<no>{alternatives('sense', 'not_until')})(?P<between>(?: [^\s.;:!?]+){{1,10}}?) "
    rf"(?:(?P<if>{alternatives('sense', 'unless')})|(?P<after>{alternatives('sense', 'until')})"
    rf"|{alternatives('sense', 'except_for')})(?!\w)",
    _IGNORED,
)
_FORGOTTEN = pattern("sense", "forgotten")
"""Verbs that a negation turns into a duty: "don't forget to test before a release" is no "only after"."""


def _affirmed(match: re.Match[str]) -> str:
    """Return "push only if" for "do not push unless", "push only after" for "do not push before", and "push only" for
    "do not push except"."""
    between = match["between"].rstrip(",")
    if _FORGOTTEN.search(between.lower()):
        return match[0]
    return f"{between.lstrip()} only{' if' if match['if'] else ' after' if match['after'] else ''}"


# --- numbers ----------------------------------------------------------------------------------------------------------


def with_digits(text: str) -> str:
    """Return a text with spelled-out numbers over twelve, and fractions of an hour, in digits: "200" for "two hundred",
    "30 min" for "half an hour"."""
    if not _NUMERAL.search(text):
        return text
    for name, said in _FRACTIONS:
        text = name.sub(said, text)
    return _SEVERAL.sub(_in_digits, text)


_FRACTIONS = tuple(
    (re.compile(rf"\b(?:{alternatives('sense', name)})(?!\w)", _IGNORED), said)
    for name, said in (("half_hour", "30 min"), ("quarter_hour", "15 min"), ("half_minute", "30 s"), ("dozen", "12"))
)


def _numerals() -> Iterator[tuple[str, int]]:
    for language in SPACED:
        entries = table(language, "sense")
        yield from ((word, at) for at, word in enumerate(entries.get("teens", "").split(), 13))
        yield from ((word, 10 * at) for at, word in enumerate(entries.get("tens", "").split(), 2))
        yield from ((word, 100) for word in entries.get("hundred", "").split())
        yield from ((word, 1000) for word in entries.get("thousand", "").split())


_LARGE = dict(_numerals())
_SMALL = {word: int(number) for word, number in NUMBER_WORDS.items() if number.isdigit()}
_NUMERAL = re.compile("|".join([rf"\b(?:{'|'.join(_LARGE)})\b", *(name.pattern for name, _ in _FRACTIONS)]), _IGNORED)
_WORD = "|".join(sorted({*_LARGE, *_SMALL}, key=len, reverse=True))
_SEVERAL = re.compile(rf"\b(?:a |an )?(?:{_WORD})(?:(?:-| and | y | e | et | )(?:{_WORD}))*\b", _IGNORED)


def _in_digits(match: re.Match[str]) -> str:
    """Return a spelled-out number in digits; words of at most twelve alone stay, and so does what is no number."""
    words = re.findall(r"[^\W_]+", match[0].lower())
    whole = part = 0
    last = 0
    for word in words:
        value = _LARGE.get(word, _SMALL.get(word))
        if value is None:  # "a", "and"
            continue
        if value >= 100:
            part = max(part, 1) * value
            if value == 1000:
                whole, part = whole + part, 0
        elif last and value >= last:  # "one two": a list
            return match[0]
        else:
            part += value
        last = value if value < 100 else 0
    return match[0] if not any(word in _LARGE for word in words) else str(whole + part)
