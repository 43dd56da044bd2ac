"""Harbor's model and validator of ATIF trajectories; no program goes on from one, so a script of ours does."""

from __future__ import annotations

from interop.homes import Package
from interop.library import SYSTEM_PROMPT, Script, reads
from interop.tool import Tool

_SCRIPT = Script("harbor_turns")

TOOL = Tool(
    id="harbor",
    title="Harbor",
    package=Package("PyPI", "harbor", "0.24.0", python="3.12"),
    format="atif",
    read=reads,
    make=_SCRIPT.make,
    again=_SCRIPT.again,
    env=_SCRIPT.env,
    resume=_SCRIPT.resume,
    each=_SCRIPT.each,
    allowances=(SYSTEM_PROMPT,),
)
