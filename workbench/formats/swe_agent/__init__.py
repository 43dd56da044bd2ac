"""SWE-agent trajectories (`*.traj`): `{environment, trajectory, history, info}`.

`history` is the session; `trajectory` repeats the prompt at each step and is not changed. Demonstrations are sent, but
did not happen in this run: they have the kind meta, whatever their role. Messages of agents other than the main one are
only in the file view. A history processor shortens texts in the prompts and not in the history: their short forms are
taken from the prompts that the steps record, as one clearing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.formats.format import Codec, Format
from workbench.formats.kit.values import dict_of, list_of
from workbench.formats.look import Look
from workbench.formats.machine import Machine, Place

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


def _codec() -> Codec:
    from workbench.formats.kit.marks import EXPORT_NOTE, in_document
    from workbench.formats.swe_agent import read, rules, write

    return Codec(read.Reader.read, write.write, rules.validate, note=in_document(EXPORT_NOTE, ()))


def _places(machine: Machine) -> Iterator[Place]:
    trajectories = machine.first("SWE_AGENT_TRAJECTORY_DIR", otherwise=machine.here / "trajectories")
    yield Place("SWE-agent", ID, trajectories, tuple("*/" * depth + "*.traj" for depth in range(1, 4)))


FORMAT = Format(
    ID, "SWE-agent trajectory", recognise, _codec, api="openai-chat", keys=KEYS, places=_places, suffixes=(".traj",)
)
