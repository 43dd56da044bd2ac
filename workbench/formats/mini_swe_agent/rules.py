"""What a mini-swe-agent trajectory is, judged on the JSON alone: https://github.com/SWE-agent/mini-swe-agent."""

from __future__ import annotations

from workbench.formats.faults import Faults, document, inner, some, validator
from workbench.formats.openai_chat.rules import chat_faults


@validator
def validate(data: bytes) -> Faults:
    """The messages must be what a chat API takes, `extra` and a last `exit` aside."""
    body = document(data)
    items = some(body.get("messages") if isinstance(body, dict) else body, "messages")
    if isinstance(body, dict):
        if not str(body.get("trajectory_format")).startswith("mini-swe-agent"):
            yield f"The trajectory_format is {body.get('trajectory_format')}, none of mini-swe-agent."
        if not isinstance(body.get("info"), dict):
            yield "There is no info."
    sent = [{k: v for k, v in item.items() if k != "extra"} if isinstance(item, dict) else item for item in items]
    if inner(sent[-1], "role", str) == "exit":
        sent.pop()
    yield from chat_faults(sent)
