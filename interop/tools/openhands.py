"""The OpenHands SDK: a conversation in the folder in which it keeps it."""

from __future__ import annotations

from interop.homes import Package
from interop.library import SYSTEM_PROMPT, Script
from interop.server.script import Call
from interop.tool import Tool

_SCRIPT = Script("openhands_turns", "conversations/11111111222243338444555555555555")


def _read(path: str) -> Call:
    return Call("terminal", {"command": f"cat {path}"})


TOOL = Tool(
    id="openhands",
    title="OpenHands SDK",
    package=Package("PyPI", "openhands-sdk", "1.58.0", ("openhands-tools==1.58.0",), python="3.12"),
    format="openhands",
    read=_read,
    make=_SCRIPT.make,
    again=_SCRIPT.again,
    env=_SCRIPT.env,
    compactions={"LLMSummarizingCondenser": _SCRIPT.compact},
    resume=_SCRIPT.resume,
    each=_SCRIPT.each,
    allowances=(SYSTEM_PROMPT,),
)
