"""OpenAI's SDK, chat completions: the answer's message goes back into the list as it is."""

from __future__ import annotations

import json
from typing import Any

import openai

import workbench
from interop.loops import PROMPT, read_part

TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": "read_part",
            "description": "Read one part, by its number.",
            "parameters": {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
        },
    }
]


def loop(url: str, budget: int) -> str:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="dummy", max_retries=0)
    messages: list[Any] = [{"role": "system", "content": "You read."}, {"role": "user", "content": PROMPT}]
    while True:
        if workbench.should_compact(messages, trigger_tokens=budget, tools=TOOLS):
            messages = workbench.compact(messages, budget_tokens=budget).messages
        choice = client.chat.completions.create(model="gpt-4o", messages=messages, tools=TOOLS).choices[0]
        messages.append(choice.message)
        if not choice.message.tool_calls:
            return str(choice.message.content)
        for call in choice.message.tool_calls:
            text = read_part(json.loads(call.function.arguments)["number"])
            messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
