"""What people and agents said: requests, standing instructions, decisions. Precision goes before recall.

Instructions come from the user's own messages alone: text inside tool results, reminders and summaries is never one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from workbench.facts.fact import Fact
from workbench.facts.wording import is_question, own_words, plain, sentences
from workbench.session import Message

LONGEST_SENTENCE = 700
"""A longer "sentence" is a paragraph or data without full stops; none is taken for an instruction or a decision."""

_START = r"(?:^|[,;:—–-] ?|\b(?:and|but|also|please|pls|so|then|just|you can|you should|first|instead|again) )"
_INSTRUCTION = tuple(
    re.compile(pattern)
    for pattern in (
        _START + r"(?:never|always|don't|do not|dont|make sure|ensure that|be sure|remember to|remember that|"
        r"avoid|from now on|going forward|refrain from|stick to|use only|no longer) \S",
        _START + r"only (?:use|change|touch|edit|modify|run|write|commit|add|do|work|fix|answer|reply|test|ask|read)\b",
        _START + r"stop \w{2,20}ing\b",
        r"\b(?:from now on|at all times|under no circumstances|no exceptions|hard rule|no matter what)\b",
        r"\b(?:must|should|shall) (?:not|never|always|only)\b(?! be (?:because|due|that))",
        r"\b(?:you|we|it|they|this|that|code|tests?|files?|names?|messages?|commits?|output|each|every|all) "
        r"(?:\w{1,20} ){0,3}must\b(?! (?:have (?:been|got|gone|had|\w{1,20}ed)|be (?:because|due|some|that|a bug)))",
        r"\b(?:mustn't|is forbidden|are forbidden|not allowed to|is mandatory|has to stay|have to stay)\b",
    )
)
_NOT_INSTRUCTION = re.compile(
    r"\b(?:i|we|they|it|he|she|this|that|there) (?:can|could|should|would|may|might)(?: not|n't) "
    r"(?:find|see|understand|tell|get)\b"
    r"|^(?:i|we) (?:don't|do not|never|always)\b"
    r"|\bdon't (?:know|think|see|understand|worry|get|remember|mind|have to)\b"
    r"|\bdo not (?:know|think|understand)\b|\bwhy (?:don't|do not)\b|\b(?:can|may) only be\b"
)
_INSTRUCTION_ZH = re.compile(
    r"不要|不得|不准|不许|禁止|严禁|必须|务必|一定要|总是|始终|永远|从现在起|从现在开始|从今以后|今后都|以后都|以后请|"
    r"只能|只许|只准|只用|只修改|只改|只使用|请勿|切勿|记住|确保|(?:^|[，,；;：: ]|请)别(?!的|人|处|名|扭)"
)

_DECISION = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b(?:i|we) (?:have |'ve )?(?:decided|chose|opted|settled|agreed|picked) (?:to|on|for|that|not|against|the)\b",
        r"\b(?:i|we) (?:chose|picked|prefer|selected) .{1,150}\b(?:because|over|instead of|rather than|since)\b",
        r"\b(?:i|we)(?:'ve| have) (?:decided|chosen|opted|settled|agreed)\b",
        r"\b(?:i|we)(?:'ll| will| am going to|'m going to|'re going to) (?:use|go with|switch to|stick with|keep|drop|"
        r"skip|reuse|store|put) .{2,300}\b(?:instead|rather than|because|since|so that|for now)\b",
        r"\b(?:let's|lets|let us) (?:go with|use|stick with|stick to|switch to|keep|drop|skip|not|avoid|do option)\b",
        r"^(?:decision|decided|agreed|chosen approach|the decision)\b",
        r"\b(?:going with|go with) (?:option|approach|the|plan|an?|\W?\w{1,20}\W? (?:instead|because))",
        r"\b(?:better|best|right|cleanest|simplest|chosen|correct) "
        r"(?:approach|fix|option|solution|choice|way) (?:is|here is) to\b",
        r"\b(?:i|we)(?:'m| am|'re| are) (?:choosing|picking|sticking with|switching to)\b",
    )
)
_DECISION_ZH = re.compile(
    r"决定(?!性|于)|我选择|我们选择|选用|改用|改为使用|采用(?!率)|就用|那就用|我们用|方案(?:定为|确定)|最终选"
)


def requests(messages: Sequence[Message]) -> Iterator[Fact]:
    """What the user asked for, message by message; `ok` says whether an answer came before the next request."""
    asked: list[tuple[int, str]] = [
        (index, words)
        for index, message in enumerate(messages)
        if message.starts_round and (words := own_words(message.text))
    ]
    for number, (index, words) in enumerate(asked):
        until = asked[number + 1][0] if number + 1 < len(asked) else len(messages)
        yield Fact("request", words, messages[index].id, index, ok=_answered(messages, index + 1, until))


def _answered(messages: Sequence[Message], start: int, stop: int) -> bool:
    """Whether the agent's last word before `stop` was an answer and not another tool call."""
    for index in range(stop - 1, start - 1, -1):
        message = messages[index]
        if message.role == "assistant" and message.kind == "normal":
            return not message.calls and bool(message.text.strip())
    return False


def instructions(messages: Sequence[Message]) -> Iterator[Fact]:
    for index, message in enumerate(messages):
        if message.starts_round:
            for sentence in _own_sentences(message):
                if is_instruction(sentence):
                    yield Fact("instruction", sentence, message.id, index)


def decisions(messages: Sequence[Message]) -> Iterator[Fact]:
    for index, message in enumerate(messages):
        if message.starts_round or (message.role == "assistant" and message.kind == "normal"):
            for sentence in _own_sentences(message):
                if is_decision(sentence):
                    yield Fact("decision", sentence, message.id, index)


def _own_sentences(message: Message) -> Iterator[str]:
    for sentence in sentences(own_words(message.text)):
        if len(sentence) <= LONGEST_SENTENCE:
            yield sentence


def is_instruction(sentence: str) -> bool:
    """Whether a user's sentence says how things are to be done from then on."""
    if is_question(sentence):
        return False
    low = plain(sentence)
    if _INSTRUCTION_ZH.search(low):
        return True
    return not _NOT_INSTRUCTION.search(low) and any(pattern.search(low) for pattern in _INSTRUCTION)


def is_decision(sentence: str) -> bool:
    if is_question(sentence):
        return False
    low = plain(sentence)
    return bool(_DECISION_ZH.search(low)) or any(pattern.search(low) for pattern in _DECISION)
