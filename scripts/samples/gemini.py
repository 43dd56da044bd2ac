# ruff: noqa: E501 (sentences of the story stay whole)
"""The Gemini session in its appended form: a rewind, records written twice, and one compression.

The lesson: a file is not its context. The bad idea was taken back with a rewind and a compression replaced the rest, so of
the 22 messages in the file the model sees ten; a trim that counts lines of the file counts what is long gone.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from samples.text import Clock, Ids, approximate_tokens

Json = dict[str, Any]
MODEL = "gemini-3-flash-preview"


class Chat:
    def __init__(self) -> None:
        self.clock, self.ids = Clock("2026-05-11T17:40:00"), Ids(330)
        now = self.clock.stamp()
        project = hashlib.sha256(b"/home/ada/orchard").hexdigest()
        head = {
            "sessionId": self.ids.uuid(),
            "projectHash": project,
            "startTime": now,
            "lastUpdated": now,
            "kind": "main",
        }
        self.lines: list[Json] = [head]
        self.held: list[Json] = []
        self._sent = 7_400

    def append(self, record: Json) -> Json:
        self.lines.append(record)
        self.held = [each for each in self.held if each["id"] != record["id"]] + [record]
        return record

    def _record(self, kind: str, content: Any, **more: Any) -> Json:
        return {"id": self.ids.uuid(), "timestamp": self.clock.wait(3), "type": kind, "content": content, **more}

    def user(self, text: str) -> Json:
        self.clock.wait(80)
        self._sent += approximate_tokens(text)
        return self.append(self._record("user", [{"text": text}]))

    def info(self, text: str) -> None:
        self.append(self._record("info", text))

    def gemini(self, text: str, *calls: tuple[str, Json, str, bool]) -> None:
        """First the bare text, then the same record with what came later: results and counts."""
        record = self._record("gemini", text)
        self.lines.append(record)
        made = []
        for name, args, result, good in calls:
            id = f"{name}_{1_778_520_000_000 + len(self.lines)}_{len(made)}"
            said = {"functionResponse": {"id": id, "name": name, "response": {"output" if good else "error": result}}}
            status = "success" if good else "error"
            made.append(
                {
                    "id": id,
                    "name": name,
                    "args": args,
                    "result": [said],
                    "status": status,
                    "timestamp": self.clock.wait(2),
                }
            )
        output = approximate_tokens(text + json.dumps([call["args"] for call in made]))
        total = self._sent + output
        counts = {
            "input": self._sent,
            "output": output,
            "cached": self._sent * 4 // 5,
            "thoughts": 0,
            "tool": 0,
            "total": total,
        }
        self._sent = total + sum(approximate_tokens(result) for _, _, result, _ in calls)
        self.append(record | {"tokens": counts, "model": MODEL} | ({"toolCalls": made} if made else {}))

    def rewind(self, to: Json) -> None:
        self.lines.append({"$rewindTo": to["id"]})
        self.held = self.held[: self.held.index(to)]

    def compress(self, snapshot: str, keep: int) -> None:
        summary = self._record("user", [{"text": snapshot}])
        thanks = self._record("gemini", [{"text": "Got it. Thanks for the additional context!"}])
        kept = [record for record in self.held if record["type"] in ("user", "gemini")][-keep:]
        self.held = [summary, thanks, *kept]
        self.lines.append({"$set": {"messages": self.held, "lastUpdated": self.clock.stamp()}})
        self._sent = 7_400 + approximate_tokens(json.dumps(self.held))


def gemini_session() -> str:
    c = Chat()
    c.info("A newer version is there.")
    c.user(
        "The orchard planner puts two pears side by side that cannot pollinate each other. Where does it choose neighbours?"
    )
    c.gemini(
        "I'll look for the choice of neighbours.",
        (
            "search_file_content",
            {"pattern": "neighbour"},
            "planner/grid.py:31: def neighbours(tree):\nplanner/pairs.py:12: # blooming weeks must overlap by 5 days",
            True,
        ),
        ("read_file", {"absolute_path": "planner/pairs.py"}, "File not found: planner/pairs.py", False),
    )
    c.gemini(
        "The path must be absolute.",
        (
            "read_file",
            {"absolute_path": "/home/ada/orchard/planner/pairs.py"},
            "OVERLAP = 5\n\n\ndef fits(a, b):\n    # blooming weeks must overlap by 5 days\n    return min(a.end, b.end) - max(a.start, b.start) >= OVERLAP\n",
            True,
        ),
    )
    c.gemini(
        "`fits` compares days but gets weeks: an overlap of five *weeks* is demanded, so nothing fits and the planner takes whatever comes."
    )
    wrong = c.user("Then set OVERLAP to 0.")
    c.gemini(
        "Set to 0.",
        (
            "replace",
            {
                "file_path": "/home/ada/orchard/planner/pairs.py",
                "old_string": "OVERLAP = 5",
                "new_string": "OVERLAP = 0",
            },
            "Successfully modified file (1 replacement).",
            True,
        ),
    )
    c.rewind(wrong)
    c.user("No, that lets everything through. Convert weeks to days instead, and keep the five.")
    c.gemini(
        "I convert where the weeks are read.",
        (
            "replace",
            {
                "file_path": "/home/ada/orchard/planner/pairs.py",
                "old_string": "return min(a.end, b.end) - max(a.start, b.start) >= OVERLAP",
                "new_string": "return 7 * (min(a.end, b.end) - max(a.start, b.start)) >= OVERLAP",
            },
            "Successfully modified file (1 replacement).",
            True,
        ),
    )
    c.gemini("Done; the five days stay.")
    c.compress(
        "<state_snapshot>\n<overall_goal>Pears that bloom together stand side by side.</overall_goal>\n<key_knowledge>`fits` in planner/pairs.py compared weeks with days. OVERLAP stays 5; it was 0 for a moment, and the user took that back.</key_knowledge>\n<current_plan>1. [DONE] convert weeks to days 2. [TODO] plan the north slope anew</current_plan>\n</state_snapshot>",
        2,
    )
    c.user("/memory show")
    c.user("Plan the north slope anew now.")
    c.gemini(
        "",
        (
            "run_shell_command",
            {"command": "python -m planner north"},
            "Output: 14 trees, 14 pollinated\nProcess Group PGID: 4711",
            True,
        ),
    )
    c.gemini("All fourteen trees of the north slope have a partner in bloom.")
    c.user("And what was OVERLAP set to while we worked?")
    return "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in c.lines)
