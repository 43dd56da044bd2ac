"""Requests through the Message Batches API: half the price, and an answer within a day at the latest.

All requests that a generator yields at once form one batch. Its id is noted in the user's data folder under a hash of
the requests. Asking the same requests of the same model again, after a broken run or tomorrow, continues with that
batch instead of paying for another. The notes are deleted once the run is saved.

`batch_run` waits for its batches and keeps the session in memory meanwhile. `batch_run_so_far` does not wait: callers
with many large sessions release one, wait with `wait_for_batch`, and open it again.
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
"""Price of a batch relative to the usual price."""

POLL_S = 30.0
"""Seconds between two requests for the state of a pending batch."""

MAX_FAILED_LOOKS = 20
"""Number of consecutive failed requests for the state of a batch, after which the wait ends with an error."""

CONNECT_S = 300.0
"""Time limit for sending a batch, in seconds. A batch of full contexts may have 256 MB."""

_ID = re.compile(r"[\w-]{1,200}")


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """State of a batch: `done` of its `of` requests are answered. `resumed`: an earlier run sent it."""

    id: str
    done: int
    of: int
    resumed: bool

    def __str__(self) -> str:
        again = ", which was sent before," if self.resumed else ""
        return f"batch {self.id}{again} has answered {self.done} of {self.of}"


OnBatch = Callable[[BatchProgress], None]

WaitForEnd = Callable[["AsyncAnthropic", str, bool], Awaitable[None]]
"""Returns once the batch with this id has ended. The last argument is True if an earlier run sent it."""


class BatchPending(Exception):
    """Raised when the batch `id` has not ended, so that the run cannot continue now."""

    def __init__(self, id: str, *, resumed: bool) -> None:
        super().__init__(id)
        self.id, self.resumed = id, resumed


def _batch_connection() -> Connection:
    """Return the connection that offers batches."""
    return connection_named(DEFAULT)


def upload_slots() -> asyncio.Semaphore:
    """Return a semaphore for parallel runs that limits how many batches, which may be large, are built and sent at a
    time."""
    return asyncio.Semaphore(4)


def batch_run(
    generator: Compacting,
    model: str,
    session: Session | None,
    on_batch: OnBatch,
    uploads: asyncio.Semaphore,
    *,
    every_s: float = POLL_S,
    on_live_event: OnLiveEvent = ignore_event,
) -> AbstractAsyncContextManager[Run]:
    """Run `generator` to its end with one batch per turn. Save the run within the context: leaving it deletes the
    notes. After a cancel or a kill the batches remain, and the next run with the same requests uses them.
    `on_live_event` receives rejected usage. Raises BadInput without a key, and if the server rejects a batch."""

    async def wait(client: AsyncAnthropic, id: str, resumed: bool) -> None:
        await _wait_for_batch(client, id, on_batch, every_s, resumed=resumed)

    return _run_batches(generator, model, session, wait, uploads, on_live_event)


def batch_run_so_far(
    generator: Compacting, model: str, session: Session | None, *, on_live_event: OnLiveEvent = ignore_event
) -> AbstractAsyncContextManager[Run]:
    """Like `batch_run`, but raises BatchPending if a batch has not ended; the next run continues."""
    return _run_batches(generator, model, session, _check_ended, upload_slots(), on_live_event)


async def wait_for_batch(id: str, on_batch: OnBatch, every_s: float = POLL_S, *, resumed: bool = False) -> None:
    """Wait for a batch by its id alone. Raises BadInput if the server cannot be asked."""
    async with await open_client(_batch_connection(), CONNECT_S) as client:
        await _wait_for_batch(client, id, on_batch, every_s, resumed=resumed)


@asynccontextmanager
async def _run_batches(
    generator: Compacting,
    model: str,
    session: Session | None,
    wait: WaitForEnd,
    uploads: asyncio.Semaphore,
    on_live_event: OnLiveEvent,
) -> AsyncIterator[Run]:
    notes: list[Path] = []

    async def answered(requests: Requests, first: int) -> tuple[Answer, ...]:
        found = await _answer_in_batches(requests, model, session, wait, uploads, notes, on_live_event)
        return tuple(found[request.key] for request in requests)

    yield await run_turns(generator, answered)
    await asyncio.to_thread(_delete_notes, notes)


async def _answer_in_batches(
    requests: Sequence[SummaryRequest],
    model: str,
    session: Session | None,
    wait: WaitForEnd,
    uploads: asyncio.Semaphore,
    notes: list[Path],
    on_live_event: OnLiveEvent,
) -> dict[str, Answer]:
    """Return the answers by request key. Requests refused only for an optional field go into a second batch without it.
    Appends the note of each batch to `notes`."""
    different = {request.key: request for request in requests}
    found: dict[str, Answer] = {}
    left_out_fields: frozenset[str] = frozenset()
    while different:
        note = _note_path(model, different, left_out_fields)
        notes.append(note)
        answers, refused = await _run_batch(
            note, different, model, session, left_out_fields, wait, uploads, on_live_event
        )
        found |= answers
        fields = frozenset(trouble.field for trouble in refused.values()) - left_out_fields
        if not fields:
            return found
        left_out_fields |= fields
        different = {key: different[key] for key in refused}
    return found


async def _run_batch(
    note: Path,
    requests: Mapping[str, SummaryRequest],
    model: str,
    session: Session | None,
    left_out_fields: frozenset[str],
    wait: WaitForEnd,
    uploads: asyncio.Semaphore,
    on_live_event: OnLiveEvent,
) -> tuple[dict[str, Answer], dict[str, CallFailure]]:
    """Return the answers of one batch, and the failures that name an optional field."""
    async with await open_client(_batch_connection(), CONNECT_S) as client:
        id = await asyncio.to_thread(noted_batch, note)
        resumed = bool(id)
        if resumed and not await _is_available(client, id):
            id, resumed = "", False
        if not id:
            async with uploads:
                bodies = await asyncio.to_thread(_request_bodies, requests, model, session, left_out_fields)
                await asyncio.to_thread(write_note, note, "")  # a batch without a note would be paid for twice
                try:
                    id = await _create_batch(client, bodies)
                except BadInput:
                    await asyncio.to_thread(_delete_notes, [note])
                    raise
            await asyncio.to_thread(write_note, note, id)
        await wait(client, id, resumed)
        answers, refused = await _results(client, id, requests, on_live_event)
    missing = {key: SummaryFailed("error", "the batch has no answer to it") for key in requests.keys() - answers.keys()}
    return {**answers, **missing}, refused


def _request_bodies(
    requests: Mapping[str, SummaryRequest], model: str, session: Session | None, left_out_fields: frozenset[str]
) -> list[dict[str, Any]]:
    longest = limits_of(_batch_connection()).max_output

    def body(request: SummaryRequest) -> dict[str, Any]:
        return messages_body(
            request, model, messages_prompt(request, session), request.max_output_tokens or longest, left_out_fields
        )

    return [{"custom_id": key, "params": body(request)} for key, request in requests.items()]


async def _create_batch(client: AsyncAnthropic, bodies: list[dict[str, Any]]) -> str:
    samples = any("temperature" in one["params"] for one in bodies)
    headers = {"anthropic-version": SAMPLING_VERSION} if samples else None
    try:
        batch = await client.messages.batches.create(requests=bodies, extra_headers=headers)  # type: ignore[arg-type]
    except Exception as error:
        # Any client error: no batch is pending, and one sentence says why.
        raise BadInput(
            f"The batch was not taken: {classify_error(error, server_of(client, _batch_connection())).sentence}."
        ) from None
    return str(batch.id)


async def _is_available(client: AsyncAnthropic, id: str) -> bool:
    """Return whether the server still has the batch and its results; True if it cannot be asked."""
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
                raise _unreadable_batch(id, trouble) from None
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
    except Exception:  # `wait_for_batch` reports why it cannot be read
        raise BatchPending(id, resumed=resumed) from None
    if batch.processing_status != "ended":
        raise BatchPending(id, resumed=resumed)


async def _results(
    client: AsyncAnthropic, id: str, requests: Mapping[str, SummaryRequest], on_live_event: OnLiveEvent
) -> tuple[dict[str, Answer], dict[str, CallFailure]]:
    answers: dict[str, Answer] = {}
    refused: dict[str, CallFailure] = {}
    try:
        async for one in await client.messages.batches.results(id):
            request = requests.get(one.custom_id)
            if request is None:
                continue
            if one.result.type == "succeeded":
                answers[one.custom_id] = answer_from(
                    request, _read_message(one.result.message, one.custom_id, on_live_event), 0.0
                )
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
        raise _unreadable_batch(id, classify_error(error, server_of(client, _batch_connection()))) from None
    return answers, refused


def _unreadable_batch(id: str, trouble: CallFailure) -> BadInput:
    return BadInput(
        f"Batch {id} cannot be read now: {trouble.sentence}; the batch continues, run the same command again later."
    )


def _read_message(message: Any, key: str, on_live_event: OnLiveEvent) -> ReceivedAnswer:
    text = [block.text for block in message.content if block.type == "text"]
    received = ReceivedAnswer(text, stop_reason=message.stop_reason or "", model=str(message.model))
    match read_usage(partial(usage_of, message.usage)):
        case UsageSoFar(usage):
            received.usage = usage
        case Misread(why):
            on_live_event(UsageRejected(key, why))
    return received


_STATUS = {"invalid_request_error": 400, "authentication_error": 401, "permission_error": 403, "not_found_error": 404,
           "request_too_large": 413}  # fmt: skip


class _BatchError(Exception):
    """An error of one request in a batch, in the form in which the client raises it for a single call."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self.body = body
        self.status_code = _STATUS.get(str((body.get("error") or {}).get("type")), 500)


# --- notes of pending batches -----------------------------------------------------------------------------------------


def _note_path(model: str, keys: Mapping[str, SummaryRequest], left_out_fields: frozenset[str]) -> Path:
    requests = "\n".join([model, *sorted(left_out_fields), "", *sorted(keys)])
    return paths.batches() / hashlib.blake2b(requests.encode(), digest_size=16).hexdigest()


def noted_batch(note: Path) -> str:
    """Return the id of the noted batch, or ""."""
    try:
        id = note.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return id if _ID.fullmatch(id) else ""


def _delete_notes(notes: Sequence[Path]) -> None:
    for note in notes:
        note.unlink(missing_ok=True)


def write_note(note: Path, id: str) -> None:
    """Write the id of a batch into its note. Raises BadInput if that fails."""
    make_folder(note.parent)
    write_atomically(note, id.encode(), overwrite=True)
