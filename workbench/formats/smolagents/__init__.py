"""smolagents' memory as JSON: the list returned by `agent.memory.get_full_steps()` or `get_succinct_steps()`.

Steps are a task, a plan, or an action with its calls and observations. A full step holds its request, from which the
system prompt is taken. smolagents sends calls and observations as texts with a heading; here they are calls and
results. Read only.

No usual place: the program that saves its memory chooses the file.
"""

from __future__ import annotations

from typing import Any

from workbench.formats.format import Codec, Format
from workbench.formats.look import Look

ID = "smolagents"
KEYS = frozenset(
    ["model_input_messages", "model_output", "model_output_message", "observations", "step_number", "token_usage"]
)


def recognise(look: Look) -> str:
    steps = look.document if isinstance(look.document, list) else []
    if steps and all(map(is_step, steps)) and any("task" not in step for step in steps):
        return "a list of tasks and numbered steps"
    return ""


def is_step(step: Any) -> bool:
    """Return True if a list's element is a task, a plan or an action."""
    if not isinstance(step, dict) or "role" in step:
        return False
    is_action = "step_number" in step and ("model_output" in step or "observations" in step)
    return "task" in step or is_action or ("plan" in step and "model_output_message" in step) or "system_prompt" in step


def _codec() -> Codec:
    from workbench.formats.smolagents import read

    return Codec(read.Reader.read)


FORMAT = Format(ID, "smolagents steps", recognise, _codec, keys=KEYS)
