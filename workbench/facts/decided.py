"""What was decided: choices that people and agents state, and the user's answers to questions. Precision goes before
recall.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from workbench.facts.answers import answers
from workbench.facts.fact import Fact
from workbench.facts.pasted import without_paste
from workbench.facts.said import asked
from workbench.facts.wording import LONGEST_SENTENCE, is_agents, is_question, plain, sentences, spoken
from workbench.session import Message

_KEEPING = (
    r"(?:use|go with|switch to|stick with|keep|drop|skip|reuse|store|put|remove|leave|revert|collapse|converge|omit)"
)
_TELLING = (
    r"(?:\w{1,12}ly |also |now |still |just |going to |not )*(?:address|adjudicat|admit|answer|ask|brief|deriv|explain|"
    r"flag|hono|land|mention|not[ei]|rais|record|report|say|said|stop|surfac|tell|wait|writ(?:e|ing) (?:it|that|this))"
)
"""How an agent speaks of its own words: nothing about the work is settled."""

_DECISION = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b(?:i|we) (?:have |'ve )?(?:decided|chose|opted|settled|agreed|picked) (?:to|on|for|that|not|against|the)\b",
        r"\b(?:i|we) (?:chose|picked|prefer|selected) .{1,150}\b(?:because|over|instead of|rather than|since)\b",
        r"\b(?:i|we)(?:'ve| have) (?:decided|chosen|opted|settled|agreed)\b",
        rf"\b(?:i|we)(?:'ll| will| am going to|'m going to|'re going to|'m still going to) {_KEEPING}\b.{{2,300}}"
        r"\b(?:instead|rather than|because|since|so that|for now)\b",
        rf"\b(?:i|we)(?:'m| am|'re| are|'ll| will) (?!{_TELLING}).{{3,250}}\b(?:rather than|instead of)\b",
        rf"^since .{{5,200}}, (?:i|we)(?:'m going to|'ll| will| am going to) {_KEEPING}\b",
        r"\b(?:i|we)(?:'d| would) (?:go with|only want|remove|drop|leave|omit)\b",
        r"\b(?:let's|lets|let us) (?:go with|use|stick with|stick to|switch to|keep|drop|skip|not|avoid|"
        r"do option|store|put|leave|remove|roll back|revert)\b",
        r"^(?:decision|decided|chosen approach|the decision)\b.{8}",
        r"^agreed (?:to|on|that|upon)\b",
        r"\b(?:going with|go with) (?:option|approach|the|plan|an?|\W?\w{1,20}\W? (?:instead|because))",
        r"\b(?:better|best|right|cleanest|simplest|chosen|correct) "
        r"(?:approach|fix|option|solution|choice|way) (?:is|here is) to\b",
        r"\b(?:i|we)(?:'m| am|'re| are) (?:choosing|picking|sticking with|switching to)\b",
        r"\bi agree with (?:your|this|that|the)\b",
        r"\bno need (?:for|to)\b.{3}",
        r"\b(?:doesn't|don't|does not|do not) need (?:an?|the|any)\b.{3,200}\bbecause\b",
    )
)
_USERS_DECISION = tuple(
    re.compile(pattern)
    for pattern in (
        r"^(?:no|nah|nope)[,.]? (?:remove|keep|leave|use|let's|lets|we (?:want|should|need)|i want|put|make|"
        r"drop|revert|skip)\b",
        r"^(?:ok,? |yes,? |you |we |i )?(?:can |just )?(?:leave|keep|drop|skip|remove) (?:it|this|that|them|those)\b",
        r"^[\w./, ()?-]{2,160} (?:->|→|=>) [\w./-]+(?: \([^)]{1,40}\))?$",
        r"^i think (?!we should (?:look|check)).{1,80}\b(?:is|are) (?:too|to) much\b",
        r"^(?:ok|okay|yes|yeah|alright)[,.]? (?:do nothing|let's (?:do|tackle|go|have|use|keep)|option \w)\b",
        r"^(?:i'd|i would) (?:only )?(?:want|prefer|go with)\b",
    )
)
"""How a user decides: by turning down, taking up or laying down what another was open."""
_ASKING = re.compile(
    r",? (?:and )?(?:can|could|would|will|should|do|does|is|are|right|no|yeah|ok|okay)\b[^,]{0,200}\?$", re.IGNORECASE
)
_DECISION_ZH = re.compile(
    r"决定(?!性|于)|我选择|我们选择|选用|改用|改为使用|采用(?!率)|就用|那就用|我们用|方案(?:定为|确定)|最终选"
)


def decisions(messages: Sequence[Message]) -> Iterator[Fact]:
    """What was settled: the user's answers to questions, whole, with the question; else sentence by sentence."""
    for answer in answers(messages):
        if answer.settles:
            yield Fact("decision", answer.text, answer.message, answer.index, answer.question)
    for index, words in asked(messages):
        for sentence in _own_sentences(without_paste(words)):
            if is_users_decision(sentence):
                yield Fact("decision", sentence, messages[index].id, index)
    for index, message in enumerate(messages):
        if is_agents(message):
            for sentence in _own_sentences(spoken(message)):
                if is_decision(sentence):
                    yield Fact("decision", sentence, message.id, index)


def _own_sentences(words: str) -> Iterator[str]:
    return (sentence for sentence in sentences(words) if len(sentence) <= LONGEST_SENTENCE)


def is_decision(sentence: str) -> bool:
    if is_question(sentence):
        return False
    low = plain(sentence)
    return bool(_DECISION_ZH.search(low)) or any(pattern.search(low) for pattern in _DECISION)


def is_users_decision(sentence: str) -> bool:
    """A user's question may hold a decision in front of it ("let's store it in the file, can you show me how?")."""
    stated = _ASKING.sub("", sentence) if is_question(sentence) else sentence
    if is_decision(stated):
        return True
    low = plain(stated)
    return not is_question(stated) and any(pattern.search(low) for pattern in _USERS_DECISION)
