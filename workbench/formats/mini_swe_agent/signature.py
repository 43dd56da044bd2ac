"""Recognise mini-swe-agent trajectories."""

from __future__ import annotations

from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.values import dict_of
from workbench.formats.look import Look

ID = "mini-swe-agent"
KEYS = frozenset(["info", "messages", "trajectory_format"])

_OBSERVED = ("<returncode>", "<output>", "<exception>", "<error>")
_SUBMITTED = frozenset(["exit_status", "submission"])


def recognise(look: Look) -> str:
    document = look.document
    if isinstance(document, dict):
        format = document.get("trajectory_format")
        if isinstance(format, str) and format.startswith("mini-swe-agent"):
            return f"trajectory_format {format}"
        info = dict_of(document.get("info"))
        if "mini_version" in info:
            return "info with a mini_version"
        bare = document.keys() == {"info", "messages"} and info.keys() >= _SUBMITTED
        return "info with a submission, and messages" if bare else ""
    items = [item for item in document if isinstance(item, dict)] if isinstance(document, list) else []
    if not items or any("ts" in item or "type" in item for item in items):
        return ""
    if any(isinstance(item.get("extra"), dict) for item in items):
        return "a bare list of messages with extra"
    observed = any(i.get("role") == "user" and as_text(i.get("content")).startswith(_OBSERVED) for i in items[2:])
    return "a bare list of messages with <returncode> observations" if observed else ""
