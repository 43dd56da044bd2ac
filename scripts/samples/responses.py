# ruff: noqa: E501 (sentences of the story stay whole)
"""An OpenAI Responses body: a bell tower's ringing plan, compacted by the server into an item that nobody can read.

The lesson: the rule of the first message lies before the compaction item. Whether the item still holds it cannot be seen;
what the agent does afterwards shows that it does not.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from hashlib import sha512
from typing import Any

Json = dict[str, Any]


def _call(id: str, name: str, given: Json, output: str) -> list[Json]:
    return [
        {"type": "function_call", "call_id": id, "name": name, "arguments": json.dumps(given)},
        {"type": "function_call_output", "call_id": id, "output": output},
    ]


def _sealed(text: str) -> str:
    """Bytes that look as an encrypted summary does."""
    return urlsafe_b64encode(b"".join(sha512(f"{text}{n}".encode()).digest() for n in range(6))).decode()


def responses_body() -> str:
    plan = "\n".join(
        f"2026-03-{day:02d} {hour}:00 bell {bell}" for day in range(1, 15) for hour, bell in ((8, 2), (18, 3))
    )
    items: list[Json] = [
        {
            "role": "user",
            "content": "Plan the ringing of the tower of Sankt Aldhelm for March. The great bell is cracked: it may ring at most once a day, and never on a Sunday.",
        },
        *_call("call_1", "read_plan", {"month": "2026-03"}, plan),
        {
            "role": "assistant",
            "content": "The plan for the first half of March rings bells 2 and 3 only. I leave Sundays without the great bell.",
        },
        {"role": "user", "content": "Good. Put the great bell at noon on weekdays."},
        *_call("call_2", "set_bell", {"bell": 1, "days": "mon-sat", "hour": 12}, '{"ok": true, "entries": 26}'),
        {"role": "assistant", "content": "The great bell rings at noon from Monday to Saturday, 26 times in March."},
        {"type": "compaction", "id": "cmp_aldhelm_1", "encrypted_content": _sealed("march")},
        {"role": "user", "content": "The mayor speaks on the 15th at 11. Ring something solemn after it."},
        *_call("call_3", "set_bell", {"bell": 1, "days": "2026-03-15", "hour": 12}, '{"ok": true, "entries": 1}'),
        {"role": "assistant", "content": "The great bell rings on Sunday the 15th at noon, after the mayor's speech."},
        {"role": "user", "content": "On a Sunday? What did I tell you about the great bell?"},
    ]
    tools = [
        {
            "type": "function",
            "name": name,
            "description": about,
            "parameters": {"type": "object", "properties": {}},
            "strict": False,
        }
        for name, about in (("read_plan", "The plan of a month."), ("set_bell", "Put a bell into the plan."))
    ]
    body = {
        "model": "gpt-5.4",
        "instructions": "You keep the ringing plan of a bell tower.",
        "context_management": [{"type": "compaction", "compact_threshold": 1000}],
        "input": items,
        "tools": tools,
        "store": False,
    }
    return json.dumps(body, ensure_ascii=False, indent=1) + "\n"
