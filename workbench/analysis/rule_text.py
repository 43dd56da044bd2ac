"""State of a rule in one text.

A rule is *verbatim* if it occurs unchanged except for white space; *paraphrased* if another sentence says the same
correctly (`workbench.analysis.fact_check`); *contradicted* if one negates it or says it with another value or order;
*gone* otherwise.
"""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

from workbench.analysis.fact_check import FactQuery, SearchedText, fact_query
from workbench.analysis.head_index import texts_of
from workbench.analysis.searched_lines import contains, occurrences
from workbench.base.secrets import MASK
from workbench.base.session_caches import session_cache
from workbench.facts.wording import is_agent_message
from workbench.session import Message
from workbench.session.bounded import bounded_text
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
    """Rule prepared for search."""

    flat: str
    query: FactQuery | None

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
        quotations = (flat[max(0, at - BEFORE_QUOTE) : at + len(self.flat)] for at in occurrences(self.flat, flat))
        return any(map(self._is_affirmed, quotations))

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
        verdict = _searched(bounded_text(text)).judge(self.query)
        if verdict.presence == "none":
            return "gone"
        return "paraphrased" if verdict.right else "contradicted"


@session_cache(1 << 8)
def _searched(text: str) -> SearchedText:
    """Return a text prepared for search. Several rules are looked for in each text."""
    return SearchedText([text])


BEFORE_QUOTE = 40
"""Characters before a quotation that are checked for a negation."""


@session_cache(256)
def rule_pattern(flat: str) -> RulePattern:
    """Return a rule, on one line, prepared for search."""
    # A name must occur as it is; a sentence may be paraphrased.
    form = fact_query("instruction" if " " in flat or not flat.isascii() else "identifier", flat)
    return RulePattern(flat, form)
