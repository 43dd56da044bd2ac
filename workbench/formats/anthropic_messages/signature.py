"""Recognise Anthropic Messages bodies."""

from __future__ import annotations

from workbench.formats.kit.chat import dialect
from workbench.formats.look import Look

ID = "anthropic-messages"
KEYS = frozenset(["content", "max_tokens", "messages", "model", "role", "system", "tools"])


def recognise(look: Look) -> str:
    name, why = dialect(look.document)
    return why if name == "anthropic" else ""
