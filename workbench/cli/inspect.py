"""`cwb inspect`: what a session holds, and where its tokens are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from workbench.analysis.transcript import VERBOSITIES, Verbosity, one_line, printable, transcript
from workbench.base.figures import grouped
from workbench.base.stamps import shown
from workbench.base.text import counted
from workbench.cli.opening import Opened, opened
from workbench.cli.output import only, plain, size_words, write_fields, write_json, write_table
from workbench.cli.selection import Selection, selection
from workbench.compaction.context import Context
from workbench.compaction.layers import layers
from workbench.session import Compaction, Session, Span, exchanges_of, rounds_of
from workbench.tokens.sizes import Basis

if TYPE_CHECKING:
    from workbench.summarizers.exact_counts import Exact

FIRST_WORDS = 60
NOTE = 400
MAX_WARNINGS = 10


@click.command("inspect")
@selection("part", "window", epoch="Look at this epoch, from 1; the last one by default.")
@click.option(
    "--verbosity",
    type=click.Choice(VERBOSITIES),
    help="The transcript: whole, a line for all but requests and each round's last answer, or the last answer alone.",
)
@click.option("--compact", "verbosity", flag_value="compact", help="The same as --verbosity compact.")
@click.option("--quiet", "verbosity", flag_value="quiet", help="The same as --verbosity quiet.")
@click.option(
    "--exact", metavar="MODEL", help="Have the API count the context for this model: sends it, costs nothing."
)
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
    help="What is noted beside the messages: files mentioned, files that changed, how far the to-do list is.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of tables.")
def command(
    chosen: Selection,
    verbosity: Verbosity | None,
    exact: str | None,
    as_react: bool,
    as_layers: bool,
    with_notes: bool,
    as_json: bool,
) -> None:
    """Show what FILE holds: its epochs, the rounds of one of them, and where its tokens are.

    A figure without a sign was billed by the provider, ≈ is calibrated against such figures, ~ is an estimate.
    Message numbers and ids are those that `cwb compact --pin` and `--split-at` take.
    """
    found = opened(chosen)
    count = None
    if exact:
        from workbench.cli.exact import count_now

        count = count_now(found.session, found.context, exact)
    if as_json:
        write_json(_document(found, verbosity, count), _assembled(found.context, as_layers, with_notes))
    elif as_react:
        from workbench.compaction.assembled.react import react
        from workbench.compaction.assembled.tool_results import Limits

        click.echo("\n\n".join(printable(text) for text in react(found.context.shape, limits=Limits())))
    elif as_layers or with_notes:
        _layers_and_notes(_assembled(found.context, as_layers, with_notes))
    elif verbosity:
        _transcript(found.context, verbosity)
    else:
        _tables(found, count)


def _document(found: Opened, verbosity: Verbosity | None, exact: Exact | None) -> dict[str, Any]:
    session, context = found.session, found.context
    total, messages = context.total, context.messages
    document = {
        **only(session, "format", "path", "id", "title", "model"),
        "window": context.window,
        "messages": len(session.messages),
        "rounds": len(context.shape.rounds.rounds),
        "exchanges": len(context.shape.exchanges),
        "epochs": len(session.epochs),
        "epoch": found.epoch,
        "warnings": list(map(str, session.warnings)),
        "context": {**plain(total), "basis": total.basis, "method": context.layout.sizes.meter.method},
        "exact": exact,
        "layers": layers(context),
        "epoch_list": list(epochs(session)),
        "round_list": list(stretches(context)),
    }
    if verbosity:
        document["transcript"] = [
            {"message": entry.index + 1, "id": messages[entry.index].id, **only(entry, "voice", "text")}
            for entry in transcript(messages, verbosity)
        ]
    return document


def _assembled(context: Context, as_layers: bool, with_notes: bool) -> dict[str, Any]:
    """The layers of the next prompt and the notes, as far as they are asked for: neither is made otherwise."""
    found: dict[str, Any] = {}
    if as_layers:
        from workbench.compaction.assembled.prompt import assembled
        from workbench.compaction.assembled.tool_results import Limits

        found["prompt"] = assembled(context, Limits())
    if with_notes:
        from workbench.compaction.assembled.notes import notes_of

        found["notes"] = [
            {"message": noted.index + 1, "id": context.messages[noted.index].id, **only(noted, "kind", "files", "text")}
            for noted in notes_of(context.shape)
        ]
    return found


def _layers_and_notes(found: dict[str, Any]) -> None:
    for part in found.get("prompt", ()):
        note = f" ({part.note})" if part.note else ""
        click.secho(f"== {part.name}: {part.basis.value}{grouped(part.tokens)} tokens{note}", bold=True)
        click.echo(f"{printable(part.text)}\n" if part.text else "")
    if notes := found.get("notes"):
        rows = [[str(noted["message"]), noted["kind"], one_line(printable(noted["text"]), NOTE)] for noted in notes]
        write_table(["message", "note", "text"], rows)
    elif notes is not None:
        click.echo("Nothing is noted: no @file, no file that changed between two reads, no to-do list.")


@dataclass(frozen=True, slots=True)
class EpochSizes:
    number: int
    messages: int
    rounds: int
    exchanges: int
    ended_by: Compaction | None

    def row(self) -> list[str]:
        how = "still open"
        if ended := self.ended_by:
            tokens = f" at {grouped(ended.tokens_before)} tokens" if ended.tokens_before else ""
            how = f"{printable(ended.trigger)} compaction".strip() + tokens
        return [str(self.number), grouped(self.messages), grouped(self.rounds), how]


def epochs(session: Session) -> Iterator[EpochSizes]:
    for epoch in session.epochs:
        messages = session.context(epoch.number)
        rounds, exchanges = len(rounds_of(messages).rounds), len(exchanges_of(messages))
        yield EpochSizes(epoch.number, len(messages), rounds, exchanges, epoch.ended_by)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A round, or what stands before the first (`number` None), or a request without an answer.

    `message` is the number of its first message, from 1; `time` in seconds since the epoch, UTC.
    """

    number: int | None
    note: str
    message: int
    id: str
    time: float | None
    messages: int
    calls: int
    chars: int
    tokens: int
    basis: Basis
    first_words: str

    def row(self) -> list[str]:
        return [
            "" if self.number is None else str(self.number),
            str(self.message),
            shown(self.time, "%m-%d %H:%M"),
            str(self.calls),
            f"{self.basis.value}{grouped(self.tokens)}",
            f"({self.note}) {self.first_words}" if self.note else self.first_words,
        ]


def stretches(context: Context) -> Iterator[Stretch]:
    """The whole context in order, cut into its rounds and what stands around them."""
    rounds = context.shape.rounds
    parts: list[tuple[int | None, str, Span]] = [(None, "before the first round", rounds.preamble)]
    parts += [(number, "", span) for number, span in enumerate(rounds.rounds, 1)]
    parts.append((None, "unanswered", rounds.current_input))
    for number, note, span in parts:
        if len(span):
            messages = context.messages[span.start : span.stop]
            first, size = messages[0], context.size(span.start, span.stop)
            calls = sum(len(message.calls) for message in messages)
            words = one_line(first.text, FIRST_WORDS)
            at = (number, note, span.start + 1, first.id, first.time, len(span))
            yield Stretch(*at, calls, size.chars, size.tokens, size.basis, words)


def _tables(found: Opened, exact: Exact | None) -> None:
    session, context = found.session, found.context
    total, shape = context.total, context.shape
    share = f", {100 * total.tokens / context.window:.1f} % of {grouped(context.window)}" if context.window else ""
    write_fields(
        [
            ("session", printable(session.title or session.id or str(session.path))),
            ("format", f"{session.format}, {counted(len(session.messages), 'message')} in the file"),
            ("model", f"{printable(session.model or 'not recorded')}, {_window_words(context.window)}"),
            ("epoch", f"{found.epoch} of {len(session.epochs)}"),
            ("context", f"{size_words(total)}{share}"),
            ("units", f"{counted(len(shape.rounds.rounds), 'round')}, {counted(len(shape.exchanges), 'exchange')}"),
            ("layers", ", ".join(f"{part.name} {part.basis.value}{grouped(part.tokens)}" for part in layers(context))),
            ("counted", context.layout.sizes.meter.method),
            *([("exact", f"{exact.model}: {exact}")] if exact else []),
            *_warnings(session),
        ]
    )
    if len(session.epochs) > 1:
        click.echo()
        write_table(["epoch", "messages", "rounds", "ended by"], [epoch.row() for epoch in epochs(session)])
    click.echo()
    heads = ["round", "message", "time", "calls", "tokens", "first words"]
    write_table(heads, [stretch.row() for stretch in stretches(context)])


def _window_words(window: int | None) -> str:
    return f"window of {grouped(window)} tokens" if window else "window unknown (name it with --window)"


def _warnings(session: Session) -> list[tuple[str, str]]:
    shown = [("warning", printable(str(warning))) for warning in session.warnings[:MAX_WARNINGS]]
    more = len(session.warnings) - len(shown)
    return [*shown, ("", f"and {grouped(more)} more; --json and `cwb doctor` list all")] if more else shown


def _transcript(context: Context, verbosity: Verbosity) -> None:
    for entry in transcript(context.messages, verbosity):
        label = f"#{entry.index + 1} {entry.voice}"
        if verbosity == "quiet":
            click.echo(entry.text)
        elif "\n" in entry.text:
            click.secho(label, bold=True)
            click.echo(entry.text)
        else:
            click.echo(f"{click.style(label, bold=True)}  {entry.text}")
