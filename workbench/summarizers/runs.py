"""Kept runs: every run of a compaction, failed and cancelled ones too, as one file each in the user's data folder.

A record holds what was asked and answered, never a key or a header: it is built from the run's own values, not from the
client's. Files are written whole or not at all and never rewritten, so that two processes need no lock; a damaged file
costs its record, a full disk costs the record, neither ever the run. A record answers its own requests again, offline.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from workbench.compaction.strategy import Answer, FailureKind, Summary, SummaryFailed, SummaryRequest
from workbench.errors import BadInput
from workbench.formats.files import write_atomically
from workbench.session import Opaque, Usage
from workbench.summarizers.live_events import LiveEvent, heard, sentence
from workbench.summarizers.server_side import ServerSummary

SUFFIX = ".run.json"
VERSION = 1

End = Literal["finished", "failed", "cancelled"]


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Tokens(_Kept):
    """A usage, as billed."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    final: bool = True


class Call(_Kept):
    """One request and its answer: `text` on success, `failure` and `detail` otherwise (then `text` is what had come).

    `key` is the request's hash, by which a replay finds the answer. `notes` are the call's retries and cuts, in words.
    `block` is a server's compaction block, untouched.
    """

    key: str
    purpose: str
    request: str
    text: str = ""
    failure: FailureKind | None = None
    detail: str = ""
    model: str = ""
    usage: Tokens | None = None
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    block: Any = None

    @property
    def answer(self) -> Answer:
        if self.failure is not None:
            return SummaryFailed(self.failure, self.detail)
        billed = self.usage
        usage = (
            Usage(billed.input, billed.output, billed.cache_read, billed.cache_write, billed.final) if billed else None
        )
        if self.block is not None:
            return ServerSummary(self.text, self.model, usage, self.seconds, block=Opaque("compaction", self.block))
        return Summary(self.text, self.model, usage, self.seconds)


class Run(_Kept):
    """A kept run. `session` names the session (its fingerprint or path, as the caller likes), times are UTC seconds."""

    version: int = VERSION
    id: str
    began: float
    seconds: float
    end: End
    strategy: str
    policy: dict[str, Any] = Field(default_factory=dict)
    model: str = ""
    session: str = ""
    status: str = ""
    reason: str = ""
    calls: tuple[Call, ...] = ()

    @property
    def usage(self) -> Usage:
        """All calls together."""
        billed = [call.usage for call in self.calls if call.usage]
        return Usage(
            sum(usage.input for usage in billed),
            sum(usage.output for usage in billed),
            sum(usage.cache_read for usage in billed),
            sum(usage.cache_write for usage in billed),
        )

    @property
    def answers(self) -> dict[str, Answer]:
        """By request key, for `recorded`: the run again, without asking anybody."""
        return {call.key: call.answer for call in self.calls}


def new_id(now: float | None = None) -> str:
    """Sorts by time, names a file, and differs between processes."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(time.time() if now is None else now))
    return f"{stamp}-{secrets.token_hex(3)}"


def call_record(
    request: SummaryRequest, answer: Answer | None, events: Iterable[LiveEvent] = (), seconds: float = 0.0
) -> Call:
    """The record of one request; `answer` None for one that was cancelled, of which `events` tell what had come."""
    events = [event for event in events if event.key == request.key]
    notes = tuple(filter(None, map(sentence, events)))
    asked = {"key": request.key, "purpose": request.purpose, "request": _whole(request.text), "notes": notes}
    if isinstance(answer, Summary):
        block = answer.block.raw if isinstance(answer, ServerSummary) else None
        usage = answer.usage and tokens_of(answer.usage)
        text, took = _whole(answer.text), answer.seconds or seconds
        return Call(**asked, text=text, model=answer.model, usage=usage, seconds=took, block=block)
    failure = answer or SummaryFailed("error", "cancelled")
    billed = [usage for event in events if (usage := getattr(event, "usage", None))]
    return Call(
        **asked,
        text=heard(events, request.key),
        failure=failure.kind,
        detail=failure.detail,
        usage=tokens_of(billed[-1]) if billed else None,
        seconds=seconds,
    )


def _whole(text: str) -> str:
    """Without lone surrogates, which some sessions hold and no file takes."""
    return text.encode("utf-8", "replace").decode()


def tokens_of(usage: Usage) -> Tokens:
    return Tokens(
        input=usage.input,
        output=usage.output,
        cache_read=usage.cache_read,
        cache_write=usage.cache_write,
        final=usage.output_final,
    )


def folder() -> Path:
    from platformdirs import user_data_path

    return user_data_path("compaction-workbench", appauthor=False) / "runs"


def path_of(id: str) -> Path:
    return folder() / f"{id}{SUFFIX}"


def keep(run: Run) -> str:
    """Save a run; why it could not be kept, "" when it could. Never raises for a disk: the run itself is done."""
    path = path_of(run.id)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(path, run.model_dump_json().encode())
    except BadInput as error:
        return f"The run was not kept: {error}"
    except (OSError, ValueError) as error:
        return f"The run was not kept: {error.__class__.__name__} at {path}; make room or choose another data folder."
    return ""


def load(id: str) -> Run:
    """A kept run by its id or by a beginning of it that no other has. Raises BadInput with one sentence."""
    found = [path for path in _paths() if path.name.startswith(id)] if id else []
    exact = [path for path in found if path.name == f"{id}{SUFFIX}"]
    if not found:
        raise BadInput(f"There is no kept run {id!r}; list the runs to see their names.")
    if len(found) > 1 and not exact:
        raise BadInput(f"{len(found)} kept runs begin with {id!r}; give more of the name.")
    return read(exact[0] if exact else found[0])


def read(path: Path) -> Run:
    """The run in a file. Raises BadInput naming the file and the remedy."""
    try:
        return Run.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise BadInput(f"{path} is not there; list the runs to see their names.") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}); check its permissions.") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "its JSON"
        raise BadInput(f"{path} is not a kept run ({where}: {first['msg'].lower()}); delete or restore it.") from None


@dataclass(frozen=True, slots=True)
class Listing:
    """The kept runs, newest first, and one sentence for each file that could not be read."""

    runs: tuple[Run, ...]
    troubles: tuple[str, ...]


def kept(limit: int | None = None) -> Listing:
    """The newest `limit` runs that can be read; damaged files are named, not hidden."""
    runs: list[Run] = []
    troubles: list[str] = []
    for path in sorted(_paths(), key=lambda path: path.name, reverse=True):
        if limit is not None and len(runs) == limit:
            break
        try:
            runs.append(read(path))
        except BadInput as error:
            troubles.append(str(error))
    return Listing(tuple(runs), tuple(troubles))


def delete(id: str) -> None:
    """Remove a kept run by its whole id. Raises BadInput when it is not there or cannot be removed."""
    path = path_of(id)
    if path.parent != folder() or not path.is_file():
        raise BadInput(f"There is no kept run {id!r}; list the runs to see their names.")
    try:
        path.unlink()
    except OSError as error:
        raise BadInput(f"{path} cannot be removed ({error.strerror}); check its folder's permissions.") from None


def answers_of(runs: Sequence[Run]) -> Mapping[str, Answer]:
    """The answers of several runs for `recorded`; of two to the same request the first run's."""
    found: dict[str, Answer] = {}
    for run in reversed(runs):
        found.update(run.answers)
    return found


def _paths() -> list[Path]:
    try:
        return [path for path in folder().iterdir() if path.name.endswith(SUFFIX) and not path.name.startswith(".")]
    except OSError:
        return []
