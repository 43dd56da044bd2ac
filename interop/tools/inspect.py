"""Inspect, with a model of Anthropic's. It goes on from no log: a log's messages are put to a new sample."""

from __future__ import annotations

from interop.homes import Package
from interop.library import SYSTEM_PROMPT, Script, reads
from interop.tool import Tool

_SCRIPT = Script("inspect_turns")

TOOL = Tool(
    id="inspect",
    title="Inspect",
    package=Package("PyPI", "inspect-ai", "0.3.285", ("anthropic",)),
    format="inspect",
    read=reads,
    make=_SCRIPT.make,
    again=_SCRIPT.again,
    env=_SCRIPT.env,
    resume=_SCRIPT.resume,
    each=_SCRIPT.each,
    allowances=(SYSTEM_PROMPT,),
)
