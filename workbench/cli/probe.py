"""`cwb probe`: does a model still know, from what a compaction leaves, what the full context told it?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from workbench.analysis.probes import Probe, Probing, Sum, beside, looked_up, write_probes
from workbench.analysis.probes.made import MOST
from workbench.base.errors import BadInput
from workbench.base.text import counted
from workbench.bench import Bench, choose_preset
from workbench.cli.loading import on_bench
from workbench.cli.output import warn, write_json
from workbench.cli.probe_asking import Sat, Sitting, answers, foreseen
from workbench.cli.probe_telling import document, sum_document, tell, tell_sum
from workbench.cli.running import call_words, keep, run_named
from workbench.cli.selection import Selection, selection
from workbench.cli.several import Refused, let_go, refusal, sessions_in
from workbench.cli.spending import max_cost
from workbench.compaction.outcome import Outcome
from workbench.compaction.preset import Preset
from workbench.compaction.strategy import Answer
from workbench.probing import (
    RECORDED,
    Questions,
    Quote,
    elsewhere,
    exam_of,
    made_of,
    nothing_to_ask,
    questions,
    theirs,
)
from workbench.summarizers.driver import Run, drive
from workbench.summarizers.named import Name, parsed
from workbench.summarizers.purse import Purse
from workbench.summarizers.recorded import recorded as recorded_answers

FAILED = 2

T = TypeVar("T")


@click.command("probe")
@selection(
    "part",
    "window",
    "epoch",
    "pin",
    "auto_pin",
    "watch",
    "mask",
    nargs=-1,
    strategy="A compaction to ask after, by strategy; several may be named.",
    preset="A compaction to ask after, by preset; several may be named. By default the tool's own.",
)
@click.option("--model", metavar="MODEL", default="", help="Ask this model, live; else answers are looked up by code.")
@click.option("--batch", is_flag=True, help="Ask through Message Batches: half the price, within a day; resumable.")
@max_cost
@click.option(
    "--summarizer", "summarizer_name", default="extractive", show_default=True, metavar="NAME",
    help="Who writes the summaries: any that `cwb compact` takes, extractive without a model.",
)  # fmt: skip
@click.option("--recorded", is_flag=True, help="Ask after the compaction, too, that the session records of this epoch.")
@click.option(
    "--probes", "file", type=click.Path(path_type=Path), metavar="TOML",
    help="Questions from this file; by default NAME.probes.toml beside FILE, else made from the session.",
)  # fmt: skip
@click.option("--max", "most", type=click.IntRange(1, 1000), metavar="N", help=f"At most N questions [{MOST}].")
@click.option("--seed", type=int, default=0, show_default=True, help="How the questions are shuffled.")
@click.option("--write", is_flag=True, help="Write the questions to NAME.probes.toml beside FILE, to change; ask none.")
@click.option("--no-journal", is_flag=True, help="Keep no answers, and use none that are kept.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document, with every answer and its line.")
def command(
    chosen: Selection,
    model: str,
    batch: bool,
    purse: Purse,
    summarizer_name: str,
    recorded: bool,
    file: Path | None,
    most: int | None,
    seed: int,
    write: bool,
    no_journal: bool,
    as_json: bool,
) -> None:
    """Ask questions about each FILE (and the sessions in folders) that have one exact answer: of the full context, of
    what each compaction leaves, and of nothing.

    The questions are made by code from what the session says, those first whose answer it really used later, and each
    names its source. Some controls ask after what was never spoken of: there, only "not known" is right. --model asks a
    model at temperature 0; what it answered is kept in the journal, and a run that was broken off goes on there.
    Without it, answers are looked up in the text by code: that shows what is still told, not what a model makes of it.
    Of several sessions the sum is told, too; one that cannot be asked after is a line that says why.

    \b
    cwb probe FILE --preset claude-code --preset codex
    cwb probe FOLDER --preset claude-code --model claude-haiku-5-5 --batch
    """
    if batch and not model:
        raise click.UsageError("--batch asks a model; name it with --model.")
    name = parsed(summarizer_name)
    files = sessions_in(chosen.files)
    several = len(files) > 1 or files != list(chosen.files)
    if several and (file or chosen.part):
        raise click.UsageError("--probes and --part are of one session; name one FILE.")
    policies = chosen.policies() if chosen.strategies or chosen.presets else None
    refused: list[Refused] = []
    summaries: dict[Path, list[Mapping[str, Answer]]] = {}

    def each(done: Callable[[Path], T]) -> Iterator[T]:
        """One session after the other; of several one that gives nothing keeps none of the others from theirs."""
        for path in files:
            try:
                yield done(path)
            except BadInput as reason:
                if not several:
                    raise
                refused.append(refusal(path, reason))

    def opened(path: Path) -> tuple[Bench, Questions]:
        let_go()
        bench = on_bench(replace(chosen, files=(path,)))
        wanted = questions(bench, file, most)
        if not wanted.probes:
            raise nothing_to_ask(bench)
        return bench, wanted

    def written(path: Path) -> Path:
        bench = on_bench(replace(chosen, files=(path,)))
        there = file or (None if path in chosen.piped else beside(bench.session))
        if there is None:
            raise BadInput("What comes through a pipe lies nowhere; say with --probes where the questions are to lie.")
        made = made_of(bench, most)
        if not made:
            raise nothing_to_ask(bench)
        return _write(there, made)

    def sitting(path: Path) -> Sitting:
        """The session with what each compaction makes of it; what was summarized when it was opened first is known."""
        bench, wanted = opened(path)
        presets, known = policies or [bench.chosen], summaries.pop(path, [])
        outcomes = [(RECORDED, theirs(bench))] if recorded else []
        if known:
            outcomes += [_made_again(bench, *one) for one in zip(presets, known, strict=True)]
        else:
            made = [_made(bench, preset, name, purse, journal=not no_journal) for preset in presets]
            summaries[path] = [run.recording for _, run in made]
            outcomes += [(called, run.outcome) for called, run in made]
            if wanted.file and (strangers := elsewhere(bench, wanted.probes)):
                asked = counted(strangers, "question")
                warn(f"{asked} in {wanted.file.name} from messages that this epoch does not have.")
        return Sitting(bench, wanted.origin, exam_of(bench, wanted.probes, outcomes, seed))

    def looked(path: Path) -> tuple[Sat, Probing]:
        one = sitting(path)
        del summaries[path]
        return one.sat(), looked_up(one.exam)

    def quote(path: Path) -> tuple[Path, Quote]:
        return path, foreseen(sitting(path), model, journal=not no_journal, batch=batch)

    if write:
        _end(bool(list(each(written))))
        return
    answered: Iterable[tuple[Sat, Probing]]
    if model:
        quotes = dict(each(quote))
        answered, failed = answers(quotes, sitting, model, purse, journal=not no_journal, batch=batch)
        if failed and not several:
            raise BadInput(failed[0].error)
        refused += failed
    else:  # each is told when it is known
        answered = each(looked)
    documents: list[dict[str, Any]] = []
    found: list[Probing] = []
    for one, probing in answered:
        found.append(probing)
        if as_json:
            documents.append(document(one, probing))
        else:
            tell(one, probing, alone=not several)
    together = Sum(tuple(found)) if several and found else None
    if as_json and several:
        write_json({"sessions": documents, "sum": together and sum_document(together), "refused": refused})
    elif as_json:
        write_json(*documents)
    elif together:
        tell_sum(together, len(refused))
    _end(bool(found))


def _end(good: bool) -> None:
    if not good:
        raise click.exceptions.Exit(FAILED)


def _write(path: Path, probes: Sequence[Probe]) -> Path:
    write_probes(path, probes)
    click.echo(
        f"{path}: {counted(len(probes), 'question')}; change them as you like, `cwb probe` reads them from there"
    )
    return path


def _made(bench: Bench, preset: Preset, name: Name, purse: Purse, *, journal: bool) -> tuple[str, Run]:
    """A compaction under its name; where a model writes in it, it is kept before the next one begins."""
    there = choose_preset(bench, preset)
    call = run_named(there, there.compacting, name, purse, journal=journal)
    if journal and name.is_kept:
        keep(call.record)
    if name.model and (words := call_words(call)):
        warn(words)
    return there.chosen.name, call.run


def _made_again(bench: Bench, preset: Preset, summaries: Mapping[str, Answer]) -> tuple[str, Outcome]:
    there = choose_preset(bench, preset)
    return there.chosen.name, drive(there.compacting(), recorded_answers(summaries)).outcome
