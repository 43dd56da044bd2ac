"""`cwb play`: a session as a story of about a minute, under one policy or two side by side."""

from __future__ import annotations

from typing import Any

import click

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.bench import USUAL
from workbench.cli.loading import on_bench_and_course
from workbench.cli.selection import Selection, selection
from workbench.cli.telling import tell, tellings
from workbench.compaction.of_tool import tools_preset
from workbench.compaction.preset import load_preset
from workbench.compaction.strategies import DEFAULT
from workbench.play.story import offline, story


@click.command("play")
@selection(
    "part",
    "set",
    "window",
    strategy="A strategy with its own preset.",
    preset="The policy that is played; a second one stands beside it. By default the tool's own, and our own.",
    epoch="Start with this epoch, not the first.",
    watch="Follow this sentence, of several the first that is said; by default a rule of the user's that is lost.",
)
@tellings
def command(chosen: Selection, **how: Any) -> None:
    """Play FILE as a story of about a minute, large enough for a room: the context fills call by call, compactions
    fire, a rule of the user's is kept or lost, a pin keeps it, two policies side by side.

    Space pauses, the arrows step, + and - change the speed. Everything is worked out from the recorded session: the
    policies plan as they would, the offline summarizer writes, and no model is asked. Secrets that can be told by their
    shape or name are masked; it quotes the session all the same: look at a file before you give it away.
    """
    policies = chosen.policies() if chosen.presets or chosen.strategies else []
    if len(policies) > 2:
        raise BadInput(f"{len(policies)} policies are named; a story has room for two.")
    bench, course = on_bench_and_course(chosen.whole)
    if not policies:
        own = tools_preset(bench.session) or USUAL
        policies = [load_preset(name) for name in dict.fromkeys((own, DEFAULT))]
    found = story(course, policies, bench.opened.limit, note=offline(chosen.file.name), watched=bench.watched)

    def show() -> int:
        from workbench.tui.playing import PlayApp
        from workbench.tui.settings import read_settings

        first = policies[0]
        app = PlayApp(
            found,
            chosen.file,
            preset=first.id or None,
            window=chosen.window,
            part=chosen.part,
            settings=read_settings(paths.settings()),
            memory=paths.state(),
        )
        app.run()
        return app.return_code or 0

    tell(found, show, cast_to=how.pop("cast"), svg_to=how.pop("svg"), **how)
