"""Separate text that Gemini CLI adds to a user's record from text that the user typed.

Files named with `@` follow the request in separate parts, between two marker lines. An editor's open files, a warning
of a loop and the end of a background command are separate records. Hints that the user typed while the model worked are
inside an instruction. `TEXTS` describes its tags, and the form of the user's answers in its results.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from workbench.formats.codex.texts import answers_in_values
from workbench.formats.kit.user_text import AgentTexts
from workbench.session import Block, Text

TEXTS = AgentTexts(
    tags=("hook_context", "session_context", "untrusted_context"),
    answers={"ask_user": (answers_in_values,)},
)

_FILES = "--- Content from referenced files ---"
_FILES_END = "--- End of content ---"
_INJECTED = (
    "<session_context>",
    "Here is the user's editor context as a JSON object",
    "Here is a summary of changes in the user's editor context",
    "System: Potential loop detected.",
    "Background execution update:\n<background_output>",
)
_HINTS = re.compile(r"(User (?:hints|steering update):\n<user_input>\n)(.*)(\n</user_input>.*)", re.DOTALL)


def split_injected(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Split each text of a user's record into the user's and the agent's parts; the latter are marked as injected."""
    recorded = list(blocks)
    ends = [place for place, block in enumerate(recorded) if isinstance(block, Text) and _FILES_END in block.text]
    result: list[Block] = []
    inside = False
    for place, block in enumerate(recorded):
        if not isinstance(block, Text):
            result.append(block)
            continue
        own, injected, rest = "" if inside else block.text, block.text if inside else "", ""
        if not inside and (start := _files_start(own)) >= 0:
            own, injected, inside = own[:start], own[start:], True
        if inside and place == (ends[-1] if ends else -1):
            stop = injected.rindex(_FILES_END) + len(_FILES_END)
            injected, rest, inside = injected[:stop], injected[stop:], False
        result += [*_split_hints(own), *([Text(injected, injected=True)] if injected else []), *_split_hints(rest)]
    return tuple(result)


def _files_start(text: str) -> int:
    """Return the index of the line break before the contents of files; -1 without any."""
    return 0 if text.startswith(_FILES) else text.find("\n" + _FILES)


def _split_hints(text: str) -> Iterator[Text]:
    if hints := _HINTS.fullmatch(text):
        before, own, after = hints.groups()
        yield from (Text(before, injected=True), Text(own), Text(after, injected=True))
    elif text:
        yield Text(text, injected=text.startswith(_INJECTED))
