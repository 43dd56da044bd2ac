"""pi sessions, versions 1 to 3: `~/.pi/agent/sessions/--<cwd>--/<time>_<id>.jsonl`.

Entries form a tree whose newest entry is the leaf; version 1 has no links and is read in file order. The context is the
path to the leaf: the newest compaction's system message and summary, then everything from its first kept entry on
(`contexts.py`). Aborted or failed responses, and commands that the user excluded from the context, are in the file view
and the branch but in no epoch. Since pi 0.86 system messages record the prompt and the tools, since 0.87 context edits
replace or omit earlier messages; the header's version stayed 3. Contexts were compared with those that the loaders of
@mariozechner/pi-coding-agent 0.73.1 and @earendil-works/pi-coding-agent 0.84.4 and 1.6.0 build.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.format import Codec, CompactCommand, ExportForm, Format, RecordRepair, TriggerSetting
from workbench.formats.look import Look
from workbench.formats.machine import Machine, Place, Program

ID = "pi"
KEYS = frozenset(["cwd", "id", "message", "parentId", "timestamp", "type", "version"])


def recognise(look: Look) -> str:
    first = next((record for record in look.records if record.readable), None)
    value = first.value if first else None
    if first is None or not isinstance(value, dict) or value.get("type") != "session":
        return ""
    known = isinstance(value.get("id"), str) and ("cwd" in value or "version" in value)
    return f"line {first.line} is the header of a pi session" if known else ""


def _codec() -> Codec:
    from workbench.formats.kit.marks import EXPORT_NOTE, in_first_line
    from workbench.formats.pi import append, rules, write
    from workbench.formats.pi.read import Reader

    return Codec(
        Reader.read,
        write.write,
        rules.validate,
        addressed=write.addressed,
        forms=(ExportForm("appended", "a compaction entry after the loaded session", append.append),),
        note=in_first_line(EXPORT_NOTE),
        repair=_repair,
    )


def _repair() -> RecordRepair:
    """Return the repair of this format's records; its modules are imported on the first call."""
    from workbench.formats.pi import repair

    return RecordRepair(repair.records, repair.context, repair.is_headless)


def _places(machine: Machine) -> Iterator[Place]:
    pi = machine.first("PI_CODING_AGENT_DIR", otherwise=machine.home / ".pi/agent")
    yield Place("pi", ID, pi / "sessions", ("*/*.jsonl",))


def _setting(trigger: int, window: int) -> str:
    return f'set "compaction": {{"reserveTokens": {window - trigger}}} in ~/.pi/agent/settings.json'


FORMAT = Format(
    ID,
    "pi",
    recognise,
    _codec,
    keys=KEYS,
    preset="pi",
    places=_places,
    trigger_setting=TriggerSetting(_setting),
    compact_command=CompactCommand("pi", takes_instruction=True),
    program=Program("pi", "pi", ("core/compaction/compaction.js",), "SUMMARIZATION_PROMPT", "template"),
)
