"""Whose words stand in a person's message and in a tool's result: the marks that several tools share.

An agent or editor puts texts of its own into the person's message, in tags: reminders, the open file, the date. A
person also speaks through tools: the answers to questions, why a call was refused. A format calls `with_said` last when
it reads; what it marked itself, because it alone can know it, stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

from workbench.formats.kit.jsonl import loads_text
from workbench.formats.kit.values import dict_of, list_of, text_of
from workbench.session import Block, Message, Text, ToolResult, ToolUse

_INJECTED = (
    "additional_data", "attached_files", "available_skills", "bash-stderr", "bash-stdout", "collaboration_mode",
    "command-message", "command-name", "current_datetime", "editorContext", "environment_context",
    "environment_details", "environment_info", "file_content", "hook_context", "ide_diagnostics", "ide_opened_file",
    "ide_selection", "local-command-caveat", "local-command-stderr", "local-command-stdout",
    "manually_added_selection", "open_and_recently_viewed_files", "permissions instructions", "plugins_instructions",
    "project_layout", "reminderInstructions", "session_context", "skills_instructions", "system-notification",
    "system-reminder", "system_notification", "system_reminder", "task-notification", "total_tokens", "turn_aborted",
    "untrusted_context", "user-prompt-submit-hook", "user_info", "user_instructions", "workspace_info",
)  # fmt: skip
"""Tags of what a tool or editor wrote, whole. They count where a line begins with them: within a sentence a person
speaks of them. Names that a person's own prompt might use (`context`, `rules`) are a format's to add."""

_WRAPPER = re.compile(
    r"</?(?:bash-input|command-args|user_query|userRequest|user-request)>|</?user_input(?: mode=[^<>\n]*)?>"
)
"""Tags round the person's own words."""


def with_said(messages: Iterable[Message], also: Collection[str] = ()) -> tuple[Message, ...]:
    """The messages with the person's texts parted into own and injected, and with what the person said through tools.

    also: further tags whose contents this format's tool writes. A person's message of injected texts alone is `meta`.
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
            message = _parted_message(message, also)
        elif results and any(_may_answer(calls.get(result.call_id), result) for result in results):
            message = _with_answers(message, calls)
        made.append(message)
    return tuple(made)


def _may_answer(call: ToolUse | None, result: ToolResult) -> bool:
    """Whether a person may have said something through a result: that few do can be told at a glance."""
    if call is not None and call.name in _READERS:
        return True
    first = result.content[0] if result.content else None
    return isinstance(first, Text) and first.text.startswith(_REFUSAL)


def _parted_message(message: Message, also: Collection[str]) -> Message:
    blocks = own_and_injected(message.blocks, also)
    if is_injected(blocks):
        return replace(message, blocks=blocks, kind="meta")
    return message if blocks == message.blocks else replace(message, blocks=blocks)


def _with_answers(message: Message, calls: Mapping[str, ToolUse]) -> Message:
    blocks = tuple(
        replace(block, said=said)
        if isinstance(block, ToolResult) and not block.said and (said := said_through(calls.get(block.call_id), block))
        else block
        for block in message.blocks
    )
    return message if blocks == message.blocks else replace(message, blocks=blocks)


def own_and_injected(blocks: Iterable[Block], also: Collection[str] = ()) -> tuple[Block, ...]:
    """A person's blocks with each text parted."""
    made: list[Block] = []
    for block in blocks:
        made += parted(block.text, also) if isinstance(block, Text) and not block.injected else (block,)
    return tuple(made)


def is_injected(blocks: Sequence[Block]) -> bool:
    """Whether there is nothing in a person's message but injected texts."""
    return bool(blocks) and all(isinstance(block, Text) and block.injected for block in blocks)


def parted(text: str, also: Collection[str] = ()) -> tuple[Text, ...]:
    """A person's text as blocks of own and injected words in turn; joined they are `text`. White space between them is
    with the injected ones."""
    if "<" not in text or not (spans := [*_spans(text, tuple(also))]):
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


def _spans(text: str, also: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Where the injected passages are and the tags round own words, in order. One that is never closed is none."""
    unclosed: set[str] = set()
    at = 0
    for found in _opening(also).finditer(text):
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
def _opening(also: tuple[str, ...]) -> re.Pattern[str]:
    tags = "|".join(map(re.escape, (*_INJECTED, *also)))
    return re.compile(rf"(?:^|(?<=>))[ \t]*<({tags})(?:\s[^<>\n]*)?>|{_WRAPPER.pattern}", re.MULTILINE)


_REFUSAL = "The user "
_REFUSED = re.compile(
    _REFUSAL + r"(?:doesn't want to (?:proceed with|take) this |provided the following reason for the rejection)"
    r".*?(?:the user said|rejection): ?\n?(.*)",
    re.DOTALL,
)
"""Claude Code's sentence for a call that the person refused with words."""

_CLARIFYING = "The user wants to clarify these questions."
_CLARIFIED = re.compile(r"^ *Answer: (.+)$", re.MULTILINE)
"""A refusal that the tool wrote, with the answers that were given before it."""

_ABSENT = "The user is not available to respond"
"""How Copilot CLI answers in nobody's stead."""


def said_through(call: ToolUse | None, result: ToolResult) -> str:
    """What the person said through a tool, an answer a line; "" where nothing, or nothing that is known for it."""
    text = result.text
    if refused := _REFUSED.match(text):
        said = refused[1].strip()
        if said.startswith(_CLARIFYING):
            said = "\n".join(_CLARIFIED.findall(said))
    elif call is not None and (read := _READERS.get(call.name)):
        given = call.input if isinstance(call.input, dict) else {}
        said = "\n".join(filter(None, (answer.strip() for answer in read(given, text))))
    else:
        return ""
    return "" if said.startswith(_ABSENT) else said


_LED_OUT = re.compile(r"\. (?:You can now continue with|Read the answers carefully)[^\"]*\Z")


def _of_pairs(given: Mapping[str, Any], text: str) -> Iterator[str]:
    """`"question"="answer"`, each with what was chosen or noted beside it, as Claude Code and opencode write them.

    The questions are looked for as the call asks them: both sides may hold quotes.
    """
    text = _LED_OUT.sub("", text)
    asked = {f'"{text_of(dict_of(one).get("question"))}"=' for one in list_of(given.get("questions"))}
    starts = sorted((at, at + len(one)) for one in asked if (at := text.find(one)) >= 0)
    for (_, start), (stop, _) in pairwise([*starts, (len(text), 0)]):
        answer, _, notes = text[start:stop].removesuffix(", ").partition(" notes: ")
        chosen = answer.partition('" selected preview:')[0]
        if chosen.startswith('"') and chosen.strip('"') != "Unanswered":
            yield chosen.removeprefix('"').removesuffix('"')
        yield notes


def _of_values(given: Mapping[str, Any], text: str) -> Iterator[str]:
    """`{"answers": {id: …}}`, as Codex and Gemini CLI write them: a text each, or `{"answers": [texts]}`."""
    try:
        answers = dict_of(loads_text(text)).get("answers")
    except ValueError:
        return
    for answer in dict_of(answers).values():
        for words in [answer, *list_of(answer), *list_of(dict_of(answer).get("answers"))]:
            if isinstance(words, str):
                yield words.removeprefix("user_note: ")


def _of_tags(given: Mapping[str, Any], text: str) -> Iterator[str]:
    for tag in ("answer", "user_message", "feedback"):
        words, closed, _ = text.partition(f"<{tag}>")[2].partition(f"</{tag}>")
        if closed:
            yield words


def _of_sentence(given: Mapping[str, Any], text: str) -> Iterator[str]:
    """`User selected: …`, as Copilot CLI writes it."""
    if words := _SELECTED.match(text):
        yield words[1]


_SELECTED = re.compile(r"User (?:selected|responded|answered): (.*)", re.DOTALL)

_READERS: dict[str, Callable[[Mapping[str, Any], str], Iterable[str]]] = {
    "AskUserQuestion": _of_pairs,
    "question": _of_pairs,
    "ask_user_question": _of_pairs,
    "request_user_input": _of_values,
    "ask_user": lambda given, text: [*_of_values(given, text)] or [*_of_sentence(given, text)],
    "ask_followup_question": _of_tags,
    "ask_question": _of_tags,
    "attempt_completion": _of_tags,
    "plan_mode_respond": _of_tags,
}
"""How the answers of a tool stand in its result. The arguments are the call's, for a question may hold what divides."""
