"""What Gemini CLI itself writes into a user's record, beside what the person typed.

Files that were named with `@` follow the request in parts of their own, between two lines; the open files of an editor,
a warning of a loop and the end of a background command come as records of their own; hints that the person gave while
the model worked stand inside an instruction. Tags (`<hook_context>`) are in `texts.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from workbench.session import Block, Text

_FILES = "--- Content from referenced files ---"
_FILES_END = "--- End of content ---"
_WHOLE = (
    "<session_context>",
    "Here is the user's editor context as a JSON object",
    "Here is a summary of changes in the user's editor context",
    "System: Potential loop detected.",
    "Background execution update:\n<background_output>",
)
_HINTS = re.compile(r"(User (?:hints|steering update):\n<user_input>\n)(.*)(\n</user_input>.*)", re.DOTALL)


def own_and_injected(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """The blocks of a user's record, with each text parted into the person's and the tool's."""
    given = list(blocks)
    ends = [place for place, block in enumerate(given) if isinstance(block, Text) and _FILES_END in block.text]
    made: list[Block] = []
    inside = False
    for place, block in enumerate(given):
        if not isinstance(block, Text):
            made.append(block)
            continue
        own, injected, rest = "" if inside else block.text, block.text if inside else "", ""
        if not inside and (start := _start(own)) >= 0:
            own, injected, inside = own[:start], own[start:], True
        if inside and place == (ends[-1] if ends else -1):
            stop = injected.rindex(_FILES_END) + len(_FILES_END)
            injected, rest, inside = injected[:stop], injected[stop:], False
        made += [*_parted(own), *([Text(injected, injected=True)] if injected else []), *_parted(rest)]
    return tuple(made)


def _start(text: str) -> int:
    """Where the contents of files begin, with the line break before them; -1 where there are none."""
    return 0 if text.startswith(_FILES) else text.find("\n" + _FILES)


def _parted(text: str) -> Iterator[Text]:
    if hints := _HINTS.fullmatch(text):
        before, own, after = hints.groups()
        yield from (Text(before, injected=True), Text(own), Text(after, injected=True))
    elif text:
        yield Text(text, injected=text.startswith(_WHOLE))
