"""The story of `cwb demo` without a file: an invented session under a preset that loses a rule and one that keeps it.

Window and trigger are so low that both presets compact more than once. The first preset's name shows its changed
trigger. All results are computed as for any session.
"""

from __future__ import annotations

from dataclasses import replace

from rich.cells import cell_len

from workbench.analysis.course import Course
from workbench.base.resources import SAMPLES
from workbench.compaction.preset import Preset, load_preset
from workbench.play.frames import Story
from workbench.play.story import story
from workbench.tokens.window import Window

SAMPLE = SAMPLES / "claude-code-overflow.jsonl"
WINDOW, CHARS = 100_000, 200_000
"""Window in tokens, and size of the history in characters at which the first preset compacts."""

NOTE = "Rehearsed, offline: invented session, window of 100k; code writes, no model."
ENDS = "cwb demo FILE --preset A --preset B does the same with your session."


def presets() -> tuple[Preset, Preset]:
    loses = load_preset("augment-example")
    policy = loses.policy.with_(trigger_on_history_size_chars=CHARS)
    return replace(loses, id=f"augment-example from {CHARS // 1_000}k characters", policy=policy), load_preset(
        "claude-code"
    )


def demonstration(course: Course, limit: Window | None) -> Story:
    """Return the story of the sample's course. Its Chinese request is left out, because not every audience can read
    it."""
    full = story(course, presets(), limit, note=NOTE, ends=ENDS)
    frames = (replace(frame, says=tuple(filter(_is_latin, frame.says))) for frame in full.frames)
    return replace(full, frames=tuple(frames))


def _is_latin(words: str) -> bool:
    return cell_len(words) == len(words)
