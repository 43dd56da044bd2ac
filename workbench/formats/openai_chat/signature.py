"""By what a file is known: OpenAI Chat body."""

from __future__ import annotations

from workbench.formats.kit.chat import dialect

ID = "openai-chat"


def recognise(head: bytes) -> str:
    name, why = dialect(head)
    return why if name == "openai" else ""
