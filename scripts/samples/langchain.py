# ruff: noqa: E501 (sentences of the story stay whole)
"""A LangChain `dumpd` list: a beekeeper's assistant whose middleware has summarised the beginning away.

The lesson: the summary is a user's message like any other, so whoever reads only roles takes it for the beekeeper's own
word. And each call stands twice, in the content and beside it: counted twice, the session looks fuller than it is.
"""

from __future__ import annotations

import json
from typing import Any

Json = dict[str, Any]


def _made(name: str, /, **fields: Any) -> Json:
    kinds = {"HumanMessage": "human", "AIMessage": "ai", "ToolMessage": "tool", "SystemMessage": "system"}
    where = ["langchain", "schema", "messages", name]
    return {"lc": 1, "type": "constructor", "id": where, "kwargs": {**fields, "type": kinds[name]}}


def _asks(number: int, text: str, name: str, args: Json, sent: int) -> Json:
    id = f"toolu_bee_{number}"
    return _made(
        "AIMessage",
        id=f"run-bee-{number}",
        content=[{"type": "text", "text": text}, {"type": "tool_use", "id": id, "name": name, "input": args}],
        tool_calls=[{"name": name, "args": args, "id": id, "type": "tool_call"}],
        invalid_tool_calls=[],
        usage_metadata={
            "input_tokens": sent,
            "output_tokens": 40,
            "total_tokens": sent + 40,
            "input_token_details": {"cache_read": sent - 90},
        },
        response_metadata={"model_name": "claude-sonnet-4-5", "stop_reason": "tool_use"},
    )


def langchain_messages() -> str:
    weights = "\n".join(
        f"2026-04-{day:02d}  hive 3  {27.4 + 0.31 * min(day, 18) - 0.12 * max(0, day - 18):.1f} kg"
        for day in range(1, 29)
    )
    messages = [
        _made("SystemMessage", content="You help a beekeeper with the log of twelve hives."),
        _made(
            "HumanMessage",
            id="h-0",
            content="Here is a summary of the conversation to date:\n\nThe beekeeper asked for the state of hives 1 to 6. Hive 2 was fed on 3 April. Hive 3 is the strongest. The supers go on when hive 3 reaches 35 kg.",
            additional_kwargs={"lc_source": "summarization"},
        ),
        _made("HumanMessage", id="h-1", content="When did hive 3 start losing weight?"),
        _asks(1, "I read the scale of hive 3.", "read_scale", {"hive": 3, "month": "2026-04"}, 320),
        _made("ToolMessage", content=weights, tool_call_id="toolu_bee_1", name="read_scale", status="success"),
        _asks(
            2,
            "It falls from the 19th on. I look what the log says of that day.",
            "read_log",
            {"day": "2026-04-19"},
            980,
        ),
        _made(
            "ToolMessage",
            content="no entry for 2026-04-19",
            tool_call_id="toolu_bee_2",
            name="read_log",
            status="error",
        ),
        _made(
            "AIMessage",
            id="run-bee-3",
            content="Hive 3 gained until the 18th and has lost 0.1 kg a day since. The log says nothing of the 19th; that it swarmed is likely, but not recorded.",
            tool_calls=[],
            invalid_tool_calls=[],
        ),
        _made("HumanMessage", id="h-2", content="I never said 35 kg for the supers. Who did?"),
    ]
    return json.dumps(messages, ensure_ascii=False, indent=1) + "\n"
