"""What every tab of the middle is made from, without a screen."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.analysis.transcript import Verbosity
from workbench.bench import Bench
from workbench.compaction.checks import Check
from workbench.tui.rows import Groups
from workbench.tui.widgets.text_view import Part

Parts = list[Part]


@dataclass(frozen=True)
class View:
    """What a tab is made of: a bench, its rounds, the message under the cursor, the checks if they are done, and how
    much of a message is to be shown."""

    bench: Bench
    groups: Groups
    index: int
    checks: tuple[Check, ...] | None = None
    verbosity: Verbosity = "default"
