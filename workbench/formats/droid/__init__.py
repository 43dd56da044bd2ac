"""Droid (Factory): `~/.factory/sessions/<folder>/<id>.jsonl` and its sidecar file `<id>.settings.json`.

Lines are messages in Anthropic's blocks, hook records that only the user sees, and compactions: a summary replaces
everything up to its anchor. `/compress` starts a new session with the summary alone. Read only.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.droid.signature import ID, KEYS, recognise
from workbench.formats.format import Codec, Format
from workbench.formats.machine import Machine, Place


def _codec() -> Codec:
    from workbench.formats.droid.read import Reader

    return Codec(Reader.read)


def _places(machine: Machine) -> Iterator[Place]:
    yield Place("Droid", ID, machine.home / ".factory/sessions", ("*/*.jsonl",))


FORMAT = Format(ID, "Droid", recognise, _codec, keys=KEYS, places=_places)
