"""A body of Anthropic's Messages API, held against the types of its SDK, and sent by it."""

from __future__ import annotations

from interop.homes import Package
from interop.library import Script, library

TOOL = library(
    Script("body_turns", told={"API": "anthropic"}),
    id="anthropic-sdk",
    title="Anthropic SDK",
    package=Package("PyPI", "anthropic", "2.12.0"),
    format="anthropic-messages",
)
