# ruff: noqa: E501 (sentences of the story stay whole)
"""An Inspect log of two samples: the same question about a lighthouse, answered with and without looking.

The lesson: one file, two sessions. The first looks into the register and is right; the second answers from memory, is
wrong, and is the shorter one: what a compaction may never drop is the look-up.
"""

from __future__ import annotations

import json
from typing import Any

Json = dict[str, Any]
QUESTION = "In which year did the light of Stenholm change from oil to gas? Answer with the year alone."
REGISTER = "Stenholm, lit 1846 (oil, six lamps). 1879: new lantern, still oil. 1904: gas. 1951: electric. Keeper's post ended 1978."


def _sample(number: int, score: str, messages: list[Json], sent: int) -> Json:
    last = messages[-1]
    usage = {"input_tokens": sent, "output_tokens": 12, "total_tokens": sent + 12}
    output = {"model": "gpt-5-mini", "choices": [{"message": last, "stop_reason": "stop"}], "usage": usage}
    shown = [{**messages[0], "content": "attachment://9f1c0a77"}, *messages[1:]]
    return {
        "id": "stenholm",
        "epoch": number,
        "input": QUESTION,
        "target": "1904",
        "messages": shown,
        "output": output,
        "scores": {"match": {"value": score, "answer": last["content"]}},
        "events": [{"event": "model", "model": "openai/gpt-5-mini", "tools": [], "output": output}],
        "attachments": {"9f1c0a77": QUESTION},
        "uuid": f"stenholm-{number}",
    }


def inspect_log() -> str:
    ask = {"id": "q", "role": "user", "source": "input", "content": QUESTION}
    call = {"id": "call_1", "function": "register", "arguments": {"light": "Stenholm"}}
    looked = [
        ask,
        {
            "id": "a1",
            "role": "assistant",
            "source": "generate",
            "content": "",
            "tool_calls": [call],
            "model": "gpt-5-mini",
        },
        {"id": "t1", "role": "tool", "tool_call_id": "call_1", "function": "register", "content": REGISTER},
        {"id": "a2", "role": "assistant", "source": "generate", "content": "1904", "model": "gpt-5-mini"},
    ]
    guessed = [ask, {"id": "b1", "role": "assistant", "source": "generate", "content": "1879", "model": "gpt-5-mini"}]
    run = {
        "run_id": "lights-1",
        "created": "2026-02-03T08:00:00+00:00",
        "task": "lights",
        "task_id": "lights",
        "dataset": {"samples": 1},
    }
    log = {
        "version": 2,
        "status": "success",
        "eval": {**run, "model": "openai/gpt-5-mini", "config": {"epochs": 2}},
        "plan": {},
        "stats": {},
        "samples": [_sample(1, "C", looked, 190), _sample(2, "I", guessed, 60)],
    }
    return json.dumps(log, ensure_ascii=False, indent=1) + "\n"
