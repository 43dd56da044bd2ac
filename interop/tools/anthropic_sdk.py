"""A body of Anthropic's Messages API, held against the types of its SDK, and sent by it."""

from __future__ import annotations

from interop.homes import Package
from interop.library import SYSTEM_PROMPT, Script, reads
from interop.tool import Tool

_SCRIPT = Script("body_turns", told={"API": "anthropic"})

TOOL = Tool(
    id="anthropic-sdk",
    title="Anthropic SDK",
    package=Package("PyPI", "anthropic", "2.12.0"),
    format="anthropic-messages",
    read=reads,
    make=_SCRIPT.make,
    again=_SCRIPT.again,
    env=_SCRIPT.env,
    resume=_SCRIPT.resume,
    each=_SCRIPT.each,
    allowances=(SYSTEM_PROMPT,),
)
