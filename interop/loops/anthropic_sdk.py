"""Anthropic's SDK: what it answered goes back into the list as it is."""

from __future__ import annotations

import anthropic
from anthropic.types import MessageParam, ToolParam

import workbench
from interop.loops import PROMPT, read_part

TOOLS: list[ToolParam] = [
    {
        "name": "read_part",
        "description": "Read one part, by its number.",
        "input_schema": {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
    }
]


def loop(url: str, budget: int) -> str:
    client = anthropic.Anthropic(base_url=url, api_key="dummy", max_retries=0)
    messages: list[MessageParam] = [{"role": "user", "content": PROMPT}]
    while True:
        if workbench.should_compact(messages, trigger_tokens=budget, tools=TOOLS):
            messages = workbench.compact(messages, budget_tokens=budget).messages
        response = client.messages.create(model="interop", max_tokens=999, tools=TOOLS, messages=messages)
        messages.append({"role": "assistant", "content": response.content})
        calls = [block for block in response.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in response.content if block.type == "text")
        results = [(call.id, read_part(int(str(call.input["number"])))) for call in calls]
        messages.append(
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": id, "content": text} for id, text in results],
            }
        )
