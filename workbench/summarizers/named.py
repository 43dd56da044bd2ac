"""Summarizers by name, as a person chooses one: on the command line and on the screen alike."""

from __future__ import annotations

import asyncio
from pathlib import Path

from msgspec import Struct

from workbench.base.errors import BadInput
from workbench.session import Session
from workbench.summarizers.command import by_command
from workbench.summarizers.connections import DEFAULT, Connection, connection_named, connections
from workbench.summarizers.estimate import estimate
from workbench.summarizers.extractive import extractive
from workbench.summarizers.journal import load
from workbench.summarizers.live import live
from workbench.summarizers.live import need_key as need_key_of
from workbench.summarizers.live_events import OnLiveEvent, nobody
from workbench.summarizers.patience import Limits
from workbench.summarizers.purse import FREE, Spending
from workbench.summarizers.recorded import recorded
from workbench.summarizers.recording import load_recording, played, recordings
from workbench.summarizers.rehearsal import KINDS, rehearse
from workbench.summarizers.server_forms import Way, form_of
from workbench.summarizers.server_side import server_side
from workbench.summarizers.summarizer import Summarizer, awaited
from workbench.summarizers.typed import typed_from

FORMS: dict[str, str] = {
    "extractive": "extractive",
    "estimate": "estimate",
    "typed": "typed:FILE",
    "command": "command:CMD",
    "server": "server:WAY:MODEL",
    "recorded": "recorded:RUN_ID",
    "recording": "recording:NAME",
    "rehearse": "rehearse:KIND",
}
"""Every kind of summarizer that is no connection, and how it is written. A connection's is `CONNECTION:MODEL`."""


SERVER_WAYS = {
    "compact": 'the server compacts on demand: compaction={"type": "summarize"}, over Responses responses.compact',
    "context-management": "the server compacts at a threshold: compact_20260112",
    "clear-tool-uses": "the server clears old tool results, then compacts: clear_tool_uses_20250919, compact_20260112",
}
"""The ways of compaction on the server, and what each asks for."""

KEPT_TOOL_USES = 3
"""So many of the newest tool results `clear-tool-uses` leaves; the server's own default."""


class Name(Struct, frozen=True):
    """A summarizer's name, taken apart: `kind` is one of `FORMS` or a connection's name, `detail` the file, the model,
    the run, the failure, or way and model; `over` the connection of a server that compacts itself."""

    kind: str
    detail: str = ""
    over: str = DEFAULT

    def __str__(self) -> str:
        if self.kind == "server" and self.over != DEFAULT:
            way, _, model = self.detail.partition(":")
            return f"{self.kind}:{way}:{self.over}/{model}"
        return f"{self.kind}:{self.detail}" if self.detail else self.kind

    @property
    def streams(self) -> bool:
        """Whether a model is asked over a connection, and writes."""
        return self.kind not in FORMS

    @property
    def model(self) -> str:
        """The model that is asked, "" where none is."""
        if self.kind == "server":
            return self.detail.partition(":")[2]
        return self.detail if self.streams else ""

    @property
    def asked(self) -> str:
        """The model as it is named where only models are: see `asking`."""
        return f"{self.kind}/{self.detail}" if self.streams and self.kind != DEFAULT else self.model

    @property
    def connection(self) -> Connection:
        """Whom a model is asked of. Raises BadInput where that is set up no more."""
        return connection_named(self.kind if self.streams else self.over)

    @property
    def is_kept(self) -> bool:
        """Whether its runs belong into the journal: what cannot be had again, and what was rehearsed."""
        return self.streams or self.kind in ("server", "rehearse", "command")


def parsed(text: str) -> Name:
    """Raises BadInput with one sentence that lists what there is, or names what is wrong with the settings."""
    kind, colon, detail = (part.strip() for part in text.strip().partition(":"))
    if kind not in FORMS and detail and kind in connections():
        return Name(kind, detail)
    form = FORMS.get(kind)
    if form is None or bool(detail) != (":" in form) or (colon and ":" not in form):
        raise BadInput(
            f"{text!r} is not a summarizer; there are {', '.join(FORMS.values())}, and CONNECTION:MODEL with a "
            f"connection of {', '.join(connections())}."
        )
    if kind == "rehearse" and detail not in KINDS:
        raise BadInput(f"There is no failure {detail!r} to rehearse; there are {', '.join(KINDS)}.")
    if kind == "recording" and detail not in (names := recordings()):
        raise BadInput(f"There is no recording {detail!r}; there are {', '.join(names)}.")
    if kind == "server":
        way, _, model = (part.strip() for part in detail.partition(":"))
        if way not in SERVER_WAYS or not model:
            forms = ", ".join(f"server:{way}:MODEL" for way in SERVER_WAYS)
            raise BadInput(f"{text!r} names no way of compaction on the server; there are {forms}.")
        asked = asking(model)
        name = Name(kind, f"{way}:{asked.detail}", asked.kind)
        form_of(name.connection, *way_of(name))
        return name
    return Name(kind, detail)


def way_of(name: Name) -> tuple[Way, str, int | None]:
    """How a server is to compact: see `form_of`."""
    way: Way = "on-demand" if name.detail.startswith("compact:") else "threshold"
    return way, "", KEPT_TOOL_USES if name.detail.startswith("clear-tool-uses:") else None


def asking(model: str) -> Name:
    """A model as it is named where only models are: `CONNECTION/MODEL`, or one of Anthropic's by itself. What stands
    before the first slash counts only where it names a connection: models have slashes, too."""
    first, slash, rest = model.strip().partition("/")
    if slash and rest and first in connections():
        return Name(first, rest)
    return Name(DEFAULT, model.strip())


async def need_key(name: Name) -> None:
    """Raises BadInput where a model is to be asked and there is no key: the person's to mend, before any strategy
    falls back from it. Nothing is sent."""
    if name.model:
        await need_key_of(await asyncio.to_thread(lambda: name.connection))


def named(
    text: str | Name,
    *,
    on_event: OnLiveEvent | None = None,
    limits: Limits | None = None,
    session: Session | None = None,
    spending: Spending = FREE,
) -> Summarizer:
    """The summarizer of a name. Reads the file of `typed:FILE` and the run of `recorded:RUN_ID`, asks no server yet.

    `on_event` and `limits` are for live and rehearsed ones; `session` is what the messages and tools that are sent are
    from, and `spending` what they may cost. Raises BadInput for an unknown name, a file that cannot be read, a run
    that was not kept, and for `server:…` without a session.
    """
    name = parsed(text) if isinstance(text, str) else text
    if name.streams:
        return live(name.detail, name.connection, on_event=on_event, limits=limits, session=session, spending=spending)
    match name.kind:
        case "server":
            if session is None:
                raise BadInput(f"{name} compacts a session's own messages; open the session first.")
            way, _, keep = way_of(name)
            return server_side(
                name.model, session, name.connection,
                way=way, keep_tool_uses=keep, on_event=on_event, limits=limits, spending=spending,
            )  # fmt: skip
        case "recording":
            return played(load_recording(name.detail), on_event or nobody)
        case "rehearse":
            return rehearse(name.detail, on_event)
        case "recorded":
            return awaited(recorded(load(name.detail).answers))
        case "command":
            return by_command(name.detail)
        case "typed":
            return awaited(typed_from(Path(name.detail)))
        case "estimate":
            return awaited(estimate)
    return awaited(extractive)
