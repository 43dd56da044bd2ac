"""What a mini-swe-agent trajectory is, judged on the JSON alone (formats.md §2.11)."""

from __future__ import annotations

import json

from workbench.formats.openai_chat import rules as openai_chat_rules


def validate(data: bytes) -> list[str]:
    """What is wrong, one sentence each: the messages must be what a chat API takes, `extra` and a last `exit` aside."""
    try:
        document = json.loads(data.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError) as error:
        return [f"not a JSON document: {error}"]
    items = document.get("messages") if isinstance(document, dict) else document
    if not isinstance(items, list) or not items:
        return ["there are no messages"]
    faults: list[str] = []
    if isinstance(document, dict):
        if not str(document.get("trajectory_format")).startswith("mini-swe-agent"):
            faults.append(f"the trajectory_format is {document.get('trajectory_format')}")
        if not isinstance(document.get("info"), dict):
            faults.append("there is no info")
    sent = [{k: v for k, v in item.items() if k != "extra"} if isinstance(item, dict) else item for item in items]
    if isinstance(sent[-1], dict) and sent[-1].get("role") == "exit":
        sent.pop()
    return faults + openai_chat_rules.validate(json.dumps(sent).encode())
