"""Texts that Codex adds to a user's message, and the form of the user's answers in its results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.formats.kit.jsonl import loads_text
from workbench.formats.kit.user_text import AgentTexts
from workbench.formats.kit.values import dict_of, list_of


def answers_in_values(arguments: Mapping[str, Any], text: str) -> Iterator[str]:
    """Yield the answers in `{"answers": {id: …}}`, each a text or `{"answers": [texts]}`. Gemini CLI uses it too."""
    try:
        answers = dict_of(loads_text(text)).get("answers")
    except ValueError:
        return
    for answer in dict_of(answers).values():
        for words in [answer, *list_of(answer), *list_of(dict_of(answer).get("answers"))]:
            if isinstance(words, str):
                yield words.removeprefix("user_note: ")


TEXTS = AgentTexts(
    tags=(
        "collaboration_mode", "environment_context", "permissions instructions", "plugins_instructions",
        "skills_instructions", "turn_aborted", "user_instructions",
    ),
    answers={"request_user_input": (answers_in_values,)},
)  # fmt: skip
