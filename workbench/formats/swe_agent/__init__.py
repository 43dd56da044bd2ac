"""SWE-agent trajectories (`*.traj`): `{environment, trajectory, history, info}`.

`history` is the session; `trajectory` repeats the prompt at each step and is left alone. Demonstrations are sent, but
are no part of what happened: of kind meta, whoever speaks. Messages of another agent than the main one are in the file
view only. What a history processor shortened is read from the prompts that the steps record, as one clearing: the
history has it all.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.format import Codec, Format
from workbench.formats.machine import Machine, Place
from workbench.formats.swe_agent.signature import ID, KEYS, recognise


def _codec() -> Codec:
    from workbench.formats.kit.mark import CARRIED
    from workbench.formats.kit.note import in_document
    from workbench.formats.swe_agent import read, rules, write

    return Codec(read.Reader.read, write.write, rules.validate, note=in_document(CARRIED, ()))


def _places(machine: Machine) -> Iterator[Place]:
    trajectories = machine.first("SWE_AGENT_TRAJECTORY_DIR", otherwise=machine.here / "trajectories")
    yield Place("SWE-agent", ID, trajectories, tuple("*/" * depth + "*.traj" for depth in range(1, 4)))


FORMAT = Format(
    ID, "SWE-agent trajectory", recognise, _codec, api="openai-chat", keys=KEYS, places=_places, suffixes=(".traj",)
)
