"""Decide whether one sentence states another, and states it correctly."""

from __future__ import annotations

import re
from functools import cache

from msgspec import Struct

from workbench.analysis.concepts import content_terms, token_terms
from workbench.analysis.contradiction import contradicts, has_other_subject
from workbench.analysis.plain_form import plain_form
from workbench.analysis.searched_lines import LONGEST_LINE
from workbench.analysis.sense import Sense, sense_of
from workbench.analysis.sentence_form import is_scrambled, order_agreement
from workbench.facts.amounts import Value, units, values_in
from workbench.facts.terms import MODIFIERS, TOKEN
from workbench.facts.word_tables import bounded, pattern, words
from workbench.facts.wording import is_question


class SentenceQuery(Struct, frozen=True):
    """Sentence to search for: its content words in order, and its meaning.

    `main` is its main clause, without a reason or explanation; None if it is the complete sentence. `is_duty` is
    True for a command, and for a sentence that says what must be. `amounts` are its numbers with a known unit, each
    with its words.
    """

    order: tuple[str, ...]
    sense: Sense
    language: str
    main: SentenceQuery | None = None
    is_duty: bool = False
    amounts: tuple[tuple[Value, frozenset[str]], ...] = ()

    @property
    def terms(self) -> frozenset[str]:
        """Content words as a set."""
        return frozenset(self.order)


def sentence_query(text: str, language: str) -> SentenceQuery:
    """Return the query for a sentence."""
    text = text[:LONGEST_LINE]
    clause = _main_clause(text)
    main = sentence_query(clause, language) if clause else None
    sense = meaning(text, language)
    order = tuple(dict.fromkeys(sense.order))
    return SentenceQuery(
        order=order,
        sense=sense,
        language=language,
        main=main if main and main.order else None,
        is_duty=_is_command(low := text.lower()) or bool(_DUTY.search(low) and not _DESCRIBES.search(low)),
        amounts=_amounts(sense.text, language),
    )


def found_words(wording: SentenceQuery, sense: Sense) -> frozenset[str]:
    """Return the words of a text, and the words of each amount of the sentence that it has in another unit."""
    have = set(sense.order)
    for value, terms in wording.amounts:
        if any(map(value.same, sense.values)):
            have |= terms
    return frozenset(have)


def is_part(wording: SentenceQuery, sense: Sense) -> bool:
    """True if a text has enough words of a sentence, and hardly any others: it states a part of it."""
    common = found_words(wording, sense) & wording.terms
    more = {*content_terms(_LABEL.sub("", sense.text), wording.language)} - wording.terms - _light(wording.language)
    enough = len(common) >= LEAST_PART or (len(common) > 1 and wording.sense.parts[0] <= common)
    return enough and len(more) <= MOST_OTHERS * (len(common) > LEAST_PART)


_LABEL = re.compile(r"^[^:.]{1,40}: ")
"""Label of a note: "Architecture: …"."""
LEAST_PART, MOST_OTHERS = 3, 2
"""Fewest common words of a text that states a part of a sentence; most other words of a text with more common ones."""


@cache
def _light(language: str) -> frozenset[str]:
    """Return words that add nothing to a statement: "is planned", "has a limit of"."""
    return frozenset(content_terms(" ".join(words("sense", "light")), language))


def meaning(text: str, language: str) -> Sense:
    """Return the meaning of a sentence in its plain form."""
    return sense_of(plain_form(text), language)


_REASON = re.compile(
    rf",? (?:{bounded('sense', 'reason')}|{bounded('sense', 'unless')})"
    rf"|, (?:{bounded('sense', 'reason_behind_comma')})"
    rf"|, (?:\w+ )?(?:{bounded('sense', 'except')}|{bounded('sense', 'only_this')})",
    re.IGNORECASE,
)


def _main_clause(text: str) -> str:
    """Return a sentence without the reason or explanation at its end; "" if it has none."""
    match = _REASON.search(text)
    return text[: match.start()] if match else ""


_AMOUNT = re.compile(r"(?<!\w)[€$£]?\d[\d.,]*(?:\s?[^\W\d_]+(?!\d)|\s?[%°€$])?")


def _amounts(low: str, language: str) -> tuple[tuple[Value, frozenset[str]], ...]:
    return tuple(
        (value, frozenset(content_terms(match[0], language)))
        for match in _AMOUNT.finditer(low)
        for value in values_in(match[0])
        if value.measured
    )


def is_stated(wording: SentenceQuery, sense: Sense) -> bool:
    """False if `sense` only lists or scrambles the words, is mostly about something else, states only a condition of
    `wording`, or describes what `wording` demands."""
    relevant = frozenset[str]().union(*(part for part in sense.parts if part & wording.terms)) - units(wording.language)
    if len(relevant & wording.terms) < LEAST_KNOWN * len(relevant) or _is_assumed(wording, sense):
        return False
    beside = is_question(sense.text) and len(sense.order) > 2 * len(wording.order)  # it may ask for something else
    if not beside and is_doubted(sense.text) and not is_doubted(wording.sense.text):
        return False
    denied = {term for term, sign in wording.sense.signs.items() if sign < 0}
    if denied and denied.isdisjoint(found_words(wording, sense)) and _BINDING.search(wording.sense.text):
        return False  # a rule without what it forbids
    if has_other_subject(wording.sense, sense, wording.language) or is_scrambled(
        wording.sense.text, sense.text, wording.language
    ):
        return False
    orders = (_words_and_negations(one.text, wording.language) for one in (wording.sense, sense))
    if not sense.is_sentence and order_agreement(*orders) < ORDERLY:
        return False
    demands = _is_command(sense.text) or _DUTY.search(sense.text)
    return bool(demands) or not (wording.is_duty and _DESCRIBES.search(sense.text))


LEAST_KNOWN = 0.5
"""Least share of a sentence's words in the clauses that have one of them."""


def _words_and_negations(low: str, language: str) -> list[str]:
    return [
        term
        for match in TOKEN.finditer(low)
        for term in token_terms(match[0], language) or ([match[0]] if match[0] in MODIFIERS else [])
    ]


def _is_assumed(wording: SentenceQuery, sense: Sense) -> bool:
    """True if a text states mainly a condition of the sentence: "Ida booked a room" for "ask Ida before you book a
    room"."""
    fact = wording.sense.signs
    claimed = [term for term in wording.terms if term in sense.signs and not fact[term] and sense.signs[term]]
    main = [term for term in wording.terms if fact[term]]
    common = sum(term in sense.signs for term in wording.terms)
    return 2 * len(claimed) >= common > 0 and not all(term in sense.signs for term in main)


def is_doubted(low: str) -> bool:
    """True for a question that is no request, and for a sentence that leaves open whether something is so."""
    return (is_question(low) and not _POLITE.search(low)) or _DOUBTED.search(low) is not None


_POLITE, _COMMAND = pattern("standing", "please"), pattern("standing", "verb")
_BINDING = pattern("opposites", "binding")
_DOUBTED, _DESCRIBES, _DUTY = (pattern("sense", name) for name in ("doubted", "describes", "duty"))

ORDERLY = 0.6
"""Least order agreement of a note without function words that states a sentence."""


def _is_command(low: str) -> bool:
    first = TOKEN.search(low)
    return first is not None and _COMMAND.fullmatch(first[0]) is not None


def is_right(wording: SentenceQuery, sense: Sense) -> bool:
    """True unless the text contradicts the sentence, or calls it rejected."""
    if is_labelled_rejected(sense.text) and not is_labelled_rejected(wording.sense.text):
        return False
    return not contradicts(wording.sense, sense, wording.language)


# --- rejected statements ----------------------------------------------------------------------------------------------

_REJECTED = bounded("sense", "rejected")
_LABELLED = re.compile(rf"[^:.]{{0,40}}?(?:{_REJECTED})[^:.]{{0,30}}:")
_INTRODUCED = re.compile(rf"(?:{_REJECTED})[^,.;:!?]{{0,40}}[:\"'“„«`*(][:\"'“„«`*(\s]*$")
_WAS = r"(?:was|were|is|are|has been|have been|got|wurden?|ist|sind|est|fue|foi)"
_FOLLOWED = re.compile(
    rf"[\"'”“»`*,\s]*(?:\((?:{_REJECTED})(?: by [^)]*)?\)|(?:{bounded('sense', 'rejected_behind')})"
    rf"|(?:(?:\w+ ){{0,3}}|[^.!?:]{{0,50}}[,;] (?:but )?(?:it|this|that|which) ){_WAS}"
    rf" (?:\w+ )?(?:{_REJECTED}|{bounded('sense', 'rejected_since')}))"
)
_LIMITED = re.compile(rf",? (?:but |and )?(?:{bounded('sense', 'except')}|{bounded('sense', 'only_this')})")


def is_labelled_rejected(low: str) -> bool:
    """True for "Rejected: …" and the like."""
    return _LABELLED.match(low) is not None


def is_rejected(before: str, after: str) -> bool:
    """True if the words before or after a quotation in a lower-case line reject it or limit it."""
    return bool(_INTRODUCED.search(before[-80:]) or _FOLLOWED.match(after[:80]) or _LIMITED.match(after))
