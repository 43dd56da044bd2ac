"""Texts that Claude Code adds to a user's message, and the form of the user's words in its results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from workbench.formats.kit.user_text import AgentTexts, Refusal
from workbench.formats.kit.values import dict_of, list_of, text_of

CONTINUATION = "This session is being continued from a previous conversation that ran out of context"
"""Prefix of a summary of older messages."""

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


def _refusal(text: str) -> str | None:
    refused = _REFUSED.match(text)
    if refused is None:
        return None
    said = refused[1].strip()
    return "\n".join(_CLARIFIED.findall(said)) if said.startswith(_CLARIFYING) else said


def answers_in_pairs(arguments: Mapping[str, Any], text: str) -> Iterator[str]:
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


TEXTS = AgentTexts(
    tags=(
        "bash-stderr", "bash-stdout", "command-message", "command-name", "ide_diagnostics", "ide_opened_file",
        "ide_selection", "local-command-caveat", "local-command-stderr", "local-command-stdout", "system-reminder",
        "task-notification", "total_tokens", "user-prompt-submit-hook",
    ),
    wrappers=("bash-input", "command-args"),
    answers={"AskUserQuestion": (answers_in_pairs,)},
    refusals=(Refusal(_REFUSAL, _refusal),),
)  # fmt: skip
