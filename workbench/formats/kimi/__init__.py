"""Kimi Code (`~/.kimi-code/sessions/<folder>/<session>/agents/<agent>/wire.jsonl`) and the `context.jsonl` of Kimi CLI.

The journal records every change of the context; the reader applies them as Kimi Code does when it resumes a session.
After a compaction the user's messages precede the summary, word for word. Read only.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.format import Codec, CompactCommand, Format, TriggerSetting
from workbench.formats.look import Look
from workbench.formats.machine import Machine, Place

ID = "kimi"

_MARKS = ("_system_prompt", "_checkpoint", "_usage")


def recognise(look: Look) -> str:
    """Return why a file is a context file of Kimi CLI or a journal of Kimi Code; "" for other files. Journals of Kimi
    CLI also begin with a protocol version, but have no records of Kimi Code's types."""
    if is_context(look):
        return "lines with role and content and the marks of Kimi CLI"
    if look.first.get("type") != "metadata" or "protocol_version" not in look.first:
        return ""
    for record in look.records[1:]:
        kind = record.value.get("type") if isinstance(record.value, dict) else None
        if isinstance(kind, str) and kind.startswith(("context.", "profile.", "config.", "turn.", "runtime.")):
            return f"a journal of Kimi Code: metadata, then a {kind} record on line {record.line}"
    return ""


def is_context(look: Look) -> bool:
    """True for a context file of Kimi CLI (`context.jsonl`): objects only, and one of them has a role of `_MARKS`."""
    roles = [value.get("role") for value in look.values if isinstance(value, dict)]
    return any(role in _MARKS for role in roles) and len(roles) == len(look.values)


def _codec() -> Codec:
    from workbench.formats.kimi import read

    return Codec(read.read)


def _places(machine: Machine) -> Iterator[Place]:
    kimi = machine.first("KIMI_CODE_HOME", otherwise=machine.home / ".kimi-code")
    yield Place("Kimi Code", ID, kimi / "sessions", ("*/*/agents/main/wire.jsonl",))
    kimi_cli = machine.first("KIMI_SHARE_DIR", otherwise=machine.home / ".kimi")
    yield Place("Kimi CLI", ID, kimi_cli / "sessions", ("*/*/context.jsonl",))


def _setting(trigger: int, window: int) -> str:
    return f"set compaction_trigger_ratio = {trigger / window:.2f} under [loop_control] in its config.toml"


FORMAT = Format(
    ID,
    "Kimi Code",
    recognise,
    _codec,
    preset="kimi-cli",
    places=_places,
    trigger_setting=TriggerSetting(_setting, lambda window: window - 50_000),
    compact_command=CompactCommand("Kimi CLI", takes_instruction=True),
)
