# ruff: noqa: E501 (sentences of the story stay whole)
"""The OpenHands conversation: a weather station, and a condensation that forgets one event too many.

The lesson: a condensation names what is forgotten by id, so it can be seen exactly. This one forgets six events, among them
a short message of the person in the middle ("the sensor in the north tower reads 2 degrees high: subtract before you
average"). The summary does not have it, and the next average is too warm by two thirds of a degree. The event itself is still in
the file.
"""

from __future__ import annotations

import json
from typing import Any

from samples.text import Clock, Ids

Json = dict[str, Any]

PROMPT = "You are OpenHands agent. Use the terminal tool to run commands in /workspace/weather. Be brief."
SUMMARY = (
    "USER_CONTEXT: averages of the three towers by day, as CSV.\n"
    "COMPLETED: read stations.toml (towers north, west, quay); wrote average.py; it runs over readings/2026-03.csv.\n"
    "PENDING: the averages for April.\n"
    "CODE_STATE: average.py reads one CSV and prints day, mean."
)
READINGS = "day,north,west,quay\n" + "\n".join(
    f"2026-03-{d:02d},{11 + d % 5}.{d % 10},{9 + d % 5}.{d % 7},{9 + d % 4}.{d % 9}" for d in range(1, 25)
)


class _Conversation:
    def __init__(self) -> None:
        self.ids, self.clock = Ids(8), Clock("2026-04-02T07:30:00")
        self.events: list[Json] = []

    def add(self, source: str, kind: str, wait: float = 1, **fields: Any) -> str:
        self.clock.wait(wait)
        id = self.ids.uuid()
        stamp = self.clock.stamp().removesuffix("Z") + "000"
        self.events.append({"id": id, "timestamp": stamp, "source": source, **fields, "kind": kind})
        return id

    def user(self, said: str) -> str:
        return self._message("user", "user", said, 50)

    def agent(self, said: str) -> str:
        return self._message("agent", "assistant", said, 4)

    def _message(self, source: str, role: str, said: str, wait: float) -> str:
        content = [{"cache_prompt": False, "type": "text", "text": said}]
        message = {"role": role, "content": content, "thinking_blocks": []}
        return self.add(source, "MessageEvent", wait, llm_message=message, activated_skills=[], extended_content=[])

    def run(self, thought: str, command: str, output: str, code: int = 0) -> tuple[str, str]:
        call = self.ids.named("call_")
        action = self.add(
            "agent",
            "ActionEvent",
            5,
            thought=[{"cache_prompt": False, "type": "text", "text": thought}] if thought else [],
            thinking_blocks=[],
            action={"command": command, "is_input": False, "reset": False, "kind": "TerminalAction"},
            tool_name="terminal",
            tool_call_id=call,
            tool_call={
                "id": call,
                "name": "terminal",
                "arguments": json.dumps({"command": command}),
                "origin": "completion",
            },
            llm_response_id=self.ids.named("chatcmpl-"),
            security_risk="LOW",
        )
        observation = {
            "content": [{"cache_prompt": False, "type": "text", "text": output}],
            "is_error": False,
            "command": command,
            "exit_code": code,
            "timeout": False,
            "metadata": {"exit_code": code, "pid": -1, "working_dir": "/workspace/weather", "prefix": "", "suffix": ""},
            "kind": "TerminalObservation",
        }
        seen = self.add(
            "environment",
            "ObservationEvent",
            tool_name="terminal",
            tool_call_id=call,
            observation=observation,
            action_id=action,
        )
        return action, seen


def openhands_conversation() -> str:
    talk = _Conversation()
    tool = {
        "description": "Execute a bash command in the terminal.",
        "action_type": "TerminalAction",
        "observation_type": "TerminalObservation",
        "kind": "TerminalTool",
        "title": "terminal",
    }
    talk.add(
        "agent",
        "SystemPromptEvent",
        system_prompt={"cache_prompt": False, "type": "text", "text": PROMPT},
        tools=[tool],
    )
    talk.user("Write me a script that averages the three towers for each day. March lies in readings/2026-03.csv.")
    first = talk.run(
        "I look at the readings.",
        "cat stations.toml; cat readings/2026-03.csv",
        'towers = ["north", "west", "quay"]\n' + READINGS,
    )
    rule = talk.user("One thing: the sensor in the north tower reads 2 degrees high. Subtract that before you average.")
    second = talk.run(
        "Noted: north minus 2.0. I write the script.",
        "cat > average.py && python average.py readings/2026-03.csv | head -3",
        "2026-03-01,9.7\n2026-03-02,10.5\n2026-03-03,11.1",
    )
    done = talk.agent("The script is there; March is done, with the north tower corrected.")
    talk.add("environment", "CondensationRequest")
    talk.add(
        "environment",
        "Condensation",
        2,
        forgotten_event_ids=[*first, rule, *second, done],
        summary=SUMMARY,
        summary_offset=2,
        llm_response_id=talk.ids.named("chatcmpl-"),
    )
    talk.user("Now April, please. The readings came in a new format, one row per tower.")
    talk.run(
        "The new format has one row per tower, so I group by day and take the mean.",
        "python average_long.py readings/2026-04.csv",
        "2026-04-01,12.4\n2026-04-02,11.9",
    )
    talk.agent("April is done: 12.4 and 11.9 degrees for the first two days.")
    talk.user("That is too warm by two thirds of a degree. What happened to the north tower?")
    return "[\n" + ",\n".join(json.dumps(event, ensure_ascii=False) for event in talk.events) + "\n]\n"
