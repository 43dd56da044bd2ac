"""Inspect, with a model of Anthropic's. It goes on from no log: a log's messages are put to a new sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from interop.compare import Allowance
from interop.homes import Home, Package
from interop.library import Script, library, reads
from interop.server import Server
from interop.server.script import Turn
from interop.units import Unit

_NOTHING = "(no content)"
_COUNTED = Turn("There are 399 sacks.")
_SCRIPT = Script("inspect_turns")


def _says_so(sent: Unit, shown: Unit) -> bool:
    return not shown.text and sent == replace(shown, text=_NOTHING)


def _compacting(way: str, *turns: Turn) -> Callable[[Home, Path], Path]:
    """Inspect compacts within a run: in a new one, which the model answers with these turns."""

    def compact(home: Home, path: Path) -> Path:
        made = path.with_name(f"{way}{path.suffix}")
        home.server.script.extend(turns)
        _SCRIPT.run(home, made, "Count the sacks.", COMPACT=way)
        return made

    return compact


def _as_text(sent: Unit, shown: Unit) -> bool:
    return shown.kind == "reasoning" and sent == replace(shown, kind="text", text=f"<think>{shown.text}</think>")


TOOL = replace(
    library(
        _SCRIPT,
        id="inspect",
        title="Inspect",
        package=Package("PyPI", "inspect-ai", "0.3.285", ("anthropic",)),
        format="inspect",
        allowances=(
            Allowance(
                "nothing said",
                f"Empty results and empty answers are sent as “{_NOTHING}”.",
                beside=lambda unit: unit == Unit("assistant", "text", _NOTHING),
                alike=_says_so,
            ),
            Allowance(
                "unsigned reasoning",
                "Reasoning that the API has not signed is sent as text in `<think>`.",
                alike=_as_text,
            ),
        ),
    ),
    compactions={
        "CompactionEdit": _compacting("edit", Turn("", (reads("long.txt"),)), Turn("", (reads("notes.md"),)), _COUNTED),
        "CompactionSummary": _compacting("summary", Turn("", (reads("long.txt"),)), Turn(Server().summary), _COUNTED),
    },
)
