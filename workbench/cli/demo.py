"""`cwb demo`: what a compaction does, as a story of about a minute on a sample session, offline."""

from __future__ import annotations

from typing import Any

import click

from workbench.base import paths
from workbench.cli.loading import on_bench_and_course
from workbench.cli.selection import Selection
from workbench.cli.telling import tell, tellings
from workbench.play.demonstration import SAMPLE, WINDOW, demonstration


@click.command("demo")
@tellings
def command(**how: Any) -> None:
    """Show in about a minute what compaction does: the context fills, the trigger fires, the old part becomes a
    summary, a rule survives, the next compaction loses it, a pin keeps it; then two policies side by side.

    Rehearsed: the session is an invented sample with a small window. Nothing is sent, no model is asked and no key is
    needed; the strategies plan as for any session, and the offline summarizer writes. Space pauses, the arrows step,
    + and - change the speed, enter opens the session on the bench, q leaves.
    """
    bench, course = on_bench_and_course(Selection(files=(SAMPLE,), window=WINDOW, epoch=1))
    found = demonstration(course, bench.opened.limit)

    def show() -> int:
        from workbench.summarizers.recording import DEMO, load_recording
        from workbench.tui.playing import PlayApp
        from workbench.tui.settings import read_settings

        recording = load_recording()
        app = PlayApp(
            found, SAMPLE, preset=recording.preset, settings=read_settings(paths.settings()), rehearses=DEMO, fresh=True
        )
        app.run()
        return app.return_code or 0

    tell(found, show, cast_to=how.pop("cast"), svg_to=how.pop("svg"), **how)
