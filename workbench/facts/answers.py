"""What the person said through tools: answers to the agent's questions, and words to a call that was refused."""

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
"""Of several choices the words between stay: what was answered is told as it stands there."""


class UserAnswer(Struct, frozen=True):
    """`text` is what the person chose of the agent's options (`chosen`) or typed. `question` is what was asked, ""
    where nothing was, or where it is not known which of several; `index` is the message that bears the answer."""

    text: str
    question: str
    chosen: bool
    message: str
    index: int

    @property
    def settles(self) -> bool:
        """Whether it only answers the question; what is longer asks for something of its own."""
        if self.chosen or not self.question:
            return self.chosen
        return len(self.text) <= SHORT_ANSWER and "\n" not in self.text and len([*sentences(self.text)]) < 2


SHORT_ANSWER = 200
"""Characters up to which one sentence that was typed to a question is only its answer."""


class _Question(Struct, frozen=True):
    text: str
    options: frozenset[str]

    def offers(self, line: str) -> bool:
        """Whether the line is one of the options, or several of them with commas."""
        return line in self.options or (bool(self.options) and self.options.issuperset(line.split(", ")))


def user_answers(messages: Sequence[Message]) -> Iterator[UserAnswer]:
    """What was said through tools, in order. Options that the agent advertises are told without that."""
    said = [
        (index, block)
        for index, message in enumerate(messages)
        if message.role != "assistant"
        for block in message.blocks
        if isinstance(block, ToolResult) and block.said
    ]
    wanted = {block.call_id for _, block in said}
    calls = {call.id: call for message in messages if wanted for call in message.calls if call.id in wanted}
    for index, block in said:
        for text, question, chosen in _split_answer(block.said, _questions(calls.get(block.call_id))):
            yield UserAnswer(text, question, chosen, messages[index].id, index)


def typed_texts(messages: Sequence[Message]) -> Iterator[tuple[int, str]]:
    """What the user typed, in order, whole and as they typed it: each message's own words with its index, and each
    answer that is none of the agent's options. What they pasted into it `workbench.facts.pastes` tells apart."""
    answered: dict[int, list[str]] = {}
    for answer in user_answers(messages):
        if not answer.chosen:
            answered.setdefault(answer.index, []).append(answer.text)
    for index, message in enumerate(messages):
        for text in [message.said] if message.starts_round else answered.get(index, ()):
            if words := text.strip():
                yield index, words


def _split_answer(said: str, asked: Sequence[_Question]) -> Iterator[tuple[str, str, bool]]:
    """Each choice by itself, each run of typed lines as one. A typed answer is to the only question, or to the only one
    without a choice."""
    lines = said.split("\n")
    of = [next((question for question in asked if question.offers(line)), None) for line in lines]
    unanswered = [question for question in asked if question not in of] if len(asked) > 1 else asked
    typed: list[str] = []
    for line, question in [*zip(lines, of, strict=True), ("", None)]:
        if question is None and line:
            typed.append(line)
            continue
        if text := "\n".join(typed).strip():
            yield text, unanswered[0].text if len(unanswered) == 1 else "", False
        typed = []
        if question is not None:
            yield _ADVERTISED.sub("", line), question.text, True


def _questions(call: ToolUse | None) -> list[_Question]:
    given = call.input if call is not None and isinstance(call.input, dict) else {}
    several = given.get("questions")
    found = [_question(one) for one in (given, *(several if isinstance(several, list) else ()))]
    return [question for question in found if question.text]


def _question(given: Any) -> _Question:
    if not isinstance(given, Mapping):
        return _Question("", frozenset())
    text = given.get("question")
    options = (one for key in _OPTIONS if isinstance(given.get(key), list) for one in given[key])
    labels = (label for one in options for label in (one, *(_labels_of(one))) if isinstance(label, str))
    return _Question(text if isinstance(text, str) else "", frozenset(map(str.strip, labels)))


def _labels_of(option: Any) -> Iterator[Any]:
    if isinstance(option, Mapping):
        yield from (option[key] for key in _LABELS if key in option)
