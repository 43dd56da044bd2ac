"""A body of OpenAI's Responses API, held against the types of its SDK, and sent by it."""

from __future__ import annotations

from interop.compare import Allowance
from interop.homes import Package
from interop.library import Script, library, since_last

_SINCE = since_last(lambda unit: unit.text == "compaction")

TOOL = library(
    Script("body_turns", told={"API": "responses"}),
    id="openai-responses",
    title="OpenAI SDK, Responses",
    package=Package("PyPI", "openai", "3.54.0"),
    format="openai-responses",
    allowances=(Allowance("compaction", "The API ignores everything before its newest compaction.", sent=_SINCE),),
)
