"""Load sessions, compare presets, measure compactions, save the results, repair a session, and audit all sessions of
this machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.analysis.course import Course, course_messages, course_of
from workbench.analysis.needed_items import project_folder, used_after
from workbench.analysis.probes import (
    MOST,
    Exam,
    Probe,
    ProbeResults,
    arm_contexts,
    graded,
    looked_up,
    probes_of,
    read_probes,
    with_sources,
)
from workbench.analysis.recorded_compactions import following
from workbench.analysis.replay import Replay, replays
from workbench.analysis.retention import Retention
from workbench.analysis.retention import retention as retention_of
from workbench.analysis.rework import Rework
from workbench.analysis.rework import rework as rework_of
from workbench.analysis.rule_file_states import sentences_to_watch
from workbench.analysis.suggested_pins import SuggestedPin, suggest
from workbench.analysis.watched_rules import judge_context, judge_outcome, sentence_to_watch
from workbench.analysis.why.diagnosis import Diagnosis, diagnose
from workbench.analysis.why.overflow import overflowed_epoch
from workbench.api.compacting import Pins, context
from workbench.api.results import Compacted, messages_after
from workbench.api.sources import Messages, read_source
from workbench.api.summarize import Summarize, answer_with
from workbench.auditing.audit import Audit, audit_of
from workbench.auditing.cache import RowCache
from workbench.auditing.run import audit_files
from workbench.auditing.run import candidates as audit_candidates
from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.bench import Bench, RuleState
from workbench.bench.assessment import Assessment
from workbench.bench.assessment import compare as assessments
from workbench.compaction.context import Context
from workbench.compaction.exporting import export_compacted
from workbench.compaction.opening import context_at, epoch_of
from workbench.compaction.preset import agent_preset_id, candidates, load_preset, preset_for_version
from workbench.compaction.strategies import strategy
from workbench.formats import export as exporting
from workbench.formats import files
from workbench.formats.format import no_progress
from workbench.repairs.engine import Repair
from workbench.repairs.engine import repair as repair_file
from workbench.repairs.result import save as save_repair
from workbench.session import Message, Session
from workbench.summarizers.driver import drive
from workbench.summarizers.extractive import extractive
from workbench.tokens import Counter

Names = str | Sequence[str]
"""A name, or several."""


def load(path: str | Path, part: str = "") -> Session:
    """Load a session file of any known format; its `warnings` name unusual records with their lines.

    `part` is the id of one session in a file with several. Raises BadInput for an unreadable file and an unknown
    format.
    """
    return files.load(Path(path), part=part)


def compare(
    source: Session | Messages,
    strategies: Names = (),
    presets: Names = (),
    *,
    epoch: int | None = None,
    pins: Pins = (),
    window: int | None = None,
    summarize: Summarize | None = None,
) -> tuple[Assessment, ...]:
    """Compact the same context by each preset, then by each strategy, in the given order, and assess each outcome. The
    default is every strategy.

    `epoch`, `pins` and `window` are those of `context`, `summarize` that of `compact`. Raises BadInput as they do, and
    for a name that does not exist.
    """
    session = read_source(source).session
    chosen = [preset_for_version(one, session) for one in candidates(_as_sequence(strategies), _as_sequence(presets))]
    now = context(source, epoch=epoch, pins=pins, window=window)
    first = chosen[0]
    bench = Bench(
        session,
        epoch_of(session, epoch),
        now,
        strategy(first.strategy),
        first.policy,
        first.id,
        first.version,
        pins=now.pins,
        split_at=now.split_at,
    )
    return tuple(assessments(bench, chosen, answer_with(summarize) if summarize else extractive))


def retention(compacted: Compacted[Any], later: Sequence[Message] | None = None) -> Retention:
    """Return the facts of the replaced messages that the new context keeps, by kind.

    `later` are messages after the compaction, by default of the session's later epochs: facts that they use weigh more.
    """
    if later is None:
        later = following(compacted.session, compacted.epoch)
    return retention_of(compacted.context, compacted.outcome, later)


def probe(
    compacted: Compacted[Any],
    probes: Sequence[Probe] | str | Path | None = None,
    *,
    ask: Summarize | None = None,
    most: int = MOST,
    seed: int = 0,
) -> ProbeResults:
    """Ask questions with one exact answer of the full context (arm 0), the compacted one (arm 1) and no context (arm
    2).

    `probes` are your questions, or their file; by default at most `most` are generated from the session, and controls.
    `ask` takes a prompt, the context as text followed by the questions, and returns a model's text; without it the
    answers are looked up by text search, and `by` says so. `seed` shuffles the questions. Raises BadInput for a file
    without questions."""
    context, session = compacted.context, compacted.session
    if isinstance(probes, str | Path):
        probes = with_sources(read_probes(Path(probes)), context.messages)
    elif probes is None:
        used = used_after(session, compacted.epoch)
        probes = probes_of(context.shape, project_folder(session), used, most)
    exam = Exam(session, tuple(probes), arm_contexts(context, [("compacted", compacted.outcome)]), seed)
    if ask is None:
        return looked_up(exam)
    return graded(exam, drive(exam.asking({}), answer_with(ask)).answers_by_key, "asked")


def watch(compacted: Compacted[Any], *sentences: str) -> tuple[RuleState, ...]:
    """Return the state of each rule in the old context (`now`) and the new one (`after`), system prompt and memories
    included: `verbatim`, `paraphrased`, `contradicted`, `gone`, or `unknown` for an unreadable summary. No model is
    asked. Raises BadInput for a text without words, or longer than a sentence."""
    context, outcome = compacted.context, compacted.outcome
    found = []
    for one in (sentence_to_watch(sentence, context.messages) for sentence in sentences):
        now = judge_context(one, context.shape, context.system_text())
        found.append(RuleState(one, now, judge_outcome(one, context.shape, outcome, context.system_text(outcome))))
    return tuple(found)


def rework(source: Session | Messages) -> tuple[Rework, ...]:
    """Return the rework after each recorded compaction, in order: unchanged files read again, commands and searches
    with the same result, repeated questions, instructions that the user repeated, edits undone or repeated. No model is
    asked. Raises BadInput as `context` does."""
    return rework_of(_course_from(read_source(source).session, 1, None)[1])


def suggest_pins(source: Session | Messages, *, epoch: int | None = None) -> tuple[SuggestedPin, ...]:
    """Return the user's rules and answers to questions, in order, each with the reason and the tokens that pinning its
    message costs. Raises BadInput as `context` does."""
    return suggest(context(source, epoch=epoch))


def why(
    source: Session | Messages, preset: str | None = None, *, epoch: int | None = None, window: int | None = None
) -> Diagnosis:
    """Diagnose why the context overflowed, or how close it is: its largest parts, and remedies.

    `epoch` counts from 1; the default is the last that overflowed. Triggers and replay are those of the preset, by
    default the agent's own or claude-code. Raises BadInput as `context` does, and for an unknown preset.
    """
    session = read_source(source).session
    number = overflowed_epoch(session) if epoch is None else epoch
    now, course = _course_from(session, number, window)
    chosen = load_preset(preset or agent_preset_id(session) or "claude-code")
    return diagnose(now, course, number, chosen)


def replay(
    source: Session | Messages,
    strategies: Names = (),
    presets: Names = (),
    *,
    epoch: int = 1,
    window: int | None = None,
    watched: Sequence[str] = (),
) -> tuple[Replay, ...]:
    """Replay the session from an epoch (from 1) under each preset, then under each strategy, in the given order; by
    default under every strategy. The preset of the session's agent has the numbers of the version that wrote the
    session.

    A replay lists each compaction with its sizes and costs. The agent's answers are assumed to be the same; summaries
    only have a size. With `watched` rules they consist of sentences of the session, and `Replay.watched` has the state
    of each rule after every compaction. Raises BadInput as `context` does, for an unknown name, and for a rule that
    cannot be watched.
    """
    session = read_source(source).session
    sentences = tuple(sentence_to_watch(one, session.messages) for one in sentences_to_watch(watched, session))
    now, course = _course_from(session, epoch, window)
    chosen = candidates(_as_sequence(strategies), _as_sequence(presets))
    return tuple(replays(course, chosen, now.limit, watched=sentences))


def _course_from(session: Session, epoch: int, window: int | None) -> tuple[Context, Course]:
    counter = Counter()
    counter.count_all(course_messages(session), no_progress, lambda: False)
    return context_at(session, epoch, counter, window=window), course_of(session, counter, first=epoch)


def save(compacted: Compacted[Any], path: str | Path, format: str = "", *, overwrite: bool = False) -> Path:
    """Write the new context as a session file, in the source's format or the one with the id `format`.

    `path` is a file, or a folder that gets a file with the name the agent expects. Return its path. Raises BadInput
    when a required check failed, when the format's validation rejects the file, when reading it back gives another
    context (no file is left then), and when it exists and `overwrite` is not set.
    """
    if failed := compacted.report.failed:
        raise BadInput(f"A required check failed, so nothing is written: {failed[0].name}: {failed[0].detail}.")
    before, outcome = compacted.context, compacted.outcome
    after = before if outcome.status == "not_smaller" else before.from_outcome(outcome)
    export = export_compacted(compacted.session, after, messages_after(before, outcome), format or None)
    if export.problems:
        raise BadInput(f"{export.format.title} could not load this, so nothing is written: {export.verdict}")
    return exporting.save(export, Path(path), overwrite=overwrite).where


def _as_sequence(names: Names) -> Sequence[str]:
    return (names,) if isinstance(names, str) else names


def repair(path: str | Path, out: str | Path | None = None, *, branch: int | None = None, part: str = "") -> Repair:
    """Return a repaired copy of the session in a file, with its fixes; the file itself is never changed.

    If anything was repaired and the result is sound (`Repair.is_sound`), the copy is written to `out`, a new file or a
    folder; without `out` it is only in `Repair.data`. Where links were damaged, the longest branch is kept, or the one
    whose last message is on the line `branch`. `part` is the id of one session in a file with several. Raises BadInput
    for a file of an unknown or read-only format, for an unknown branch, and for an `out` that exists.
    """
    result = repair_file(Path(path), branch=branch, part=part)
    if out is not None and result.fixes and result.is_sound:
        save_repair(result, Path(out))
    return result


def audit(*folders: str | Path, cluster: str = "", cached: bool = False) -> Audit:
    """Read all sessions in the agents' folders, or below `folders` (or files), and measure their compactions.

    It runs on all cores, or on the workers of the Dask scheduler at the address `cluster`. With `cached`, as in `cwb
    audit`, rows are cached in the user's cache folder and only changed files are read; without it nothing is written.
    An unreadable file is a row with an `error`. Raises BadInput for a folder that does not exist, and for a scheduler
    that does not answer.
    """
    works = audit_candidates([Path(folder) for folder in folders])
    found = audit_files(works, RowCache(paths.audits()) if cached else None, cluster)
    return audit_of(row for one in found for row in one.rows)
