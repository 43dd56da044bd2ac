"""A body of OpenAI's chat completions, held against the types of its SDK, and sent by it."""

from __future__ import annotations

from interop.homes import Package
from interop.library import Script, library

TOOL = library(
    Script("body_turns", told={"API": "chat"}),
    id="openai-chat",
    title="OpenAI SDK, Chat",
    package=Package("PyPI", "openai", "3.54.0"),
    format="openai-chat",
)
