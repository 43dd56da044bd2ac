"""A body of OpenAI's chat completions, held against the types of its SDK, and sent by it."""

from __future__ import annotations

from interop.homes import Package
from interop.library import SYSTEM_PROMPT, Script, reads
from interop.tool import Tool

_SCRIPT = Script("body_turns", told={"API": "chat"})

TOOL = Tool(
    id="openai-chat",
    title="OpenAI SDK, Chat",
    package=Package("PyPI", "openai", "3.54.0"),
    format="openai-chat",
    read=reads,
    make=_SCRIPT.make,
    again=_SCRIPT.again,
    env=_SCRIPT.env,
    resume=_SCRIPT.resume,
    each=_SCRIPT.each,
    allowances=(SYSTEM_PROMPT,),
)
