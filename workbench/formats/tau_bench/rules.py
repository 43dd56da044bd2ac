"""Rules for a tau-bench results file, checked on the JSON alone: entries, each with a chat:
https://github.com/sierra-research/tau-bench."""

from __future__ import annotations

from workbench.formats.faults import Faults, StopValidation, document, require_list, validator
from workbench.formats.openai_chat.rules import chat_faults


@validator
def validate(data: bytes) -> Faults:
    for number, entry in enumerate(require_list(document(data), "results"), 1):
        where = f"Entry {number}"
        if not isinstance(entry, dict) or "task_id" not in entry:
            yield f"{where} has no task_id."
            continue
        if type(entry.get("reward")) not in (int, float):
            yield f"{where} has no reward."
        try:
            yield from chat_faults(entry.get("traj"), f" in entry {number}")
        except StopValidation as last:
            yield str(last)
