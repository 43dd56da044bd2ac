"""The README's pictures: drives the workbench headless over the sample session, the same bytes every time.

Writes SVG, and PNG for a look, to docs/images. `make screenshots` runs it.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from contextlib import suppress
from pathlib import Path

import resvg_py
from textual.pilot import Pilot
from textual.widgets import Input
from textual.worker import WorkerCancelled, WorkerFailed

from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.bench import BenchScreen

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "sample_sessions" / "claude-code-overflow.jsonl"
IMAGES = ROOT / "docs" / "images"

PICTURES: tuple[tuple[str, tuple[int, int], str, tuple[str, ...]], ...] = (
    ("bench", (160, 45), "workbench", ()),
    ("message", (160, 45), "workbench", ("K", "K", "space", "j", "j", "j")),
    ("split-and-pins", (160, 45), "workbench", ("K", "K", "K", "p", "K", "c", "6")),
    ("request", (160, 45), "workbench", ("3",)),
    ("result", (160, 45), "workbench", ("r", "4")),
    ("small", (80, 24), "workbench", ()),
    ("light", (200, 55), "workbench-light", ("r", "5")),
    ("find", (120, 40), "workbench", ("/", *"argon2id", "enter", "n", "n")),
    ("changes", (160, 45), "workbench", ("K", "x", "8")),
    ("compare", (170, 30), "workbench", ("C",)),
    ("help", (120, 45), "workbench", ("?",)),
)
"""Name, columns and rows, theme, keys pressed first."""


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
        ready = benches and not benches[0].counting and benches[0].checks is not None
        idle = idle + 1 if ready and not busy else 0


async def picture(size: tuple[int, int], theme: str, keys: tuple[str, ...]) -> str:
    """The screen after `keys`, as SVG."""
    app = WorkbenchApp(SAMPLE)
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        app.theme = theme
        for key in keys:
            await pilot.press(key)
            await settled(pilot)
        for typed in app.screen.query(Input):
            typed.cursor_blink = False
        await settled(pilot)
        return app.export_screenshot(title="Compaction workbench")


def png(svg: str, columns: int) -> bytes:
    """The picture for a look. The terminal's web font is not at hand: a font of the system takes its place."""
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code", "DejaVu Sans Mono").replace("font-family: arial", "font-family: DejaVu Sans")
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, width=columns * 10))


def main() -> int:
    os.environ.update(TZ="UTC", TEXTUAL_ANIMATIONS="none")
    time.tzset()
    if not SAMPLE.is_file():
        sys.stderr.write(f"{SAMPLE} does not exist; scripts/make_samples.py makes it.\n")
        return 2
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name, size, theme, keys in PICTURES:
        svg = asyncio.run(picture(size, theme, keys))
        (IMAGES / f"{name}.svg").write_text(svg, "utf-8")
        (IMAGES / f"{name}.png").write_bytes(png(svg, size[0]))
        sys.stdout.write(f"{name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
