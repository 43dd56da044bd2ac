"""Rewrite a sentence so that one meaning has one wording: numbers in digits, "nobody but" as "only", "not before" as
"only after", "not unless" as "only if". Word tables hold the words of each language."""

from __future__ import annotations

import re

from workbench.base.session_caches import session_cache
from workbench.facts.amounts import with_digits
from workbench.facts.word_tables import alternatives, pattern


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
