"""Words of those who make the program: which no user is told, and which only where they are explained."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.compaction.strategies import all_strategies
from workbench.tui.fields import fields_of

_IDS = sorted({one.key for way in all_strategies() for one in fields_of(way.policy_type) if "_" in one.key})

INSIDERS = {
    "a document that no user has": r"(?i)\bdocument 0\d\d\b|\bP4-D\b|(?<![\w-])00\d-\d{3}\b",
    "a word of the code's": r"(?i)(?<![\w./-])(?:nodes?|tuples?|dataclass|enum|callback|grounding)(?!\.?[\w/-])",
    "a field's id where its name belongs": rf"^[\s▸▾✔✘!]*(?:{'|'.join(_IDS)}) {{2}}",
}
"""What is told to nobody, line by line."""

EXPLAINED = {
    "epochs?": "between two compactions",
    "exchanges?(?! summary)": "with the answer",
    "fates?": "becomes of|happens to (?:a message|it)",
    "extractive": "no model|without a model|sentences of the session",
    r"system \+ tools": "sent with every call|billed with every call",
    "head": "compacted|replaced|stands for|summarized",
    "tail": "stay|is kept|are kept",
    "abridged": "form of the history|one line for each step",
    "weighted": "four times",
    "rework": "work repeated",
    "overhead": "beyond the conversation",
    "ladder|rungs?": "list of steps",
    "placeholders?": "in braces",
}
"""Words, and what of their explanation must be read where they are, or in the help of that place."""


def unexplained(said: str, help: str) -> Iterator[str]:
    """The words of what is said that neither it nor the help explains."""
    everything = " ".join(f"{said} {help}".split())
    for word, explanation in EXPLAINED.items():
        used = re.search(rf"(?i)(?<![\w./:-])(?:{word})(?![\w/:-])", said)
        if used and not re.search(explanation, everything):
            yield used[0]
