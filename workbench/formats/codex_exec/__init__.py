"""Output of `codex exec --json`: one event per line, from `thread.started` on.

A capture holds no prompt, no instructions and no results of web searches. It holds one usage per turn, which is the
usage of a call only if the turn made a single call. Checked against Codex 0.169; events:
https://github.com/openai/codex, `codex-rs/exec`.
Read only: Codex resumes from its rollout, never from a capture.

No usual place: the command prints the events, and the user chooses where to store them.
"""

from __future__ import annotations

from workbench.formats.format import Codec, Format
from workbench.formats.kit.values import dict_of
from workbench.formats.look import Look

ID = "codex-exec"
KEYS = frozenset(["item", "thread_id", "type", "usage"])


def recognise(look: Look) -> str:
    for record in look.records:
        event = dict_of(record.value)
        kind = event.get("type")
        if kind == "thread.started" and isinstance(event.get("thread_id"), str):
            return f"line {record.line} is the thread.started event of codex exec --json"
        if kind in ("item.started", "item.completed") and {"id", "type"} <= dict_of(event.get("item")).keys():
            return f"line {record.line} is an {kind} event of codex exec --json"
    return ""


def _codec() -> Codec:
    from workbench.formats.codex_exec.read import Reader

    return Codec(Reader.read)


FORMAT = Format(ID, "codex exec --json", recognise, _codec, api="openai-responses", keys=KEYS, preset="codex")
