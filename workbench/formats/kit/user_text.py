"""The user's own words in a user's message and in a tool's result.

An agent or editor puts texts of its own into a user's message, in tags: reminders, the open file, the date. A user also
speaks through tools: answers to questions, why a call was refused. `AgentTexts` says how an agent writes these; the
texts of all agents are `formats/agent_texts.py`.
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
"""Takes the arguments of a call and the text of its result; returns the user's answers. A question may hold what
separates answers, so that the arguments are needed."""


class Refusal(Struct, frozen=True):
    """How an agent reports that the user refused a call: texts that begin with `begins`, of which `words` returns the
    user's words, None for another text."""

    begins: str
    words: Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class AgentTexts:
    """Texts that an agent adds to a user's message, and the form of the user's words in its results.

    tags: names of tags whose contents the agent wrote. They count where a line begins with them: within a sentence the
      user speaks of them. Names that a user's own prompt might use (`context`, `rules`) are for one format alone.
    wrappers: expressions for the tags round the user's own words.
    answers: for each tool that asks the user, how its result is read.
    """

    tags: tuple[str, ...] = ()
    wrappers: tuple[str, ...] = ()
    answers: Mapping[str, tuple[ReadAnswers, ...]] = field(default_factory=dict)
    refusals: tuple[Refusal, ...] = ()


def merged(*texts: AgentTexts) -> AgentTexts:
    """The texts of several agents. Where several have a tool of one name, the first whose reading finds answers."""
    answers: dict[str, tuple[ReadAnswers, ...]] = {}
    for one in texts:
        for tool, read in one.answers.items():
            answers[tool] = (*answers.get(tool, ()), *read)
    return AgentTexts(
        tuple(tag for one in texts for tag in one.tags),
        tuple(wrapper for one in texts for wrapper in one.wrappers),
        answers,
        tuple(refusal for one in texts for refusal in one.refusals),
    )


def with_user_text(messages: Iterable[Message], known: AgentTexts, also: Collection[str] = ()) -> tuple[Message, ...]:
    """The messages with each user's text split into own and injected ones, and with the user's words in results.

    also: further tags whose contents the agent writes. A user's message of injected texts alone is `meta`. What a
    format marked itself stays.
    """
    made: list[Message] = []
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
        made.append(message)
    return tuple(made)


def _may_answer(call: ToolUse | None, result: ToolResult, known: AgentTexts) -> bool:
    """True where a result may hold words of the user; few do, and most are excluded by their beginning."""
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
        replace(block, said=said)
        if isinstance(block, ToolResult)
        and not block.said
        and (said := user_words_in(calls.get(block.call_id), block, known))
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
    """True for a user's message of injected texts alone."""
    return bool(blocks) and all(isinstance(block, Text) and block.injected for block in blocks)


def split_user_text(text: str, known: AgentTexts, also: Collection[str] = ()) -> tuple[Text, ...]:
    """A user's text as blocks of own and injected words in turn; joined they are `text`. White space between them is
    with the injected ones."""
    if "<" not in text or not (spans := [*_spans(text, _opening((*known.tags, *also), known.wrappers))]):
        return (Text(text),)
    made: list[Text] = []
    injected, at = "", 0
    for start, stop in [*spans, (len(text), len(text))]:
        between = text[at:start]
        if own := between.strip():
            before, after = between.split(own, 1)
            if injected + before:
                made.append(Text(injected + before, injected=True))
            made.append(Text(own))
            injected = after
        else:
            injected += between
        injected += text[start:stop]
        at = stop
    return (*made, Text(injected, injected=True)) if injected else tuple(made)


def _spans(text: str, opening: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Injected passages, and the tags round own words, in order. A tag that is never closed is none."""
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


def user_words_in(call: ToolUse | None, result: ToolResult, known: AgentTexts) -> str:
    """The user's words in a tool's result, an answer a line; "" where there are none."""
    text = result.text
    for refusal in known.refusals:
        if text.startswith(refusal.begins) and (words := refusal.words(text)) is not None:
            return words
    given = call.input if call is not None and isinstance(call.input, dict) else {}
    for read in known.answers.get(call.name, ()) if call is not None else ():
        if said := "\n".join(filter(None, (answer.strip() for answer in read(given, text)))):
            return said
    return ""
