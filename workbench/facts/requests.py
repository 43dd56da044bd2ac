"""What the user said: requests and standing instructions. Precision goes before recall.

Instructions are the user's own words alone, typed or said through a tool; results, reminders and summaries hold none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from workbench.facts.answers import typed_texts, user_answers
from workbench.facts.fact import Fact
from workbench.facts.standing import rule_reason, rules_in_text
from workbench.session import Message

_APPLAUSE = re.compile(
    r"\W*(?:(?:wow|nice|great|thanks?|thank you|thx|ty|cool|perfect|awesome|amazing|excellent|lovely|lol|haha+|"
    r"hi|hey|hello|yo|good job|well done|it works?|works|danke|super|merci|谢谢|不错|很好|太好了|你好)\W*){1,4}",
    re.IGNORECASE,
)
"""A message of nothing else asks for nothing."""


def request_facts(messages: Sequence[Message]) -> Iterator[Fact]:
    """What the user asked for, message by message; `ok` says whether an answer came before the next request."""
    wanted = [(index, words) for index, words in typed_requests(messages) if not _is_applause(words)]
    for number, (index, words) in enumerate(wanted):
        until = wanted[number + 1][0] if number + 1 < len(wanted) else len(messages)
        yield Fact("request", words, messages[index].id, index, ok=_is_answered(messages, index + 1, until))


def typed_requests(messages: Sequence[Message]) -> Iterator[tuple[int, str]]:
    """What the user typed, without what only answers a question."""
    settled = {(answer.index, answer.text) for answer in user_answers(messages) if answer.settles}
    return (said for said in typed_texts(messages) if said not in settled)


def _is_applause(words: str) -> bool:
    return len(words) <= 60 and "?" not in words and _APPLAUSE.fullmatch(words) is not None


def _is_answered(messages: Sequence[Message], start: int, stop: int) -> bool:
    """Whether the agent's last word before `stop` was an answer and not another tool call."""
    for index in range(stop - 1, start - 1, -1):
        message = messages[index]
        if message.role == "assistant" and message.kind == "normal":
            return not message.calls and bool(message.text.strip())
    return False


def instruction_facts(messages: Sequence[Message]) -> Iterator[Fact]:
    for index, words in typed_texts(messages):
        for text, _ in rules_in_text(words):
            yield Fact("instruction", text, messages[index].id, index)


def is_instruction(sentence: str) -> bool:
    """Whether a user's sentence says how things are to be done from then on (`workbench.facts.standing`)."""
    return bool(rule_reason(sentence))
