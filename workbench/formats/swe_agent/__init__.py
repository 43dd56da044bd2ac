"""SWE-agent trajectories (`*.traj`): `{environment, trajectory, history, info}`.

`history` is the session; `trajectory` repeats the prompt at each step and is not changed. Demonstrations are sent, but
did not happen in this run: they have the kind meta, whatever their role. Messages of agents other than the main one are
only in the file view. Texts shortened by a history processor are taken from the prompts that the steps record, as one
clearing, because the history is complete.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.format import Codec, Format
from workbench.formats.machine import Machine, Place
from workbench.formats.swe_agent.signature import ID, KEYS, recognise


def _codec() -> Codec:
    from workbench.formats.kit.mark import EXPORT_NOTE
    from workbench.formats.kit.note import in_document
    from workbench.formats.swe_agent import read, rules, write

    return Codec(read.Reader.read, write.write, rules.validate, note=in_document(EXPORT_NOTE, ()))


def _places(machine: Machine) -> Iterator[Place]:
    trajectories = machine.first("SWE_AGENT_TRAJECTORY_DIR", otherwise=machine.here / "trajectories")
    yield Place("SWE-agent", ID, trajectories, tuple("*/" * depth + "*.traj" for depth in range(1, 4)))


FORMAT = Format(
    ID, "SWE-agent trajectory", recognise, _codec, api="openai-chat", keys=KEYS, places=_places, suffixes=(".traj",)
)
