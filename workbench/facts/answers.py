"""Text that the user typed, and answers that the user gave through tools: to questions and to refused calls."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from workbench.facts.wording import sentences
from workbench.session import Message, ToolResult, ToolUse

_OPTIONS = ("options", "choices", "follow_up", "suggestions")
_LABELS = ("label", "text", "answer", "value", "title")
_ADVERTISED = re.compile(r" \(recommended\)\Z", re.IGNORECASE)
"""Suffix of an option that is removed from the end of an answer. In an answer of several options only the last one
loses it, because a fact is a verbatim part of the message."""


class UserAnswer(Struct, frozen=True):
    """An answer of the user. `text` is one of the agent's options (`chosen`) or typed text. `question` is "" if there
    was no question, or if several are possible. `message` and `index` are id and index of the message that holds the
    answer."""

    text: str
    question: str
    chosen: bool
    message: str
    index: int

    @property
    def settles(self) -> bool:
        """True if the text only answers the question, as a chosen option or a short sentence does. Longer text, and
        typed text without a question, is a request of its own."""
        if self.chosen or not self.question:
            return self.chosen
        return len(self.text) <= SHORT_ANSWER and "\n" not in self.text and len([*sentences(self.text)]) < 2


SHORT_ANSWER = 200
"""Longest typed sentence that only answers a question, in characters."""


class _Question(Struct, frozen=True):
    text: str
    options: frozenset[str]

    def offers(self, line: str) -> bool:
        """True if the line is one of the options, or several of them joined by commas."""
        return line in self.options or (bool(self.options) and self.options.issuperset(line.split(", ")))


def user_answers(messages: Sequence[Message]) -> Iterator[UserAnswer]:
    """Yield the answers given through tools in order, without the suffix "(recommended)" of an option."""
    results = [
        (index, block)
        for index, message in enumerate(messages)
        if message.role != "assistant"
        for block in message.blocks
        if isinstance(block, ToolResult) and block.user_text
    ]
    call_ids = {block.call_id for _, block in results}
    calls = {call.id: call for message in messages if call_ids for call in message.calls if call.id in call_ids}
    for index, block in results:
        for text, question, chosen in _split_answer(block.user_text, _questions(calls.get(block.call_id))):
            yield UserAnswer(text, question, chosen, messages[index].id, index)


def typed_texts(messages: Sequence[Message]) -> Iterator[tuple[int, str]]:
    """Yield each text that the user typed, with its message's index: the user's own messages, and answers that are not
    among the agent's options. Pastes are included; `workbench.facts.pastes` separates them."""
    answered: dict[int, list[str]] = {}
    for answer in user_answers(messages):
        if not answer.chosen:
            answered.setdefault(answer.index, []).append(answer.text)
    for index, message in enumerate(messages):
        for text in [message.user_text] if message.starts_round else answered.get(index, ()):
            if words := text.strip():
                yield index, words


def _split_answer(reply: str, questions: Sequence[_Question]) -> Iterator[tuple[str, str, bool]]:
    """Split an answer into (text, question, is a choice): choices and typed texts (consecutive typed lines are one
    text). A typed text belongs to the only question, or to the only question without a choice; else its question is
    ""."""
    lines = reply.split("\n")
    matches = [next((question for question in questions if question.offers(line)), None) for line in lines]
    unanswered = [question for question in questions if question not in matches] if len(questions) > 1 else questions
    typed: list[str] = []
    for line, question in [*zip(lines, matches, strict=True), ("", None)]:
        if question is None and line:
            typed.append(line)
            continue
        if text := "\n".join(typed).strip():
            yield text, unanswered[0].text if len(unanswered) == 1 else "", False
        typed = []
        if question is not None:
            yield _ADVERTISED.sub("", line), question.text, True


def _questions(call: ToolUse | None) -> list[_Question]:
    data = call.input if call is not None and isinstance(call.input, dict) else {}
    several = data.get("questions")
    found = [_question(one) for one in (data, *(several if isinstance(several, list) else ()))]
    return [question for question in found if question.text]


def _question(data: Any) -> _Question:
    if not isinstance(data, Mapping):
        return _Question("", frozenset())
    text = data.get("question")
    options = (one for key in _OPTIONS if isinstance(data.get(key), list) for one in data[key])
    labels = (label for one in options for label in (one, *(_labels_of(one))) if isinstance(label, str))
    return _Question(text if isinstance(text, str) else "", frozenset(map(str.strip, labels)))


def _labels_of(option: Any) -> Iterator[Any]:
    if isinstance(option, Mapping):
        yield from (option[key] for key in _LABELS if key in option)
