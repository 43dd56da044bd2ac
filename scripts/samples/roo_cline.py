# ruff: noqa: E501 (sentences of the story stay whole)
"""The Roo task: a lighthouse's log book, and a rule that slid out of the window.

The lesson: a sliding window drops messages by age, not by weight. The person's one rule ("the `archive` table is the museum's
copy, never write to it") stands in an answer from the middle of the task; the window hid it, and two steps later the agent
writes to `archive`. The file still has the rule, tagged `truncationParent`; the model has not.
"""

from __future__ import annotations

import json
from typing import Any

Json = dict[str, Any]

START = 1_768_300_000_000
WINDOW = "5f0f8d5e-6a0c-4f0e-9a53-3f3c1d0b7a11"
DETAILS = """<environment_details>
# VSCode Visible Files
logbook/importer.py

# Current Workspace Directory (/home/ilka/lighthouse) Files
README.md
logbook/importer.py
logbook/schema.sql

# Current Mode
<slug>code</slug>
<name>Code</name>
<model>anthropic/claude-sonnet-4</model>
</environment_details>"""
SCHEMA = """create table entry (day date, watch text, wind text, visibility integer, note text);
create table archive (day date, watch text, page integer, note text);  -- scanned by the museum, 1911-1964
create index entry_day on entry (day);
create index archive_day on archive (day);"""
IMPORTER = """import csv, sqlite3

def load(path, db):
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            db.execute("insert into entry values (?,?,?,?,?)", [row[k] for k in ("day", "watch", "wind", "visibility", "note")])
"""
ROWS = "\n".join(
    f"1958-03-{day:02d} | {'middle' if day % 2 else 'morning'} | {'NW' if day % 3 else 'SSW'} {day % 9} | {4 + day % 7} | {'fog signal from 02:10' if day % 5 == 0 else ''}"
    for day in range(1, 31)
)


class _Task:
    def __init__(self) -> None:
        self.items: list[Json] = []
        self.now = START

    def say(self, role: str, *texts: str, after: int = 9, **flags: Any) -> None:
        self.now += after * 1000
        content = [{"type": "text", "text": text} for text in texts]
        self.items.append({"role": role, "content": content, "ts": self.now, **flags})

    def result(self, tool: str, output: str, **flags: Any) -> None:
        self.say("user", f"[{tool}] Result:", output, DETAILS, after=1, **flags)


def roo_task() -> str:
    hidden = {"truncationParent": WINDOW}
    task = _Task()
    task.say(
        "user",
        "<task>\nThe log book of our lighthouse is in SQLite. The importer loads CSV into `entry`. Make it skip days that are there already, and clean up the duplicates of March 1958.\n</task>",
        DETAILS,
    )
    task.say(
        "assistant",
        "I look at the schema first.\n\n<read_file>\n<path>logbook/schema.sql</path>\n</read_file>",
        **hidden,
    )
    task.result("read_file for 'logbook/schema.sql'", SCHEMA, **hidden)
    task.say(
        "assistant",
        "There are two tables with days. Which of them may I clean?\n\n<ask_followup_question>\n<question>Both `entry` and `archive` hold March 1958. Clean both?</question>\n</ask_followup_question>",
        **hidden,
    )
    task.say(
        "user",
        "[ask_followup_question for 'Both `entry` and `archive` hold March 1958. Clean both?'] Result:",
        "<answer>\nOnly `entry`. The `archive` table is the museum's copy: never write to it, whatever it holds.\n</answer>",
        DETAILS,
        after=70,
        **hidden,
    )
    task.say(
        "assistant",
        "Understood, `entry` only. Now the importer.\n\n<read_file>\n<path>logbook/importer.py</path>\n</read_file>",
        **hidden,
    )
    task.result("read_file for 'logbook/importer.py'", IMPORTER, **hidden)
    task.say(
        "user",
        "[Sliding window truncation: 6 messages hidden to reduce context]",
        after=1,
        isTruncationMarker=True,
        truncationId=WINDOW,
    )
    task.say(
        "assistant",
        "The importer inserts without looking. I make it skip what is there.\n\n<apply_diff>\n<path>logbook/importer.py</path>\n<diff>insert into entry -> insert or ignore into entry</diff>\n</apply_diff>",
    )
    task.result("apply_diff for 'logbook/importer.py'", "Changes successfully applied to logbook/importer.py")
    task.say(
        "assistant",
        "Next the duplicates.\n\n<execute_command>\n<command>sqlite3 log.db \"select * from entry where day like '1958-03-%'\"</command>\n</execute_command>",
    )
    task.result("execute_command for 'sqlite3 log.db'", ROWS)
    task.say(
        "assistant",
        "The same days stand in `archive` too, so I remove them from both.\n\n<execute_command>\n<command>sqlite3 log.db \"delete from archive where day like '1958-03-%' and rowid not in (select min(rowid) from archive group by day)\"</command>\n</execute_command>",
    )
    task.say(
        "user",
        "[execute_command for 'sqlite3 log.db'] Result:",
        "The user denied this operation and provided the following feedback:\n<feedback>\nStop! That is the museum's table. I told you so at the start. Do you still know that?\n</feedback>",
        DETAILS,
        after=40,
    )
    return json.dumps(task.items, ensure_ascii=False, indent=1) + "\n"
