"""mini-swe-agent, with tool calls. It goes on from no trajectory: its messages are given to a new agent."""

from __future__ import annotations

from interop.homes import Package
from interop.library import Script, library
from interop.server.script import Call


def _read(path: str) -> Call:
    return Call("bash", {"command": f"cat {path}"})


TOOL = library(
    Script("mini_turns"),
    id="mini-swe-agent",
    title="mini-swe-agent",
    package=Package("PyPI", "mini-swe-agent", "2.4.6", ("litellm==1.106.2", "mcp==2.3.0")),
    format="mini-swe-agent",
    read=_read,
)
