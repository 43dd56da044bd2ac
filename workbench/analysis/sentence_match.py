"""Decide whether one sentence states another, and states it correctly."""

from __future__ import annotations

import re

from msgspec import Struct

from workbench.analysis.contradiction import contradicts, differs_in_value
from workbench.analysis.distortion import distorts, has_other_subject, with_shared_objects
from workbench.analysis.plain_form import plain_form
from workbench.analysis.searched_lines import LONGEST_LINE
from workbench.analysis.sense import Sense, sense_of
from workbench.analysis.sentence_form import WORD_CLASSES, is_scrambled, is_word_list, order_agreement
from workbench.facts.amounts import Value, values_in
from workbench.facts.terms import TOKEN, content_terms, token_terms
from workbench.facts.word_tables import alternatives, bounded, pattern
from workbench.facts.wording import is_question


class SentenceQuery(Struct, frozen=True):
    """Sentence to search for: its content words in order, and its meaning.

    `main` is its main clause, without a reason or explanation; None if it is the complete sentence. `core` are the
    words of its first part, or of its first half; a sentence with them and no others states it in part. `verb` is the
    verb of a command ("" for other sentences). `amounts` are its numbers with a known unit, each with its words.
    """

    order: tuple[str, ...]
    sense: Sense
    language: str
    main: SentenceQuery | None = None
    core: frozenset[str] = frozenset()
    verb: str = ""
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
        main=main if main and len(main.order) >= LEAST_MAIN else None,
        core=_core(order, sense),
        verb=_commanded(text.lower(), language),
        amounts=_amounts(sense.text, language),
    )


LEAST_MAIN = 2
"""Fewest content words of a main clause that states its sentence in part."""


def _core(order: tuple[str, ...], sense: Sense) -> frozenset[str]:
    """Return the words of the first part of a sentence, or of its first half if that is shorter or the part is less
    than a third of the sentence; none in short sentences and behind a condition."""
    half, first = -(-len(order) // 2), len(sense.parts[0]) if sense.parts else 0
    size = first if len(order) <= 3 * first and first <= half else half
    enough = size >= LEAST_CORE - (size == first) and not _CONDITION_FIRST.match(sense.text)
    return frozenset(order[:size] if enough else ())


LEAST_CORE = 3
"""Fewest words of the first half of a sentence that state it in part; of its first part one less."""
_CONDITION_FIRST = re.compile(rf"(?:{alternatives('sense', 'only_when')}|{alternatives('replaced', 'if')})\b")


def meaning(text: str, language: str) -> Sense:
    """Return the meaning of a sentence in its plain form."""
    return sense_of(plain_form(text), language)


_REASON = re.compile(
    rf",? (?:{bounded('sense', 'reason')}|{bounded('sense', 'unless')})"
    rf"|, (?:{bounded('sense', 'reason_behind_comma')})",
    re.IGNORECASE,
)
_REASON_FIRST = re.compile(rf"(?:{bounded('sense', 'reason_first')}) [^,]+, (?P<main>.+)", re.IGNORECASE)


def _main_clause(text: str) -> str:
    """Return a sentence without the reason or explanation at its end or beginning; "" if it has none."""
    if first := _REASON_FIRST.fullmatch(text):
        return first["main"]
    return text[: match.start()] if (match := _REASON.search(text)) else ""


_COMMAND = pattern("standing", "verb")
_BEFORE_COMMAND = re.compile(r"(?:(?:please|always|never|do not|don't|only|also|now|then|just) )*")


def _commanded(low: str, language: str) -> str:
    """Return the term of the verb with which a command begins; "" for other sentences."""
    start = match.end() if (match := _BEFORE_COMMAND.match(low)) else 0
    verb = TOKEN.match(low, start)
    if verb is None or not _COMMAND.fullmatch(verb[0]):
        return ""
    return next(iter(token_terms(verb[0], language)), "")


_AMOUNT = re.compile(r"[€$£]?\d[\d.,]*(?:\s?[^\W\d_]+|\s?[%°€$])?")


def _amounts(low: str, language: str) -> tuple[tuple[Value, frozenset[str]], ...]:
    return tuple(
        (value, frozenset(content_terms(match[0], language)))
        for match in _AMOUNT.finditer(low)
        for value in values_in(match[0])
        if value.measured
    )


def _same_amounts(wording: SentenceQuery, sense: Sense) -> frozenset[str]:
    """Return the words of the text's amounts that the sentence has, too, perhaps in another unit."""
    if not wording.amounts:
        return frozenset()
    there = _amounts(sense.text, wording.language)
    same = (terms for value, terms in there if any(value.same(one) for one, _ in wording.amounts))
    return frozenset[str]().union(*same)


def is_stated(wording: SentenceQuery, sense: Sense) -> bool:
    """False if `sense` only lists or scrambles the words, is mostly about something else, or only describes what
    `wording` commands."""
    beside = len(sense.order) > 2 * len(wording.order)  # the question may be about something else
    if not (beside and is_question(sense.text)) and is_doubted(sense.text) and not is_doubted(wording.sense.text):
        return False
    if not wording.verb and has_other_subject(wording.sense, sense, wording.language):
        return False
    swapped = (wording.sense.contrasted and sense.contrasted) or (wording.sense.earlier and sense.earlier)
    if not swapped and is_scrambled(wording.sense.text, sense.text, wording.language):
        return False
    heaped = not sense.is_sentence or is_word_list(
        sense.text, wording.terms | _same_amounts(wording, sense), wording.language
    )
    if heaped and order_agreement(wording.sense.words_and_negations, sense.words_and_negations) < ORDERLY:
        return False
    if wording.verb and _DESCRIBES.search(sense.text) and not _has_verb(wording, sense):
        return False
    if len(wording.order) == 1:
        return len(sense.order) <= ONE_WORD
    if len(wording.order) <= 2:
        return len(sense.order) <= SHORT_RULE
    return len(sense.order) <= LONGER * len(wording.order) + SHORT_RULE


def is_doubted(low: str) -> bool:
    """True for a question that is no request, and for a sentence that leaves open whether something is so."""
    return (is_question(low) and not _POLITE.search(low)) or _DOUBTED.search(low) is not None


_POLITE, _DOUBTED = pattern("standing", "please"), pattern("sense", "doubted")
_DESCRIBES = pattern("sense", "describes")

ORDERLY = 0.8
"""Least order agreement of a note without function words that states a sentence."""

ONE_WORD, SHORT_RULE, LONGER = 4, 10, 4
"""Most content words of a sentence that states a fact of one word, and of two words; for longer facts `LONGER` times
the fact's words plus `SHORT_RULE`. A longer sentence is about something else."""


def _has_verb(wording: SentenceQuery, sense: Sense) -> bool:
    """True if the text has the verb of a command, and not as a noun: "the report" reports nothing."""
    before = ""
    for match in TOKEN.finditer(sense.text):
        if wording.verb in token_terms(match[0], wording.language) and WORD_CLASSES.get(before) != "article":
            return True
        before = match[0]
    return False


def is_right(wording: SentenceQuery, sense: Sense, complete: bool) -> bool:
    """True unless the text contradicts or distorts the sentence. With only part of its words (`complete` false) a long
    sentence is compared in values, limits, names and verbs alone."""
    fact, text = wording.sense, with_shared_objects(wording.sense, sense)
    if is_labelled_rejected(text.text) and not is_labelled_rejected(fact.text):
        return False
    if distorts(fact, text, wording.language, complete):
        return False
    if not complete and len(wording.order) > FEW:
        return not differs_in_value(fact, text)  # too few common words to compare more
    return not contradicts(fact, text)


FEW = 4


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
