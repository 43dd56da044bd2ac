"""`cwb retention --ask`: questions about a session, asked of its context and of the contexts after compactions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from workbench.analysis.probes import ProbeResults, ProbeTotals, looked_up, probes_path, write_probes
from workbench.base.errors import BadInput
from workbench.base.text import counted
from workbench.bench import Bench, choose_preset
from workbench.cli.ask_model import SessionExam, SessionInfo, ask_sessions, estimate_questions
from workbench.cli.ask_output import csv_tables, document, print_answers, print_total, sum_document
from workbench.cli.load_bench import on_bench
from workbench.cli.output import warn, write_csv, write_json
from workbench.cli.running import call_words, run_named, save_record
from workbench.cli.selection import Selection
from workbench.cli.session_files import FailedFile, refusal, release_session, sessions_in
from workbench.compaction.outcome import Outcome
from workbench.compaction.preset import Preset
from workbench.compaction.summary_request import Answer
from workbench.runs.questions import (
    RECORDED,
    QuestionCosts,
    count_from_other_epochs,
    exam_of,
    generated_questions,
    no_questions_error,
    questions,
    recorded_compaction,
)
from workbench.summarizers.by_name import SummarizerName, parse_name
from workbench.summarizers.driver import Run, drive
from workbench.summarizers.recorded_answers import recorded_summarizer as recorded_answers
from workbench.summarizers.spend_limit import SpendLimit

FAILED = 2

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class QuestionOptions:
    """Options of the questions. `several`: folders or several files are named. `refused` collects the failed files.
    `summaries` holds the summaries of sessions that were opened once, so that the next opening asks no summarizer."""

    chosen: Selection
    several: bool
    policies: Sequence[Preset] | None
    name: SummarizerName
    spend_limit: SpendLimit
    recorded: bool
    file: Path | None
    most: int | None
    seed: int
    journal: bool
    refused: list[FailedFile]
    summaries: dict[Path, list[Mapping[str, Answer]]]


def ask_questions(
    chosen: Selection,
    *,
    model: str,
    batch: bool,
    spend_limit: SpendLimit,
    summarizer_name: str,
    recorded: bool,
    file: Path | None,
    most: int | None,
    seed: int,
    write: bool,
    no_journal: bool,
    as_json: bool,
    as_csv: str | None,
) -> None:
    """Write the answers about each session, and of several sessions the totals; with `write`, write the questions to
    files instead."""
    if batch and not model:
        raise click.UsageError("--batch asks a model; name it with --model.")
    name = parse_name(summarizer_name)
    files = sessions_in(chosen.files)
    several = len(files) > 1 or files != list(chosen.files)
    if several and (file or chosen.part):
        raise click.UsageError("--probes and --part need one session; name one FILE.")
    policies = chosen.policies() if chosen.strategies or chosen.presets else None
    setup = QuestionOptions(
        chosen, several, policies, name, spend_limit, recorded, file, most, seed, not no_journal, [], {}
    )
    if write:
        _exit_unless(bool(list(_for_each(setup, files, _write_questions))))
    else:
        answered = _ask_model(setup, files, model, batch=batch) if model else _for_each(setup, files, _look_up)
        if as_csv:
            found = list(answered)
            write_csv(csv_tables(found), as_csv)
            _exit_unless(bool(found))
        else:
            _exit_unless(_write_answers(setup, answered, as_json=as_json))


def _for_each(setup: QuestionOptions, files: Sequence[Path], done: Callable[[QuestionOptions, Path], T]) -> Iterator[T]:
    """Yield the result for each session. Of several sessions, a failed one is reported and skipped."""
    for path in files:
        try:
            yield done(setup, path)
        except BadInput as reason:
            if not setup.several:
                raise
            setup.refused.append(refusal(path, reason))


def _ask_model(
    setup: QuestionOptions, files: Sequence[Path], model: str, *, batch: bool
) -> list[tuple[SessionInfo, ProbeResults]]:
    """Return the answers of a model, once the cost of every session is estimated."""
    costs = dict(_for_each(setup, files, partial(_estimate, model=model, batch=batch)))
    open_exam = partial(_open_exam, setup)
    answered, failed = ask_sessions(costs, open_exam, model, setup.spend_limit, journal=setup.journal, batch=batch)
    if failed and not setup.several:
        raise BadInput(failed[0].error)
    setup.refused.extend(failed)
    return answered


def _estimate(setup: QuestionOptions, path: Path, model: str, *, batch: bool) -> tuple[Path, QuestionCosts]:
    return path, estimate_questions(_open_exam(setup, path), model, journal=setup.journal, batch=batch)


def _look_up(setup: QuestionOptions, path: Path) -> tuple[SessionInfo, ProbeResults]:
    one = _open_exam(setup, path)
    del setup.summaries[path]
    return one.info(), looked_up(one.exam)


def _open_exam(setup: QuestionOptions, path: Path) -> SessionExam:
    """Open a session with its questions and its context after each compaction. A second opening uses the summaries of
    the first, once."""
    release_session()
    bench = on_bench(replace(setup.chosen, files=(path,)))
    wanted = questions(bench, setup.file, setup.most)
    if not wanted.probes:
        raise no_questions_error(bench)
    presets, known = setup.policies or [bench.as_preset], setup.summaries.pop(path, [])
    outcomes = [(RECORDED, recorded_compaction(bench))] if setup.recorded else []
    if known:
        outcomes += [_compact_with_answers(bench, *one) for one in zip(presets, known, strict=True)]
    else:
        runs = [_compact(bench, preset, setup.name, setup.spend_limit, journal=setup.journal) for preset in presets]
        setup.summaries[path] = [run.answers_by_key for _, run in runs]
        outcomes += [(called, run.outcome) for called, run in runs]
        if wanted.file and (count := count_from_other_epochs(bench, wanted.probes)):
            foreign = counted(count, "question")
            warn(f"{foreign} in {wanted.file.name} from messages that are not in this epoch.")
    return SessionExam(bench, wanted.origin, exam_of(bench, wanted.probes, outcomes, setup.seed))


def _write_questions(setup: QuestionOptions, path: Path) -> Path:
    """Write the questions about a session to its sidecar file, or to the named file."""
    bench = on_bench(replace(setup.chosen, files=(path,)))
    there = setup.file or (None if path in setup.chosen.piped else probes_path(bench.session))
    if there is None:
        raise BadInput("A session from a pipe has no folder; name a file for the questions with --probes.")
    probes = generated_questions(bench, setup.most)
    if not probes:
        raise no_questions_error(bench)
    write_probes(there, probes)
    reads = "`cwb retention --ask` reads them from there"
    click.echo(f"{there}: {counted(len(probes), 'question')}; edit them, {reads}")
    return there


def _write_answers(
    setup: QuestionOptions, answered: Iterable[tuple[SessionInfo, ProbeResults]], *, as_json: bool
) -> bool:
    """Write each session's answers, as text at once, and of several sessions the totals. Return True if there are
    any."""
    documents: list[dict[str, Any]] = []
    found: list[ProbeResults] = []
    for one, probing in answered:
        found.append(probing)
        if as_json:
            documents.append(document(one, probing))
        else:
            print_answers(one, probing, alone=not setup.several)
    together = ProbeTotals(tuple(found)) if setup.several and found else None
    if as_json and setup.several:
        write_json({"sessions": documents, "total": together and sum_document(together), "failed": setup.refused})
    elif as_json:
        write_json(*documents)
    elif together:
        print_total(together, len(setup.refused))
    return bool(found)


def _exit_unless(good: bool) -> None:
    if not good:
        raise click.exceptions.Exit(FAILED)


def _compact(
    bench: Bench, preset: Preset, name: SummarizerName, spend_limit: SpendLimit, *, journal: bool
) -> tuple[str, Run]:
    """Compact, and return the preset's name and the run. A live run is saved at once, before another preset can
    fail."""
    there = choose_preset(bench, preset)
    call = run_named(there, there.compacting, name, spend_limit, journal=journal)
    if journal and name.has_run_record:
        save_record(call.record)
    if name.model and (words := call_words(call)):
        warn(words)
    return there.as_preset.name, call.run


def _compact_with_answers(bench: Bench, preset: Preset, summaries: Mapping[str, Answer]) -> tuple[str, Outcome]:
    there = choose_preset(bench, preset)
    return there.as_preset.name, drive(there.compacting(), recorded_answers(summaries)).outcome
