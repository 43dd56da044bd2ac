"""LiteLLM, which makes a request for Anthropic of a chat body."""

from __future__ import annotations

from interop.homes import Package
from interop.library import Script, library

TOOL = library(
    Script("litellm_turns"),
    id="litellm",
    title="LiteLLM, to Anthropic",
    package=Package("PyPI", "litellm", "1.106.2", ("mcp==2.3.0",)),
    format="openai-chat",
)
