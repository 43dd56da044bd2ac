"""mini-swe-agent, with tool calls. It goes on from no trajectory: its messages are given to a new agent."""

from __future__ import annotations

from interop.homes import Package
from interop.library import SYSTEM_PROMPT, Script
from interop.server.script import Call
from interop.tool import Tool

_SCRIPT = Script("mini_turns")


def _read(path: str) -> Call:
    return Call("bash", {"command": f"cat {path}"})


TOOL = Tool(
    id="mini-swe-agent",
    title="mini-swe-agent",
    package=Package("PyPI", "mini-swe-agent", "2.4.6", ("litellm==1.106.2", "mcp==2.3.0")),
    format="mini-swe-agent",
    read=_read,
    make=_SCRIPT.make,
    again=_SCRIPT.again,
    env=_SCRIPT.env,
    resume=_SCRIPT.resume,
    each=_SCRIPT.each,
    allowances=(SYSTEM_PROMPT,),
)
