"""A body of OpenAI's Responses API, held against the types of its SDK, and sent by it."""

from __future__ import annotations

from interop.compare import Allowance
from interop.homes import Package
from interop.library import SYSTEM_PROMPT, Script, reads, since_last
from interop.tool import Tool

_SCRIPT = Script("body_turns", told={"API": "responses"})
_SINCE = since_last(lambda unit: unit.text == "compaction")

TOOL = Tool(
    id="openai-responses",
    title="OpenAI SDK, Responses",
    package=Package("PyPI", "openai", "3.54.0"),
    format="openai-responses",
    read=reads,
    make=_SCRIPT.make,
    again=_SCRIPT.again,
    env=_SCRIPT.env,
    resume=_SCRIPT.resume,
    each=_SCRIPT.each,
    allowances=(
        SYSTEM_PROMPT,
        Allowance("compaction", "The API reads nothing before the newest compaction of its own.", sent=_SINCE),
    ),
)
