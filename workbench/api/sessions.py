"""Looking at sessions and messages, and writing what a compaction left: the calls beside compacting itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.analysis.course import Course, course_messages, course_of
from workbench.analysis.later_use import needed_after, project_folder
from workbench.analysis.probes import (
    MOST,
    Exam,
    Probe,
    Probing,
    graded,
    looked_up,
    probes_of,
    read_probes,
    sources_of,
    with_sources,
)
from workbench.analysis.recorded import following
from workbench.analysis.replay import Replay, replays
from workbench.analysis.retention import Retention
from workbench.analysis.retention import retention as retention_of
from workbench.analysis.rework import Rework
from workbench.analysis.rework import rework as rework_of
from workbench.analysis.suggested_pins import SuggestedPin, suggest
from workbench.analysis.watched_rules import judge_context, judge_outcome, sentence_to_watch
from workbench.analysis.why.diagnosis import Diagnosis, diagnose
from workbench.analysis.why.rejections import overflowed_epoch
from workbench.api.asking import Summarize, answered_by
from workbench.api.compacting import Pins, context
from workbench.api.given import Messages, given
from workbench.api.results import Compacted, in_force
from workbench.base.errors import BadInput
from workbench.bench import Bench, RuleState
from workbench.bench.assessment import Assessment
from workbench.bench.assessment import compare as assessments
from workbench.compaction.agent_preset import agent_preset_id, preset_for_version
from workbench.compaction.context import Context
from workbench.compaction.exporting import export_compacted
from workbench.compaction.opening import context_at, epoch_of
from workbench.compaction.preset import candidates, load_preset
from workbench.compaction.strategies import strategy
from workbench.formats import export as exporting
from workbench.formats import files
from workbench.formats.format import no_progress
from workbench.session import Message, Session
from workbench.summarizers.driver import drive
from workbench.summarizers.extractive import extractive
from workbench.tokens import Counter

Names = str | Sequence[str]
"""One name, or several."""


def load(path: str | Path, part: str = "") -> Session:
    """A session file of any format the workbench reads; its oddities are in `warnings`, each with its line.

    `part` is the id of one conversation, for a file that holds several. Raises BadInput for what cannot be read or is
    of no known format.
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
    """Compact the same context in several ways, and assess each: the presets named, then the strategies, in the order
    given; every strategy where nothing is named.

    `epoch`, `pins` and `window` are those of `context`, `summarize` that of `compact`. Raises BadInput as they do, and
    for a name that does not exist.
    """
    session = given(source).session
    chosen = [preset_for_version(one, session) for one in candidates(_several(strategies), _several(presets))]
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
    return tuple(assessments(bench, chosen, answered_by(summarize) if summarize else extractive))


def retention(compacted: Compacted[Any], later: Sequence[Message] | None = None) -> Retention:
    """Which facts of what went the new context still holds, by kind.

    `later` are messages that came after: what they use again weighs more. By default those of the session's later
    epochs.
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
) -> Probing:
    """What is still known: questions with one exact answer, put to the whole context (arm 0), to the compacted one
    (arm 1) and to nothing (arm 2).

    `probes` are questions of yours, or their file; by default at most `most` are made from the session, and controls.
    `ask` is given each prompt, the context as text in front of the questions, and gives a model's text; without it the
    answers are looked up by code, and `by` says so. `seed` shuffles the questions. Raises BadInput for a file that is
    none."""
    context, session = compacted.context, compacted.session
    if isinstance(probes, str | Path):
        probes = with_sources(read_probes(Path(probes)), context.messages)
    elif probes is None:
        needed = needed_after(session, compacted.epoch)
        probes = probes_of(context.shape, project_folder(session), needed, most)
    exam = Exam(session, tuple(probes), sources_of(context, [("compacted", compacted.outcome)]), seed)
    if ask is None:
        return looked_up(exam)
    return graded(exam, drive(exam.asking({}), answered_by(ask)).answers_by_key, "asked")


def watch(compacted: Compacted[Any], *sentences: str) -> tuple[RuleState, ...]:
    """How each sentence stands in the old context (`now`) and in the new one (`after`), in the messages or in what is
    sent beside them: `verbatim`, `paraphrased`, `contradicted`, `gone`, or `unknown` where the new context cannot be
    read. No model is asked. Raises BadInput for what has no word, or is longer than a sentence."""
    context, outcome = compacted.context, compacted.outcome
    found = []
    for one in (sentence_to_watch(sentence, context.messages) for sentence in sentences):
        now = judge_context(one, context.shape, context.system_text())
        found.append(RuleState(one, now, judge_outcome(one, context.shape, outcome, context.system_text(outcome))))
    return tuple(found)


def rework(source: Session | Messages) -> tuple[Rework, ...]:
    """What was done again after each compaction that the session itself recorded, in order: files read again that had
    not changed, commands and searches with the same result, questions, what the user said again, edits undone or made
    again. No model is asked. Raises BadInput as `context` does."""
    return rework_of(_played_from(given(source).session, 1, None)[1])


def suggest_pins(source: Session | Messages, *, epoch: int | None = None) -> tuple[SuggestedPin, ...]:
    """The user's standing instructions and answers to questions in the order in which they were given, each with why it
    is one and the tokens that pinning its message costs. Raises BadInput as `context` does."""
    return suggest(context(source, epoch=epoch))


def why(
    source: Session | Messages, preset: str | None = None, *, epoch: int | None = None, window: int | None = None
) -> Diagnosis:
    """Why the context overflowed, or how near it is to it: who filled it, and what would have helped.

    Of an epoch (from 1), by default the newest that overflowed; the triggers of the preset, by default the tool's own
    or claude-code, are looked at, and the session is played under it. Raises BadInput as `context` does, and for a
    preset that does not exist.
    """
    session = given(source).session
    number = overflowed_epoch(session) if epoch is None else epoch
    now, course = _played_from(session, number, window)
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
    """The session from an epoch on (from 1), played under each preset named, then under each strategy, in the order
    given; under every strategy where nothing is named. The preset of the session's own tool is played as the version
    did it that wrote the session.

    When each would have compacted, from what to what, at what cost; the agent's answers are taken to be the same, and
    summaries only take their room. With sentences that are `watched` they are the session's own sentences, and
    `Replay.watched` says how each came through every compaction. Raises BadInput as `context` does, for a name that
    does not exist, and for a sentence that cannot be watched.
    """
    session = given(source).session
    sentences = tuple(sentence_to_watch(sentence, session.messages) for sentence in watched)
    now, course = _played_from(session, epoch, window)
    chosen = candidates(_several(strategies), _several(presets))
    return tuple(replays(course, chosen, now.limit, watched=sentences))


def _played_from(session: Session, epoch: int, window: int | None) -> tuple[Context, Course]:
    counter = Counter()
    counter.count_all(course_messages(session), no_progress, lambda: False)
    return context_at(session, epoch, counter, window=window), course_of(session, counter, first=epoch)


def save(compacted: Compacted[Any], path: str | Path, format: str = "", *, overwrite: bool = False) -> Path:
    """Write the new context as a session file: in the source's own format, or in the one named by its id.

    `path` is a file, or a folder that gets a file named as its tool expects; returns where. Raises BadInput when a hard
    check failed, when the format's own rules refuse the file, when what was written does not hold the new context as
    its reader finds it (there is no file then), and when one is there and `overwrite` is not set.
    """
    if failed := compacted.report.failed:
        raise BadInput(f"The result is not whole and is not written: {failed[0].name}: {failed[0].detail}.")
    given, outcome = compacted.context, compacted.outcome
    left = given if outcome.status == "not_smaller" else given.from_outcome(outcome)
    made = export_compacted(compacted.session, left, in_force(given, outcome), format or None)
    if made.problems:
        raise BadInput(f"{made.format.title} could not load this and it is not written: {made.verdict}")
    return exporting.save(made, Path(path), overwrite=overwrite).where


def _several(names: Names) -> Sequence[str]:
    return (names,) if isinstance(names, str) else names
