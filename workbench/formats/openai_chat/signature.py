"""Recognise OpenAI Chat bodies."""

from __future__ import annotations

from workbench.formats.kit.chat import dialect
from workbench.formats.look import Look

ID = "openai-chat"
KEYS = frozenset(["content", "messages", "model", "name", "role", "temperature", "tool_call_id", "tool_calls", "tools"])


def recognise(look: Look) -> str:
    name, why = dialect(look.document)
    return why if name == "openai" else ""
