"""What becomes of a prompt that a model finds too long: its middle goes, by a stated rule, and it is smaller each time.

The rule: what is asked (the request's prompt, where the text begins with it) stays whole; the rest loses its middle, so
that `STEP` of it remains, or less where the server's own figures say that less fits. Start and end stay because they
hold the goal and the latest state; a line tells the model how much is missing.
"""

from __future__ import annotations

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
