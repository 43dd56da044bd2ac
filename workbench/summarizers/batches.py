"""Requests through the Message Batches API: half the price, and an answer within a day at the latest.

All requests that a generator yields at once go as one batch. Its id is noted in the user's data folder under a hash of
what was asked, so that whoever asks the same of the same model again, after a broken run or tomorrow, goes on with the
batch that is under way, or has ended, instead of paying for another. The notes are removed once the run is kept.

`ran` waits for its batches and holds what they are of meanwhile. `ran_so_far` does not: whoever has many large sessions
lets go of one, waits with `until_ended`, and opens it again.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.files import make_folder, write_atomically
from workbench.compaction.strategy import Compacting
from workbench.compaction.summary_request import Answer, Requests, SummaryFailed, SummaryRequest
from workbench.session import Session
from workbench.summarizers.call_limits import limits_of
from workbench.summarizers.client_errors import CallFailure, classify_error
from workbench.summarizers.connections import DEFAULT, Connection, connection_named
from workbench.summarizers.driver import Run, run_turns
from workbench.summarizers.live import ReceivedAnswer, answer_from
from workbench.summarizers.live_events import OnLiveEvent, UsageRejected, ignore_event
from workbench.summarizers.protocols.messages import SAMPLING_VERSION, messages_body, open_client, server_of, usage_of
from workbench.summarizers.protocols.protocol import BadUsage as Misread
from workbench.summarizers.protocols.protocol import UsageSoFar, read_usage
from workbench.summarizers.wire import messages_prompt

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

PRICE_FACTOR = 0.5
"""What a batch costs, of the usual price."""

POLL_S = 30.0
"""How often a batch under way is looked at."""

MAX_FAILED_LOOKS = 20
"""So often in a row a look may fail before the person is asked to try again later."""

CONNECT_S = 300.0
"""A batch of full contexts may be 256 MB."""

_ID = re.compile(r"[\w-]{1,200}")


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """A batch was looked at: so many of its requests are `done`, of all. `resumed`: it was sent by an earlier run."""

    id: str
    done: int
    of: int
    resumed: bool

    def __str__(self) -> str:
        again = ", which was sent before," if self.resumed else ""
        return f"batch {self.id}{again} has answered {self.done} of {self.of}"


OnBatch = Callable[[BatchProgress], None]

WaitForEnd = Callable[["AsyncAnthropic", str, bool], Awaitable[None]]
"""Returns once the batch of this id has ended; told whether an earlier run sent it."""


class BatchPending(Exception):
    """The batch of this `id` has not ended, so that the run cannot go on now."""

    def __init__(self, id: str, *, resumed: bool) -> None:
        super().__init__(id)
        self.id, self.resumed = id, resumed


def _batch_connection() -> Connection:
    """Whose batches these are."""
    return connection_named(DEFAULT)


def upload_slots() -> asyncio.Semaphore:
    """For runs that go at once: of their batches, which may be large, so many are made and sent at a time."""
    return asyncio.Semaphore(4)


def batch_run(
    generator: Compacting,
    model: str,
    session: Session | None,
    on_batch: OnBatch,
    uploads: asyncio.Semaphore,
    *,
    every_s: float = POLL_S,
    tell: OnLiveEvent = ignore_event,
) -> AbstractAsyncContextManager[Run]:
    """Run `generator` to its end, each of its turns one batch; whoever gets the run keeps it before leaving, then the
    notes go. Cancelling, or a kill, leaves the batches as they are: the next run with the same requests takes them up.
    Raises BadInput without a key, and where the server takes no batch. `tell` hears of usage that cannot be."""

    async def ended(client: AsyncAnthropic, id: str, resumed: bool) -> None:
        await _wait_for_batch(client, id, on_batch, every_s, resumed=resumed)

    return _run_batches(generator, model, session, ended, uploads, tell)


def batch_run_so_far(
    generator: Compacting, model: str, session: Session | None, *, tell: OnLiveEvent = ignore_event
) -> AbstractAsyncContextManager[Run]:
    """The same, which raises StillUnderWay where a batch, sent now or before, has not ended; the next one goes on."""
    return _run_batches(generator, model, session, _check_ended, upload_slots(), tell)


async def wait_for_batch(id: str, on_batch: OnBatch, every_s: float = POLL_S, *, resumed: bool = False) -> None:
    """Wait for a batch, with nothing in hand but its id. Raises BadInput where the server cannot be asked."""
    async with await open_client(_batch_connection(), CONNECT_S) as client:
        await _wait_for_batch(client, id, on_batch, every_s, resumed=resumed)


@asynccontextmanager
async def _run_batches(
    generator: Compacting,
    model: str,
    session: Session | None,
    ended: WaitForEnd,
    uploads: asyncio.Semaphore,
    tell: OnLiveEvent,
) -> AsyncIterator[Run]:
    notes: list[Path] = []

    async def answered(asked: Requests, first: int) -> tuple[Answer, ...]:
        found = await _answer_in_batches(asked, model, session, ended, uploads, notes, tell)
        return tuple(found[request.key] for request in asked)

    yield await run_turns(generator, answered)
    await asyncio.to_thread(_delete_notes, notes)


async def _answer_in_batches(
    requests: Sequence[SummaryRequest],
    model: str,
    session: Session | None,
    ended: WaitForEnd,
    uploads: asyncio.Semaphore,
    notes: list[Path],
    tell: OnLiveEvent,
) -> dict[str, Answer]:
    """By the requests' keys. What a model refuses only for a field that it does without goes in a second batch. Where
    the batches are noted is put into `notes`."""
    different = {request.key: request for request in requests}
    found: dict[str, Answer] = {}
    left_out: frozenset[str] = frozenset()
    while different:
        note = _note_path(model, different, left_out)
        notes.append(note)
        answers, refused = await _run_batch(note, different, model, session, left_out, ended, uploads, tell)
        found |= answers
        fields = frozenset(trouble.field for trouble in refused.values()) - left_out
        if not fields:
            return found
        left_out |= fields
        different = {key: different[key] for key in refused}
    return found


async def _run_batch(
    note: Path,
    requests: Mapping[str, SummaryRequest],
    model: str,
    session: Session | None,
    left_out: frozenset[str],
    ended: WaitForEnd,
    uploads: asyncio.Semaphore,
    tell: OnLiveEvent,
) -> tuple[dict[str, Answer], dict[str, CallFailure]]:
    """The answers of one batch, and of those among the failures what could be left out."""
    async with await open_client(_batch_connection(), CONNECT_S) as client:
        id = await asyncio.to_thread(noted_batch, note)
        resumed = bool(id)
        if resumed and not await _is_available(client, id):
            id, resumed = "", False
        if not id:
            async with uploads:
                bodies = await asyncio.to_thread(_bodies, requests, model, session, left_out)
                await asyncio.to_thread(write_note, note, "")  # what could not be noted would be paid for twice
                try:
                    id = await _send(client, bodies)
                except BadInput:
                    await asyncio.to_thread(_delete_notes, [note])
                    raise
            await asyncio.to_thread(write_note, note, id)
        await ended(client, id, resumed)
        answers, refused = await _results(client, id, requests, tell)
    missing = {key: SummaryFailed("error", "the batch has no answer to it") for key in requests.keys() - answers.keys()}
    return {**answers, **missing}, refused


def _bodies(
    requests: Mapping[str, SummaryRequest], model: str, session: Session | None, left_out: frozenset[str]
) -> list[dict[str, Any]]:
    longest = limits_of(_batch_connection()).max_output

    def body(request: SummaryRequest) -> dict[str, Any]:
        return messages_body(
            request, model, messages_prompt(request, session), request.max_output_tokens or longest, left_out
        )

    return [{"custom_id": key, "params": body(request)} for key, request in requests.items()]


async def _send(client: AsyncAnthropic, bodies: list[dict[str, Any]]) -> str:
    samples = any("temperature" in one["params"] for one in bodies)
    headers = {"anthropic-version": SAMPLING_VERSION} if samples else None
    try:
        batch = await client.messages.batches.create(requests=bodies, extra_headers=headers)  # type: ignore[arg-type]
    except Exception as error:
        # Whatever the client raises: nothing is under way, and one sentence says why.
        raise BadInput(
            f"The batch was not taken: {classify_error(error, server_of(client, _batch_connection())).sentence}."
        ) from None
    return str(batch.id)


async def _is_available(client: AsyncAnthropic, id: str) -> bool:
    """Whether the server still knows a batch and its results; where it cannot be asked, that is taken for yes."""
    try:
        batch = await client.messages.batches.retrieve(id)
    except Exception as error:
        return getattr(error, "status_code", None) != 404
    return batch.archived_at is None


async def _wait_for_batch(client: AsyncAnthropic, id: str, on_batch: OnBatch, every_s: float, *, resumed: bool) -> None:
    failed = 0
    while True:
        try:
            batch = await client.messages.batches.retrieve(id)
        except Exception as error:
            trouble = classify_error(error, server_of(client, _batch_connection()))
            failed += 1
            if trouble.remedy != "retry" or failed >= MAX_FAILED_LOOKS:
                raise _try_later(id, trouble) from None
        else:
            failed, counts = 0, batch.request_counts
            of = counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired
            on_batch(BatchProgress(id, of - counts.processing, of, resumed))
            if batch.processing_status == "ended":
                return
        await asyncio.sleep(every_s)


async def _check_ended(client: AsyncAnthropic, id: str, resumed: bool) -> None:
    try:
        batch = await client.messages.batches.retrieve(id)
    except Exception:  # whoever waits for it tells why it cannot be looked at
        raise BatchPending(id, resumed=resumed) from None
    if batch.processing_status != "ended":
        raise BatchPending(id, resumed=resumed)


async def _results(
    client: AsyncAnthropic, id: str, requests: Mapping[str, SummaryRequest], tell: OnLiveEvent
) -> tuple[dict[str, Answer], dict[str, CallFailure]]:
    answers: dict[str, Answer] = {}
    refused: dict[str, CallFailure] = {}
    try:
        async for one in await client.messages.batches.results(id):
            request = requests.get(one.custom_id)
            if request is None:
                continue
            if one.result.type == "succeeded":
                answers[one.custom_id] = answer_from(request, _received(one.result.message, one.custom_id, tell), 0.0)
            elif one.result.type == "errored":
                trouble = classify_error(
                    _BatchError(one.result.error.model_dump()), server_of(client, _batch_connection())
                )
                answers[one.custom_id] = SummaryFailed(trouble.kind, trouble.sentence)
                if trouble.remedy == "adapt":
                    refused[one.custom_id] = trouble
            else:
                answers[one.custom_id] = SummaryFailed("error", f"the batch was {one.result.type} before it was asked")
    except Exception as error:
        raise _try_later(id, classify_error(error, server_of(client, _batch_connection()))) from None
    return answers, refused


def _try_later(id: str, trouble: CallFailure) -> BadInput:
    return BadInput(
        f"Batch {id} cannot be read now: {trouble.sentence}; the batch continues, run the same command again later."
    )


def _received(message: Any, key: str, tell: OnLiveEvent) -> ReceivedAnswer:
    text = [block.text for block in message.content if block.type == "text"]
    heard = ReceivedAnswer(text, stop_reason=message.stop_reason or "", model=str(message.model))
    match read_usage(partial(usage_of, message.usage)):
        case UsageSoFar(usage):
            heard.usage = usage
        case Misread(why):
            tell(UsageRejected(key, why))
    return heard


_STATUS = {"invalid_request_error": 400, "authentication_error": 401, "permission_error": 403, "not_found_error": 404,
           "request_too_large": 413}  # fmt: skip


class _BatchError(Exception):
    """An error that a batch tells of one request, as the client would have raised it for a call of its own."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self.body = body
        self.status_code = _STATUS.get(str((body.get("error") or {}).get("type")), 500)


# --- which batch is under way -----------------------------------------------------------------------------------------


def _note_path(model: str, keys: Mapping[str, SummaryRequest], left_out: frozenset[str]) -> Path:
    asked = "\n".join([model, *sorted(left_out), "", *sorted(keys)])
    return paths.batches() / hashlib.blake2b(asked.encode(), digest_size=16).hexdigest()


def noted_batch(note: Path) -> str:
    """The batch that is noted there, "" for none."""
    try:
        id = note.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return id if _ID.fullmatch(id) else ""


def _delete_notes(notes: Sequence[Path]) -> None:
    for note in notes:
        note.unlink(missing_ok=True)


def write_note(note: Path, id: str) -> None:
    """Raises BadInput where that cannot be."""
    make_folder(note.parent)
    write_atomically(note, id.encode(), overwrite=True)
