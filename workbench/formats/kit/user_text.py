"""Separation of the user's words from text that agents add, in user messages and tool results.

Agents and editors insert tagged texts into a user's message: reminders, the open file, the date. Users also speak
through tools: answers to questions, reasons for rejecting a call. `AgentTexts` describes an agent's forms;
`formats/agent_texts.py` merges those of all agents.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from msgspec import Struct

from workbench.session import Block, Message, Text, ToolResult, ToolUse

ReadAnswers = Callable[[Mapping[str, Any], str], Iterable[str]]
"""Takes the arguments of a call and the text of its result; returns the user's answers. The arguments are needed
because a question may contain the separator of answers."""


class Refusal(Struct, frozen=True):
    """Form in which an agent reports that the user rejected a call: a text that begins with `begins`. `words` returns
    the user's words, None for another text."""

    begins: str
    words: Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class AgentTexts:
    """Texts that an agent adds to a user's message, and the form of the user's words in its results.

    tags: tags whose contents the agent wrote. They count only at the beginning of a line; within a sentence the user
      mentions them. Names that users might write themselves (`context`, `rules`) belong to one format only.
    wrappers: regular expressions for tags around the user's own words.
    closings: regular expressions for untagged texts after the user's words, to the end of the message.
    answers: for each tool that asks the user, readers of its results.
    refusals: forms of the results of calls that the user rejected.
    """

    tags: tuple[str, ...] = ()
    wrappers: tuple[str, ...] = ()
    closings: tuple[str, ...] = ()
    answers: Mapping[str, tuple[ReadAnswers, ...]] = field(default_factory=dict)
    refusals: tuple[Refusal, ...] = ()


def merged(*texts: AgentTexts) -> AgentTexts:
    """Merge the texts of several agents. For a tool name that several use, the first reader that finds answers
    counts."""
    answers: dict[str, tuple[ReadAnswers, ...]] = {}
    for one in texts:
        for tool, read in one.answers.items():
            answers[tool] = (*answers.get(tool, ()), *read)
    return AgentTexts(
        tuple(tag for one in texts for tag in one.tags),
        tuple(wrapper for one in texts for wrapper in one.wrappers),
        tuple(closing for one in texts for closing in one.closings),
        answers,
        tuple(refusal for one in texts for refusal in one.refusals),
    )


def with_user_text(messages: Iterable[Message], known: AgentTexts, also: Collection[str] = ()) -> tuple[Message, ...]:
    """Return the messages with each user text split into own and injected parts, and with the user's words in a tool
    result as its `user_text`.

    A user message with only injected texts becomes `meta`. Texts that a format has already marked as injected are not
    split. also: further tags whose contents the agent writes.
    """
    found: list[Message] = []
    calls: dict[str, ToolUse] = {}
    for message in messages:
        results: list[ToolResult] = []
        for block in message.blocks:
            if isinstance(block, ToolUse):
                calls[block.id] = block
            elif isinstance(block, ToolResult):
                results.append(block)
        if message.starts_round:
            message = _split_message(message, known, also)
        elif results and any(_may_answer(calls.get(result.call_id), result, known) for result in results):
            message = _with_answers(message, calls, known)
        found.append(message)
    return tuple(found)


def _may_answer(call: ToolUse | None, result: ToolResult, known: AgentTexts) -> bool:
    """Return True if a result may contain the user's words; most are excluded by their beginning."""
    if call is not None and call.name in known.answers:
        return True
    first = result.content[0] if result.content else None
    return isinstance(first, Text) and first.text.startswith(tuple(one.begins for one in known.refusals))


def _split_message(message: Message, known: AgentTexts, also: Collection[str]) -> Message:
    blocks = tuple(_own_and_injected(message.blocks, known, also))
    if is_injected(blocks):
        return replace(message, blocks=blocks, kind="meta")
    return message if blocks == message.blocks else replace(message, blocks=blocks)


def _with_answers(message: Message, calls: Mapping[str, ToolUse], known: AgentTexts) -> Message:
    blocks = tuple(
        replace(block, user_text=own)
        if isinstance(block, ToolResult)
        and not block.user_text
        and (own := user_words_in(calls.get(block.call_id), block, known))
        else block
        for block in message.blocks
    )
    return message if blocks == message.blocks else replace(message, blocks=blocks)


def _own_and_injected(blocks: Iterable[Block], known: AgentTexts, also: Collection[str]) -> Iterator[Block]:
    for block in blocks:
        if isinstance(block, Text) and not block.injected:
            yield from split_user_text(block.text, known, also)
        else:
            yield block


def is_injected(blocks: Sequence[Block]) -> bool:
    """Return True for a user message of injected texts only."""
    return bool(blocks) and all(isinstance(block, Text) and block.injected for block in blocks)


def split_user_text(text: str, known: AgentTexts, also: Collection[str] = ()) -> tuple[Text, ...]:
    """Return a user's text as blocks of own and injected words in turn; joined they equal `text`. White space between
    them is part of the injected blocks."""
    spans = [*_spans(text, _opening((*known.tags, *also), known.wrappers))] if "<" in text else []
    if known.closings and (closing := _closing(known.closings).search(text)):
        spans = [(start, stop) for start, stop in spans if stop <= closing.start()]
        spans.append(closing.span())
    if not spans:
        return (Text(text),)
    blocks: list[Text] = []
    injected, at = "", 0
    for start, stop in [*spans, (len(text), len(text))]:
        between = text[at:start]
        if own := between.strip():
            before, after = between.split(own, 1)
            if injected + before:
                blocks.append(Text(injected + before, injected=True))
            blocks.append(Text(own))
            injected = after
        else:
            injected += between
        injected += text[start:stop]
        at = stop
    return (*blocks, Text(injected, injected=True)) if injected else tuple(blocks)


def _spans(text: str, opening: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Yield the spans of injected passages and of the tags around own words, in order. An unclosed tag is plain
    text."""
    unclosed: set[str] = set()
    at = 0
    for found in opening.finditer(text):
        name = found[1]
        if found.start() < at or name in unclosed:
            continue
        if name is None:
            yield found.span()
        elif (closed := text.find(f"</{name}>", found.end())) < 0:
            unclosed.add(name)
        else:
            at = closed + len(name) + 3
            yield found.start(), at


@cache
def _opening(tags: tuple[str, ...], wrappers: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(map(re.escape, tags))
    return re.compile(rf"(?:^|(?<=>))[ \t]*<({names})(?:\s[^<>\n]*)?>|</?(?:{'|'.join(wrappers)})>", re.MULTILINE)


@cache
def _closing(closings: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"\n\n(?:{'|'.join(closings)})\s*\Z")


def user_words_in(call: ToolUse | None, result: ToolResult, known: AgentTexts) -> str:
    """Return the user's words in a tool result, one answer per line; "" if there are none."""
    text = result.text
    for refusal in known.refusals:
        if text.startswith(refusal.begins) and (words := refusal.words(text)) is not None:
            return words
    arguments = call.input if call is not None and isinstance(call.input, dict) else {}
    for read in known.answers.get(call.name, ()) if call is not None else ():
        if answer_lines := "\n".join(filter(None, (answer.strip() for answer in read(arguments, text)))):
            return answer_lines
    return ""
