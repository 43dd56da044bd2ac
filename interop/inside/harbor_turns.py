"""harbor: a trajectory, which no program goes on from. It is read by Harbor's own model and judged by its validator;
what its steps say is put to a chat model, and the answer is one more step."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harbor.models.trajectories import Agent, ContentPart, Observation, ObservationResult, Step, ToolCall, Trajectory
from harbor.utils.trajectory_validator import TrajectoryValidator
from turns import main, read_file

_TOOLS = [{"type": "function", "function": {"name": "read_file", "parameters": {"type": "object"}}}]


def _turns(server: str, file: Path, prompts: Sequence[str]) -> None:
    kept = None
    if file.exists():
        judge = TrajectoryValidator()
        if not judge.validate(file):
            raise ValueError("; ".join(judge.errors))
        kept = Trajectory.model_validate_json(file.read_text(encoding="utf-8"))
    steps = kept.steps if kept else [Step(step_id=1, source="system", message="You keep the notes.")]
    for prompt in prompts:
        steps.append(Step(step_id=len(steps) + 1, source="user", message=prompt))
        while _asked(server, steps):
            pass
    agent = Agent(name="interop", version="1")
    made = kept or Trajectory(session_id="interop", agent=agent, steps=steps)
    file.write_text(json.dumps(made.to_json_dict(), indent=1), encoding="utf-8")


def _asked(server: str, steps: list[Step]) -> bool:
    """One more step of the agent's; whether it calls anything."""
    body = {"model": "gpt-4o", "tools": _TOOLS, "messages": [said for step in steps for said in _said(step)]}
    asked = urllib.request.Request(f"{server}/v1/chat/completions", json.dumps(body).encode())
    with urllib.request.urlopen(asked) as answered:
        message = json.load(answered)["choices"][0]["message"]
    calls = [
        ToolCall(
            tool_call_id=call["id"],
            function_name=call["function"]["name"],
            arguments=json.loads(call["function"]["arguments"]),
        )
        for call in message.get("tool_calls") or ()
    ]
    results = [
        ObservationResult(source_call_id=call.tool_call_id, content=read_file(**call.arguments)) for call in calls
    ]
    steps.append(
        Step(
            step_id=len(steps) + 1,
            source="agent",
            message=message.get("content") or "",
            reasoning_content=message.get("reasoning_content"),
            tool_calls=calls or None,
            observation=Observation(results=results) if results else None,
        )
    )
    return bool(calls)


def _said(step: Step) -> list[dict[str, Any]]:
    role = "assistant" if step.source == "agent" else step.source
    message: dict[str, Any] = {"role": role, "content": _content(step.message)}
    if step.reasoning_content:
        message["reasoning_content"] = step.reasoning_content
    if step.tool_calls:
        message["tool_calls"] = [
            {
                "id": call.tool_call_id,
                "type": "function",
                "function": {"name": call.function_name, "arguments": json.dumps(call.arguments)},
            }
            for call in step.tool_calls
        ]
    results = [
        {"role": "tool", "tool_call_id": result.source_call_id or "", "content": _content(result.content or "")}
        for result in (step.observation.results if step.observation else ())
    ]
    return [message, *results]


def _content(said: str | list[ContentPart]) -> Any:
    return said if isinstance(said, str) else [part.model_dump(exclude_none=True) for part in said]


if __name__ == "__main__":
    main(_turns)
