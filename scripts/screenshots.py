"""The pictures of README and guide: drives the workbench headless over the samples, the same bytes every time.

`make screenshots` writes SVG to docs/images; `--png FOLDER` writes PNG as well, for a look.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import resvg_py
from textual import constants
from textual.pilot import Pilot
from textual.widgets import Input, TextArea
from textual.worker import WorkerCancelled, WorkerFailed

from workbench.analysis.course import course_messages, course_of
from workbench.bench import open_bench
from workbench.compaction import prompts
from workbench.formats.files import load
from workbench.play.frames import Story
from workbench.play.outputs import animated_svg
from workbench.play.story import SAMPLE, WINDOW, sample_story
from workbench.summarizers.prepared_answer import DEMO, load_prepared_answer
from workbench.tokens import Counter
from workbench.tui.app import WorkbenchApp
from workbench.tui.bench.screen import BenchScreen
from workbench.tui.demo_app import DemoApp
from workbench.tui.screens.export import ExportScreen
from workbench.tui.screens.run import RunScreen

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "sample_sessions"
IMAGES = ROOT / "docs" / "images"

WIDE, MIDDLE, SMALL = (160, 45), (120, 40), (80, 24)


@dataclass(frozen=True)
class Picture:
    """What is pressed first, on which sample, at how many columns and rows."""

    name: str
    keys: Sequence[str] = ()
    size: tuple[int, int] = WIDE
    theme: str = "workbench"
    sample: str = "claude-code-overflow.jsonl"


TWO_PARTS = ("P", *"augment-example", "enter")
"""Keys that choose a policy with head and tail: the one that the sample opens with splits nowhere."""

PICTURES = (
    Picture("bench", (*TWO_PARTS, *["K"] * 12, "c", *["K"] * 7, "p", "K", "K", "x"), MIDDLE),
    Picture("why", ("O",), MIDDLE),
    Picture("message", ("O", "down", "down", "enter")),
    Picture("clearing", ("P", *"clear-tool-results", "enter", "4")),
    Picture("policy", ("9", "down", "down", "down", *"100000"), MIDDLE),
    Picture("compare", ("C",), (170, 30)),
    Picture("replay", ("C", "tab")),
    Picture("split-and-pins", (*TWO_PARTS, "K", "K", "K", "p", "K", "c", "5")),
    Picture("rules", ("W",), MIDDLE),
    Picture("lost", ("X", "down", "down", "down", "down"), MIDDLE),
    Picture("request", ("2",)),
    Picture("result", (*TWO_PARTS, "r", "3")),
    Picture("export", ("r", "e"), MIDDLE),
    Picture("changes", (*TWO_PARTS, "K", "x", "4")),
    Picture("prompts", ("E", "escape", "end"), MIDDLE),
    Picture("sides", ("C", "space", "down", "space", "d", "d"), MIDDLE),
    Picture("small", (), SMALL),
    Picture("light", (*TWO_PARTS, "r", "4"), (200, 55), "workbench-light"),
    Picture("help", ("?",), (120, 45)),
)

_TIMED = re.compile(r"\d+\.\d(?= s\b|&#160;s\b)")
"""Seconds that something took on this machine."""


_NAMED = re.compile(r"\bterminal-\d+-")
"""The picture's own name, a checksum of what it held before those seconds were taken out."""


async def settled(pilot: Pilot[None]) -> None:
    """Wait until everything is counted, checked and drawn."""
    idle = 0
    while idle < 3:
        await pilot.pause()
        busy = [worker for worker in pilot.app.workers if not worker.is_finished]
        for worker in busy:
            with suppress(WorkerCancelled, WorkerFailed):
                await worker.wait()
        benches = [screen for screen in pilot.app.screen_stack if isinstance(screen, BenchScreen)]
        ready = benches and not benches[0].view.counting and benches[0].view.checks is not None
        idle = idle + 1 if ready and not busy else 0


async def svg(pilot: Pilot[None]) -> str:
    """The screen as it is, with nothing on it that blinks or goes away by itself."""
    for typed in pilot.app.screen.query("Input, TextArea").results():
        assert isinstance(typed, Input | TextArea)
        typed.cursor_blink = False
    pilot.app.clear_notifications()
    await pilot.pause()
    return _NAMED.sub("terminal-", _TIMED.sub("0.0", pilot.app.export_screenshot(title="Compaction workbench")))


async def drawn(picture: Picture) -> str:
    app = WorkbenchApp(SAMPLES.relative_to(ROOT) / picture.sample)
    async with app.run_test(size=picture.size) as pilot:
        await settled(pilot)
        app.theme = picture.theme
        for key in picture.keys:
            await pilot.press(key)
            await settled(pilot)
        if isinstance(app.screen, ExportScreen):
            app.screen.query_one(
                "#path", Input
            ).value = "smaller.jsonl"  # the name that is offered is another every time
        return await svg(pilot)


def story() -> Story:
    """What `cwb demo` tells."""
    session, counter = load(SAMPLE), Counter()
    counter.count_all(course_messages(session), lambda done, total: None, lambda: False)
    limit = open_bench(session, counter, window=WINDOW).original.limit
    return sample_story(course_of(session, counter), limit)


async def demonstrated() -> dict[str, str]:
    """The run screen with the prepared answer, before it begins and when it stands there."""
    recording = load_prepared_answer()
    sample = SAMPLES.relative_to(ROOT) / recording.session
    app = DemoApp(story(), sample, preset=recording.preset, rehearses=DEMO, fresh=True)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("enter")
        await settled(pilot)
        await pilot.press("R")
        await settled(pilot)
        screen = app.screen
        assert isinstance(screen, RunScreen)
        before = await svg(pilot)
        await pilot.press("enter")
        while screen.phase != "draft":
            await pilot.pause()
        await settled(pilot)
        return {"run": before, "draft": await svg(pilot)}


def png(picture: str, columns: int) -> bytes:
    """The picture for a look. The terminal's web font is not at hand: a font of the system takes its place."""
    picture = re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    picture = picture.replace("Fira Code", "DejaVu Sans Mono").replace("font-family: arial", "font-family: DejaVu Sans")
    return bytes(resvg_py.svg_to_bytes(svg_string=picture, width=columns * 10))


def main() -> int:
    asked = argparse.ArgumentParser(description="Draw the pictures of README and guide.")
    asked.add_argument("names", nargs="*", help="only these")
    asked.add_argument("--png", type=Path, metavar="FOLDER", help="write PNG there, too")
    wanted = asked.parse_args()
    if not SAMPLES.is_dir():
        sys.stderr.write(f"{SAMPLES} does not exist; scripts/make_samples.py makes it.\n")
        return 2
    with tempfile.TemporaryDirectory() as home:
        names = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")
        os.environ.update(dict.fromkeys(names, home), HOME=home, TZ="UTC")
        constants.TEXTUAL_ANIMATIONS = "none"  # type: ignore[misc]  # the variable was read at the import
        os.environ.pop("NO_COLOR", None)
        time.tzset()
        os.chdir(ROOT)
        prompts.PROMPTS = Path("prompts")  # so that no picture shows where this checkout lies
        for picture in PICTURES:
            if not wanted.names or picture.name in wanted.names:
                write(picture.name, asyncio.run(drawn(picture)), wanted.png, picture.size[0])
        if not wanted.names or "story" in wanted.names:
            write("story", animated_svg(story()), wanted.png, 100)
        if not wanted.names or {"run", "draft"} & set(wanted.names):
            for name, picture in asyncio.run(demonstrated()).items():
                write(name, picture, wanted.png, WIDE[0])
    return 0


def write(name: str, picture: str, pngs: Path | None, columns: int) -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    (IMAGES / f"{name}.svg").write_text(picture, "utf-8")
    if pngs:
        pngs.mkdir(parents=True, exist_ok=True)
        (pngs / f"{name}.png").write_bytes(png(picture, columns))
    sys.stdout.write(f"{name}\n")


if __name__ == "__main__":
    sys.exit(main())
