"""mini-swe-agent trajectories: `{info, messages, trajectory_format}`, in older versions a bare list.

The agent keeps one linear list and sends all of it, so there is one epoch. In the text protocol a command's output is a
user message: user messages after the first answer get kind meta, except text that the user typed. The end of a run is
never sent: a message of role `exit` in newer files, the submitted patch as a user message in older ones.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.format import Codec, Format
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.values import dict_of
from workbench.formats.look import Look
from workbench.formats.machine import Machine, Place

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


def _codec() -> Codec:
    from workbench.formats.kit.marks import EXPORT_NOTE, in_document
    from workbench.formats.mini_swe_agent import read, rules, write

    return Codec(read.Reader.read, write.write, rules.validate, note=in_document(EXPORT_NOTE, ()))


def _places(machine: Machine) -> Iterator[Place]:
    folder = machine.first("MSWEA_GLOBAL_CONFIG_DIR", otherwise=machine.settings / "mini-swe-agent")
    yield Place("mini-swe-agent", ID, folder, ("*.traj.json",))


FORMAT = Format(ID, "mini-swe-agent trajectory", recognise, _codec, api="openai-chat", keys=KEYS, places=_places)
