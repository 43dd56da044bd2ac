"""By what a file is known: Anthropic Messages body."""

from __future__ import annotations

from workbench.formats.kit.chat import dialect

ID = "anthropic-messages"


def recognise(head: bytes) -> str:
    name, why = dialect(head)
    return why if name == "anthropic" else ""
