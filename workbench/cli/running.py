"""A run on the command line: watched on a terminal, cancelled by Ctrl-C, kept in the journal however it ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import closing
from typing import Any, TypeVar

import click

from workbench.base.figures import grouped
from workbench.base.printable import printable
from workbench.base.text import plural
from workbench.bench import Bench
from workbench.cli.output import interrupted, on_a_terminal, over_line, plain, warn
from workbench.cli.spending import priced
from workbench.cli.stopping import stopped_as_by_ctrl_c
from workbench.compaction.strategy import Compacting
from workbench.compaction.summary_request import Summary, SummaryFailed
from workbench.runs.live_run import EditRecord, FinishedRun, LiveRun, connect, drive_live, unchanged
from workbench.session import Usage
from workbench.summarizers import driver, run_history, run_records
from workbench.summarizers.by_name import SummarizerName
from workbench.summarizers.live_events import (
    FieldDropped,
    LiveEvent,
    PromptSent,
    PromptShortened,
    TextReceived,
    UsageRejected,
    describe_event,
)
from workbench.summarizers.run_records import RunRecorder
from workbench.summarizers.server_endpoints import ServerSummary
from workbench.summarizers.spend_limit import SpendLimit
from workbench.tokens.cost import actual, usage_words

T = TypeVar("T")

TICK_S = 0.25
"""How often the line of progress is drawn: its seconds pass without events, too."""

CHARS_PER_TOKEN = 4
"""Only for tokens that are still being written; the server tells the true figure at the end."""


def run_named(
    bench: Bench,
    compacting: Callable[[], Compacting],
    name: SummarizerName,
    purse: SpendLimit,
    *,
    journal: bool,
    keeping: EditRecord = unchanged,
    announce: Callable[[str], object] = warn,
) -> FinishedRun:
    """Run `compacting` to its end. A live run is kept with every answer, and one that Ctrl-C cancels, too, as `keeping`
    has its record; then the command ends. So it does before anything is sent where that could cost more than `purse`
    allows. Who is asked, where and at what price is told to `announce` before.

    What is doubtful about a policy is said before it costs anything.
    """
    meter = bench.layout.sizes.meter
    price = priced(purse, name, compacting, meter)
    if name.model:
        for doubt in bench.doubts:
            warn(doubt)
    live = LiveRun(bench, name)
    watched = _Watched(name, live.recorder, purse)

    async def run() -> driver.Run:
        summarizer = await connect(live, purse, watched.heard)
        if name.model:
            announce(f"{name.model} is asked at {name.connection.address} {price}.")
        watching = asyncio.create_task(watched.tick())
        stopped_as_by_ctrl_c()
        try:
            return await drive_live(live, generator, summarizer, keeps=journal, edit=keeping)
        finally:
            watching.cancel()
            watched.clear()

    clock, generator = time.perf_counter(), compacting()
    try:
        with closing(generator):
            return FinishedRun(live, completed(run()))
    except (KeyboardInterrupt, asyncio.CancelledError):
        where = ""
        if journal and name.has_run_record:
            record = keeping(live.unfinished(time.perf_counter() - clock))
            where = f"; the received part is saved as run {record.id}" if keep(record) else ""
        raise interrupted(f"Cancelled: nothing was written{where}.") from None


def completed(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` to its end. The task gives nothing itself: asyncio asks for the words of a finished one, twice, and in
    them stands what it gave, which of a long session takes seconds to write."""
    given: list[T] = []

    async def taken() -> None:
        given.append(await work)

    asyncio.run(taken())
    return given[0]


def keep(record: run_records.RunRecord) -> str:
    """Put a record into the journal; its id, "" where it could not be kept, which is said on stderr."""
    trouble = run_history.save_run(record)
    if trouble:
        warn(trouble)
    return "" if trouble else record.id


@plain.register
def _(answer: Summary) -> dict[str, Any]:
    block = answer.block.raw if isinstance(answer, ServerSummary) else None
    return _answer(chars=len(answer.text), model=answer.model, seconds=round(answer.seconds, 3), block=block)


@plain.register
def _(failed: SummaryFailed) -> dict[str, Any]:
    return _answer(failure=failed.kind, detail=failed.detail)


def _answer(**known: Any) -> dict[str, Any]:
    return {"failure": None, "detail": "", "chars": 0, "model": "", "seconds": None, "block": None, **known}


def call_words(call: FinishedRun) -> str:
    """`anthropic:claude-…: 1 call, 31 002 tokens in, 1 204 out, 18.2 s, $0.11`; failures in lines of their own."""
    answers = call.run.answers
    if not answers:
        return ""
    sent = sum(isinstance(event, PromptSent) for event in call.live.recorder.events)
    more = f" in {grouped(sent)} requests" if sent > len(answers) else ""
    parts = [f"{grouped(len(answers))} {plural(len(answers), 'call')}{more}"]
    if call.usage:
        parts += [usage_words(call.usage), f"{call.run.seconds:.1f} s"]
    elif call.live.name.model:
        parts += ["no tokens reported", f"{call.run.seconds:.1f} s"]
    if call.cost:
        parts.append(str(call.cost) + (f" ({call.cost.note})" if call.cost.note else ""))
    lines = [f"{call.live.name}: {', '.join(parts)}"]
    lines += changed_words(call)
    lines += [f"the server's block: {one.block_note}" for one in answers if isinstance(one, ServerSummary)]
    told = call.run.outcome.reason
    lines += [str(answer) for answer in answers if not isinstance(answer, Summary) and answer.detail not in told]
    return "\n".join(lines)


def changed_words(call: FinishedRun) -> list[str]:
    """How what was sent differs from what was to be: prompts that were cut, fields that were left out; and usage that
    was left out."""
    changes = (
        event
        for event in call.live.recorder.events
        if isinstance(event, PromptShortened | FieldDropped | UsageRejected)
    )
    return list(dict.fromkeys(map(describe_event, changes)))


class _Watched:
    """One line on a terminal's stderr: who writes, tokens, seconds and cost so far; gone afterwards."""

    def __init__(self, name: SummarizerName, recorder: RunRecorder, purse: SpendLimit) -> None:
        self._seen = on_a_terminal() and bool(name.model)
        self._name, self._recorder, self._purse = name, recorder, purse
        self._began = time.perf_counter()
        self._chars: dict[str, int] = {}

    def heard(self, event: LiveEvent) -> None:
        if isinstance(event, TextReceived):
            self._chars[event.key] = self._chars.get(event.key, 0) + len(event.text)
        elif isinstance(event, PromptSent):
            self._chars[event.key] = 0
        if self._seen and not isinstance(event, PromptSent) and (words := describe_event(event)):
            click.echo(over_line(printable(words)), err=True)

    async def tick(self) -> None:
        while self._seen:
            if not self._purse.asking:  # what is asked stands there
                click.echo(over_line(self._line()), nl=False, err=True)
            await asyncio.sleep(TICK_S)

    def clear(self) -> None:
        if self._seen:
            click.echo(over_line(), nl=False, err=True)

    def _line(self) -> str:
        usage = self._recorder.usage
        written = max(usage.output, sum(self._chars.values()) // CHARS_PER_TOKEN)
        cost = actual(Usage(usage.input, written, usage.cache_read, usage.cache_write), self._name.model)
        seconds = time.perf_counter() - self._began
        return f"{self._name.model}: ~{grouped(written)} tokens written, {seconds:.0f} s, {cost}"
