# ruff: noqa: E501 (sentences of the story stay whole)
"""The Cline SDK session: a bell tower's schedule, and a decision that its summary does not name.

The lesson: a compaction rewrites this file, so what the summary does not name is gone for good. The summary lists every file
that was read and changed, and says what was done; why the night bell was left out (the person's decision, with a date) it
does not say. Right after it the agent finds "a gap" at night and closes it.
"""

from __future__ import annotations

import json
from typing import Any

from samples.text import Clock, Ids

Json = dict[str, Any]

SESSION = "1770810000000_towr1"
SYSTEM = (
    "You are Cline, a coding agent. Work in the folder /home/ilka/bell-tower. Use run_commands for the shell, read_files "
    "to read and editor to change files. Say briefly what you did."
)
SUMMARY = """## Goal
Generate the ringing schedule of the tower for the summer from `bells.toml`.

## State
- Done: the parser for `bells.toml`; strokes for the hours from 06:00 to 21:00; tests for Sundays.
- In Progress: the printed sheet for the sacristan.
- Blocked: nothing.

## Highlights
- The hour stroke takes 2.4 s for each blow.

## Next
- Finish the printed sheet.

## Files
Read: /home/ilka/bell-tower/bells.toml, /home/ilka/bell-tower/tower/schedule.py
Edited: /home/ilka/bell-tower/tower/schedule.py"""
SCHEDULE = """HOURS = range(6, 22)


def strokes(day):
    for hour in HOURS:
        yield day.replace(hour=hour), hour % 12 or 12
"""


class _Session:
    def __init__(self) -> None:
        self.clock, self.ids = Clock("2026-06-02T08:00:00"), Ids(31)
        self.messages: list[Json] = []

    def _add(self, role: str, content: list[Json], wait: float, **more: Any) -> None:
        self.clock.wait(wait)
        self.messages.append(
            {
                "id": self.ids.named("msg_", 8),
                "role": role,
                "content": content,
                "ts": round(self.clock.now.timestamp() * 1000),
                **more,
            }
        )

    def user(self, said: str) -> None:
        self._add("user", [{"type": "text", "text": said}], 60)

    def agent(self, said: str, *calls: tuple[str, Json, Any], sent: int) -> None:
        uses = [
            {"type": "tool_use", "id": self.ids.named("toolu_"), "name": name, "input": given}
            for name, given, _ in calls
        ]
        metrics = {
            "inputTokens": sent,
            "outputTokens": 40 + len(said) // 4,
            "cacheReadTokens": sent - 300,
            "cacheWriteTokens": 0,
            "cost": 0.01,
        }
        info = {"id": "anthropic/claude-sonnet-4.5", "provider": "cline", "family": "claude-sonnet"}
        self._add("assistant", [{"type": "text", "text": said}, *uses], 6, modelInfo=info, metrics=metrics)
        if calls:
            results = [
                {"type": "tool_result", "tool_use_id": use["id"], "name": use["name"], "content": output}
                for use, (_, _, output) in zip(uses, calls, strict=True)
            ]
            self._add("user", results, 1)


def found(query: str, result: str) -> list[Json]:
    return [{"query": query, "result": result, "success": True}]


def cline_session() -> str:
    session = _Session()
    folder = "/home/ilka/bell-tower"
    summary = {
        "role": "user",
        "content": [{"type": "text", "text": f"Context summary:\n\n{SUMMARY}"}],
        "metadata": {
            "kind": "compaction_summary",
            "summary": SUMMARY,
            "details": {
                "readFiles": [f"{folder}/bells.toml", f"{folder}/tower/schedule.py"],
                "modifiedFiles": [f"{folder}/tower/schedule.py"],
            },
            "tokensBefore": 61840,
            "generatedAt": round(session.clock.now.timestamp() * 1000),
        },
        "id": session.ids.named("", 21),
    }
    session.messages.append(summary)
    session.user("Go on with the sheet for the sacristan. One line for each hour.")
    session.agent(
        "I look at what the schedule yields.",
        (
            "read_files",
            {"files": [{"path": f"{folder}/tower/schedule.py"}]},
            found(f"{folder}/tower/schedule.py", SCHEDULE),
        ),
        (
            "run_commands",
            {"commands": ["git log --oneline -3"]},
            found(
                "git log --oneline -3",
                "9be1c02 schedule: no bell from 22 to 5\n41d07aa schedule: strokes for the hours\n7712fe0 bells.toml",
            ),
        ),
        sent=7_420,
    )
    session.agent(
        "The hours 22 to 5 are missing, so the sheet would have a gap. I let the bell ring at every hour.",
        (
            "editor",
            {
                "path": f"{folder}/tower/schedule.py",
                "old_text": "HOURS = range(6, 22)",
                "new_text": "HOURS = range(24)",
            },
            '{"query":"edit","result":"1 replacement","success":true}',
        ),
        sent=8_030,
    )
    session.agent("The schedule now covers the whole day, and the sheet has 24 lines.", sent=8_310)
    session.user(
        "Now it rings at three in the morning! The parish council decided on 12 May that nights stay silent, and I told you so. What else did you forget?"
    )
    document = {
        "version": 1,
        "updated_at": session.clock.stamp(),
        "agent": "lead",
        "sessionId": SESSION,
        "messages": session.messages,
        "system_prompt": SYSTEM,
    }
    return json.dumps(document, ensure_ascii=False, indent="\t") + "\n"
