"""mini-swe-agent trajectories: `{info, messages, trajectory_format}`, in older versions a bare list.

The agent keeps one linear list and sends all of it, so there is one epoch. In the text protocol a command's output is a
user message: of kind meta from the first answer on, except for text that the user typed. The end of a run is never
sent: a message of role `exit` in newer files, before that the submitted patch as a user message.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.format import Codec, Format
from workbench.formats.machine import Machine, Place
from workbench.formats.mini_swe_agent.signature import ID, KEYS, recognise


def _codec() -> Codec:
    from workbench.formats.kit.mark import EXPORT_NOTE
    from workbench.formats.kit.note import in_document
    from workbench.formats.mini_swe_agent import read, rules, write

    return Codec(read.Reader.read, write.write, rules.validate, note=in_document(EXPORT_NOTE, ()))


def _places(machine: Machine) -> Iterator[Place]:
    folder = machine.first("MSWEA_GLOBAL_CONFIG_DIR", otherwise=machine.settings / "mini-swe-agent")
    yield Place("mini-swe-agent", ID, folder, ("*.traj.json",))


FORMAT = Format(ID, "mini-swe-agent trajectory", recognise, _codec, api="openai-chat", keys=KEYS, places=_places)
