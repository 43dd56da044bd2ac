"""Summarizers by name, as a person chooses one: on the command line and on the screen alike."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from msgspec import Struct

from workbench.base.errors import BadInput
from workbench.base.reading import read_text
from workbench.base.secrets import masked_value
from workbench.compaction.conversation import MessagesBody
from workbench.compaction.summary_request import Answer, Summary, SummaryFailed, SummaryRequest
from workbench.session import Session
from workbench.summarizers.call_limits import CallLimits, limits_of
from workbench.summarizers.command import command_summarizer
from workbench.summarizers.connections import DEFAULT, Connection, connection_named, connections
from workbench.summarizers.estimate import estimate
from workbench.summarizers.extractive import extractive
from workbench.summarizers.live import PROTOCOLS, live_summarizer
from workbench.summarizers.live import check_key as need_key_of
from workbench.summarizers.live_events import OnLiveEvent, ignore_event
from workbench.summarizers.prepared_answer import load_prepared_answer, prepared_answers, prepared_summarizer
from workbench.summarizers.recorded_answers import recorded_summarizer
from workbench.summarizers.rehearsal import FAILURE_KINDS, rehearsal_summarizer
from workbench.summarizers.run_history import load_run
from workbench.summarizers.server_compaction import server_summarizer
from workbench.summarizers.server_endpoints import ServerMode, endpoint_of
from workbench.summarizers.spend_limit import UNLIMITED, Spending
from workbench.summarizers.summarizer import PureSummarizer, Summarizer, in_thread

NAME_FORMS: dict[str, str] = {
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


SERVER_MODES = {
    "compact": 'the server compacts on demand: compaction={"type": "summarize"}, over Responses responses.compact',
    "context-management": "the server compacts at a threshold: compact_20260112",
    "clear-tool-uses": "the server clears old tool results, then compacts: clear_tool_uses_20250919, compact_20260112",
}
"""The ways of compaction on the server, and what each asks for."""

KEPT_TOOL_USES = 3
"""So many of the newest tool results `clear-tool-uses` leaves; the server's own default."""


class SummarizerName(Struct, frozen=True):
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
        return self.kind not in NAME_FORMS

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


def parse_name(text: str) -> SummarizerName:
    """Raises BadInput with one sentence that lists what there is, or names what is wrong with the settings."""
    kind, colon, detail = (part.strip() for part in text.strip().partition(":"))
    if kind not in NAME_FORMS and detail and kind in connections():
        return SummarizerName(kind, detail)
    form = NAME_FORMS.get(kind)
    if form is None or bool(detail) != (":" in form) or (colon and ":" not in form):
        raise BadInput(
            f"{text!r} is not a summarizer; there are {', '.join(NAME_FORMS.values())}, and CONNECTION:MODEL with a "
            f"connection of {', '.join(connections())}."
        )
    if kind == "rehearse" and detail not in FAILURE_KINDS:
        raise BadInput(f"There is no failure {detail!r} to rehearse; there are {', '.join(FAILURE_KINDS)}.")
    if kind == "recording" and detail not in (names := prepared_answers()):
        raise BadInput(f"There is no recording {detail!r}; there are {', '.join(names)}.")
    if kind == "server":
        way, _, model = (part.strip() for part in detail.partition(":"))
        if way not in SERVER_MODES or not model:
            forms = ", ".join(f"server:{way}:MODEL" for way in SERVER_MODES)
            raise BadInput(f"{text!r} names no way of compaction on the server; there are {forms}.")
        asked = parse_model(model)
        name = SummarizerName(kind, f"{way}:{asked.detail}", asked.kind)
        endpoint_of(name.connection, *server_mode(name))
        return name
    return SummarizerName(kind, detail)


def server_mode(name: SummarizerName) -> tuple[ServerMode, str, int | None]:
    """How a server is to compact: see `form_of`."""
    way: ServerMode = "on-demand" if name.detail.startswith("compact:") else "threshold"
    return way, "", KEPT_TOOL_USES if name.detail.startswith("clear-tool-uses:") else None


def parse_model(model: str) -> SummarizerName:
    """A model as it is named where only models are: `CONNECTION/MODEL`, or one of Anthropic's by itself. What stands
    before the first slash counts only where it names a connection: models have slashes, too."""
    first, slash, rest = model.strip().partition("/")
    if slash and rest and first in connections():
        return SummarizerName(first, rest)
    return SummarizerName(DEFAULT, model.strip())


async def check_key(name: SummarizerName) -> None:
    """Raises BadInput where a model is to be asked and there is no key: the person's to mend, before any strategy
    falls back from it. Nothing is sent."""
    if name.model:
        await need_key_of(await asyncio.to_thread(lambda: name.connection))


def summarizer_named(
    text: str | SummarizerName,
    *,
    on_event: OnLiveEvent | None = None,
    limits: CallLimits | None = None,
    session: Session | None = None,
    spending: Spending = UNLIMITED,
) -> Summarizer:
    """The summarizer of a name. Reads the file of `typed:FILE` and the run of `recorded:RUN_ID`, asks no server yet.

    `on_event` and `limits` are for live and rehearsed ones; `session` is what the messages and tools that are sent are
    from, and `spending` what they may cost. Raises BadInput for an unknown name, a file that cannot be read, a run
    that was not kept, and for `server:…` without a session.
    """
    name = parse_name(text) if isinstance(text, str) else text
    if name.streams:
        return live_summarizer(
            name.detail, name.connection, on_event=on_event, limits=limits, session=session, spending=spending
        )
    match name.kind:
        case "server":
            if session is None:
                raise BadInput(f"{name} compacts a session's own messages; open the session first.")
            way, _, keep = server_mode(name)
            return server_summarizer(
                name.model, session, name.connection,
                way=way, keep_tool_uses=keep, on_event=on_event, limits=limits, spending=spending,
            )  # fmt: skip
        case "recording":
            return prepared_summarizer(load_prepared_answer(name.detail), on_event or ignore_event)
        case "rehearse":
            return rehearsal_summarizer(name.detail, on_event)
        case "recorded":
            return in_thread(recorded_summarizer(load_run(name.detail).answers))
        case "command":
            return command_summarizer(name.detail)
        case "typed":
            return in_thread(typed_file_summarizer(Path(name.detail)))
        case "estimate":
            return in_thread(estimate)
    return in_thread(extractive)


def request_as_sent(request: SummaryRequest, name: SummarizerName, session: Session) -> str:
    """The text of a request; the whole body as JSON, though that is streamed, where messages or tools go to a server.
    Raises BadInput where they cannot be sent, or the settings are broken."""
    if name.kind == "server":
        whom = name.connection
        most = request.max_output_tokens or limits_of(whom).max_output
        return _json(endpoint_of(whom, *server_mode(name)).body(session, request, name.model, most))
    if name.streams and (request.tools or isinstance(request.body, MessagesBody)):
        whom = name.connection
        spoken = PROTOCOLS[whom.protocol]
        most = request.max_output_tokens or limits_of(whom).max_output
        return _json(spoken.body(request, name.model, spoken.sending(request, session), most, ()))
    return request.shown


def _json(body: object) -> str:
    """Masked before it is JSON, whose escapes would hide secrets."""
    return json.dumps(masked_value(body), ensure_ascii=False, indent=1)


def typed_summarizer(text: str) -> PureSummarizer:
    """Answers every request with `text`, without white space around it."""

    def answer(request: SummaryRequest) -> Answer:
        words = text.strip()
        return Summary(words, model="typed") if words else SummaryFailed("empty", "the typed summary has no text")

    return answer


def typed_file_summarizer(path: Path) -> PureSummarizer:
    """Answers with the text of a UTF-8 file, read now. Raises BadInput when it cannot be read or holds no text."""
    try:
        text = read_text(path, "utf-8-sig")
    except FileNotFoundError:
        raise BadInput(f"{path} does not exist; write the summary into it first or name another file.") from None
    except IsADirectoryError:
        raise BadInput(f"{path} is a folder; name the file with the summary.") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not UTF-8 text at byte {error.start}; save the summary as UTF-8.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "its name is not usable"
        raise BadInput(f"{path} cannot be read ({reason}); choose a file that you may read.") from None
    if not text.strip():
        raise BadInput(f"{path} is empty; write the summary into it first.")
    return typed_summarizer(text)
