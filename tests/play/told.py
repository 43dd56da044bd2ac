"""The demonstration's story and small ones, made once."""

from __future__ import annotations

from functools import cache

from tests.analysis.courses import counted_from
from workbench.analysis.course import Course, course_of
from workbench.play.frames import BarPart, Fall, Frame, Lane, Rule, Story
from workbench.play.story import SAMPLE, WINDOW, sample_story
from workbench.tokens.window import Window

LIMIT = Window(WINDOW, "given")


@cache
def sample() -> Course:
    return course_of(*counted_from(SAMPLE))


@cache
def demo() -> Story:
    return sample_story(sample(), LIMIT)


def small(says: str = "some words", lanes: int = 1, fall: Fall | None = None) -> Story:
    """A story of one frame: 10, 20 and 40 tokens on a bar that stands for 100."""
    parts = (BarPart("overhead", 10), BarPart("going", 20), BarPart("kept", 40))
    lane = Lane("a way", 3, parts, (50, 70), 1, 90, Rule("Never sell the goat.", "verbatim"))
    return Story("a note", 10, 100, 100, (Frame("PIN IT", (says,), (lane,) * lanes, 2.0, fall),))
