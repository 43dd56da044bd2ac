"""Summarizers by name, as a person chooses one: on the command line and on the screen alike."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workbench.base.errors import BadInput
from workbench.session import Session
from workbench.summarizers.anthropic import live
from workbench.summarizers.estimate import estimate
from workbench.summarizers.extractive import extractive
from workbench.summarizers.journal import load
from workbench.summarizers.live_events import OnLiveEvent, nobody
from workbench.summarizers.patience import Limits
from workbench.summarizers.recorded import recorded
from workbench.summarizers.recording import load_recording, played, recordings
from workbench.summarizers.rehearsal import KINDS, rehearse
from workbench.summarizers.server_side import Way, server_side
from workbench.summarizers.summarizer import Summarizer, awaited
from workbench.summarizers.typed import typed_from

FORMS: dict[str, str] = {
    "extractive": "extractive",
    "estimate": "estimate",
    "typed": "typed:FILE",
    "anthropic": "anthropic:MODEL",
    "server": "server:WAY:MODEL",
    "recorded": "recorded:RUN_ID",
    "recording": "recording:NAME",
    "rehearse": "rehearse:KIND",
}
"""Every kind of summarizer, and how it is written."""


SERVER_WAYS = {
    "compact": 'the server compacts on demand: compaction={"type": "summarize"}',
    "context-management": "the server compacts at a threshold: compact_20260112",
    "clear-tool-uses": "the server clears old tool results, then compacts: clear_tool_uses_20250919, compact_20260112",
}
"""The ways of compaction on the server, and what each asks for."""

KEPT_TOOL_USES = 3
"""So many of the newest tool results `clear-tool-uses` leaves; the server's own default."""


@dataclass(frozen=True, slots=True)
class Name:
    """A summarizer's name, taken apart: `detail` is the file, the model, the run, the failure, or way and model."""

    kind: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.detail}" if self.detail else self.kind

    @property
    def model(self) -> str:
        """The model that is asked, "" where none is."""
        if self.kind == "server":
            return self.detail.partition(":")[2]
        return self.detail if self.kind == "anthropic" else ""

    @property
    def is_kept(self) -> bool:
        """Whether its runs belong into the journal: what cannot be had again, and what was rehearsed."""
        return self.kind in ("anthropic", "server", "rehearse")


def parsed(text: str) -> Name:
    """Raises BadInput with one sentence that lists what there is."""
    kind, colon, detail = text.strip().partition(":")
    form = FORMS.get(kind)
    if form is None or bool(detail.strip()) != (":" in form) or (colon and ":" not in form):
        raise BadInput(f"{text!r} names no summarizer; there are {', '.join(FORMS.values())}.")
    if kind == "rehearse" and detail.strip() not in KINDS:
        raise BadInput(f"There is no failure {detail.strip()!r} to rehearse; there are {', '.join(KINDS)}.")
    if kind == "recording" and detail.strip() not in (names := recordings()):
        raise BadInput(f"There is no recording {detail.strip()!r}; there are {', '.join(names)}.")
    if kind == "server":
        way, _, model = (part.strip() for part in detail.partition(":"))
        if way not in SERVER_WAYS or not model:
            forms = ", ".join(f"server:{way}:MODEL" for way in SERVER_WAYS)
            raise BadInput(f"{text!r} names no way of compaction on the server; there are {forms}.")
        return Name(kind, f"{way}:{model}")
    return Name(kind, detail.strip())


def named(
    text: str | Name,
    *,
    on_event: OnLiveEvent | None = None,
    limits: Limits | None = None,
    session: Session | None = None,
) -> Summarizer:
    """The summarizer of a name. Reads the file of `typed:FILE` and the run of `recorded:RUN_ID`, asks no server yet.

    `on_event` and `limits` are for live and rehearsed ones; `session` is what the messages and tools that are sent are
    from. Raises BadInput for an unknown name, a file that cannot be read, a run
    that was not kept, and for `server:…` without a session.
    """
    name = parsed(text) if isinstance(text, str) else text
    match name.kind:
        case "anthropic":
            return live(name.detail, on_event=on_event, limits=limits, session=session)
        case "server":
            if session is None:
                raise BadInput(f"{name} compacts a session's own messages; open the session first.")
            way: Way = "on-demand" if name.detail.startswith("compact:") else "threshold"
            keep = KEPT_TOOL_USES if name.detail.startswith("clear-tool-uses:") else None
            return server_side(name.model, session, way=way, keep_tool_uses=keep, on_event=on_event, limits=limits)
        case "recording":
            return played(load_recording(name.detail), on_event or nobody)
        case "rehearse":
            return rehearse(name.detail, on_event)
        case "recorded":
            return awaited(recorded(load(name.detail).answers))
        case "typed":
            return awaited(typed_from(Path(name.detail)))
        case "estimate":
            return awaited(estimate)
    return awaited(extractive)
