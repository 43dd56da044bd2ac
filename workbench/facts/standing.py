"""Standing instructions: what a user's sentence sets for the work beyond the request it stands in, why it is taken for
one, and which later one replaced it.

An ordinary request is none ("fix the parser"), nor is a statement with a strong word ("the build always fails"). How a
sentence is built decides (`workbench.facts.standing_rules`), in nine languages; each has its reason, which is shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.facts.answers import typed
from workbench.facts.fact import Fact
from workbench.facts.pasted import passages
from workbench.facts.replaced import amends, replaced
from workbench.facts.standing_rules import (
    GATE,
    LANGUAGE,
    MIND,
    PROHIBITION,
    RULE,
    Ground,
    Reach,
    grammar,
    languages_of,
)
from workbench.facts.wording import LONGEST_SENTENCE, Line, is_question, lines, plain, sentence_spans, sentences
from workbench.session import Message


def reason_of(sentence: str) -> str:
    """Why a user's sentence, by itself, is taken for a standing instruction; "" where it is none."""
    found = _ground(sentence)
    return found.reason if found else ""


def _ground(sentence: str) -> Ground | None:
    if len(sentence) > LONGEST_SENTENCE:
        return None
    low = plain(_QUOTED.sub("“…”", sentence))
    if not low or _DATA.search(low):
        return None
    asked = is_question(sentence)
    grammars = [grammar(language) for language in languages_of(low)]
    grounds = filter(None, (one.ground(low, asked=asked) for one in grammars))
    found = max(grounds, key=lambda one: one.reach, default=None)
    if found is None or found.reach < max(one.least(low) for one in grammars):
        return None
    return None if found.reach is Reach.ALONE and len(low) > LONGEST_RULE else found


LONGEST_RULE = 200
"""A longer sentence that only tells how a thing is to be describes the thing."""

_QUOTED = re.compile(
    r"\"[^\"]{1,200}\"|“[^”\n]{1,200}”|«[^»\n]{1,200}»|「[^」\n]{1,200}」|`[^`\n]{1,200}`|(?<!\w)'[^'\n]{2,200}'(?!\w)"
)
"""What others say: nothing in it is asked for."""
_DATA = re.compile(r"[{}]$|(?<! );$|\)\s?;|=>|\w(?:error|exception):|\bno (?:such file|module named)\b")
"""A line of code, or what a program says of its failure."""


@dataclass(frozen=True, slots=True)
class Standing:
    """An instruction, why it is taken for one, and the later one that replaced it: the latest wins."""

    fact: Fact
    reason: str
    superseded_by: Fact | None = None


PIN_REASON = "marked with <Pin>"
_PIN = re.compile(r"<Pin>(.*?)</Pin>", re.DOTALL | re.IGNORECASE)
_PINS_END = re.compile(r"</Pin>", re.IGNORECASE)


RulesIn = Callable[[str], Iterable[tuple[str, str]]]
"""`said_in`, or what keeps its answers."""


def standing(messages: Sequence[Message], rules_in: RulesIn | None = None) -> tuple[Standing, ...]:
    """The user's standing instructions in order, `<Pin>` passages among them; one that is said again stands where it
    was said last. `superseded_by` is the instruction that replaced it. `rules_in` tells those of each
    message's own words, for a caller who asks of the same more than once."""
    found: dict[str, Standing] = {}
    for index, words in typed(messages):
        rules = [*(rules_in or said_in)(words)]
        for text, reason in (*rules, *_releases(words, {text for text, _ in rules})):
            found.pop(text.lower(), None)
            found[text.lower()] = Standing(Fact("instruction", text, messages[index].id, index), reason)
    return tuple(one for one in _superseded(list(found.values())) if one.reason != _RELEASED)


_RELEASED = "takes an instruction back"


def _releases(words: str, rules: set[str]) -> Iterator[tuple[str, str]]:
    """Sentences that are no instruction and take one back or correct it."""
    for sentence in sentences(words):
        if len(sentence) > LONGEST_SENTENCE or is_question(sentence) or sentence in rules:
            continue
        if RELEASE.search(plain(sentence)) or amends(sentence):
            yield sentence, _RELEASED


def said_in(words: str) -> Iterator[tuple[str, str]]:
    """The instructions in a user's own words with their reasons, in order, each as it stands there. What they pasted
    gives none, nor does a request for a summary of the conversation."""
    # Up to the last mark that closes one: each that opens would else be followed to the end of the text.
    last = max((mark.end() for mark in _PINS_END.finditer(words)), default=0)
    for passage in _PIN.findall(words, 0, last):
        if text := passage.strip():
            yield text, PIN_REASON
    if is_compaction_prompt(words):
        return
    typed = _PIN.sub("\n\n", words[:last]) + words[last:]
    parts = passages(typed)
    said = [one for part in parts if part.own for one in _said(typed[part.start : part.stop])]
    for one in _rules(said, pasted=any(not part.own for part in parts)):
        yield one.text, one.reason


def is_compaction_prompt(words: str) -> bool:
    """Whether a message is an agent's own request for a summary, as some record it among the user's."""
    return len(words) >= 400 and _SUMMARIZE.search(words[:600].lower()) is not None


_SUMMARIZE = re.compile(
    r"\b(?:summar(?:y|i[sz]e)|handoff|hand-off|compact(?:ion|ed)?|checkpoint)\b[^.]{0,120}\b(?:conversation|session|"
    r"so far|context|history|previous actions|another (?:language )?model)\b"
    r"|(?:总结|摘要|压缩).{0,30}(?:对话|会话|上下文)"
)


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence as it stands, where it begins in its passage, and why it is an instruction: "" where it is none."""

    text: str
    start: int
    reason: str = ""
    reach: Reach = Reach.ALONE


_LEADS = frozenset((RULE, PROHIBITION, GATE, MIND, LANGUAGE))
"""What a line that ends with a colon can make of the list below it."""

LONGEST_OWN = 1_500
"""In a text of more characters, a plan or a report, only what reaches far sets a rule."""

SAYS = 12
"""Characters below which a sentence without a rule is a greeting, a thank-you, a yes."""


def _rules(said: Sequence[_Said], *, pasted: bool) -> Iterator[_Said]:
    """The instructions among the sentences of one message. How a thing is to be tells of that thing where the message
    asks for one: only in a message of rules alone is it a rule itself."""
    alone = not pasted and all(one.reason or len(one.text) < SAYS for one in said)
    for_one = any(asks_for_one(one.text) for one in said if one.reach < Reach.WORK)
    long = sum(len(one.text) for one in said) > LONGEST_OWN
    least = Reach.FAR if long else Reach.WORK if for_one else Reach.ALONE if alone else Reach.BESIDE
    return (one for one in said if one.reason and one.reach >= least)


def asks_for_one(sentence: str) -> bool:
    """Whether a sentence orders one text, program or answer."""
    if len(sentence) > LONGEST_SENTENCE:
        return False
    low = plain(sentence)
    return any(grammar(language).has("once", low) for language in languages_of(low))


def _said(text: str) -> list[_Said]:
    """The sentences of a passage. Under a line that announces rules every item of the list is one; a sentence that
    leans on the one before it ("Never exceed it.") takes that along."""
    made: list[_Said] = []
    head: _Said | None = None
    under, reach, items = "", Reach.ALONE, 0
    for line in lines(text):
        if not line.bullet:
            under, items, head = "", 0, None
        words = text[line.start : line.stop]
        if line.heading and _announces_rules(words):
            under, reach = RULE, Reach.BESIDE
            continue
        found = _in_line(text, line)
        rules = [one for one in found if one.reason]
        if line.bullet and under:
            item = _Said(words, line.start, under if len(words) <= LONGEST_SENTENCE else "", reach)
            found = [replace(one, reach=max(reach, one.reach)) for one in rules] or [item]
            items += 1
            if head is not None and items == 1:
                made.remove(head)
        made += found
        if rules and not line.bullet and rules[-1].reason in _LEADS and words[-1] in ":：":
            head = rules[-1]
            under, reach = head.reason, head.reach
    return made


def _announces_rules(heading: str) -> bool:
    """Whether the items below a heading are rules: it says so ("Ground rules:")."""
    low = plain(heading)
    return len(low) <= 60 and any(grammar(language).has("heading", low) for language in languages_of(low))


def _in_line(text: str, line: Line) -> list[_Said]:
    made: list[_Said] = []
    for start, stop in sentence_spans(text, line):
        sentence = text[start:stop].strip()
        ground = _ground(sentence)
        if ground is None:
            made.append(_Said(sentence, start))
        elif made and _leans(sentence) and stop - made[-1].start <= LONGEST_SENTENCE:
            before = made.pop()
            reason, reach = before.reason or ground.reason, max(before.reach, ground.reach)
            made.append(_Said(text[before.start : stop].strip(), before.start, reason, reach))
        else:
            made.append(_Said(sentence, start, ground.reason, ground.reach))
    return made


def _leans(sentence: str) -> bool:
    """Whether one of its first words stands for something said before."""
    low = plain(sentence)
    return any(grammar(language).leans(low) for language in languages_of(low))


RELEASE = re.compile(
    r"\byou (?:may|can) (?:now |again )?\w|\bit(?:'s| is) (?:ok|okay|fine|allowed) (?:now )?to \w|\bfeel free to \w"
    r"|\byou (?:no longer (?:need|have) to|(?:don't|do not) (?:need|have) to) \w"
    r"|\b(?:forget|ignore|drop) (?:what i said|the rule|my rule|the restriction)\b"
    r"|\bdu (?:darfst|kannst) (?:\S{1,30} ){0,3}(?:jetzt|wieder|doch)\b|\btu peux (?:maintenant|désormais|de nouveau)\b"
    r"|\b(?:ya|ahora) (?:sí )?puedes\b|\b(?:já|agora) (?:você )?pode\b|\b(?:теперь|снова) (?:можно|можешь)\b"
    r"|现在可以|可以.{1,20}了(?:[。.!！]|$)|(?:して|ても|変えて)も?(?:いい|構い|よい)|해도 (?:돼|됩|괜찮|좋)"
)
"""What takes a prohibition back."""


def _superseded(several: list[Standing]) -> Iterator[Standing]:
    for one, later in zip(several, replaced([one.fact.text for one in several]), strict=True):
        elsewhere = later is not None and several[later].fact.index != one.fact.index
        yield Standing(one.fact, one.reason, several[later].fact if later is not None and elsewhere else None)
