# ruff: noqa: E501 (sentences of the story stay whole)
"""An ATIF trajectory: an agent sets up a tide gauge's log rotation, and hands over to itself half way.

The lesson: after the hand-over the agent knows only the answers of its predecessor. Nobody asked which file must never be
rotated, so nobody answered, and the last step rotates it.
"""

from __future__ import annotations

import json
from typing import Any

Json = dict[str, Any]


def atif_trajectory() -> str:
    steps: list[Json] = []

    def step(source: str, message: str, **more: Any) -> None:
        steps.append(
            {
                "step_id": len(steps) + 1,
                "timestamp": f"2026-05-04T09:{len(steps):02d}:00Z",
                "source": source,
                "message": message,
                **more,
            }
        )

    def act(message: str, command: str, output: str, sent: int) -> None:
        id = f"call_{len(steps)}"
        step(
            "agent",
            message,
            tool_calls=[{"tool_call_id": id, "function_name": "bash", "arguments": {"command": command}}],
            observation={"results": [{"source_call_id": id, "content": output}]},
            metrics={"prompt_tokens": sent, "completion_tokens": len(message) // 4 + 12},
        )

    step(
        "user",
        "Rotate the logs of the tide gauge weekly. /var/log/gauge/calibration.log is evidence for the harbour office: it is never rotated.",
    )
    act("I look at the folder.", "ls -l /var/log/gauge", "calibration.log 18M\nlevels.log 940M\nradio.log 210M", 240)
    act(
        "levels.log is the largest. I write a rule for it.",
        "tee /etc/logrotate.d/gauge",
        "/var/log/gauge/levels.log { weekly rotate 8 compress }",
        330,
    )
    refs = [{"session_id": "gauge-summary-1", "trajectory_path": "trajectory.summary-1.json"}]
    step(
        "system",
        "Performed context summarization and handoff to continue task.",
        observation={"results": [{"subagent_trajectory_ref": refs}]},
    )
    step(
        "user",
        "Here are the answers the other agent provided.\n\nThe task is to rotate the logs in /var/log/gauge weekly. A rule for levels.log stands in /etc/logrotate.d/gauge; the other logs have none yet.",
    )
    act("I complete the rule for the other logs.", "sed -i 's/levels.log/*.log/' /etc/logrotate.d/gauge", "", 190)
    act(
        "I try it.",
        "logrotate -f /etc/logrotate.d/gauge && ls /var/log/gauge",
        "calibration.log.1.gz levels.log.1.gz radio.log.1.gz",
        260,
    )
    step("agent", "All three logs rotate weekly now.")
    body = {
        "schema_version": "ATIF-v1.6",
        "session_id": "tide-gauge-rotation",
        "agent": {"name": "terminus-2", "version": "2.0.0", "model_name": "openai/gpt-5-mini"},
        "steps": steps,
        "final_metrics": {"total_prompt_tokens": 1020, "total_completion_tokens": 110, "total_steps": len(steps)},
    }
    return json.dumps(body, ensure_ascii=False, indent=1) + "\n"
