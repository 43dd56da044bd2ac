"""The OpenHands SDK: a conversation in the folder in which it keeps it."""

from __future__ import annotations

from interop.homes import Package
from interop.library import Script, library
from interop.server.script import Call


def _read(path: str) -> Call:
    return Call("terminal", {"command": f"cat {path}"})


TOOL = library(
    Script("openhands_turns", "conversations/11111111222243338444555555555555"),
    id="openhands",
    title="OpenHands SDK",
    package=Package("PyPI", "openhands-sdk", "1.58.0", ("openhands-tools==1.58.0",), python="3.12"),
    format="openhands",
    read=_read,
    compaction="LLMSummarizingCondenser",
)
