"""Standing rules: sentences of the user that hold beyond their own request, each with the reason for its match and the
later rule that superseded it.

An ordinary request is no rule ("fix the parser"), nor is a statement with a strong word ("the build always fails"). The
structure of a sentence (`workbench.facts.standing_grammar`), its words and its context are weighed
(`workbench.facts.standing_signs`), in nine languages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from msgspec import Struct

from workbench.base.session_caches import session_cache
from workbench.facts.answers import typed_texts
from workbench.facts.fact import Fact
from workbench.facts.languages import languages_of
from workbench.facts.pastes import passages
from workbench.facts.standing_grammar import GATE, LANGUAGE, MIND, PROHIBITION, RULE, grammar
from workbench.facts.standing_signs import Sentence, is_long, probabilities
from workbench.facts.supersession import superseding
from workbench.facts.topics import is_correction
from workbench.facts.wording import LONGEST_SENTENCE, TextLine, is_question, lines, normalize, sentence_spans, sentences
from workbench.session import Message

RULE_PROBABILITY = 0.65
"""Minimum probability of a rule. With this value fewer than 1 in 50 messages from unseen sources had a wrongly
recognized rule. A wrong pin is expensive, and a lower value found hardly any further rules."""

RULE_PROBABILITY_IN_LONG = 0.8
"""Minimum probability in a plan or report, which mostly describes rules instead of setting them."""


@session_cache(4_096)
def rule_reason(sentence: str) -> str:
    """Return the reason why a user's sentence alone is a standing rule; "" if it is none."""
    one = Sentence(sentence)
    return _reason(one) if _is_candidate(one) and probabilities([one])[0] >= RULE_PROBABILITY else ""


def _reason(one: Sentence) -> str:
    return one.ground.reason if one.ground else RULE


def _is_candidate(one: Sentence) -> bool:
    """Return whether a text is a sentence, and neither code nor a program's error message."""
    return len(one.low) > 0 and len(one.text) <= LONGEST_SENTENCE and not _DATA.search(one.low)


_DATA = re.compile(r"[{}]$|(?<! );$|\)\s?;|=>|\w(?:error|exception):|\bno (?:such file|module named)\b")


class StandingRule(Struct, frozen=True):
    """A rule, the reason for recognizing it, and the newest later rule that superseded it, or None."""

    fact: Fact
    reason: str
    superseded_by: Fact | None = None


PIN_REASON = "marked with <Pin>"
_PIN = re.compile(r"<Pin>(.*?)</Pin>", re.DOTALL | re.IGNORECASE)
_PINS_END = re.compile(r"</Pin>", re.IGNORECASE)


RuleFinder = Callable[[str], Iterable[tuple[str, str]]]
"""Function that finds the rules of a text, such as `rules_in_text` or a cached version of it."""


def standing_rules(messages: Sequence[Message], rules_in: RuleFinder | None = None) -> tuple[StandingRule, ...]:
    """Return the user's standing rules and `<Pin>` passages in order. A repeated rule stands at its last place.
    `rules_in` replaces `rules_in_text`, for callers who cache its results."""
    found: dict[str, StandingRule] = {}
    for index, words in typed_texts(messages):
        rules = [*(rules_in or rules_in_text)(words)]
        known = {text for text, _ in rules}
        releases = ((text, _RELEASE_REASON) for text in _releases(words) if text not in known)
        for text, reason in (*rules, *releases):
            found.pop(text.lower(), None)
            found[text.lower()] = StandingRule(Fact("instruction", text, messages[index].id, index), reason)
    return tuple(one for one in _with_superseding(list(found.values())) if one.reason != _RELEASE_REASON)


def instruction_facts(messages: Sequence[Message]) -> Iterator[Fact]:
    """Yield every rule in the user's texts, also repeated and superseded ones."""
    for index, words in typed_texts(messages):
        for text, _ in rules_in_text(words):
            yield Fact("instruction", text, messages[index].id, index)


def is_instruction(sentence: str) -> bool:
    """Return whether a user's sentence alone is a standing rule."""
    return bool(rule_reason(sentence))


_RELEASE_REASON = "takes an instruction back"


@session_cache(1_024)
def _releases(words: str) -> tuple[str, ...]:
    """Return the sentences that withdraw or correct a rule. Cached, because a replay asks for the same texts at each
    compaction."""
    candidates = (one for one in sentences(words) if len(one) <= LONGEST_SENTENCE and not is_question(one))
    return tuple(one for one in candidates if _is_release(normalize(one)) or is_correction(one))


def _is_release(low: str) -> bool:
    return any(grammar(language).has("release", low) for language in languages_of(low))


CACHED_CHARS = 8_000
"""Maximum length of a message whose rules are cached, in characters."""


def rules_in_text(words: str) -> tuple[tuple[str, str], ...]:
    """Return the rules in a user's text with their reasons, verbatim and in order. Pasted text and requests for a
    summary of the conversation have none. Cached, because resumed and forked sessions repeat their history."""
    return _cached_rules(words) if len(words) <= CACHED_CHARS else tuple(_find_rules(words))


@session_cache(4_096)
def _cached_rules(words: str) -> tuple[tuple[str, str], ...]:
    return tuple(_find_rules(words))


def _find_rules(words: str) -> Iterator[tuple[str, str]]:
    # Stop at the last closing mark, because an unclosed one would be searched to the end of the text.
    last = max((mark.end() for mark in _PINS_END.finditer(words)), default=0)
    for passage in _PIN.findall(words, 0, last):
        if text := passage.strip():
            yield text, PIN_REASON
    if is_compaction_prompt(words):
        return
    typed = _PIN.sub("\n\n", words[:last]) + words[last:]
    for one in _rules(typed):
        yield typed[one.start : one.stop].strip(), one.reason


def is_compaction_prompt(words: str) -> bool:
    """Return whether a message is an agent's own request for a summary, which some agents record as a user message."""
    return len(words) >= 400 and _SUMMARIZE.search(words[:600].lower()) is not None


_SUMMARIZE = re.compile(
    r"\b(?:summar(?:y|i[sz]e)|handoff|hand-off|compact(?:ion|ed)?|checkpoint)\b[^.]{0,120}\b(?:conversation|session|"
    r"so far|context|history|previous actions|another (?:language )?model)\b"
    r"|(?:总结|摘要|压缩).{0,30}(?:对话|会话|上下文)"
)


class _Part(Struct, frozen=True):
    """A typed sentence, its line, and its position in the message."""

    sentence: Sentence
    line: TextLine
    start: int
    stop: int


def typed_sentences(text: str) -> tuple[list[_Part], bool]:
    """Return the typed sentences, without code and error messages, and True if the text contains a paste."""
    found, pasted = [], False
    for passage in passages(text):
        pasted = pasted or not passage.own
        if passage.own:
            own = text[passage.start : passage.stop]
            for line in lines(own):
                message_line = replace(line, start=passage.start + line.start, stop=passage.start + line.stop)
                for start, stop in sentence_spans(own, line):
                    sentence = Sentence(own[start:stop].strip(), line.bullet)
                    if _is_candidate(sentence):
                        found.append(_Part(sentence, message_line, passage.start + start, passage.start + stop))
    return found, pasted


@dataclass(frozen=True, slots=True)
class _Rule:
    """Rule `text[start:stop]` of a message, and its reason."""

    start: int
    stop: int
    reason: str


_LIST_REASONS = frozenset((RULE, PROHIBITION, GATE, MIND, LANGUAGE))
"""Reasons of a line that ends with a colon which also apply to the items of the list below it."""


def _rules(text: str) -> list[_Rule]:
    """Return the rules of one message in order. Each item of a list below a heading that announces rules is a rule,
    unless the message is long or orders a single thing, which the items may describe."""
    parts, pasted = typed_sentences(text)
    several = [part.sentence for part in parts]
    long = is_long(several)
    chance = probabilities(several, pasted=pasted)
    least = RULE_PROBABILITY_IN_LONG if long else RULE_PROBABILITY
    reasons = {
        part.start: _reason(part.sentence) for part, likely in zip(parts, chance, strict=True) if likely >= least
    }
    found: list[_Rule] = []
    under, head = "", None
    for line, group in groupby(parts, key=lambda part: part.line):
        words = text[line.start : line.stop]
        if not line.bullet:
            under, head = "", None
        if line.heading and _announces_rules(words):
            for_one = any("once" in part.sentence.roles for part in parts if part.start not in reasons)
            under = "" if long or for_one else RULE
            continue
        rules = _rules_in_line(group, reasons)
        if line.bullet and under:
            found = [one for one in found if one is not head]
            rules = rules or [_Rule(line.start, line.stop, under)]
        found += rules
        if rules and not line.bullet and rules[-1].reason in _LIST_REASONS and words[-1] in ":：":
            head = rules[-1]
            under = head.reason
    return found


def _announces_rules(heading: str) -> bool:
    """Return whether a heading announces rules ("Ground rules:")."""
    low = normalize(heading)
    return len(low) <= 60 and any(grammar(language).has("heading", low) for language in languages_of(low))


def _rules_in_line(parts: Iterable[_Part], reasons: Mapping[int, str]) -> list[_Rule]:
    """Return the rules of a line. A sentence that refers to the one before it ("Never exceed it.") includes
    that one."""
    found: list[_Rule] = []
    before: _Rule | None = None
    for part in parts:
        rule = _Rule(part.start, part.stop, reasons.get(part.start, ""))
        if (
            before
            and rule.reason
            and rule.stop - before.start <= LONGEST_SENTENCE
            and leans_on_previous(part.sentence.text)
        ):
            rule = replace(rule, start=before.start, reason=before.reason or rule.reason)
            found = [one for one in found if one is not before]
        if rule.reason:
            found.append(rule)
        before = rule
    return found


@session_cache(4_096)
def leans_on_previous(sentence: str) -> bool:
    """Return whether one of the first words refers to something said before ("Never exceed it.")."""
    low = normalize(sentence)
    return any(grammar(language).leans(low) for language in languages_of(low))


def _with_superseding(several: list[StandingRule]) -> Iterator[StandingRule]:
    facts = [one.fact for one in several]
    newer = superseding(tuple(fact.text for fact in facts), tuple(fact.index for fact in facts))
    for one, later in zip(several, newer, strict=True):
        yield StandingRule(one.fact, one.reason, None if later is None else facts[later])
