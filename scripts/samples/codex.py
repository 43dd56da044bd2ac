# ruff: noqa: E501 (sentences of the story stay whole)
"""The Codex rollout: two compactions, the first in clear, the second encrypted.

The lesson: what an agent still knows after a compaction can only be judged where its summary can be read. The rule of
the first prompt (never touch the migrations of last year) stands in the clear summary; after the second compaction
nobody can say whether it still does, and the last turn edits just such a file.
"""

from __future__ import annotations

import json
from typing import Any

from samples.text import Clock, Ids, approximate_tokens

Json = dict[str, Any]

CLEAR = """\
Another language model started to solve this problem and produced a summary of its thinking process. You also have access to the state of the tools that were used by that language model. Use this to build on the work that has already been done and avoid duplicating work. Here is the summary produced by the other language model, use the information in this summary to assist with your own analysis:
The tide tables come from `ingest/tides.py`; the tests were red because `parse_station` took the station's local time for UTC. Fixed with `ZoneInfo(station.zone)`, 41 tests green. Rule of the user: nothing under `migrations/2024_*` may be changed. Open: the export still writes naive times."""


class Rollout:
    def __init__(self) -> None:
        self.clock, self.ids = Clock("2026-02-17T08:12:00"), Ids(220)
        self.lines: list[str] = []
        self._sent, self._total = 5_900, 0
        self.id = self.ids.uuid()
        meta = {
            "id": self.id,
            "timestamp": self.clock.stamp(),
            "cwd": "/home/ada/tidebook",
            "originator": "codex_cli_rs",
        }
        meta |= {"cli_version": "0.142.5", "source": "cli", "model_provider": "openai"}
        instructions = {
            "text": "You are Codex, a coding agent. Work in the repository you are given and keep answers short."
        }
        self._line("session_meta", meta | {"base_instructions": instructions, "git": {"branch": "main"}})
        self.item(
            {
                "type": "message",
                "role": "developer",
                "content": [
                    {
                        "type": "input_text",
                        "text": "<permissions instructions>\nCommands run in the workspace; the network is off.\n</permissions instructions>",
                    }
                ],
            }
        )
        self.item(
            self._user(
                "<environment_context>\n  <cwd>/home/ada/tidebook</cwd>\n  <shell>bash</shell>\n</environment_context>"
            )
        )

    def _line(self, kind: str, payload: Json) -> None:
        self.clock.wait(0.4)
        line = {"timestamp": self.clock.stamp(), "type": kind, "payload": payload}
        self.lines.append(json.dumps(line, ensure_ascii=False, separators=(",", ":")))

    def _event(self, kind: str, **fields: Any) -> None:
        self._line("event_msg", {"type": kind, **fields})

    @staticmethod
    def _user(text: str) -> Json:
        return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}

    def item(self, item: Json) -> None:
        self._sent += approximate_tokens(json.dumps(item, ensure_ascii=False))
        self._line("response_item", item)

    def turn(self) -> None:
        self._line(
            "turn_context",
            {
                "cwd": "/home/ada/tidebook",
                "approval_policy": "on-request",
                "sandbox_policy": {"type": "workspace-write"},
                "model": "gpt-5.3-codex",
                "summary": "auto",
            },
        )

    def user(self, text: str) -> None:
        self.clock.wait(90)
        self._event("task_started", model_context_window=258_400)
        self.item(self._user(text))
        self._event("user_message", message=text, images=[], local_images=[], text_elements=[])
        self.turn()

    def respond(self, text: str, *calls: tuple[str, Json | str, str]) -> None:
        """Reasoning, text and calls of one response, the count of tokens, and the outputs."""
        before = self._sent
        self.clock.wait(4)
        thought = self.ids.blob(120)
        self.item({"type": "reasoning", "summary": [], "encrypted_content": thought})
        if text:
            self._event("agent_message", message=text)
            self.item({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
        made: list[tuple[Json, Json]] = []
        for name, given, result in calls:
            id = self.ids.named("call_")
            if isinstance(given, str):
                call = {"type": "custom_tool_call", "status": "completed", "call_id": id, "name": name, "input": given}
                made.append((call, {"type": "custom_tool_call_output", "call_id": id, "output": result}))
            else:
                call = {"type": "function_call", "name": name, "arguments": json.dumps(given), "call_id": id}
                made.append((call, {"type": "function_call_output", "call_id": id, "output": result}))
        for call, _ in made:
            self.item(call)
        self._tokens(before, self._sent - before)
        for _, output in made:
            self.item(output)

    def _tokens(self, sent: int, made: int) -> None:
        self._total += sent + made
        last = {
            "input_tokens": sent,
            "cached_input_tokens": sent * 9 // 10,
            "output_tokens": made,
            "reasoning_output_tokens": 40,
            "total_tokens": sent + made,
        }
        total = {"total_tokens": self._total}
        self._event(
            "token_count", info={"total_token_usage": total, "last_token_usage": last, "model_context_window": 258_400}
        )

    def compacted(self, kept: list[str], summary: Json, message: str = "") -> None:
        history = [self._user(text) for text in kept] + [summary]
        self._line("compacted", {"message": message, "replacement_history": history, "window_id": self.ids.uuid()})
        self._sent = 5_900 + approximate_tokens(json.dumps(history))
        self.turn()
        self._event("context_compacted")


def codex_rollout() -> str:
    r = Rollout()
    first = "The tide tests are red since the clocks changed. Find out why and mend it. One rule: nothing under migrations/2024_* may be touched, those ran in production."
    second = "Good. The export has the same trouble, times without a zone. Mend that too."
    r.user(first)
    r.respond(
        "I'll run the tests and look at the parser.",
        (
            "shell",
            {"command": ["pytest", "-q", "tests/tides"]},
            "FAILED tests/tides/test_parse.py::test_high_water - assert 05:12 == 06:12\n" * 6
            + "6 failed, 35 passed in 2.11s",
        ),
        (
            "shell",
            {"command": ["sed", "-n", "1,40p", "ingest/tides.py"]},
            "from datetime import datetime, timezone\n\n\ndef parse_station(row):\n    # times in the table are local\n    return datetime.strptime(row['time'], '%H:%M').replace(tzinfo=timezone.utc)\n",
        ),
    )
    r.respond(
        "The table's times are local, but the parser calls them UTC.",
        (
            "apply_patch",
            "*** Begin Patch\n*** Update File: ingest/tides.py\n@@\n-    return datetime.strptime(row['time'], '%H:%M').replace(tzinfo=timezone.utc)\n+    return datetime.strptime(row['time'], '%H:%M').replace(tzinfo=ZoneInfo(row['zone']))\n*** End Patch",
            "Exit code: 0\nOutput:\nSuccess. Updated the following files:\nM ingest/tides.py\n",
        ),
    )
    r.respond("", ("shell", {"command": ["pytest", "-q", "tests/tides"]}, "41 passed in 2.04s"))
    r.respond("Mended: `parse_station` uses the station's own zone. 41 tests pass; the migrations are untouched.")
    r.compacted([first], r._user(CLEAR), CLEAR)
    r.user(second)
    r.respond(
        "",
        (
            "shell",
            {"command": ["grep", "-rn", "isoformat", "export/", "migrations/"]},
            "export/csv.py:18:    row.time.isoformat()\nmigrations/2024_11_times.py:9:    t.replace(tzinfo=None).isoformat()\nmigrations/2025_03_zones.py:4:    t.isoformat()",
        ),
    )
    r.respond(
        "",
        (
            "apply_patch",
            "*** Begin Patch\n*** Update File: export/csv.py\n@@\n-    row.time.isoformat()\n+    row.time.astimezone(row.zone).isoformat()\n*** End Patch",
            "Exit code: 0\nOutput:\nSuccess. Updated the following files:\nM export/csv.py\n",
        ),
    )
    r.respond("The export writes zones now.")
    r.compacted([first[:40] + "…", second], {"type": "compaction", "encrypted_content": r.ids.blob(900)})
    r.user("Are there other places that drop the zone? Mend what you find.")
    r.respond(
        "One more: a migration strips the zone on purpose. I mend it.",
        (
            "apply_patch",
            "*** Begin Patch\n*** Update File: migrations/2024_11_times.py\n@@\n-    t.replace(tzinfo=None).isoformat()\n+    t.isoformat()\n*** End Patch",
            "Exit code: 0\nOutput:\nSuccess. Updated the following files:\nM migrations/2024_11_times.py\n",
        ),
    )
    r.respond("Done: `migrations/2024_11_times.py` keeps the zone now.")
    r.user("You changed a migration of 2024. What had I asked you at the very beginning?")
    return "\n".join(r.lines) + "\n"
