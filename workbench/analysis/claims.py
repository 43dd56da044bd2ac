"""States that a sentence claims of files, commands, errors and rules (deleted, passed, fixed). Each state of a fact
agrees with some claimed states and denies others."""

from __future__ import annotations

import re
from typing import Literal

from workbench.base.session_caches import session_cache
from workbench.facts.word_tables import bounded

State = Literal["", "deleted", "created", "modified", "reverted", "passed", "failed", "fixed", "open", "gone"]
"""Last state of the file, command, error or rule of a fact; "" if unknown. `gone`: a rule that a later one replaced."""

GONE = re.compile(rf"\[gone\]|{bounded('claims', 'gone')}", re.IGNORECASE)
"""Words that mark something as no longer valid."""

_SIGNS = {"passed": "|✓|✅", "failed": "|✗|❌"}

_CLAIMS = {
    state: re.compile(bounded("claims", state) + _SIGNS.get(state, ""))
    for state in ("deleted", "created", "modified", "reverted", "kept", "passed", "failed", "fixed", "open")
}

_NEGATED = re.compile(
    r"\b(?:not|never|no longer|isn't|wasn't|hasn't|doesn't|didn't|don't|nicht|kein\w*|pas|aucun\w*|"
    r"no|without|ohne|sans|sin|sem|без|не|0)\W+(?:\w+\W+){0,2}$"
)

_PLANNED = re.compile(r"\b(?:to be|should be|will be|must be|going to|plan\w*|todo|to) (?:\w+ )?$")

AGREES: dict[State, frozenset[str]] = {
    "deleted": frozenset({"deleted"}),
    "created": frozenset({"created", "modified"}),
    "modified": frozenset({"modified"}),
    "reverted": frozenset({"reverted"}),
    "passed": frozenset({"passed", "not failed"}),
    "failed": frozenset({"failed", "not passed"}),
    "fixed": frozenset({"fixed", "not open"}),
    "open": frozenset({"open", "not fixed"}),
    "gone": frozenset(),
}

DENIED: dict[State, frozenset[str]] = {
    "deleted": frozenset({"not deleted", "created", "modified", "kept", "reverted"}),
    "created": frozenset({"not created", "deleted", "reverted"}),
    "modified": frozenset({"not modified", "deleted", "reverted", "kept"}),
    "reverted": frozenset({"created", "modified", "not reverted"}),
    "passed": frozenset({"failed", "not passed"}),
    "failed": frozenset({"passed", "not failed"}),
    "fixed": frozenset({"open", "not fixed"}),
    "open": frozenset({"fixed", "not open"}),
    "gone": frozenset(),
}


@session_cache(1 << 12)
def claimed_states(unit: str) -> frozenset[str]:
    """Return the states that a sentence claims, as "not …" if negated. Planned work claims none."""
    low = unit.lower()
    found: set[str] = set()
    for state, words in _CLAIMS.items():
        for match in words.finditer(low):
            before = low[max(0, match.start() - 40) : match.start()]
            if _PLANNED.search(before):
                continue
            found.add(f"not {state}" if _NEGATED.search(before) else state)
    if "not fixed" in found:
        found.discard("fixed")
    return frozenset(found)


def claimed_states_of(name: str, unit: str) -> frozenset[str]:
    """Return the states that a sentence claims of `name`: "deleted `a.py`", "a.py was deleted", "a.py (new)". "a.py:
    removed a needless call" claims nothing of the file."""
    before, _, after = unit.lower().partition(name.lower())
    found: set[str] = set()
    for state, words in _CLAIMS.items():
        done = [match for match in words.finditer(before) if _ONLY_NAMES.fullmatch(before, match.end())]
        suffered = [
            match
            for match in words.finditer(after[:AFTER_CHARS])
            if _ONLY_GLUE.fullmatch(after, 0, match.start()) and not _OBJECT.match(after, match.end())
        ]
        for match, text in (*((one, before) for one in done[-1:]), *((one, after) for one in suffered[:1])):
            leading = text[max(0, match.start() - 40) : match.start()]
            if not _PLANNED.search(leading):
                found.add(f"not {state}" if _NEGATED.search(leading) else state)
    return frozenset(found)


AFTER_CHARS = 60

_ONLY_NAMES = re.compile(
    r"(?:[\s`*\"'(,:–-]|\b(?:the|a|file|files|module|and|of|for|to|in|it|change)\b|[\w/-]*[./][\w./-]*)*"
)

_ONLY_GLUE = re.compile(rf"(?:[\s`*\"'),:(–-]|{bounded('claims', 'between')}|\b\d+\b)*")

_OBJECT = re.compile(
    r"[\s`*]+(?!(?:in|by|with|as|on|at|after|before|and|but|because|from|again|now|too|also|to|for|twice|yet|tests?|checks?|cases?|specs?)\b)[\w`]"
)
