"""A demo on the screen: frame after frame by a timer, or step by step by key."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from workbench.play.drawing import STYLES, Row, drawn
from workbench.play.frames import Story
from workbench.tui.keys import HELP_KEY, shared
from workbench.tui.widgets.keys_line import KeysLine

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0)


class Stage(Widget):
    """One frame of a demo, as large as fits."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"stage--{name}" for name in STYLES if name}

    def __init__(self, story: Story) -> None:
        super().__init__()
        self.story, self.number = story, 0
        self._rows: list[Row] = []
        self._drawn: tuple[int, int, int] | None = None

    def show(self, number: int) -> None:
        self.number = number
        self.refresh()

    def render_line(self, y: int) -> Strip:
        key = (self.number, self.size.width, self.size.height)
        if key != self._drawn:
            self._rows, self._drawn = drawn(self.story, *key), key
        base = self.visual_style.rich_style
        runs = (
            Segment(text, base + self.get_component_rich_style(f"stage--{name}", partial=True) if name else base)
            for text, name in self._rows[y]
        )
        return Strip(runs)


class PlayScreen(Screen[bool | None]):
    """Screen dismissed with True if the session is to be opened on the bench."""

    HELP = """\
The demo shows the session from its first call under a preset. The bar is the prompt of a call, on the scale of the \
window; below it are the sizes of earlier prompts. At a compaction the replaced messages sink into a summary and the \
kept ones move up. ◉ is a rule of the user, and whether the model can still read it. Everything is computed from the \
recorded session with the offline summarizer; no model is asked."""
    BINDINGS: ClassVar[list[BindingType]] = [
        shared("toggle", "pause", "Pause", "Pause, or continue."),
        shared("move.right", "step(1)", "Step", "One step forward, then stop."),
        shared("move.left", "step(-1)", "Back", "One step back, then stop."),
        shared("move.page-down", "scene(1)", "Scene", "To the next scene."),
        shared("move.page-up", "scene(-1)", "Scene before", "To the scene before.", show=False),
        shared("more", "speed(1)", "Faster", "Twice as fast."),
        shared("less", "speed(-1)", "Slower", "Half as fast."),
        shared("move.first", "again", "Again", "From the beginning.", show=False),
        shared("move.last", "last", "End", "To the last frame.", show=False),
        shared("open", "dismiss(True)", "Bench", "This session on the bench."),
        shared("close", "dismiss(False)", "Leave", "Leave the demo."),
        HELP_KEY,
    ]

    def __init__(self, story: Story) -> None:
        super().__init__()
        self.story, self.number = story, 0
        self.playing, self.pace = True, SPEEDS.index(1.0)
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        yield Stage(self.story)
        yield Static(id="pace")
        yield KeysLine()

    def on_mount(self) -> None:
        self._show(0)

    def tick(self) -> None:
        """Show the next frame when the time of the present frame is over."""
        if self.playing:
            self._show(self.number + 1)

    def action_pause(self) -> None:
        at_end = self.number + 1 == len(self.story.frames)
        self.playing = not self.playing
        self._show(0 if self.playing and at_end else self.number)

    def action_step(self, by: int) -> None:
        self.playing = False
        self._show(self.number + by)

    def action_scene(self, by: int) -> None:
        """Go to the beginning of another scene; playing continues."""
        titles = [frame.title for frame in self.story.frames]
        begins = [at for at in range(len(titles)) if at == 0 or titles[at] != titles[at - 1]]
        later = [at for at in begins if at > self.number]
        here = max(at for at in begins if at <= self.number)
        earlier = [at for at in begins if at < here]
        self._show((later[0] if later else len(titles) - 1) if by > 0 else (earlier[-1] if earlier else 0))

    def action_speed(self, by: int) -> None:
        self.pace = max(0, min(len(SPEEDS) - 1, self.pace + by))
        self._show(self.number)

    def action_again(self) -> None:
        self.playing = True
        self._show(0)

    def action_last(self) -> None:
        self._show(len(self.story.frames) - 1)

    def _show(self, number: int) -> None:
        frames = self.story.frames
        self.number = max(0, min(len(frames) - 1, number))
        self.playing = self.playing and self.number + 1 < len(frames)
        if self._timer is not None:
            self._timer.stop()
        speed = SPEEDS[self.pace]
        self._timer = self.set_timer(frames[self.number].seconds / speed, self.tick) if self.playing else None
        self.query_one(Stage).show(self.number)
        sign = "▶" if self.playing else "⏸"
        self.query_one("#pace", Static).update(f"{sign} {self.number + 1} of {len(frames)} · {speed:g}×")
