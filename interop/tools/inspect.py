"""Inspect, with a model of Anthropic's. It goes on from no log: a log's messages are put to a new sample."""

from __future__ import annotations

from interop.homes import Package
from interop.library import Script, library

TOOL = library(
    Script("inspect_turns"),
    id="inspect",
    title="Inspect",
    package=Package("PyPI", "inspect-ai", "0.3.285", ("anthropic",)),
    format="inspect",
)
