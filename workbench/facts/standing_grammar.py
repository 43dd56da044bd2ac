"""How a standing instruction is built: which roles of words have to come together in a sentence, and what that makes of
it. One grammar for all languages; each has its words in a table (`workbench.facts.word_tables`, section `standing`).

A sentence sets something beyond the request it stands in if someone is told to do a thing (a verb where a clause
begins, "you should", "I want you to") *and* it is said how far that goes (in every answer, before each commit, at most
so many words, only, in that language); a prohibition, a gate ("ask me before …"), a rule for all to come ("from now
on") and one in a word ("tabs, not spaces") do by themselves. What tells of someone's doing ("the build always fails")
sets nothing. Most of these say as well how one text or program is to be: how far a sentence reaches (`Reach`) decides
beside what else in its message it is a rule (`workbench.facts.standing`).

A role is an alternation, searched in one sentence in lower case, without emphasis and quotations:

    link       words that stand before a clause           please     words of asking before a verb
    verb       verbs by which one is told to do a thing   told       other ways to be told so
    scope      from now on                                whole      for the whole conversation
    during     in all answers                             always     always, every time
    dont       what a prohibition begins with             forbidden  is forbidden, must not
    must       must, has to                               only       only this way
    ensure     make sure                                  ask        wait for my word, ask first
    when       before, after, whenever something is done  occasion   the same, and what is to be done
    tongue     names of languages                         speak      answers, writes; an answer, a comment
    into       what stands between the two                heading    what announces a list of rules
    bound      at most, no more than                      unit       words, sentences, lines
    number     number words                               or_less    "or less", after a number with its unit
    instead    use this instead of that                   rather     instead of, rather than
    policy     verbs of a way of working                  definite   what makes their object a single thing
    manner     how an answer is to be                     terse      no this; this only
    without    without changing                           prefer     I prefer, I do not want
    keep       leave it as it is                          mind       remember, keep in mind
    waiver     no need for                                domain     for this, use that
    asked      a question that still sets a rule          it         what stands for something said before
    once       one thing is ordered, or a single thing changed: only what reaches further sets a rule there
    told_of    a narrator, or a thing, that does something: no rule
    doubt      that something might be so: no rule, where nothing else makes it one
    work       what an agent works with and does: files, commits, tests, guesses
    every      each or all of a kind of things
    ours       in this project we do so                   protocol   I will give you this, you do that
    product    one thing of what is made: a button, a dialog, a function, a click
    mine       that is done by me, not by you             address    call me so
    thus       what stands between something told and what follows of it
    release    what takes a prohibition back
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache

from msgspec import Struct

from workbench.facts.word_tables import UNSPACED, table

PROHIBITION, RULE, MIND, GATE = "a prohibition", "a rule", "to be kept in mind", "asks to be asked"
LANGUAGE, FORMAT, LIMIT, OCCASION = "sets the language", "sets a form", "sets a limit", "a rule for an occasion"
RESTRAINT, PREFERENCE, KEEP, WAIVER = "a restraint", "a preference", "to be kept as it is", "a waiver"
WAY = "a way of working"


class Reach(IntEnum):
    """How far a sentence reaches beyond the request it may stand beside."""

    ALONE = 1
    """As far as the message: how a thing is to be. Beside a request it tells of what is asked for there."""
    BESIDE = 2
    """Over more than one thing: beside a request, too, unless that is for one text or program."""
    WORK = 3
    """Over how the agent works, with its tools and files: beside any request."""
    FAR = 4
    """Over the answers or the time to come: beside anything."""


GRAMMAR: tuple[tuple[Reach, str, tuple[str, ...]], ...] = (
    (Reach.FAR, GATE, ("ask",)),
    (Reach.FAR, RULE, ("scope",)),
    (Reach.FAR, RULE, ("protocol",)),
    (Reach.FAR, RULE, ("whole",)),
    (Reach.FAR, RESTRAINT, ("mine",)),
    (Reach.FAR, FORMAT, ("address",)),
    (Reach.FAR, RULE, ("order", "during")),
    (Reach.FAR, PROHIBITION, ("dont", "during")),
    (Reach.WORK, PROHIBITION, ("dont", "work")),
    (Reach.WORK, PROHIBITION, ("dont", "always")),
    (Reach.WORK, PROHIBITION, ("forbidden", "order", "work")),
    (Reach.BESIDE, LANGUAGE, ("language", "order")),
    (Reach.BESIDE, OCCASION, ("occasion", "work")),
    (Reach.BESIDE, RULE, ("order", "always")),
    (Reach.BESIDE, KEEP, ("keep", "work")),
    (Reach.BESIDE, PREFERENCE, ("prefer", "always")),
    (Reach.WORK, RULE, ("ours",)),
    (Reach.ALONE, PROHIBITION, ("dont",)),
    (Reach.ALONE, PROHIBITION, ("forbidden",)),
    (Reach.ALONE, LANGUAGE, ("language",)),
    (Reach.ALONE, LIMIT, ("order", "limit")),
    (Reach.ALONE, LIMIT, ("brief", "limit")),
    (Reach.ALONE, RULE, ("order", "every")),
    (Reach.ALONE, RULE, ("must",)),
    (Reach.ALONE, RULE, ("only",)),
    (Reach.ALONE, RULE, ("ensure",)),
    (Reach.ALONE, MIND, ("mind",)),
    (Reach.ALONE, FORMAT, ("domain",)),
    (Reach.ALONE, FORMAT, ("instead",)),
    (Reach.ALONE, FORMAT, ("rather", "order")),
    (Reach.ALONE, OCCASION, ("when", "order")),
    (Reach.ALONE, OCCASION, ("occasion",)),
    (Reach.ALONE, FORMAT, ("terse",)),
    (Reach.ALONE, FORMAT, ("order", "manner")),
    (Reach.ALONE, RESTRAINT, ("without",)),
    (Reach.ALONE, PREFERENCE, ("prefer",)),
    (Reach.ALONE, KEEP, ("keep",)),
    (Reach.ALONE, WAIVER, ("waiver",)),
    (Reach.ALONE, WAY, ("policy",)),
)
"""Which roles make a standing instruction, how far it reaches, and the reason that is shown; the first that holds is
told, those that reach furthest come first. Where one thing is ordered only what reaches far sets a rule."""


class RuleGround(Struct, frozen=True):
    """Why a sentence is taken for a standing instruction."""

    reach: Reach
    reason: str


_IN_QUESTIONS = frozenset(("scope", "whole", "during", "always", "ask", "language", "limit", "keep", "without"))
"""One of these has to be among the roles when the sentence has the form of a question."""

_ORDERS = ("verb", "told")
"""Roles that are an order."""

_WORD_START = re.compile(r"\b\w")
_AFTER_PUNCTUATION = re.compile(r"(?:[,;:.!?—–(] ?| - )\Z")

_NARRATIVE_RULE_ROLES = ("ours", "mine")
"""Roles that tell of someone's doing and set a rule by it."""

_CLAUSE_START_ROLES = frozenset(("verb", "dont", "only", "ensure", "mind", "keep", "instead"))
"""Roles that count only where a clause begins, in languages with spaces."""

_SELF_ANCHORED = frozenset(
    ("told_of", "doubt", "terse", "occasion", "domain", "heading", "thus", "once", "ours", "protocol", "mine",
     "address", "product")
)  # fmt: skip
"""Roles whose alternatives say themselves where they stand."""

SURE_WORDS = 2
"""So many common words tell a language of Latin script; with fewer a sentence may be English, too."""


def languages_of(low: str) -> tuple[str, ...]:
    """The languages that a sentence in lower case may be in: by its script, in Latin script by its commonest words."""
    for language, script in _SCRIPTS:
        if script.search(low):
            return (language,)
    words = set(_WORD.findall(low))
    found = {
        id: len(words & common) + (marks.search(low) is not None) for id, (common, marks) in _common_words().items()
    }
    most = max(found.values())
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
    """Of languages in Latin script the commonest words, and letters that only some have."""
    tables = {language: table(language, "standing") for language in ("en", "de", "fr", "es", "pt")}
    return {id: (frozenset(table["common"].split()), re.compile(table["marks"])) for id, table in tables.items()}


@dataclass(frozen=True)
class Grammar:
    """The roles of one language, each as a pattern; what it has no words for is not there. `beginning` are the roles
    that count only where a clause begins, which it does behind the words of `before`, too. A role is compiled when it
    is first asked for: of most languages a sentence is only asked for one or two."""

    roles: Mapping[str, str]
    beginning: Mapping[str, str]
    before: str

    def has(self, role: str, low: str) -> bool:
        """Of the roles that count anywhere."""
        return role in self.roles and _compile(self.roles[role]).search(low) is not None

    def leans(self, low: str) -> bool:
        """Whether one of the first words stands for something said before, and is no part of "from this point on"."""
        return self.has("leans", _compile(self.roles["scope"]).sub("", low))

    def found(self, low: str) -> frozenset[str]:
        """The roles that stand in a sentence in lower case."""
        found = {role for role in self.roles if self.has(role, low)}
        places = self._clauses(low) if self.beginning else ()
        for role, pattern in self.beginning.items():
            matches = _compile(pattern).match
            if any(matches(low, at) for at in places):
                found.add(role)
        return frozenset(found if found.isdisjoint(_ORDERS) else {*found, "order"})

    def _clauses(self, low: str) -> set[int]:
        """Where a clause begins: with the sentence, behind a sign or words that stand before one, and behind such words
        once more. Found once for all roles: in a pattern of each these words would stand fourteen times."""
        words = [found.start() for found in _WORD_START.finditer(low)]
        before = _compile(self.before)

        @cache
        def behind(at: int) -> Sequence[int]:
            if not before.match(low, at):
                return ()
            return [end for end in words if end > at and before.fullmatch(low, at, end)]

        places = {at for at in words if at == words[0] or _AFTER_PUNCTUATION.search(low, max(at - 3, 0), at)}
        places.update(*map(behind, words))
        return places.union(*map(behind, places))

    def ground(self, low: str, *, asked: bool, roles: frozenset[str]) -> RuleGround | None:
        """Why a sentence in lower case, with these `roles`, is a standing instruction; None where it is none. `asked`:
        it is a question, and only sets a rule if it asks for one: "can you answer in one sentence from now on?". What
        follows from something told is looked at by itself: "nobody uses it yet, so no need for compatibility"."""
        found = _first_ground(roles, asked)
        if found is None and "thus" in roles:
            found = _first_ground(self.found(_compile(self.roles["thus"]).split(low, 1)[-1]), asked)
        return found


def least_reach(roles: frozenset[str]) -> Reach:
    """How far a sentence has to reach to set a rule though it orders one thing, or tells of one thing made."""
    return Reach.FAR if "once" in roles else Reach.WORK if "product" in roles else Reach.ALONE


def _first_ground(roles: frozenset[str], asked: bool) -> RuleGround | None:
    told = "told_of" in roles and roles.isdisjoint(_NARRATIVE_RULE_ROLES)
    far = "order" in roles and not roles.isdisjoint(("scope", "whole"))
    if told or (asked and not ("asked" in roles or far)):
        return None
    for reach, reason, together in GRAMMAR:
        if (asked and _IN_QUESTIONS.isdisjoint(together)) or reach < least_reach(roles):
            continue
        if roles.issuperset(together):
            return RuleGround(reach, reason)
    return None


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@cache
def grammar(language: str) -> Grammar:
    words = table(language, "standing")
    if language in UNSPACED:
        return Grammar(_unspaced_patterns(words), {}, "")
    before = "|".join(words[role] for role in ("link", "please", "scope", "whole"))
    beginning = {role: rf"(?:{words[role]})(?!\w)" for role in _CLAUSE_START_ROLES & words.keys()}
    return Grammar(_spaced_patterns(words), beginning, rf"(?:{before})[,:]? ")


def _spaced_patterns(words: Mapping[str, str]) -> dict[str, str]:
    """The patterns of a language with spaces, but for those of a clause's beginning: roles have edges."""
    patterns = {role: rf"(?<![\w-])(?:{words[role]})(?!\w)" for role in words.keys() - _CLAUSE_START_ROLES}
    patterns |= {role: words[role] for role in _SELF_ANCHORED & words.keys()}
    speak, into, tongue, please = (words[role] for role in ("speak", "into", "tongue", "please"))
    count, unit, bound = rf"\d[\d.,]*(?: ?[-–—] ?\d+)?|{words['number']}", words["unit"], words["bound"]
    return patterns | {
        "policy": rf"^(?:(?:{please}),? )?(?:{words['policy']}),?\s+(?!(?:{words['definite']})\b)\S",
        "language": rf"\b(?:{speak})\b.{{0,60}}?\b(?:{into}) (?:\w+ )?(?:{tongue})\b"
        rf"|^(?:\W*(?:{please}),? )?(?:(?:{into}) )?(?:{tongue})(?: only|,? (?:{please}))\b",
        "limit": rf"(?<!\w)(?:(?:{bound}) (?:\S+ ){{0,2}}?(?:{count}) (?:\S+ ){{0,2}}?(?:{unit})"
        rf"|\(\s?(?!1 )(?:~|max\.? )?(?:{count}) (?:{unit})\s?\)|(?:{count}) (?:{unit}) (?:{words['or_less']})"
        rf"|(?:in|with|into|en|em|mit|в) (?:{count}) (?:{unit}))(?!\w)",
        "brief": r"^(?:[^:]{2,40}: ?)?\S*(?:\s+\S+){0,7}$",
        "leans": rf"^\W*(?:\w+\W+){{0,3}}(?:{words['it']})\b",
    }


def _unspaced_patterns(words: Mapping[str, str]) -> dict[str, str]:
    """The patterns of Chinese, Japanese and Korean. In the first a verb comes before what it is done to, in the others
    after it, and says at the end of the sentence that it is an order."""
    roles = words.keys() - {"order"}  # which says where the verb stands
    patterns = {role: f"(?:{words[role]})" for role in roles}
    speak, into, tongue = (words[role] for role in ("speak", "into", "tongue"))
    count, unit, bound = rf"\d[\d.,]*(?: ?[-–—~] ?\d+)?|{words['number']}", words["unit"], words["bound"]
    return patterns | {
        "policy": rf"{words['policy_at']}(?:{words['policy']})(?!{words['definite']})",
        "language": rf"(?:{into})(?:{tongue})(?:来|进行|去)?\S{{0,4}}?(?:{speak})"
        rf"|(?:{speak})\S{{0,8}}? ?(?:{into})(?:{tongue})|^请?都?(?:{into})(?:{tongue})"
        if words["order"] == "verb first"
        else rf"(?:{tongue})(?:{into})(?:\S{{0,8}} ?){{0,3}}?(?:{speak})|(?:{speak})\S{{0,6}} ?(?:{tongue})(?:{into})",
        "limit": rf"(?:{bound})\S{{0,3}}? ?(?:{count}) ?(?:{unit})|(?:{count}) ?(?:{unit})(?:\S{{0,6}}? ?)?(?:{bound})",
        "brief": r"^.{1,24}$",
        "leans": rf"^.{{0,8}}?(?:{words['it']})",
    }
