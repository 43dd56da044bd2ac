"""Standing instructions: what a user's sentence sets for the work beyond the request it stands in, why it is taken for
one, and which later one replaced it.

An ordinary request is none ("fix the parser"), nor is a statement with a strong word ("the build always fails"). How a
sentence is built (`workbench.facts.standing_grammar`), its words and what stands beside it are weighed
(`workbench.facts.standing_signs`), in nine languages; each has its reason, which is shown.
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
from workbench.facts.pastes import passages
from workbench.facts.standing_grammar import GATE, LANGUAGE, MIND, PROHIBITION, RULE, grammar, languages_of
from workbench.facts.standing_signs import Sentence, is_long, probabilities
from workbench.facts.supersession import superseding
from workbench.facts.topics import is_correction
from workbench.facts.wording import LONGEST_SENTENCE, TextLine, is_question, lines, normalize, sentence_spans, sentences
from workbench.session import Message

RULE_PROBABILITY = 0.65
"""How likely a sentence has to be an instruction to count as one: from here on less than one in fifty drawn messages of
sources that were not learned from held a wrong one. A pin for nothing is dear, and lower hardly more was found."""

RULE_PROBABILITY_IN_LONG = 0.8
"""The same in a message that is a plan or a report: what that says of rules is mostly planned or reported."""


@session_cache(4_096)
def rule_reason(sentence: str) -> str:
    """Why a user's sentence, by itself, is taken for a standing instruction; "" where it is none."""
    one = Sentence(sentence)
    return _reason(one) if _is_candidate(one) and probabilities([one])[0] >= RULE_PROBABILITY else ""


def _reason(one: Sentence) -> str:
    return one.ground.reason if one.ground else RULE


def _is_candidate(one: Sentence) -> bool:
    """Whether it is a sentence, and neither a line of code nor what a program says of its failure."""
    return len(one.low) > 0 and len(one.text) <= LONGEST_SENTENCE and not _DATA.search(one.low)


_DATA = re.compile(r"[{}]$|(?<! );$|\)\s?;|=>|\w(?:error|exception):|\bno (?:such file|module named)\b")


class StandingRule(Struct, frozen=True):
    """An instruction, why it is taken for one, and the later one that replaced it: the latest wins."""

    fact: Fact
    reason: str
    superseded_by: Fact | None = None


PIN_REASON = "marked with <Pin>"
_PIN = re.compile(r"<Pin>(.*?)</Pin>", re.DOTALL | re.IGNORECASE)
_PINS_END = re.compile(r"</Pin>", re.IGNORECASE)


RuleFinder = Callable[[str], Iterable[tuple[str, str]]]
"""`said_in`, or what keeps its answers."""


def standing_rules(messages: Sequence[Message], rules_in: RuleFinder | None = None) -> tuple[StandingRule, ...]:
    """The user's standing instructions in order, `<Pin>` passages among them; one that is said again stands where it
    was said last. `superseded_by` is the instruction that replaced it. `rules_in` tells those of each
    message's own words, for a caller who asks of the same more than once."""
    found: dict[str, StandingRule] = {}
    for index, words in typed_texts(messages):
        rules = [*(rules_in or rules_in_text)(words)]
        known = {text for text, _ in rules}
        releases = ((text, _RELEASE_REASON) for text in _releases(words) if text not in known)
        for text, reason in (*rules, *releases):
            found.pop(text.lower(), None)
            found[text.lower()] = StandingRule(Fact("instruction", text, messages[index].id, index), reason)
    return tuple(one for one in _with_superseding(list(found.values())) if one.reason != _RELEASE_REASON)


_RELEASE_REASON = "takes an instruction back"


@session_cache(1_024)
def _releases(words: str) -> tuple[str, ...]:
    """Sentences that take an instruction back or correct it. Who asks what stood at each of many compactions asks for
    the same ones again and again."""
    told = (one for one in sentences(words) if len(one) <= LONGEST_SENTENCE and not is_question(one))
    return tuple(one for one in told if _is_release(normalize(one)) or is_correction(one))


def _is_release(low: str) -> bool:
    return any(grammar(language).has("release", low) for language in languages_of(low))


CACHED_CHARS = 8_000
"""Characters up to which a message is known again: of some thousand longer ones each would be kept for its answer."""


def rules_in_text(words: str) -> tuple[tuple[str, str], ...]:
    """The instructions in a user's own words with their reasons, in order, each as it stands there. What they pasted
    gives none, nor does a request for a summary of the conversation. Sessions that were resumed or forked repeat their
    history, and who looks for all facts asks what who looks for the instructions that still hold will ask again."""
    return _cached_rules(words) if len(words) <= CACHED_CHARS else tuple(_find_rules(words))


@session_cache(4_096)
def _cached_rules(words: str) -> tuple[tuple[str, str], ...]:
    return tuple(_find_rules(words))


def _find_rules(words: str) -> Iterator[tuple[str, str]]:
    # Up to the last mark that closes one: each that opens would else be followed to the end of the text.
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
    """Whether a message is an agent's own request for a summary, as some record it among the user's."""
    return len(words) >= 400 and _SUMMARIZE.search(words[:600].lower()) is not None


_SUMMARIZE = re.compile(
    r"\b(?:summar(?:y|i[sz]e)|handoff|hand-off|compact(?:ion|ed)?|checkpoint)\b[^.]{0,120}\b(?:conversation|session|"
    r"so far|context|history|previous actions|another (?:language )?model)\b"
    r"|(?:总结|摘要|压缩).{0,30}(?:对话|会话|上下文)"
)


class _Part(Struct, frozen=True):
    """A sentence, in which line of its message it stands, and where."""

    sentence: Sentence
    line: TextLine
    start: int
    stop: int


def typed_sentences(text: str) -> tuple[list[_Part], bool]:
    """The sentences that a person typed, but for data, and whether anything was pasted beside them."""
    found, pasted = [], False
    for passage in passages(text):
        pasted = pasted or not passage.own
        if passage.own:
            own = text[passage.start : passage.stop]
            for line in lines(own):
                there = replace(line, start=passage.start + line.start, stop=passage.start + line.stop)
                for start, stop in sentence_spans(own, line):
                    sentence = Sentence(own[start:stop].strip(), line.bullet)
                    if _is_candidate(sentence):
                        found.append(_Part(sentence, there, passage.start + start, passage.start + stop))
    return found, pasted


@dataclass(frozen=True, slots=True)
class _Rule:
    """An instruction `text[start:stop]` of a message, and why it is one."""

    start: int
    stop: int
    reason: str


_LIST_REASONS = frozenset((RULE, PROHIBITION, GATE, MIND, LANGUAGE))
"""What a line that ends with a colon can make of the list below it."""


def _rules(text: str) -> list[_Rule]:
    """The instructions of one message in order. Under a line that announces rules every item of the list is one, unless
    the message orders one thing, which they may tell of."""
    parts, pasted = typed_sentences(text)
    several = [part.sentence for part in parts]
    long = is_long(several)
    chance = probabilities(several, pasted=pasted)
    least = RULE_PROBABILITY_IN_LONG if long else RULE_PROBABILITY
    stands = {part.start: _reason(part.sentence) for part, likely in zip(parts, chance, strict=True) if likely >= least}
    made: list[_Rule] = []
    under, head = "", None
    for line, group in groupby(parts, key=lambda part: part.line):
        words = text[line.start : line.stop]
        if not line.bullet:
            under, head = "", None
        if line.heading and _announces_rules(words):
            for_one = any("once" in part.sentence.roles for part in parts if part.start not in stands)
            under = "" if long or for_one else RULE
            continue
        rules = _rules_in_line(group, stands)
        if line.bullet and under:
            made = [one for one in made if one is not head]
            rules = rules or [_Rule(line.start, line.stop, under)]
        made += rules
        if rules and not line.bullet and rules[-1].reason in _LIST_REASONS and words[-1] in ":：":
            head = rules[-1]
            under = head.reason
    return made


def _announces_rules(heading: str) -> bool:
    """Whether the items below a heading are rules: it says so ("Ground rules:")."""
    low = normalize(heading)
    return len(low) <= 60 and any(grammar(language).has("heading", low) for language in languages_of(low))


def _rules_in_line(parts: Iterable[_Part], stands: Mapping[int, str]) -> list[_Rule]:
    """A sentence that leans on the one before it ("Never exceed it.") takes that along."""
    made: list[_Rule] = []
    before: _Rule | None = None
    for part in parts:
        rule = _Rule(part.start, part.stop, stands.get(part.start, ""))
        if before and rule.reason and rule.stop - before.start <= LONGEST_SENTENCE and _refers_back(part.sentence.low):
            rule = replace(rule, start=before.start, reason=before.reason or rule.reason)
            made = [one for one in made if one is not before]
        if rule.reason:
            made.append(rule)
        before = rule
    return made


def _refers_back(low: str) -> bool:
    """Whether one of its first words stands for something said before."""
    return any(grammar(language).leans(low) for language in languages_of(low))


def _with_superseding(several: list[StandingRule]) -> Iterator[StandingRule]:
    for one, later in zip(several, superseding(tuple(one.fact.text for one in several)), strict=True):
        elsewhere = later is not None and several[later].fact.index != one.fact.index
        yield StandingRule(one.fact, one.reason, several[later].fact if later is not None and elsewhere else None)
