"""Summarizers by name, as a person chooses one: on the command line and on the screen alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import BadInput
from workbench.session import Tool
from workbench.summarizers.anthropic import live
from workbench.summarizers.estimate import estimate
from workbench.summarizers.extractive import extractive
from workbench.summarizers.journal import load
from workbench.summarizers.live_events import OnLiveEvent
from workbench.summarizers.patience import Limits
from workbench.summarizers.recorded import recorded
from workbench.summarizers.rehearsal import KINDS, rehearse
from workbench.summarizers.summarizer import Summarizer, awaited
from workbench.summarizers.typed import typed_from

FORMS: dict[str, str] = {
    "extractive": "extractive",
    "estimate": "estimate",
    "typed": "typed:FILE",
    "anthropic": "anthropic:MODEL",
    "recorded": "recorded:RUN_ID",
    "rehearse": "rehearse:KIND",
}
"""Every kind of summarizer, and how it is written."""


@dataclass(frozen=True, slots=True)
class Name:
    """A summarizer's name, taken apart: `detail` is the file, the model, the run or the failure."""

    kind: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.detail}" if self.detail else self.kind

    @property
    def model(self) -> str:
        """The model that is asked, "" where none is."""
        return self.detail if self.kind == "anthropic" else ""

    @property
    def is_kept(self) -> bool:
        """Whether its runs belong into the journal: what cannot be had again, and what was rehearsed."""
        return self.kind in ("anthropic", "rehearse")


def parsed(text: str) -> Name:
    """Raises BadInput with one sentence that lists what there is."""
    kind, colon, detail = text.strip().partition(":")
    form = FORMS.get(kind)
    if form is None or bool(detail.strip()) != (":" in form) or (colon and ":" not in form):
        raise BadInput(f"{text!r} names no summarizer; there are {', '.join(FORMS.values())}.")
    if kind == "rehearse" and detail.strip() not in KINDS:
        raise BadInput(f"There is no failure {detail.strip()!r} to rehearse; there are {', '.join(KINDS)}.")
    return Name(kind, detail.strip())


def named(
    text: str | Name,
    *,
    on_event: OnLiveEvent | None = None,
    limits: Limits | None = None,
    tools: Sequence[Tool] = (),
) -> Summarizer:
    """The summarizer of a name. Reads the file of `typed:FILE` and the run of `recorded:RUN_ID`, asks no server yet.

    `on_event`, `limits` and `tools` (offered to requests that want them) are for live and rehearsed ones. Raises
    BadInput for an unknown name, a file that cannot be read and a run that was not kept.
    """
    name = parsed(text) if isinstance(text, str) else text
    match name.kind:
        case "anthropic":
            return live(name.detail, on_event=on_event, limits=limits, tools=tools)
        case "rehearse":
            return rehearse(name.detail, on_event)
        case "recorded":
            return awaited(recorded(load(name.detail).answers))
        case "typed":
            return awaited(typed_from(Path(name.detail)))
        case "estimate":
            return awaited(estimate)
    return awaited(extractive)
