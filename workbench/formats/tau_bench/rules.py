"""What a tau-bench results file is, judged on the JSON alone: entries, each with a chat (formats.md §1, §2.5)."""

from __future__ import annotations

import json

from workbench.formats.openai_chat import rules as openai_chat_rules


def validate(data: bytes) -> list[str]:
    """What is wrong, one sentence each, naming entries by their place from 1."""
    try:
        entries = json.loads(data.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError) as error:
        return [f"not a JSON document: {error}"]
    if not isinstance(entries, list) or not entries:
        return ["there are no results"]
    faults: list[str] = []
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict) or "task_id" not in entry:
            faults.append(f"entry {number}: has no task_id")
            continue
        if type(entry.get("reward")) not in (int, float):
            faults.append(f"entry {number}: has no reward")
        chat = json.dumps(entry.get("traj")).encode()
        faults += [f"entry {number}: {fault}" for fault in openai_chat_rules.validate(chat)]
    return faults
