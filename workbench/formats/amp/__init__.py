"""Amp threads: `~/.local/share/amp/threads/T-<id>.json`, and the output of `amp threads export`.

The format is undocumented; this is what public readers of it agree on. Since spring 2026 Amp keeps threads on its
server only. A message of the role `info` with a summary replaces the messages before it. Messages of sub-agents name
the call that started them, and are only in the file view. The system prompt and the tools are not in the file. Read
only.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.amp.signature import ID, KEYS, recognise
from workbench.formats.format import Codec, Format
from workbench.formats.machine import Machine, Place


def _codec() -> Codec:
    from workbench.formats.amp import read

    return Codec(read.Reader.read)


def _places(machine: Machine) -> Iterator[Place]:
    yield Place("Amp", ID, machine.data / "amp/threads", ("T-*.json",))


FORMAT = Format(ID, "Amp thread", recognise, _codec, keys=KEYS, places=_places)
