"""Requirements on a compaction, for checks in CI, and the failures of an outcome.

A file of checks is TOML; every `[[check]]` names sessions, presets and requirements:

    [[check]]
    name = "rules survive"
    sessions = ["sessions/*.jsonl"]
    presets = ["claude-code", "policies/mine.toml"]
    keep = ["Never log the refresh token."]
    kept = 0.9
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from workbench.analysis.continuity import lost_request
from workbench.analysis.generations import Generation, generations
from workbench.analysis.recorded_compactions import following
from workbench.analysis.retention import Retention
from workbench.analysis.rule_text import RuleVerdict
from workbench.analysis.watched_rules import sentence_to_watch
from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.base.files import reason
from workbench.base.reading import read_text
from workbench.base.text import clip, counted
from workbench.bench import Bench, RuleState, rule_states, with_watched_rules
from workbench.bench.assessment import Assessment
from workbench.compaction.context import Context
from workbench.compaction.edits import compacting
from workbench.compaction.outcome import Outcome
from workbench.compaction.policy import explain
from workbench.facts.rule_files import rules_of
from workbench.summarizers.driver import drive
from workbench.summarizers.extractive import extractive

CHECK_FILE = "cwb-check.toml"
"""Default name of the file of checks."""

QUOTED = 90
"""Characters of a sentence that a failure quotes."""

HOLDS: tuple[RuleVerdict, ...] = ("verbatim", "paraphrased")

Share = Annotated[float, Field(ge=0, le=1)]


class Requirements(BaseModel):
    """Requirements on a compaction; a missing one is not checked.

    keep: sentences that must be in the result, verbatim or paraphrased.
    rule_files: files whose rules must be in the result, unless the context before had lost them.
    rules: share of the user's rules in force that must be kept.
    kept, correct: shares of the context's facts that must be kept, and kept without a contradiction.
    max_tokens: largest context afterwards, system prompt and tools included.
    max_cost: most that the summaries may cost, in dollars, estimated at the model's prices.
    tool_pairs: every tool call keeps its result.
    continuity: the user's newest request must be in the result. After the first compaction, the result must also agree
      with that request on open tasks, next step and running work (`workbench.analysis.continuity`).
    generations: number of compactions, between which the context grows to its first size again; tool_pairs and
      max_cost must hold after the first one, all others after each.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    keep: list[str] = []
    rule_files: list[str] = []
    rules: Share | None = None
    kept: Share | None = None
    correct: Share | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_cost: Annotated[float, Field(ge=0)] | None = None
    tool_pairs: bool = False
    continuity: bool = False
    generations: Annotated[int, Field(ge=1, le=20)] = 1


class CheckSpec(Requirements):
    """One check of a file. `sessions` are files, folders and patterns; `presets` are names, files of presets, and
    `recorded` for the compaction that the agent recorded. Paths are relative to the file of checks. `epoch` is a number
    from 1 or "last", `window` is in tokens. `line` is the line of its [[check]] in the file, 0 if unknown."""

    name: Annotated[str, Field(min_length=1)]
    sessions: Annotated[list[str], Field(min_length=1)]
    presets: Annotated[list[str], Field(min_length=1)]
    epoch: Annotated[int, Field(ge=1)] | Literal["last"] | None = None
    window: Annotated[int, Field(ge=1)] | None = None
    line: Annotated[int, Field(exclude=True)] = 0

    @property
    def has_requirements(self) -> bool:
        return bool(self.model_fields_set & set(Requirements.model_fields) - {"generations"})


class Failure(Struct, frozen=True):
    """A failed requirement: its name, and one sentence with the figure and the required value."""

    requirement: str
    message: str


class CheckFigures(Struct, frozen=True):
    """Figures of one outcome, for comparison with an earlier run: shares of the context's facts and of the user's
    rules, None without any; `tokens` of the complete context afterwards; `dollars`, None if unknown."""

    kept: float | None
    correct: float | None
    rules: float | None
    tokens: int
    dollars: float | None


def read_checks(path: Path) -> list[CheckSpec]:
    """Read the checks of a file. Raises BadInput with the file, the line if known, the key and the remedy."""
    try:
        text = read_text(path)
        table = tomllib.loads(text)
    except OSError as error:
        raise BadInput(
            f"{path} cannot be read: {reason(error)}; name a file of checks, by default {CHECK_FILE}."
        ) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{path}: not valid TOML ({error}); correct it there.") from None
    listed = table.get("check")
    if set(table) != {"check"} or not isinstance(listed, list) or not listed:
        raise BadInput(f"{path}: no [[check]]; begin each check with [[check]] and give name, sessions and presets.")
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line.split("#")[0].strip() == "[[check]]"]
    found: list[CheckSpec] = []
    for number, one in enumerate(listed):
        line = lines[number] if number < len(lines) else 0
        try:
            spec = CheckSpec.model_validate({**one, "line": line})
        except (ValidationError, TypeError) as error:
            fault = explain(error) if isinstance(error, ValidationError) else "not a table."
            raise BadInput(f"{path}:{line}: check {number + 1}: {fault}") from None
        if not spec.has_requirements:
            raise BadInput(
                f"{path}:{line}: check {spec.name!r} requires nothing; add keep, kept, max_tokens or others."
            )
        found.append(spec)
    names = [one.name for one in found]
    if twice := next((one for at, one in enumerate(found) if one.name in names[:at]), None):
        raise BadInput(f"{path}:{twice.line}: two checks are called {twice.name!r}; give each a name of its own.")
    return found


def rules_in(path: Path) -> tuple[str, ...]:
    """Return the rules in a rule file (`workbench.facts.rule_files`), one sentence each. Raises BadInput for an
    unreadable file."""
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {reason(error)}; correct rule_files.") from None
    return rules_of(text)


def failures(one: Assessment, required: Requirements, folder: Path) -> list[Failure]:
    """Return the failed requirements of an assessment; `rule_files` are relative to `folder`. Raises BadInput for an
    unreadable rule file, and for a sentence that cannot be searched."""
    named = [sentence_to_watch(one) for one in required.keep]
    rules = [sentence_to_watch(rule) for name in required.rule_files for rule in rules_in(folder / name)]
    bench = with_watched_rules(one.bench, (*named, *rules)) if named or rules else one.bench
    states = rule_states(bench, one.outcome)
    sentences = [(state.sentence, state.now, number < len(named)) for number, state in enumerate(states)]
    found = [*_failures_of_first(one, required)]
    if required.generations == 1:
        verdicts = [state.after or "gone" for state in states]
        return [*found, *_failures_of_each(required, one.retention, one.after.tokens, sentences, verdicts, "")]
    for step in _generations(one, bench, required.generations):
        when = f" after compaction {step.number}"
        found += _failures_of_each(required, step.retention, step.after, sentences, step.watched, when)
        lost = lost_request(bench.context.shape, step.retention) if required.continuity and step.number > 1 else None
        if lost:
            found.append(Failure("continuity", f"{lost.text}{when}"))
    return found


def figures(one: Assessment) -> CheckFigures:
    """Return the figures of an assessment."""
    whole, (kept_rules, rules) = one.retention.whole, one.retention.rule_counts
    dollars = one.summary_cost if one.rates.known else None
    return CheckFigures(whole.share, whole.right, kept_rules / rules if rules else None, one.after.tokens, dollars)


FAILS_ON = ("lost", "wrong", "stale")

_FAILED_STATES = {"none": "lost", "gone": "lost", "wrong": "wrong", "contradicted": "wrong", "stale": "stale"}
"""Value of `--fail-on` for each state of a fact and each verdict on a watched rule."""


def rule_failures(retention: Retention, watched: Sequence[RuleState], fails_on: Collection[str]) -> list[Failure]:
    """Return the user's rules and watched sentences whose state after a compaction is in `fails_on` (lost, wrong,
    stale), and with "stale" all other stale facts. A superseded rule fails only as stale: it is stated as if it were in
    force. Watched sentences that the context before did not hold do not count."""
    found: list[Failure] = []
    for fact in (*retention.facts, *retention.tail):
        state = _FAILED_STATES.get(fact.state, "")
        is_rule = fact.kind == "instruction" and fact.why != "superseded"
        if state in fails_on and (is_rule or state == "stale"):
            found.append(Failure(state, f"{fact.kind}: “{clip(fact.text, QUOTED)}”"))
    for one in watched:
        state = _FAILED_STATES.get(one.after or "", "")
        if state in fails_on and one.now in HOLDS:
            found.append(Failure(state, f"watched: “{clip(one.sentence, QUOTED)}”"))
    return found


def regressions(now: CheckFigures, before: CheckFigures) -> list[Failure]:
    """Return a failure for each figure that is worse than in an earlier run. Unknown figures are not compared."""
    found: list[Failure] = []
    for name, what in (("kept", "facts kept"), ("correct", "facts kept and correct"), ("rules", "rules kept")):
        new, old = getattr(now, name), getattr(before, name)
        if new is not None and old is not None and new < old - _EQUAL:
            found.append(Failure("baseline", f"{new:.1%} of {what}, {old:.1%} in the baseline"))
    if now.tokens > before.tokens:
        found.append(Failure("baseline", f"{grouped(now.tokens)} tokens, {grouped(before.tokens)} in the baseline"))
    if now.dollars is not None and before.dollars is not None and now.dollars > before.dollars + _EQUAL:
        found.append(Failure("baseline", f"${now.dollars:.4f} for summaries, ${before.dollars:.4f} in the baseline"))
    return found


_EQUAL = 1e-9
"""Shares and dollars closer than this are equal."""


def _generations(one: Assessment, bench: Bench, count: int) -> tuple[Generation, ...]:
    """Return the outcome of the assessment as the first generation, then compactions with extractive summaries."""

    def compact(context: Context) -> Outcome:
        if context is bench.context:
            return one.outcome
        return drive(compacting(context, bench.edits, bench.strategy, bench.policy), extractive).outcome

    return generations(bench.context, compact, following(bench.session, bench.epoch), count, bench.watched).steps


def _failures_of_first(one: Assessment, required: Requirements) -> Iterator[Failure]:
    """Yield the failed requirements that apply only to the first outcome."""
    if required.continuity:
        for broken in one.continuity:
            yield Failure("continuity", broken.text)
    if required.tool_pairs:
        for check in one.failed:
            if check.name in ("tool pairs complete", "call batches together"):
                yield Failure("tool_pairs", f"{check.name}: {check.detail}")
    if required.max_cost is not None:
        if not one.rates.known or one.summary_cost is None:
            yield Failure("max_cost", f"the cost is unknown, at most ${required.max_cost:.4f} allowed")
        elif one.summary_cost > required.max_cost + _EQUAL:
            yield Failure(
                "max_cost", f"summaries cost ${one.summary_cost:.4f}, at most ${required.max_cost:.4f} allowed"
            )


def _failures_of_each(
    required: Requirements,
    retention: Retention,
    tokens: int,
    sentences: Sequence[tuple[str, RuleVerdict, bool]],
    verdicts: Sequence[RuleVerdict],
    when: str,
) -> Iterator[Failure]:
    """Yield the failed requirements that apply after each compaction. `when`, such as " after compaction 2" or "", is
    put into each sentence."""
    for (sentence, before, is_named), verdict in zip(sentences, verdicts, strict=True):
        if verdict in HOLDS or (before not in HOLDS and not is_named):
            continue
        absent = "" if before in HOLDS else ", and not in the context before the compaction"
        yield Failure("keep" if is_named else "rule_files", f"{verdict}{when}{absent}: “{clip(sentence, QUOTED)}”")
    kept, rules = retention.rule_counts
    if required.rules is not None and rules and kept / rules < required.rules - _EQUAL:
        needed = f"{required.rules:.1%} required"
        yield Failure("rules", f"{grouped(kept)} of {counted(rules, 'rule')} kept{when}, {needed}")
    whole = retention.whole
    for name, share, word in (("kept", whole.share, "kept"), ("correct", whole.right, "kept and correct")):
        least: float | None = getattr(required, name)
        if least is None or not whole.facts:
            continue
        if share is None:
            yield Failure(name, f"unknown{when}: the summary cannot be read; {least:.1%} required")
        elif share < least - _EQUAL:
            yield Failure(name, f"{share:.1%} of {counted(whole.facts, 'fact')} {word}{when}, {least:.1%} required")
    if required.max_tokens is not None and tokens > required.max_tokens:
        yield Failure("max_tokens", f"{grouped(tokens)} tokens{when}, at most {grouped(required.max_tokens)} allowed")
