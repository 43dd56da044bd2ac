"""LiteLLM, which makes a request for Anthropic of a chat body."""

from __future__ import annotations

from interop.homes import Package
from interop.library import SYSTEM_PROMPT, Script, reads
from interop.tool import Tool

_SCRIPT = Script("litellm_turns")

TOOL = Tool(
    id="litellm",
    title="LiteLLM, to Anthropic",
    package=Package("PyPI", "litellm", "1.106.2", ("mcp==2.3.0",)),
    format="openai-chat",
    read=reads,
    make=_SCRIPT.make,
    again=_SCRIPT.again,
    env=_SCRIPT.env,
    resume=_SCRIPT.resume,
    each=_SCRIPT.each,
    allowances=(SYSTEM_PROMPT,),
)
