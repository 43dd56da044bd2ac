"""A live run on the command line: its spend limit (`--max-cost`), its progress on a terminal, Ctrl-C, and its record in
the run history."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import closing, suppress
from typing import Any, TypeVar

import click

from workbench.base.figures import grouped
from workbench.base.printable import printable
from workbench.base.text import plural
from workbench.bench import Bench
from workbench.cli.output import interrupted, on_a_terminal, over_line, plain, warn
from workbench.compaction.strategy import Compacting
from workbench.compaction.summary_request import Summary, SummaryFailed
from workbench.runs.cost_estimate import request_costs_of
from workbench.runs.live_run import EditRecord, FinishedRun, LiveRun, connect, drive_live, unchanged
from workbench.session import Usage
from workbench.summarizers import driver, run_history, run_records
from workbench.summarizers.by_name import SummarizerName
from workbench.summarizers.driver import drive
from workbench.summarizers.estimate import estimate
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
from workbench.summarizers.spend_limit import SpendLimit, SpendLimitExceeded, default_spend_limit
from workbench.tokens.cost import actual, added, money, usage_words
from workbench.tokens.sizes import Meter

OVER_THE_LIMIT = 5

F = TypeVar("F", bound=Callable[..., Any])


class OverTheLimit(click.ClickException):
    """Raised before anything is sent that could exceed the spend limit."""

    exit_code = OVER_THE_LIMIT


class Dollars(click.ParamType["float"]):
    """Parameter type: a number of dollars, or `none` for no limit (infinity)."""

    name = "dollars"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            dollars = float("inf") if value in ("none", float("inf")) else float(value)
        except ValueError:
            dollars = -1.0
        if not dollars >= 0:
            self.fail(f"{value!r} is not an amount in dollars; write a number such as 0.50, or none.", param, ctx)
        return dollars


def max_cost(command: F) -> F:
    """Add the option --max-cost to a command, as the parameter `spend_limit`; default: the spend limit of the settings.
    On a terminal the user is asked about higher costs."""

    def opened(ctx: click.Context, param: click.Parameter, most: float | None) -> SpendLimit:
        spend_limit = default_spend_limit() if most is None else SpendLimit(None if most == float("inf") else most)
        spend_limit.ask = confirm_on_terminal if can_confirm() else None
        return spend_limit

    return click.option(
        "--max-cost",
        "spend_limit",
        type=Dollars(),
        callback=opened,
        metavar="DOLLARS",
        help="Spend limit: ask before anything that could cost more. Default: max_cost of the settings. "
        "none: no limit.",
    )(command)


def can_confirm() -> bool:
    """True if stdin and stderr are a terminal, so that the user can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


async def confirm_on_terminal(what: str) -> bool:
    """Ask the user. Return True only for yes, False also for a closed terminal; Ctrl-C cancels."""
    click.echo(over_line(f"{printable(what)}. Send anyway? [y/N] "), nl=False, err=True)
    return (await _line_typed(sys.stdin.fileno())).strip().lower() in ("y", "yes")


async def _line_typed(terminal: int) -> str:
    """Read a line in a daemon thread, which does not keep the program from ending."""
    loop = asyncio.get_running_loop()
    typed: asyncio.Future[bytes] = loop.create_future()

    def take(line: bytes) -> None:
        if not typed.done():
            typed.set_result(line)

    def read() -> None:
        line = b""
        with suppress(OSError):  # the terminal is gone
            line = os.read(terminal, 1_000)
        with suppress(RuntimeError):  # the event loop is closed
            loop.call_soon_threadsafe(take, line)

    threading.Thread(target=read, daemon=True).start()
    return (await typed).decode(errors="replace")


def price_words(
    spend_limit: SpendLimit, name: SummarizerName, compacting: Callable[[], Compacting], meter: Meter
) -> str:
    """Return the cost estimate of a run in words; "" without a model. Raises OverTheLimit if the run may exceed the
    spend limit."""
    if not name.model:
        return ""
    estimates = request_costs_of(drive(compacting(), estimate), meter, name)
    most = added(one.at_most.dollars for one in estimates)
    check_limit(spend_limit, most, name.model)
    about = added(one.cost.dollars for one in estimates)
    return "at an unknown price" if None in (about, most) else f"for about {money(about)}, at most {money(most)}"


def check_limit(spend_limit: SpendLimit, most: float | None, model: str) -> None:
    """Check a cost against the spend limit; on a terminal the user may allow more. Raises OverTheLimit."""

    async def allowed() -> None:
        cancel_on_signals()
        await spend_limit.allow(most, model)

    try:
        asyncio.run(allowed())
    except SpendLimitExceeded as refused:
        raise OverTheLimit(str(refused)) from None
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise interrupted("Cancelled: nothing was sent.") from None


def cancel_on_signals() -> None:
    """Cancel the current task on SIGTERM and SIGHUP (closed terminal), on systems that support it."""
    task = asyncio.current_task()
    if task is None:
        return
    loop = asyncio.get_running_loop()
    for name in ("SIGTERM", "SIGHUP"):
        with suppress(NotImplementedError, AttributeError, RuntimeError, ValueError):
            loop.add_signal_handler(getattr(signal, name), task.cancel)


T = TypeVar("T")

TICK_S = 0.25
"""Seconds between two updates of the progress line."""

CHARS_PER_TOKEN = 4
"""Estimate for the tokens of a partial answer; the server reports the true figure at the end."""


def run_named(
    bench: Bench,
    compacting: Callable[[], Compacting],
    name: SummarizerName,
    spend_limit: SpendLimit,
    *,
    journal: bool,
    edit: EditRecord = unchanged,
    announce: Callable[[str], object] = warn,
) -> FinishedRun:
    """Run `compacting` to its end.

    With `journal`, each answer of a live run is saved in the run history at once, in a record changed by `edit`;
    Ctrl-C saves the unfinished record and ends the command. Problems of the prompts are reported first, and `announce`
    receives the model, its address and the price. Raises OverTheLimit before anything is sent.
    """
    meter = bench.layout.sizes.meter
    price = price_words(spend_limit, name, compacting, meter)
    if name.model:
        for doubt in bench.prompt_problems:
            warn(doubt)
    live = LiveRun(bench, name)
    watched = _ProgressLine(name, live.recorder, spend_limit)

    async def run() -> driver.Run:
        summarizer = await connect(live, spend_limit, watched.on_event)
        if name.model:
            announce(f"{name.model} is asked at {name.connection.address} {price}.")
        watching = asyncio.create_task(watched.tick())
        cancel_on_signals()
        try:
            return await drive_live(live, generator, summarizer, keeps=journal, edit=edit)
        finally:
            watching.cancel()
            watched.clear()

    clock, generator = time.perf_counter(), compacting()
    try:
        with closing(generator):
            return FinishedRun(live, run_to_end(run()))
    except (KeyboardInterrupt, asyncio.CancelledError):
        where = ""
        if journal and name.has_run_record:
            record = edit(live.unfinished(time.perf_counter() - clock))
            where = f"; the received part is saved as run {record.id}" if save_record(record) else ""
        raise interrupted(f"Cancelled: nothing was written{where}.") from None


def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` to its end. The task itself returns None: asyncio formats the repr of a finished task, which takes
    seconds for a result with a long session."""
    results: list[T] = []

    async def store_result() -> None:
        results.append(await work)

    asyncio.run(store_result())
    return results[0]


def save_record(record: run_records.RunRecord) -> str:
    """Save a record in the run history and return its id; "" if that fails, with the reason on stderr."""
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
    """Describe the calls: `anthropic:claude-…: 1 call, 31 002 tokens in, 1 204 out, 18.2 s, $0.11`; one more line for
    each failure."""
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
    reason = call.run.outcome.reason
    lines += [str(answer) for answer in answers if not isinstance(answer, Summary) and answer.detail not in reason]
    return "\n".join(lines)


def changed_words(call: FinishedRun) -> list[str]:
    """Describe the adjustments of the requests: shortened prompts, dropped fields, rejected usage."""
    changes = (
        event
        for event in call.live.recorder.events
        if isinstance(event, PromptShortened | FieldDropped | UsageRejected)
    )
    return list(dict.fromkeys(map(describe_event, changes)))


class _ProgressLine:
    """Progress line on stderr: model, tokens, seconds and cost so far; cleared at the end."""

    def __init__(self, name: SummarizerName, recorder: RunRecorder, spend_limit: SpendLimit) -> None:
        self._seen = on_a_terminal() and bool(name.model)
        self._name, self._recorder, self._spend_limit = name, recorder, spend_limit
        self._began = time.perf_counter()
        self._chars: dict[str, int] = {}

    def on_event(self, event: LiveEvent) -> None:
        if isinstance(event, TextReceived):
            self._chars[event.key] = self._chars.get(event.key, 0) + len(event.text)
        elif isinstance(event, PromptSent):
            self._chars[event.key] = 0
        if self._seen and not isinstance(event, PromptSent) and (words := describe_event(event)):
            click.echo(over_line(printable(words)), err=True)

    async def tick(self) -> None:
        while self._seen:
            if not self._spend_limit.asking:  # the question is on this line
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
