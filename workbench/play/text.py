"""A story as text, for a pipe: the sentences of the last frame of each scene."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.play.drawing import rule_words
from workbench.play.frames import Lane, Story


def story_lines(story: Story) -> Iterator[str]:
    """Yield the lines of a story, with a blank one before each scene."""
    yield story.note
    for title, frames in groupby(story.frames, key=lambda frame: frame.title):
        *_, last = frames
        yield ""
        yield title
        yield from last.says
        yield from (_lane(lane) for lane in last.lanes if lane.call)


def _lane(lane: Lane) -> str:
    words = [f"{lane.name}: ~{grouped(lane.tokens)} tokens at call {grouped(lane.call)}"]
    words += [f"compacted {counted(lane.compactions, 'time')}"] if lane.compactions else []
    words += [lane.cost] if lane.cost else []
    if lane.rule:
        words.append(f"“{lane.rule.text}” {rule_words(lane.rule)[0]}")
    return " · ".join(words)
