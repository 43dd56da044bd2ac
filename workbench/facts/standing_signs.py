"""Signs for and against a standing rule in one sentence of a message, and the learned weight of each.

Signs are words, the roles of `workbench.facts.standing_grammar` and their combinations, the form of
the sentence, and the rest of its message: next to an order for one text, "no more than ten lines" describes that text.
The weights in `standing_weights.tsv` were learned by logistic regression (`scripts/learn_standing.py`); the logistic
function of their sum is the probability of a rule.

Most sentences are decided by their words and form (`first_sight`); all signs are computed only for the others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

from msgspec import Struct

from workbench.facts.languages import languages_of
from workbench.facts.standing_grammar import GRAMMAR, Grammar, Reach, RuleGround, grammar, least_reach
from workbench.facts.wording import is_question, normalize

UNLIKELY = 0.03
"""Probability at first sight below which a sentence is no rule and is not judged further."""

SHORTEST_SENTENCE = 12
"""Shortest sentence that counts as context, in characters. Shorter ones are greetings, thanks or a yes."""

OTHER_SENTENCES = 20
"""Number of a message's first sentences that count as the context of a judged sentence."""

LONG_MESSAGE = 1_500
"""Length from which a message is a plan or a report, in characters."""


@dataclass(frozen=True)
class Sentence:
    """A typed sentence; `bullet`: its line is an item of a list."""

    text: str
    bullet: bool = False

    @cached_property
    def low(self) -> str:
        return normalize(QUOTED.sub("“…”", self.text))

    @cached_property
    def asks(self) -> bool:
        return is_question(self.text)

    @cached_property
    def first_sight(self) -> float:
        """Probability of a rule by words and form alone, from 0 to 1."""
        return _probability(_weights().first, self.words)

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset((*_word_signs(self.low), *_form_signs(self)))

    @cached_property
    def _by_language(self) -> list[tuple[Grammar, frozenset[str]]]:
        grammars = [grammar(language) for language in languages_of(self.low)]
        return [(one, one.found(self.low)) for one in grammars]

    @cached_property
    def roles(self) -> frozenset[str]:
        return frozenset().union(*(roles for _, roles in self._by_language))

    @cached_property
    def ground(self) -> RuleGround | None:
        """Ground with the farthest reach among the possible languages; None without one, or if it does not reach
        `least_reach`."""
        grounds = (one.ground(self.low, is_question=self.asks, roles=roles) for one, roles in self._by_language)
        found = max(filter(None, grounds), key=lambda one: one.reach, default=None)
        return (
            None if found is None or found.reach < max(least_reach(roles) for _, roles in self._by_language) else found
        )


QUOTED = re.compile(
    r"\"[^\"]{1,200}\"|“[^”\n]{1,200}”|«[^»\n]{1,200}»|「[^」\n]{1,200}」|`[^`\n]{1,200}`|(?<!\w)'[^'\n]{2,200}'(?!\w)"
    r"|(?<=: )['\"“„«](?=\w).{12,}\Z"
)
"""Quotations, which request nothing. The end of one may be in another sentence."""


def probabilities(message: Sequence[Sentence], *, pasted: bool = False) -> list[float]:
    """Return the probability, from 0 to 1, that each sentence of a message is a rule. It is 0 for a saying, for what
    holds only for now, is reported or describes a product, and for a sentence in which the grammar finds no rule; 1
    for a form that is certain."""
    return [
        (
            1.0
            if "certain" in one.roles and not one.asks
            else _probability(_weights().all, signs(message, at, pasted=pasted))
        )
        if one.first_sight >= UNLIKELY and _may_instruct(one)
        else 0.0
        for at, one in enumerate(message)
    ]


_VETOES = ("temporary", "reported", "described")
"""Roles with which a sentence is no rule, unless it holds for all time to come or in this project."""


def _may_instruct(one: Sentence) -> bool:
    vetoed = not one.roles.isdisjoint(_VETOES) and one.roles.isdisjoint(("scope", "whole", "ours"))
    return "idiom" not in one.roles and not vetoed and one.ground is not None


def signs(message: Sequence[Sentence], at: int, *, pasted: bool = False) -> frozenset[str]:
    """Return all signs of one sentence."""
    one = message[at]
    reach = f"reach:{one.ground.reach.name if one.ground else 'NONE'}"
    around = {*_context_signs(message, at), "beside" if len(message) > 1 else "alone"}
    if pasted:
        around.add("pasted")
    return frozenset((*one.words, *_role_signs(one), reach, *around, *(f"{reach} {sign}" for sign in around)))


# --- words ------------------------------------------------------------------------------------------------------------

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|\d+|[?!:;,…]")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LATIN, _DIGITS, _SPACES = re.compile(r"[a-z_./*-]{2,}"), re.compile(r"\d+"), re.compile(r"\s+")
_STEM = 5


def _word_signs(low: str) -> Iterator[str]:
    """Yield the words and their stems; in languages without spaces runs of one to four characters."""
    if len(_UNSPACED.findall(low)) >= 3:
        text = _SPACES.sub(" ", _DIGITS.sub("0", _LATIN.sub("w", low))).rstrip("。.!！")
        text = f"^{text}$"
        for size in (1, 2, 3, 4):
            for start in range(len(text) - size + 1):
                yield text[start : start + size]
        return
    for word in _WORD.findall(low):
        yield "#" if word[0].isdigit() else word
        if len(word) > _STEM:
            yield word[:_STEM] + "*"


# --- form -------------------------------------------------------------------------------------------------------------

_CODE = re.compile(r"[{}<>=;|\\]|https?:")


def _form_signs(one: Sentence) -> Iterator[str]:
    text = one.text
    if one.asks:
        yield "question"
    if one.bullet:
        yield "bullet"
    if text.rstrip("*")[-1:] in (":", "："):
        yield "colon"
    if _CODE.search(text):
        yield "code"


def is_long(message: Iterable[Sentence]) -> bool:
    return sum(len(one.text) for one in message) > LONG_MESSAGE


# --- roles ------------------------------------------------------------------------------------------------------------

_MODIFIER_ROLES = ("told_of", "once", "product")
"""Roles that modify the meaning of another role."""


def _role_signs(one: Sentence) -> Iterator[str]:
    for role in one.roles:
        yield f"role:{role}"
        for turn in _MODIFIER_ROLES:
            if turn in one.roles and turn != role:
                yield f"role:{role} {turn}"
    for _, _, together in GRAMMAR:
        if len(together) > 1 and one.roles.issuperset(together):
            yield f"role:{'+'.join(together)}"


def _context_signs(message: Sequence[Sentence], at: int) -> Iterator[str]:
    """Yield signs of the other sentences of the message: questions, rules, ordinary requests."""
    others = [
        one
        for number, one in enumerate(message[:OTHER_SENTENCES])
        if number != at and len(one.text) >= SHORTEST_SENTENCE
    ]
    ordinary = [one for one in others if one.ground is None]
    if any(one.asks for one in others):
        yield "a question"
    if any(one.ground is not None and one.ground.reach >= Reach.WORK for one in others):
        yield "a rule"
    for role in ("once", "order", "product"):
        if any(role in one.roles for one in (others if role != "order" else ordinary)):
            yield f"an ordinary {role}"
    if others and not ordinary:
        yield "rules only"


# --- weights ----------------------------------------------------------------------------------------------------------


class _Weights(Struct, frozen=True):
    """Weight of each sign at first sight (`first`) and among all signs (`all`)."""

    first: Mapping[str, float]
    all: Mapping[str, float]


BIAS = "*"
"""Key of the constant weight that every sentence gets."""


@cache
def _weights() -> _Weights:
    rows = [
        line.split("\t") for line in (files("workbench.facts") / "standing_weights.tsv").read_text("utf-8").splitlines()
    ]
    first, whole = ({sign: float(row[at]) for sign, *row in rows if row[at]} for at in (0, 1))
    return _Weights(first, whole)


def _probability(weights: Mapping[str, float], found: Iterable[str]) -> float:
    # Summed exactly, because the order of a set of strings differs between runs of the program.
    total = weights.get(BIAS, 0.0) + math.fsum(weights.get(sign, 0.0) for sign in found)
    return 1 / (1 + math.exp(-total)) if total > -50 else 0.0
