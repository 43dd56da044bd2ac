"""State of a rule in one text.

A rule is *verbatim* if it occurs unchanged except for white space; *paraphrased* if another sentence says the same
correctly (`workbench.analysis.fact_check`); *contradicted* if one negates it or says it with another value or order;
*gone* otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Literal, get_args

from msgspec import Struct

from workbench.analysis.concepts import words_of
from workbench.analysis.fact_check import SOME, FactQuery, SearchedText, fact_query
from workbench.analysis.head_index import texts_of
from workbench.analysis.searched_lines import contains, occurrences
from workbench.base.secrets import MASK
from workbench.base.session_caches import session_cache
from workbench.facts.terms import stem
from workbench.facts.wording import is_agent_message
from workbench.session import Message
from workbench.session.masked import searched_message

RuleVerdict = Literal["verbatim", "paraphrased", "contradicted", "gone", "unknown"]
"""`unknown`: the replacement cannot be read."""

BEST_FIRST: tuple[RuleVerdict, ...] = get_args(RuleVerdict)


def judge_text(sentence: str, text: str) -> RuleVerdict:
    """Return the state of a rule in one text; "gone" for a rule without a word."""
    form = rule_pattern(on_one_line(sentence))
    return form.in_text(text) if form.query else "gone"


def on_one_line(text: str) -> str:
    """Return a text with single spaces for all white space."""
    return " ".join(text.split())


class RulePattern(Struct, frozen=True):
    """Rule prepared for search. `kinds` has the beginnings of the forms of each of its words. Only lines with a form
    of one of the rarest words are compared."""

    flat: str
    query: FactQuery | None
    kinds: tuple[tuple[str, ...], ...]

    def in_message(self, message: Message) -> RuleVerdict:
        """Return the state in a message. Secrets are masked if the rule was taken from a masked text."""
        message = searched_message(message) if MASK in self.flat else message
        if any(map(self.is_quoted, texts_of(message))):
            return "verbatim"
        if message.kind == "normal" and (is_agent_message(message) or message.role == "tool"):
            return "gone"
        return self.in_other_words(message.user_text if message.starts_round else message.text)

    def in_text(self, text: str) -> RuleVerdict:
        """Return the state in a text that is not a message."""
        return "verbatim" if self.is_quoted(text) else self.in_other_words(text)

    def is_quoted(self, text: str) -> bool:
        """True if the rule occurs verbatim and the words before it do not negate it."""
        if not self.may_occur(text):
            return False
        flat = on_one_line(text)
        return any(
            self._is_affirmed(flat[max(0, at - BEFORE_QUOTE) : at + len(self.flat)])
            for at in occurrences(self.flat, flat)
        )

    def may_occur(self, text: str) -> bool:
        """False if the rule certainly does not occur."""
        return max(self.flat.split(), key=len) in text

    def occurs(self, flat: str) -> bool:
        """True if the words occur, negated or not."""
        return contains(self.flat, flat)

    def _is_affirmed(self, quotation: str) -> bool:
        assert self.query is not None
        verdict = SearchedText([quotation]).judge(self.query)
        return verdict.right or verdict.presence == "none"  # "none": a list of bare words

    def in_other_words(self, text: str) -> RuleVerdict:
        """Return the state of a rule that does not occur verbatim: paraphrased, contradicted or gone."""
        assert self.query is not None
        verdict = SearchedText(self._near(text)).judge(self.query)
        if verdict.presence == "none":
            return "gone"
        return "paraphrased" if verdict.right else "contradicted"

    def _near(self, text: str) -> Sequence[str]:
        """Return the lines that have one of the rule's rarest words. What states a rule has a share of `SOME` of its
        words, so it has one of any words that are more than the rest."""
        low = _plain(text)
        if not self.kinds or len(low) != len(text):
            return (text,)
        rarest = sorted(self.kinds, key=lambda kind: sum(map(low.count, kind)))
        starts = set[int]()
        for word in chain.from_iterable(rarest[: int((1 - SOME) * len(rarest)) + 1]):
            at = low.find(word)
            while at >= 0:
                starts.add(low.rfind("\n", 0, at) + 1)
                stop = low.find("\n", at)
                at = low.find(word, stop) if stop >= 0 else -1
        return [text[at : stop if (stop := text.find("\n", at)) >= 0 else len(text)] for at in sorted(starts)]


BEFORE_QUOTE = 40
"""Characters before a quotation that are checked for a negation."""


@session_cache(256)
def rule_pattern(flat: str) -> RulePattern:
    """Return a rule, on one line, prepared for search."""
    # A name must occur as it is; a sentence may be paraphrased.
    form = fact_query("instruction" if " " in flat or not flat.isascii() else "identifier", flat)
    wording = form.sentences[0] if form and form.sentences else None
    if form is None or wording is None:
        return RulePattern(flat, form, ())
    several = (_beginnings(term, form.language) for term in wording.order)
    kinds = tuple(beginnings for beginnings in several if beginnings)
    # A number has many spellings, so every line is checked.
    return RulePattern(flat, form, kinds if len(kinds) == len(wording.order) else ())


def _beginnings(term: str, language: str) -> tuple[str, ...]:
    """Return the beginnings of all words that are compared as `term`; empty if unknown."""
    if any(map(str.isdigit, term)):
        return ()
    stems = (stem(word, language) for word in words_of(term, language))
    # A stem may end differently from its words: "happi" for "happy".
    return tuple(dict.fromkeys(_plain(stem[: max(SHORTEST_STEM, len(stem) - 1)]) for stem in stems))


SHORTEST_STEM = 3
"""Letters of a stem that are searched for in any case, although its last letter may differ in the text."""


def _plain(text: str) -> str:
    """Return the text in lower case without accents, as stems are."""
    low = text.lower()
    return low if low.isascii() else low.translate(_ACCENTS)


_ACCENTS = str.maketrans("àáâãäåçèéêëìíîïñòóôõöùúûüýÿё", "aaaaaaceeeeiiiinooooouuuuyyе")
