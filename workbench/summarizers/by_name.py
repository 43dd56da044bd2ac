"""Summarizers by name, as users choose them on the command line and on the screen."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from msgspec import Struct

from workbench.base.errors import BadInput
from workbench.base.reading import read_text
from workbench.base.secrets import masked_value
from workbench.compaction.summary_request import Answer, MessagesBody, Summary, SummaryFailed, SummaryRequest
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
"""Form of the name of each kind of summarizer. A connection's name is `CONNECTION:MODEL`."""


SERVER_MODES = {
    "compact": 'the server compacts on demand: compaction={"type": "summarize"}, over Responses responses.compact',
    "context-management": "the server compacts at a threshold: compact_20260112",
    "clear-tool-uses": "the server clears old tool results, then compacts: clear_tool_uses_20250919, compact_20260112",
}
"""Modes of compaction on the server, with the API features that each uses."""

KEPT_TOOL_USES = 3
"""Number of newest tool results that `clear-tool-uses` keeps; the server's own default."""


class SummarizerName(Struct, frozen=True):
    """Parts of a summarizer's name. `kind` is a key of `NAME_FORMS` or a connection. `detail` is the text after the
    colon: file, command, run, recording, failure or model, or mode and model. `over` is the connection of a server that
    compacts."""

    kind: str
    detail: str = ""
    over: str = DEFAULT

    def __str__(self) -> str:
        if self.kind == "server" and self.over != DEFAULT:
            way, _, model = self.detail.partition(":")
            return f"{self.kind}:{way}:{self.over}/{model}"
        return f"{self.kind}:{self.detail}" if self.detail else self.kind

    @property
    def is_live(self) -> bool:
        """True if the summarizer asks a model over a connection for a text."""
        return self.kind not in NAME_FORMS

    @property
    def model(self) -> str:
        """Model that is asked, or ""."""
        if self.kind == "server":
            return self.detail.partition(":")[2]
        return self.detail if self.is_live else ""

    @property
    def with_connection(self) -> str:
        """Model in the form that `parse_model` reads; "" without a model."""
        return f"{self.kind}/{self.detail}" if self.is_live and self.kind != DEFAULT else self.model

    @property
    def connection(self) -> Connection:
        """Connection over which the model is asked. Raises BadInput if it is no longer configured."""
        return connection_named(self.kind if self.is_live else self.over)

    @property
    def has_run_record(self) -> bool:
        """True if runs are saved in the run history: those that cannot be repeated for free, and rehearsals."""
        return self.is_live or self.kind in ("server", "rehearse", "command")


def parse_name(text: str) -> SummarizerName:
    """Parse the name of a summarizer. Raises BadInput with the available names, or with the problem in the settings."""
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
        with_connection = parse_model(model)
        name = SummarizerName(kind, f"{way}:{with_connection.detail}", with_connection.kind)
        endpoint_of(name.connection, *server_mode(name))
        return name
    return SummarizerName(kind, detail)


def server_mode(name: SummarizerName) -> tuple[ServerMode, str, int | None]:
    """Return mode, instructions and number of kept tool results of a server that compacts, for `endpoint_of`."""
    way: ServerMode = "on-demand" if name.detail.startswith("compact:") else "threshold"
    return way, "", KEPT_TOOL_USES if name.detail.startswith("clear-tool-uses:") else None


def parse_model(model: str) -> SummarizerName:
    """Parse a model: `CONNECTION/MODEL`, or a model of the default connection. The text before the first slash counts
    only if it names a connection, because model names contain slashes, too."""
    first, slash, rest = model.strip().partition("/")
    if slash and rest and first in connections():
        return SummarizerName(first, rest)
    return SummarizerName(DEFAULT, model.strip())


async def check_key(name: SummarizerName) -> None:
    """Raise BadInput if a model is to be asked and its key or client is missing. Call it before a run: within one, the
    strategy would fall back instead of failing. Sends nothing."""
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
    """Return the summarizer of a name. Reads the file of `typed:FILE` and the record of `recorded:RUN_ID`; contacts no
    server yet.

    `on_event` and `limits` apply to live and rehearsed summarizers, `session` provides the messages and tools to send,
    and `spending` limits their cost. Raises BadInput for an unknown name, an unreadable file, a run that was not saved,
    and for `server:…` without a session.
    """
    name = parse_name(text) if isinstance(text, str) else text
    if name.is_live:
        return live_summarizer(
            name.detail, name.connection, on_event=on_event, limits=limits, session=session, spending=spending
        )
    match name.kind:
        case "server":
            if session is None:
                raise BadInput(f"{name} compacts a session's own messages; open the session first.")
            mode, _, keep = server_mode(name)
            return server_summarizer(
                name.model, session, name.connection,
                mode=mode, keep_tool_uses=keep, on_event=on_event, limits=limits, spending=spending,
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
    """Return the text of a request as its summarizer receives it. If messages or tools go to a server, this is the
    complete body as JSON. Raises BadInput if it cannot be sent, or for broken settings."""
    if name.kind == "server":
        connection_used = name.connection
        most = request.max_output_tokens or limits_of(connection_used).max_output
        return _json(endpoint_of(connection_used, *server_mode(name)).body(session, request, name.model, most))
    if name.is_live and (request.tools or isinstance(request.body, MessagesBody)):
        connection_used = name.connection
        protocol = PROTOCOLS[connection_used.protocol]
        most = request.max_output_tokens or limits_of(connection_used).max_output
        return _json(protocol.body(request, name.model, protocol.prompt_of(request, session), most, ()))
    return request.shown


def _json(body: object) -> str:
    """Return JSON with secrets masked before encoding, because JSON escapes would hide them."""
    return json.dumps(masked_value(body), ensure_ascii=False, indent=1)


def typed_summarizer(text: str) -> PureSummarizer:
    """Return a summarizer that answers every request with `text`, stripped; it fails if no text is left."""

    def answer(request: SummaryRequest) -> Answer:
        words = text.strip()
        return Summary(words, model="typed") if words else SummaryFailed("empty", "the typed summary has no text")

    return answer


def typed_file_summarizer(path: Path) -> PureSummarizer:
    """Return a summarizer that answers every request with the text of a UTF-8 file, which is read now. Raises BadInput
    if it is unreadable or empty."""
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
