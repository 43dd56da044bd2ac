"""What becomes of a prompt that a model finds too long: a part goes, by a stated rule, and it is smaller each time.

Of a text the middle goes: what is asked (the request's prompt, where the text begins with it) stays whole; the rest
loses its middle, so that `STEP` of it remains, or less where the server's own figures say that less fits. Start and end
stay because they hold the goal and the latest state; a line tells the model how much is missing.

Of messages the oldest go, as agents do it, up to the next user's message that answers no call: no pair is torn, and the
API takes what begins with the user.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.base.values import json_text

STEP = 0.8
"""The share of the material that stays, each time."""

MARGIN = 0.95
"""Of what the server's figures leave room for, so much is used: characters and tokens are not proportional."""

LEAST = 2_000
"""Characters of material below which shrinking is given up: a summary of less would say nothing of the session."""


def shrunk(text: str, asked: str, room: float | None = None) -> str | None:
    """`text` with its middle cut; always shorter than `text`. None when it cannot be cut any further.

    `asked` is what the text begins with and must keep; `room` the share of the text that the server has room for.
    """
    kept = len(asked) if text.startswith(asked) else 0
    material = len(text) - kept
    target = int(material * STEP)
    if room is not None:
        target = min(target, int(len(text) * room * MARGIN) - kept)
    note = f"\n[… {material - target:,} characters are left out here …]\n"
    held = target - len(note)
    if held < LEAST:
        return None
    end = held // 2
    return text[: kept + held - end] + note + text[len(text) - end :]


def without_oldest(messages: Sequence[Mapping[str, Any]], room: float | None = None) -> list[dict[str, Any]] | None:
    """API messages without the oldest; the last one, which asks, stays. None where nothing can go, or only all of the
    material. `room` is the share that the server has room for."""
    sizes = [len(json_text(message)) for message in messages]
    whole = sum(sizes)
    target = min(whole * STEP, whole * MARGIN * room if room is not None else whole)
    left = whole
    for at, message in enumerate(messages[:-1]):
        if at and left <= target and _may_open(message):
            return [dict(each) for each in messages[at:]] if left - sizes[-1] >= LEAST else None
        left -= sizes[at]
    return None


def _may_open(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    answers = isinstance(content, list) and any(block.get("type") == "tool_result" for block in content)
    return message.get("role") == "user" and not answers
