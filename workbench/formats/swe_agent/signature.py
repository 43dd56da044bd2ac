"""By what a file is known: SWE-agent trajectory."""

from __future__ import annotations

from typing import Any

from workbench.formats.kit.document import glimpse

ID = "swe-agent"


def recognise(head: bytes) -> str:
    document = glimpse(head)
    if not isinstance(document, dict) or "trajectory" not in document:
        return ""
    steps = document["trajectory"]
    if "history" in document and isinstance(document["history"], list):
        return "trajectory beside history"
    first = steps[0] if isinstance(steps, list) and steps else None
    # The trajectory may stand first and be longer than the head.
    return "a trajectory of actions with their observations" if _is_step(first) else ""


def _is_step(step: Any) -> bool:
    return isinstance(step, dict) and "action" in step and ("observation" in step or "response" in step)
