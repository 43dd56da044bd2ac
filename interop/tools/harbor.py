"""Harbor's model and validator of ATIF trajectories; no program goes on from one, so a script of ours does."""

from __future__ import annotations

from interop.compare import Allowance
from interop.homes import Package
from interop.library import Script, library, since_last

_HANDED_OVER = "Here are the answers the other agent provided."
_SINCE = since_last(lambda unit: unit.text.startswith(_HANDED_OVER))

TOOL = library(
    Script("harbor_turns"),
    id="harbor",
    title="Harbor",
    package=Package("PyPI", "harbor", "0.24.0", python="3.12"),
    format="atif",
    allowances=(
        Allowance(
            "hand-over", "A trajectory is a record: it includes what came before the agent's restart.", sent=_SINCE
        ),
    ),
)
