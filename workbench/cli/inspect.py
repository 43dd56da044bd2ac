"""`cwb inspect`: epochs, rounds and token counts of a session, its transcript, and its next prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from workbench.analysis.failures import failures_of
from workbench.analysis.session_cost import SessionCost, session_cost
from workbench.analysis.transcript import VERBOSITIES, Verbosity
from workbench.base.figures import grouped, percent
from workbench.base.printable import one_line, printable
from workbench.base.tables import Row, Table, columns
from workbench.base.text import counted
from workbench.cli import context_texts
from workbench.cli.jobs import Job, Jobs
from workbench.cli.load_epoch import OpenedEpoch, epoch_words, open_epoch
from workbench.cli.output import (
    csv_option,
    only_in_json,
    size_words,
    write_csv,
    write_fields,
    write_json,
    write_tables,
)
from workbench.cli.selection import Selection, selection
from workbench.compaction.context import Context
from workbench.compaction.layers import Layer, layers
from workbench.repairs.advice import advice
from workbench.session import Compaction, Session, Span, exchanges_of, rounds_of
from workbench.tokens.request_limits import images_of, request_bytes, session_limits
from workbench.tokens.sizes import Basis, usage_words
from workbench.tokens.window import Source, Window

if TYPE_CHECKING:
    from workbench.summarizers.exact_counts import ExactCount

FIRST_WORDS = 60
MAX_WARNINGS = 10


@click.command(
    "inspect",
    cls=Jobs,
    jobs=(
        Job(
            "",
            "part epoch window mask verbosity exact forget_exact as_react as_layers with_notes as_json as_csv full",
        ),
        Job("--health", "part everything as_json", "health"),
    ),
)
@selection("part", "window", "mask", "epoch")
@click.option(
    "--verbosity",
    type=click.Choice(VERBOSITIES),
    help="The transcript: complete, compact (requests and last answers in full), or quiet (the last answer).",
)
@click.option("--compact", "verbosity", flag_value="compact", help="The same as --verbosity compact.")
@click.option("--quiet", "verbosity", flag_value="quiet", help="The same as --verbosity quiet.")
@click.option("--exact", metavar="MODEL", help="Let the API count the context for this model: sends it, costs nothing.")
@click.option("--forget-exact", is_flag=True, help="Forget the calibration from exact counts of this session.")
@click.option("--react", "as_react", is_flag=True, help="The transcript in ReAct form: Thought, Action, [tool].")
@click.option(
    "--layers",
    "as_layers",
    is_flag=True,
    help="The whole next prompt, layer by layer: system and tools, project rules, history, current input, recap.",
)
@click.option(
    "--notes",
    "with_notes",
    is_flag=True,
    help="Notes that go with the messages: files mentioned, files changed, progress of the to-do list.",
)
@click.option(
    "--health",
    is_flag=True,
    help="Format, faults and gaps of FILE, and the losses of an export (in memory; nothing is written).",
)
@click.option("--all", "everything", is_flag=True, help="Try an export in every format, not only the likely ones.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of tables.")
@csv_option("rounds", "epochs", "notes")
@click.option("--full", is_flag=True, help="With --json: system prompt, tools and every message, secrets masked.")
def command(chosen: Selection, health: bool, **options: Any) -> None:
    """Show the epochs of FILE, the rounds of one of them, and where its tokens are.

    A figure without a sign was billed by the provider, ≈ is calibrated against such figures, ~ is an estimate.
    Message numbers and ids are those that `cwb compact --pin` and `--split-at` take.
    """
    if health:
        from workbench.cli.health import health as write_health

        write_health(chosen, **options)
    else:
        _inspect(chosen, **options)


def _inspect(
    chosen: Selection,
    *,
    verbosity: Verbosity | None,
    exact: str | None,
    forget_exact: bool,
    as_react: bool,
    as_layers: bool,
    with_notes: bool,
    as_json: bool,
    as_csv: str | None,
    full: bool,
) -> None:
    only_in_json(full, as_json=as_json)
    found = open_epoch(chosen, forget_scale=forget_exact)
    count = None
    if exact:
        from workbench.cli.exact import count_now

        count = count_now(found.session, found.context, exact)
    context = found.context
    if as_csv:
        tables = {"notes": context_texts.notes_table(context_texts.message_notes(context))} if with_notes else {}
        write_csv(_sizes(found) | tables, as_csv)
    elif as_json:
        write_json(
            failures_of(found.session),
            _inspected(found, count),
            {"transcript": context_texts.transcript_blocks(context, verbosity)} if verbosity else {},
            {"prompt": context_texts.prompt_parts(context)} if as_layers else {},
            {"notes": context_texts.message_notes(context)} if with_notes else {},
            {"repair": advice(chosen.file, chosen.part) if not chosen.piped else None},
            _full(found) if full else {},
        )
    elif as_react:
        context_texts.write_react(context)
    elif as_layers or with_notes:
        if as_layers:
            context_texts.write_prompt(context_texts.prompt_parts(context))
        if with_notes:
            context_texts.write_notes(context_texts.message_notes(context))
    elif verbosity:
        context_texts.write_transcript(context, verbosity)
    else:
        _tables(found, count)
        if not chosen.piped and (advised := advice(chosen.file, chosen.part)):
            click.echo(f"\n{printable(str(advised))}")


class Measured(Struct, frozen=True):
    """Size of the context, how its tokens were counted, and the tokens recorded for the newest call, None without
    any."""

    messages: int
    chars: int
    tokens: int
    basis: Basis
    counting: str
    recorded_usage_tokens: int | None


class Inspected(Struct, frozen=True):
    """A session and its epoch number `epoch`, as JSON."""

    format: str
    file: Path | None
    id: str
    title: str
    model: str | None
    window_tokens: int | None
    window_source: Source | None
    messages: int
    rounds: int
    exchanges: int
    epochs: int
    epoch: int
    warnings: Sequence[str]
    context: Measured
    exact: ExactCount | None
    session_cost: SessionCost | None
    layers: Sequence[Layer]
    epoch_list: Sequence[EpochSizes]
    round_list: Sequence[RoundSizes]


def _inspected(found: OpenedEpoch, exact: ExactCount | None) -> Inspected:
    session, context = found.session, found.context
    total = context.total
    return Inspected(
        format=session.format,
        file=session.path,
        id=session.id,
        title=session.title,
        model=session.model,
        window_tokens=context.window,
        window_source=context.limit.source if context.limit else None,
        messages=len(session.messages),
        rounds=len(context.shape.rounds.rounds),
        exchanges=len(context.shape.exchanges),
        epochs=len(session.epochs),
        epoch=found.epoch,
        warnings=list(map(str, session.warnings)),
        context=Measured(
            total.messages,
            total.chars,
            total.tokens,
            total.basis,
            context.layout.sizes.meter.method,
            context.layout.last_usage,
        ),
        exact=exact,
        session_cost=session_cost(session),
        layers=layers(context),
        epoch_list=list(epochs(session)),
        round_list=list(round_sizes(context)),
    )


def _full(found: OpenedEpoch) -> Mapping[str, object]:
    from workbench.cli.full import of_context

    return of_context(found.session, found.context)


class EpochSizes(Struct, frozen=True):
    number: int
    messages: int
    rounds: int
    exchanges: int
    ended_by: Compaction | None


def epochs(session: Session) -> Iterator[EpochSizes]:
    for epoch in session.epochs:
        messages = session.context(epoch.number)
        rounds, exchanges = len(rounds_of(messages).rounds), len(exchanges_of(messages))
        yield EpochSizes(epoch.number, len(messages), rounds, exchanges, epoch.ended_by)


class RoundSizes(Struct, frozen=True):
    """A round; with `round` None the messages before the first round, or an unanswered request, as `note` says.

    `number` (from 1), `message` (id) and `time` (seconds since 1970, UTC) belong to its first message.
    """

    round: int | None
    note: str
    number: int
    message: str
    time: float | None
    messages: int
    calls: int
    chars: int
    tokens: int
    basis: Basis
    first_words: str


def round_sizes(context: Context) -> Iterator[RoundSizes]:
    """Yield the complete context in order: the messages before the first round, the rounds, the unanswered request."""
    rounds = context.shape.rounds
    parts: list[tuple[int | None, str, Span]] = [(None, "before the first round", rounds.preamble)]
    parts += [(number, "", span) for number, span in enumerate(rounds.rounds, 1)]
    parts.append((None, "unanswered", rounds.current_input))
    for number, note, span in parts:
        if len(span):
            messages = context.messages[span.start : span.stop]
            first, size = messages[0], context.size(span.start, span.stop)
            calls = sum(len(message.calls) for message in messages)
            words = one_line(first.user_text or first.text, FIRST_WORDS)
            at = (number, note, span.start + 1, first.id, first.time, len(span))
            yield RoundSizes(*at, calls, size.chars, size.tokens, size.basis, words)


def _sizes(found: OpenedEpoch) -> dict[str, Table]:
    """Return the complete tables of rounds and epochs, by key."""
    spec = (
        "round:count note number:count:message message:text:id time:time messages:count calls:count chars:count "
        "tokens:tokens basis first_words"
    )
    rounds = (
        Row((one.round, one.note, one.number, one.message, one.time, one.messages, one.calls, one.chars, one.tokens,
             one.basis.name.lower(), one.first_words))
        for one in round_sizes(found.context)
    )  # fmt: skip
    ended = "ended_by trigger tokens_before:tokens:recorded_tokens"
    epoch_rows = (
        Row((one.number, one.messages, one.rounds, one.exchanges,
             *((one.ended_by.way, one.ended_by.trigger, one.ended_by.tokens_before) if one.ended_by else (None,) * 3)))
        for one in epochs(found.session)
    )  # fmt: skip
    return {
        "rounds": Table("rounds", "", columns(spec), tuple(rounds)),
        "epochs": Table(
            "epochs", "", columns(f"epoch:count messages:count rounds:count exchanges:count {ended}"), tuple(epoch_rows)
        ),
    }


def _tables(found: OpenedEpoch, exact: ExactCount | None) -> None:
    session, context = found.session, found.context
    total, shape = context.total, context.shape
    failures = failures_of(session)
    if failures.headline:
        click.secho(f"{printable(failures.headline)}\n", bold=True)
    parts = f": {words}" if (words := usage_words(total, context.layout.last_usage)) else ""
    share = f", {percent(total.tokens / context.window)} of {grouped(context.window)}" if context.window else ""
    write_fields(
        [
            ("session", session.title or session.id or str(session.path)),
            ("format", f"{session.format}, {counted(len(session.messages), 'message')} in the file"),
            ("model", f"{session.model or 'not recorded'}, {_window_words(context.limit)}"),
            ("epoch", epoch_words(session, found.epoch) or "1 of 1"),
            ("context", f"{size_words(total)}{share}{parts}"),
            ("units", f"{counted(len(shape.rounds.rounds), 'round')}, {counted(len(shape.exchanges), 'exchange')}"),
            ("layers", ", ".join(f"{part.name} {part.basis.value}{grouped(part.tokens)}" for part in layers(context))),
            ("counted", context.layout.sizes.meter.method),
            *([("exact", f"{exact.model}: {exact}")] if exact else []),
            *([("cost", str(cost))] if (cost := session_cost(session)) else []),
            *(("failure", str(one)) for one in failures.others),
            *_requests(session, context),
            *_warnings(session),
        ]
    )
    tables = _sizes(found)
    if len(session.epochs) > 1:
        click.echo()
        write_tables([tables["epochs"].without("exchanges")])
    click.echo()
    write_tables([tables["rounds"].only("round", "number", "time", "calls", "tokens", "note", "first_words")])


def _requests(session: Session, context: Context) -> list[tuple[str, str]]:
    """Return a row with the next request's images and bytes and their limits; empty without images or known limits."""
    images, limits = images_of(context.messages), session_limits(session)
    if not images or limits is None:
        return []
    sides = [max(image.media.pixels) for image in images if image.media.pixels]
    side = limits.side(len(images))
    largest = f", the largest {grouped(max(sides))} px a side" if sides else ""
    if sides and side is not None:
        largest += f" of {grouped(side)}"
    size = request_bytes(context.messages)
    most = f" of {grouped(limits.request_bytes)}" if limits.request_bytes is not None else ""
    return [("request", f"{counted(len(images), 'image')}{largest}; about {grouped(size)} bytes{most}")]


def _window_words(window: Window | None) -> str:
    return f"window of {window}" if window else "window unknown (name it with --window)"


def _warnings(session: Session) -> list[tuple[str, str]]:
    shown = [("warning", str(warning)) for warning in session.warnings[:MAX_WARNINGS]]
    more = len(session.warnings) - len(shown)
    return [*shown, ("", f"and {grouped(more)} more; --json and `cwb inspect --health` list all")] if more else shown
