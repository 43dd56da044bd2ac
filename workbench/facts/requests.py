"""Facts about the user's requests. Prefers precision to recall.

Only text of the user counts, typed or given through a tool; not results, reminders or summaries.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from workbench.facts.answers import typed_texts, user_answers
from workbench.facts.fact import Fact
from workbench.session import Message

_COURTESY = re.compile(
    r"\W*(?:(?:wow|nice|great|thanks?|thank you|thx|ty|cool|perfect|awesome|amazing|excellent|lovely|lol|haha+|"
    r"hi|hey|hello|yo|good job|well done|it works?|works|danke|super|merci|谢谢|不错|很好|太好了|你好)\W*){1,4}",
    re.IGNORECASE,
)
"""Text that only greets, thanks, praises or agrees, and requests nothing."""


def request_facts(messages: Sequence[Message]) -> Iterator[Fact]:
    """Yield the user's requests; `ok` is True if the agent answered before the next request."""
    texts = [(index, words) for index, words in typed_requests(messages) if not is_courtesy(words)]
    for number, (index, words) in enumerate(texts):
        until = texts[number + 1][0] if number + 1 < len(texts) else len(messages)
        yield Fact("request", words, messages[index].id, index, ok=_is_answered(messages, index + 1, until))


def typed_requests(messages: Sequence[Message]) -> Iterator[tuple[int, str]]:
    """Yield the typed texts that do more than answer a question."""
    settled = {(answer.index, answer.text) for answer in user_answers(messages) if answer.settles}
    return (typed_text for typed_text in typed_texts(messages) if typed_text not in settled)


def is_courtesy(words: str) -> bool:
    """Return whether a user's text only greets, thanks, praises or agrees."""
    return len(words) <= 60 and "?" not in words and _COURTESY.fullmatch(words) is not None


def _is_answered(messages: Sequence[Message], start: int, stop: int) -> bool:
    """Return whether the agent's last message from `start` to before `stop` is an answer without a tool call."""
    for index in range(stop - 1, start - 1, -1):
        message = messages[index]
        if message.role == "assistant" and message.kind == "normal":
            return not message.calls and bool(message.text.strip())
    return False
