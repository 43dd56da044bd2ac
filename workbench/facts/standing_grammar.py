"""Grammar of standing rules: words have roles, and combinations of roles make a sentence a rule. All languages share
one grammar; each has its words in a table (`workbench.facts.word_tables`, section `standing`).

A sentence sets a rule if it orders something (a verb at the beginning of a clause, "you should", "I want you to") *and*
states a scope (in every answer, before each commit, at most so many words, only, in that language). Prohibitions, gates
("ask me before …"), rules for all time to come ("from now on") and terse rules ("tabs, not spaces") need no order.
Narration ("the build always fails") sets no rule. Most combinations can also describe a single text or program; the
reach of a sentence (`Reach`) decides whether it is a rule next to the other sentences of its message
(`workbench.facts.standing`).

The pattern of a role is a list of alternatives, searched in one lower-case sentence without emphasis and quotations:

    link       words before a clause                      please     polite words before a verb
    verb       verbs of an order                          told       other forms of an order
    scope      from now on                                whole      for the whole conversation
    during     in all answers                             always     always, every time
    dont       beginning of a prohibition                 forbidden  is forbidden, must not
    must       must, has to                               only       only this way
    ensure     make sure                                  ask        wait for my word, ask first
    when       before, after, whenever something is done  when_you   whenever you, or something, does this
    tongue     names of languages                         speak      answers, writes; an answer, a comment
    into       preposition or particle of a `tongue`      heading    heading of a list of rules
    bound      at most, no more than                      unit       words, sentences, lines
    number     number words                               or_less    "or less", after a number with its unit
    instead    use this instead of that                   without    without changing
    policy     verbs of a working method                  definite   words before a single, definite object
    terse      no this; this only                         prefer     I prefer, I do not want
    keep       leave it as it is                          mind       remember, keep in mind
    general    everything, any of our, whatever you do    law        a general subject with its duty
    place      in our house, in this project              habit      we only do so, I never do that
    condition  an allergy, a disability, a belief         hence      "…, so no meat": a limit behind its reason
    status     stays so, is banned, is mine, goes by me   norm       "Dates as …", "tests go in …"
    wish       it would be nice if you                    because    a reason behind an order
    temporary  for now, not yet, this once: no rule       reported   somebody else says so: no rule
    described  what a part of the product must do: no rule
    asked      a question that still sets a rule          it         pronouns for something said before
    once       an order about a single thing; only sentences of far reach set a rule there
    told_of    somebody or something other than the agent acts: narration, no rule
    doubt      something might be so: a sign against a rule
    work       objects of the agent's work: files, commits, tests, guesses
    every      each or all of a kind of things
    ours       in this project we do so                   protocol   "I give you this, you do that"
    product    one part of the product: a button, a dialog, a function, a click
    mine       done by the user, not by the agent         address    how to address the user
    thus       words between a statement and its consequence
    certain    forms of a rule that need no weighing: a division of work, a habit of ours, a limit with its reason
    idiom      sayings in the form of a prohibition ("never say never"): no rule
    release    words that withdraw a prohibition
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
RESTRAINT, PREFERENCE, KEEP = "a restraint", "a preference", "to be kept as it is"
WAY = "a way of working"


class Reach(IntEnum):
    """Scope of a rule, which decides whether a sentence is a rule although its message also has a request."""

    ALONE = 1
    """This message only. Next to a request the sentence describes the requested thing and is no rule."""
    BESIDE = 2
    """More than one thing: a rule also next to a request, unless that orders a single text or program."""
    WORK = 3
    """Work with tools and files: a rule next to any request."""
    FAR = 4
    """All answers, or all time to come: a rule next to any sentence."""


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
    (Reach.BESIDE, RULE, ("order", "always")),
    (Reach.BESIDE, KEEP, ("keep", "work")),
    (Reach.BESIDE, PREFERENCE, ("prefer", "always")),
    (Reach.WORK, RULE, ("ours",)),
    (Reach.WORK, MIND, ("condition", "hence")),
    (Reach.BESIDE, RULE, ("law",)),
    (Reach.BESIDE, MIND, ("condition",)),
    (Reach.BESIDE, PROHIBITION, ("terse", "general")),
    (Reach.BESIDE, OCCASION, ("terse", "when_you")),
    (Reach.WORK, RULE, ("habit", "place")),
    (Reach.WORK, RULE, ("place", "order")),
    (Reach.WORK, RULE, ("place",)),
    (Reach.BESIDE, OCCASION, ("when_you", "order")),
    (Reach.BESIDE, OCCASION, ("prefer", "when_you")),
    (Reach.BESIDE, OCCASION, ("wish", "when_you")),
    (Reach.BESIDE, OCCASION, ("dont", "when_you")),
    (Reach.BESIDE, RULE, ("general", "order")),
    (Reach.BESIDE, RULE, ("general", "must")),
    (Reach.BESIDE, RULE, ("general", "habit")),
    (Reach.BESIDE, RULE, ("order", "habit")),
    (Reach.BESIDE, RULE, ("hence", "habit")),
    (Reach.BESIDE, PROHIBITION, ("general", "dont")),
    (Reach.BESIDE, PREFERENCE, ("wish", "general")),
    (Reach.BESIDE, PREFERENCE, ("wish", "during")),
    (Reach.BESIDE, PREFERENCE, ("wish",)),
    (Reach.BESIDE, RESTRAINT, ("status",)),
    (Reach.BESIDE, FORMAT, ("norm",)),
    (Reach.BESIDE, MIND, ("hence",)),
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
    (Reach.ALONE, FORMAT, ("instead",)),
    (Reach.ALONE, OCCASION, ("when", "order")),
    (Reach.ALONE, FORMAT, ("terse",)),
    (Reach.ALONE, RESTRAINT, ("without",)),
    (Reach.ALONE, PREFERENCE, ("prefer",)),
    (Reach.ALONE, KEEP, ("keep",)),
    (Reach.ALONE, WAY, ("policy",)),
    (Reach.FAR, RULE, ("certain",)),
    (Reach.ALONE, RULE, ("habit",)),
    (Reach.ALONE, RULE, ("general",)),
)
"""Combinations of roles that make a rule, each with its reach and displayed reason. The first match wins. A sentence
that orders a single thing (`once`) is a rule only with `Reach.FAR`."""


class RuleGround(Struct, frozen=True):
    """Reach and reason of a sentence that is a standing rule."""

    reach: Reach
    reason: str


_IN_QUESTIONS = frozenset(
    ("scope", "whole", "during", "always", "ask", "language", "limit", "keep", "without", "wish", "when_you")
)
"""A combination needs one of these roles to make a question a rule."""

_ORDERS = ("verb", "told")
"""Roles that are an order."""

_WORD_START = re.compile(r"\b\w")
_AFTER_PUNCTUATION = re.compile(r"(?:[,;:.!?—–(] ?| - )\Z")

_NARRATIVE_RULE_ROLES = ("ours", "mine", "certain", "condition", "habit", "hence", "status", "wish", "norm", "law")
"""Roles that make a rule although the sentence narrates."""

_CLAUSE_START_ROLES = frozenset(("verb", "dont", "only", "ensure", "mind", "keep", "instead"))
"""Roles that count only at the beginning of a clause, in languages with spaces."""

_SELF_ANCHORED = frozenset(
    ("told_of", "doubt", "terse", "heading", "thus", "once", "ours", "protocol", "mine",
     "address", "product", "certain", "idiom", "norm", "hence", "described", "law", "because")
)  # fmt: skip
"""Roles whose patterns contain their own anchors."""


_NO_ROLES = frozenset(
    (
        "link",
        "definite",
        "marks",
        "common",
        "into",
        "or_less",
        "number",
        "heading",
        "policy_at",
        "leans",
        "it",
        "please",
    )
)
"""Entries that are only parts of other patterns or asked for by name, no roles of a sentence."""


@dataclass(frozen=True)
class Grammar:
    """Roles of one language as patterns; roles without words are missing. `beginning` holds the roles that count only
    at the beginning of a clause, before or after introductory words (`before`). Patterns are compiled on first use,
    because a sentence needs only one or two languages."""

    roles: Mapping[str, str]
    beginning: Mapping[str, str]
    before: str

    def has(self, role: str, low: str) -> bool:
        """Return whether a role that counts anywhere occurs in the sentence."""
        return role in self.roles and _compile(self.roles[role]).search(low) is not None

    def leans(self, low: str) -> bool:
        """Return whether one of the first words refers to something said before; words of `scope` ("from this point
        on") do not."""
        return self.has("leans", _compile(self.roles["scope"]).sub("", low))

    def found(self, low: str) -> frozenset[str]:
        """Return the roles in a lower-case sentence."""
        found = {role for role in self.roles if role not in _NO_ROLES and self.has(role, low)}
        places = self._clauses(low) if self.beginning else ()
        for role, pattern in self.beginning.items():
            matches = _compile(pattern).match
            if any(matches(low, at) for at in places):
                found.add(role)
        if "always" in found:  # "always ask before the oven is opened"
            found.discard("temporary")
        return frozenset(found if found.isdisjoint(_ORDERS) else {*found, "order"})

    def _clauses(self, low: str) -> set[int]:
        """Return the offsets at which clauses begin: at the first word, after punctuation, and after one or two groups
        of introductory words. Computed once for all roles, which is faster than to include the words in each
        pattern."""
        words = [found.start() for found in _WORD_START.finditer(low)]
        before = _compile(self.before)

        @cache
        def ends_after(at: int) -> Sequence[int]:
            if not before.match(low, at):
                return ()
            return [end for end in words if end > at and before.fullmatch(low, at, end)]

        places = {at for at in words if at == words[0] or _AFTER_PUNCTUATION.search(low, max(at - 3, 0), at)}
        places.update(*map(ends_after, words))
        return places.union(*map(ends_after, places))

    def ground(self, low: str, *, is_question: bool, roles: frozenset[str]) -> RuleGround | None:
        """Return reach and reason of a lower-case sentence with these `roles`, None if it is no rule. A question is a
        rule only if it asks for one (`asked`): "can you answer in one sentence from now on?". If the whole is no rule,
        its consequence is judged alone ("nobody uses it yet, so no need for compatibility"), then what stands before
        a reason ("short answers please, I read them on my phone")."""
        found = _first_ground(roles, is_question)
        for role, part in (("thus", -1), ("because", 0)):
            if found is None and role in roles:
                found = _first_ground(self.found(_compile(self.roles[role]).split(low, 1)[part]), is_question)
        return found


def least_reach(roles: frozenset[str]) -> Reach:
    """Return the minimum reach of a rule in a sentence with these roles: FAR if it orders a single thing, WORK if it
    describes a part of the product, else ALONE."""
    return Reach.FAR if "once" in roles else Reach.WORK if "product" in roles else Reach.ALONE


def _first_ground(roles: frozenset[str], is_question: bool) -> RuleGround | None:
    is_narrated = "told_of" in roles and roles.isdisjoint(_NARRATIVE_RULE_ROLES)
    far = "order" in roles and not roles.isdisjoint(("scope", "whole"))
    if is_narrated or (is_question and not ("asked" in roles or far)):
        return None
    for reach, reason, together in GRAMMAR:
        if (is_question and _IN_QUESTIONS.isdisjoint(together)) or reach < least_reach(roles):
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
    """Return the patterns of a language with spaces, with word boundaries; roles of a clause's beginning are left
    out."""
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
    """Return the patterns of Chinese, Japanese and Korean. In Chinese the verb precedes its object; in the others it
    follows and marks an order at the end of the sentence."""
    roles = words.keys() - {"order"}  # position of the verb, not a role
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
