# ruff: noqa: E501 (sentences of the story stay whole)
"""A Google ADK session: a lending desk for a museum's boats, compacted by ADK over a stretch of time.

The lesson: the compaction hides by time alone. The hour by which the boat must be back was said within that stretch, the
summary leaves it out, and the agent extends the loan past it.
"""

from __future__ import annotations

import json
from typing import Any

Json = dict[str, Any]
START = 1_772_190_000.25
AGENT = "boat_desk"


class Desk:
    def __init__(self) -> None:
        self.events: list[Json] = []
        self.invocation = 0

    def _add(self, author: str, role: str, parts: list[Json], **more: Any) -> None:
        number = len(self.events)
        self.events.append(
            {
                "content": {"parts": parts, "role": role},
                "invocation_id": f"e-boat-{self.invocation}",
                "author": author,
                "actions": {"state_delta": {}, "artifact_delta": {}},
                "id": f"ev{number:04d}",
                "timestamp": START + 20 * number,
                **more,
            }
        )

    def user(self, text: str) -> None:
        self.invocation += 1
        self._add("user", "user", [{"text": text}])

    def say(self, text: str, sent: int) -> None:
        used = {"prompt_token_count": sent, "candidates_token_count": len(text) // 4}
        self._add(AGENT, "model", [{"text": text}], usage_metadata=used, model_version="gemini-2.5-flash")

    def call(self, name: str, given: Json, result: Json) -> None:
        id = f"adk-{len(self.events):04d}"
        self._add(AGENT, "model", [{"function_call": {"id": id, "args": given, "name": name}}])
        self._add(AGENT, "user", [{"function_response": {"id": id, "name": name, "response": result}}])

    def compact(self, first: int, last: int, text: str) -> None:
        inner = {
            "start_timestamp": self.events[first]["timestamp"],
            "end_timestamp": self.events[last]["timestamp"],
            "compacted_content": {"role": "model", "parts": [{"text": text}]},
        }
        number = len(self.events)
        self.events.append(
            {
                "invocation_id": f"e-boat-{self.invocation}",
                "author": "user",
                "actions": {"state_delta": {}, "artifact_delta": {}, "compaction": inner},
                "id": f"ev{number:04d}",
                "timestamp": START + 20 * number,
            }
        )


def adk_session() -> str:
    desk = Desk()
    desk.user(
        "I would like the rowing boat Elida today. A school class has it from three o'clock on, so it must be back by then."
    )
    desk.call("boat", {"name": "Elida"}, {"name": "Elida", "seats": 4, "state": "free", "oars": 2})
    desk.say("The Elida is free. Two oars and four vests go with it; I note that it must be back by three.", 210)
    desk.user("There are five of us, one is small.")
    desk.call("vests", {"count": 5}, {"result": "5 vests laid out, one for a child"})
    desk.say("Five vests are laid out. The Elida has four seats, the child may sit in the bow.", 330)
    desk.compact(
        0, 7, "The visitor borrowed the rowing boat Elida with two oars and five vests, one of them for a child."
    )
    desk.user("It is lovely out here. Can we keep it longer?")
    desk.call("extend", {"boat": "Elida", "until": "17:00"}, {"result": "extended until 17:00"})
    desk.say("Gladly: the Elida is yours until five.", 260)
    desk.user("Wait, was there not somebody after us?")
    body = {
        "id": "boat-2026-02-27",
        "app_name": AGENT,
        "user_id": "visitor",
        "state": {"boat": "Elida"},
        "events": desk.events,
        "last_update_time": desk.events[-1]["timestamp"],
    }
    return json.dumps(body, ensure_ascii=False, indent=1) + "\n"
