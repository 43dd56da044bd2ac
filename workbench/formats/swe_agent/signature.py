"""Recognise SWE-agent trajectories."""

from __future__ import annotations

from typing import Any

from workbench.formats.kit.values import dict_of, list_of
from workbench.formats.look import Look

ID = "swe-agent"
KEYS = frozenset(["environment", "history", "info", "trajectory"])


def recognise(look: Look) -> str:
    document = dict_of(look.document)
    history = list_of(document.get("history"))
    if "trajectory" in document and "history" in document:
        return "trajectory and history"
    if history and {"role", "agent", "message_type"} <= dict_of(history[0]).keys():
        return "a history of messages with agent and message_type, as in demonstrations"
    steps = list_of(document.get("trajectory"))
    return "a trajectory of actions with their observations" if steps and _is_step(steps[0]) else ""


def _is_step(step: Any) -> bool:
    return isinstance(step, dict) and "action" in step and ("observation" in step or "response" in step)
