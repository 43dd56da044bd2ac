"""Kimi Code (`~/.kimi-code/sessions/<folder>/<session>/agents/<agent>/wire.jsonl`) and the `context.jsonl` of Kimi CLI.

The journal records every change of the context; it is replayed as by Kimi Code on a resume. After a compaction
the user's messages precede the summary, word for word. Read only.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.format import Codec, Format, TriggerSetting
from workbench.formats.kimi.signature import ID, recognise
from workbench.formats.machine import Machine, Place


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
)
