"""Texts that agents add to a user's message, and the form of the user's words in tool results.

The texts of all agents apply to every session, because a file of one format may contain text of another format's agent.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from workbench.formats.kit import user_text
from workbench.formats.kit.blocks import SUMMARY_LABEL, is_compaction
from workbench.formats.kit.jsonl import loads_text
from workbench.formats.kit.user_text import AgentTexts, Refusal, is_injected
from workbench.formats.kit.values import dict_of, list_of, text_of
from workbench.session import Block, Kind, Message, Opaque, Text

CONTINUATION = "This session is being continued from a previous conversation that ran out of context"
"""Prefix of Claude Code's summary of older messages."""

SUMMARY_ANSWERS = ("Ok. I will continue", "好的，我将从这里继续")
"""Beginnings of Augment's answer to a summary that is a separate exchange."""

_SUPERVISOR = re.compile(r"\s*<supervisor>.*<summary[ >]", re.DOTALL)

_REFUSAL = "The user "
_REFUSED = re.compile(
    _REFUSAL + r"(?:doesn't want to (?:proceed with|take) this |provided the following reason for the rejection)"
    r".*?(?:the user said|rejection): ?\n?(.*)",
    re.DOTALL,
)
"""The sentence for a call that the user refused with words."""

_CLARIFYING = "The user wants to clarify these questions."
_CLARIFIED = re.compile(r"^ *Answer: (.+)$", re.MULTILINE)
"""Answers that the user gave before, listed in a refusal that Claude Code wrote."""

_INSTRUCTION_AFTER = re.compile(r"\. (?:You can now continue with|Read the answers carefully)[^\"]*\Z")


def _refusal_reason(text: str) -> str | None:
    refused = _REFUSED.match(text)
    if refused is None:
        return None
    reason = refused[1].strip()
    return "\n".join(_CLARIFIED.findall(reason)) if reason.startswith(_CLARIFYING) else reason


def _answers_in_pairs(arguments: Mapping[str, Any], text: str) -> Iterator[str]:
    """Yield the user's answers and notes in `"question"="answer"` pairs, the form that opencode uses too.

    Pairs are found by the questions of the call, because questions and answers may contain quotes.
    """
    text = _INSTRUCTION_AFTER.sub("", text)
    questions = {f'"{text_of(dict_of(one).get("question"))}"=' for one in list_of(arguments.get("questions"))}
    starts = sorted((at, at + len(one)) for one in questions if (at := text.find(one)) >= 0)
    for (_, start), (stop, _) in pairwise([*starts, (len(text), 0)]):
        answer, _, notes = text[start:stop].removesuffix(", ").partition(" notes: ")
        chosen = answer.partition('" selected preview:')[0]
        if chosen.startswith('"') and chosen.strip('"') != "Unanswered":
            yield chosen.removeprefix('"').removesuffix('"')
        yield notes


def _answers_in_values(arguments: Mapping[str, Any], text: str) -> Iterator[str]:
    """Yield the answers in `{"answers": {id: …}}`, each a text or `{"answers": [texts]}`. Gemini CLI uses it too."""
    try:
        answers = dict_of(loads_text(text)).get("answers")
    except ValueError:
        return
    for answer in dict_of(answers).values():
        for words in [answer, *list_of(answer), *list_of(dict_of(answer).get("answers"))]:
            if isinstance(words, str):
                yield words.removeprefix("user_note: ")


_SELECTED = re.compile(r"User (?:selected|responded|answered): (.*)", re.DOTALL)
_ABSENT = "The user is not available to respond"
"""Answer that the CLI writes when no user is present."""


def _answer_after_label(arguments: Mapping[str, Any], text: str) -> Iterator[str]:
    """Yield the user's answer in a result such as `User selected: …`."""
    words = _SELECTED.match(text)
    if words and not words[1].lstrip().startswith(_ABSENT):
        yield words[1]


def _answers_in_tags(arguments: Mapping[str, Any], text: str) -> Iterator[str]:
    for tag in ("answer", "user_message", "feedback"):
        words, closed, _ = text.partition(f"<{tag}>")[2].partition(f"</{tag}>")
        if closed:
            yield words


_CLAUDE_CODE = AgentTexts(
    tags=(
        "bash-stderr", "bash-stdout", "command-message", "command-name", "ide_diagnostics", "ide_opened_file",
        "ide_selection", "local-command-caveat", "local-command-stderr", "local-command-stdout", "system-reminder",
        "task-notification", "total_tokens", "user-prompt-submit-hook",
    ),
    wrappers=("bash-input", "command-args"),
    closings=(r"If you need specific details from before exiting plan mode [^\n]*",),
    answers={"AskUserQuestion": (_answers_in_pairs,)},
    refusals=(Refusal(_REFUSAL, _refusal_reason),),
)  # fmt: skip
_CODEX = AgentTexts(
    tags=(
        "collaboration_mode", "environment_context", "permissions instructions", "plugins_instructions",
        "skills_instructions", "turn_aborted", "user_instructions",
    ),
    answers={"request_user_input": (_answers_in_values,)},
)  # fmt: skip
_GEMINI = AgentTexts(
    tags=("hook_context", "session_context", "untrusted_context"),
    answers={"ask_user": (_answers_in_values,)},
)
_COPILOT = AgentTexts(
    tags=(
        "available_skills", "current_datetime", "system_notification", "system_reminder",  # the CLI
        "editorContext", "environment_info", "reminderInstructions", "workspace_info",  # VS Code
    ),
    wrappers=("userRequest", "user-request"),
    answers={"ask_user": (_answer_after_label,)},
)  # fmt: skip
_CURSOR = AgentTexts(
    tags=(
        "additional_data", "attached_files", "manually_added_selection", "open_and_recently_viewed_files",
        "project_layout", "user_info",
    ),
    wrappers=("user_query",),
)  # fmt: skip
_OPENCODE = AgentTexts(answers={"question": (_answers_in_pairs,)})
_QWEN_CODE = AgentTexts(answers={"ask_user_question": (_answers_in_pairs,)})
_ROO_CLINE = AgentTexts(
    tags=("environment_details", "file_content"),
    wrappers=(r"user_input(?: mode=[^<>\n]*)?",),  # Cline's SDK
    answers=dict.fromkeys(
        ("ask_followup_question", "ask_question", "attempt_completion", "plan_mode_respond"), (_answers_in_tags,)
    ),
)
_UNATTRIBUTED = AgentTexts(tags=("system-notification",))

TEXTS = user_text.merged(
    _CLAUDE_CODE,
    _CODEX,
    _GEMINI,
    _COPILOT,
    _CURSOR,
    _OPENCODE,
    _QWEN_CODE,
    _ROO_CLINE,
    _UNATTRIBUTED,
)


def with_user_text(messages: Iterable[Message], also: Collection[str] = ()) -> tuple[Message, ...]:
    """Split each user text into own and injected parts, and find the user's words in tool results. Readers call it
    last. `also`: further tags whose contents the format's agent writes."""
    return user_text.with_user_text(messages, TEXTS, also)


def split_user_text(text: str, also: Collection[str] = ()) -> tuple[Text, ...]:
    """Return a user's text as blocks of own and injected words in turn; joined they equal `text`."""
    return user_text.split_user_text(text, TEXTS, also)


def kind_of(role: str, blocks: Sequence[Block]) -> Kind:
    """Return the kind of an Anthropic message: a summary of older messages, only injected texts, or an ordinary
    message."""
    first = blocks[0] if blocks else None
    if role == "assistant":
        return "summary" if isinstance(first, Opaque) and is_compaction(first.raw) else "normal"
    if role != "user" or not all(isinstance(block, Text) for block in blocks):
        return "normal"
    texts = [block.text for block in blocks if isinstance(block, Text)]
    own_texts = [text for text in texts if not is_injected(split_user_text(text))]
    if own_texts and is_summary(own_texts[0]):
        return "summary"
    return "meta" if texts and not own_texts else "normal"


def is_summary(text: str) -> bool:
    """Return True for a text that begins like a summary: Claude Code's, Augment's, or one labelled by this program."""
    return text.lstrip().startswith((CONTINUATION, SUMMARY_LABEL)) or is_augments_summary(text)


def is_augments_summary(text: str) -> bool:
    """True for a text in the form of Augment's summaries."""
    return _SUPERVISOR.match(text) is not None


def with_summary_answers(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return the messages, with a response that only acknowledges the summary before it as part of that summary."""
    found: list[Message] = []
    for message in messages:
        before = found[-1].kind if found else "normal"
        if before == "summary" and message.role == "assistant" and message.text.startswith(SUMMARY_ANSWERS):
            message = replace(message, kind="summary")
        found.append(message)
    return tuple(found)
