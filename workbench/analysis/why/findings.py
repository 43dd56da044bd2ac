"""Findings of a diagnosis: sentences with a figure and the messages concerned.

Possible improvements are computed (`counterfactual`): the recorded session is replayed without the tokens in question,
or under the named policy.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.analysis.broken_rules import broken_rules
from workbench.analysis.course import Course
from workbench.analysis.preset_check import check_own_preset, preset_report
from workbench.analysis.recorded_claims import RecordedClaims
from workbench.analysis.recorded_compactions import recorded_compactions, recorded_compactions_report
from workbench.analysis.replay import Replay, replay
from workbench.analysis.rework import Rework, rework_report
from workbench.analysis.rule_file_states import rule_file_states
from workbench.analysis.usage_check import Gap
from workbench.analysis.why.breakdown import Large, SizeCause
from workbench.analysis.why.overflow import Delay, OverflowLimit, delay, delay_without
from workbench.analysis.why.waste import ANSWERS, Reread, Spot, Waste
from workbench.base.figures import grouped, percent
from workbench.base.text import are, counted
from workbench.compaction.context import Context
from workbench.compaction.layers import Layer
from workbench.compaction.preset import Preset, agent_preset_id
from workbench.compaction.strategies import remedies
from workbench.compaction.strategy import Trigger

MARKER_TOKENS = 12
"""Tokens of a placeholder such as `[Old tool result content cleared]`."""

NAMED = 3
"""Most files or calls that are named individually."""

NOTED = 0.02
"""Share of the context below which waste is not reported."""


HEADLINES = {
    "bill": "Billed tokens that are not in the file",
    "clear": "Clear old tool results",
    "reread": "A file read again",
    "rereads": "Older reads of the same files",
    "unused": "Results never used",
    "base64": "Encoded files",
    "logs": "Log lines",
    "cut": "Cut before the model saw it",
    "rework": "Rework after a compaction",
    "overhead": "Sent with every call",
    "round": "One large round",
    "tool": "Results of one tool",
    "results": "Output of commands",
    "message": "One large message",
    "rule_files": "Rules of a file gone",
    "broken_rules": "A rule broken",
    "claims": "Unsupported claims",
    "strategy": "This preset, for comparison",
}
"""Short title of each kind of finding."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence. `tokens` is its figure, 0 for none; `messages` are ids, the first is the one to show; `delay` is
    the counterfactual, if the sentence has one."""

    kind: str
    text: str
    tokens: int
    messages: tuple[str, ...] = ()
    delay: Delay | None = None


def findings(
    context: Context,
    course: Course,
    limit: OverflowLimit | None,
    causes: Sequence[SizeCause],
    waste: Waste,
    rework: Sequence[Rework],
    played: Replay,
    triggers: Sequence[Trigger],
    layers: Sequence[Layer],
    largest: Sequence[Large],
    gaps: Sequence[Gap],
    claims: Sequence[RecordedClaims],
) -> tuple[Finding, ...]:
    """Return the findings, largest figure first. The comparison with the chosen strategy is no cause and comes last."""
    bound = limit.tokens if limit else None
    least = int(context.total.tokens * NOTED)
    found = [*_reread_findings(course, waste, bound, least), *_remedy_findings(context, course, bound, least)]
    wasted = (
        ("unused", waste.unused, "tool result", "never referred to later", f"dropping each after {ANSWERS} answers"),
        ("base64", waste.base64, "message", "with encoded files (base64)", "removing the base64"),
        ("logs", waste.logs, "result", "full of log lines", f"dropping each after {ANSWERS} answers"),
    )
    for kind, spots, thing, what, instead in wasted:
        found += _spot_findings(course, bound, least, kind, spots, f"{counted(len(spots), thing)} {what}", instead)
    found += _truncation_findings(waste, least)
    found += _rework(rework)
    found += [one for one in (_overhead(context, layers, causes), _one_message(context, largest)) if one]
    found += _cause_findings(causes)
    lost = [*_rule_files(course), *_broken_rules(course)]
    invented = [Finding("claims", str(one), 0, (one.message,)) for one in claims if one.unsupported]
    compared = _preset_finding(played, triggers, course)
    return (*sorted((*_usage_gaps(gaps), *found), key=lambda one: -one.tokens), *lost, *invented, compared)


def _usage_gaps(gaps: Sequence[Gap]) -> list[Finding]:
    """Return the largest differences between billed and shown tokens."""
    found = [Finding("bill", str(gap), abs(gap.tokens), (gap.message,)) for gap in gaps[:NAMED]]
    if more := gaps[NAMED:]:
        tokens = sum(abs(gap.tokens) for gap in more)
        text = f"{counted(len(more), 'call')} with smaller differences, {grouped(tokens)} tokens together; "
        text += "`cwb inspect --health` lists them."
        found.append(Finding("bill", text, tokens, tuple(gap.message for gap in more)))
    return found


def _with_delay(text: str, after: Delay | None) -> str:
    return f"{text} {after}." if after else f"{text.partition(';')[0]}."


def _reread_findings(course: Course, waste: Waste, bound: int | None, least: int) -> list[Finding]:
    found = []
    for one in [each for each in waste.rereads if each.tokens >= least][:NAMED]:
        repeated = one.repeated
        text = f"{len(one.reads)} reads of {one.path} cost {grouped(one.tokens)} tokens"
        ids = tuple(read.message for read in one.reads)
        if not repeated:
            found.append(Finding("reread", f"{text}, each of another part or after a change.", one.tokens, ids))
            continue
        needless = sum(read.tokens for read in repeated)
        text += f", {grouped(needless)} of them shown again later; dropping a read when the file is read again"
        after = None if bound is None else delay_without(course, _superseded((one,)), bound)
        found.append(Finding("reread", _with_delay(text, after), one.tokens, ids, after))
    again = [one for one in waste.rereads if one.repeated]
    needless = sum(read.tokens for one in again for read in one.repeated)
    if len(again) > 1 and needless >= least and bound is not None:
        after = delay_without(course, _superseded(again), bound)
        text = (
            f"{len(again)} files were read again; the {grouped(needless)} tokens of the older reads, dropped at once,"
        )
        ids = tuple(read.message for one in again for read in one.repeated)
        found.append(Finding("rereads", _with_delay(text, after), needless, ids, after))
    return found


def _superseded(several: Sequence[Reread]) -> dict[int, tuple[int, int]]:
    """Return {index of an older read: (tokens saved, index of the message that shows the same again)}."""
    return {
        read.index: (max(0, read.tokens - MARKER_TOKENS), read.by)
        for one in several
        for read in one.reads
        if read.by is not None
    }


def _remedy_findings(context: Context, course: Course, bound: int | None, least: int) -> list[Finding]:
    """Return the savings of strategies without a model, by replay."""
    found: list[Finding] = []
    if bound is None:
        return found
    for one, remedy in remedies(bound):
        played = replay(course, Preset(one.id, one.id, one.about, "", remedy.policy), context.limit)
        if played.compacted:
            saved = sum(each.before - each.after for each in played.compacted)
            if saved < least:  # the agent had cleared nearly everything itself
                continue
            after = delay(course, played.sent, bound)
            ids = tuple(each.message for each in played.compacted)
            found.append(Finding(remedy.kind, f"{remedy.does} {after}.", saved, ids, after))
    return found


def _spot_findings(
    course: Course, bound: int | None, least: int, kind: str, spots: Sequence[Spot], what: str, instead: str
) -> list[Finding]:
    tokens = sum(spot.tokens for spot in spots)
    if not spots or tokens < least:
        return []
    at_once = kind == "base64"
    less = {
        spot.index: (max(0, spot.tokens - MARKER_TOKENS), spot.index if at_once else _after_answers(course, spot.index))
        for spot in spots
    }
    after = None if bound is None else delay_without(course, less, bound)
    largest = sorted(spots, key=lambda spot: -spot.tokens)
    text = f"{what}: {grouped(tokens)} tokens; {instead}"
    return [Finding(kind, _with_delay(text, after), tokens, tuple(spot.message for spot in largest), after)]


def _after_answers(course: Course, index: int) -> int:
    """Return the index right after the `ANSWERS`-th answer that follows message `index`; past the end if there are
    fewer."""
    at = bisect_right(course.answers, index) + ANSWERS - 1
    return course.answers[at] + 1 if at < len(course.answers) else len(course.messages) + 1


def _truncation_findings(waste: Waste, least: int) -> list[Finding]:
    tokens = sum(spot.tokens for spot in waste.cut)
    silent = [spot for spot in waste.cut if spot.note.startswith("cut silently")]
    if not waste.cut or (tokens < least and not silent):
        return []
    text = f"{counted(len(waste.cut), 'tool result')} cut before the model saw them"
    more = f", {len(silent)} of them without a notice" if silent else ""
    ids = tuple(dict.fromkeys(spot.message for spot in (*silent, *waste.cut)))[:50]
    return [Finding("cut", f"{text}{more}: the missing part was never in the context.", tokens, ids)]


def _rework(several: Sequence[Rework]) -> list[Finding]:
    """Return the rework after recorded compactions; the two messages of its most expensive item come first."""
    items = sorted((item for one in several for item in one.items), key=lambda item: -item.tokens)
    if not items:
        return []
    ids = tuple(dict.fromkeys(id for item in items for id in (item.after, item.before)))
    return [Finding("rework", rework_report(several), sum(item.tokens for item in items), ids)]


def _rule_files(course: Course) -> list[Finding]:
    """Return a finding for each of the project's rule files whose rules a compaction removed, up to the one that ended
    the epoch."""
    calls = {one.epoch: one.call for one in recorded_compactions(course)}
    found = []
    for one in rule_file_states(course.session, course.numbers[0]):
        if one.gone and one.in_project:
            since = min(rule.gone_since or 0 for rule in one.gone)
            at = f"before call {grouped(calls[since])}" if since in calls else f"that ended epoch {since}"
            lost = f"{grouped(len(one.gone))} of {counted(len(one.rules), 'rule')}"
            text = f"{lost} of {one.path} {are(len(one.gone))} gone since the compaction {at}."
            found.append(Finding("rule_files", text, 0, (one.message,) if one.message else ()))
    return found


def _broken_rules(course: Course) -> list[Finding]:
    """Return a finding for each rule that a call broke, up to the end of the epoch."""
    found = broken_rules(course.session, course.numbers[0])
    return [Finding("broken_rules", str(one), 0, tuple(each.message for each in one.breaks)) for one in found]


def _overhead(context: Context, layers: Sequence[Layer], causes: Sequence[SizeCause]) -> Finding | None:
    """Return the size of system prompt and tools, if it is at least a tenth of the window; if the verdict names it, a
    tenth of the context is enough."""
    tokens = sum(layer.tokens for layer in layers if layer.name in ("system", "tools", "system + tools (not recorded)"))
    of, whole = ("the window", context.window) if context.window else ("the context", context.total.tokens)
    if tokens * 10 < whole and any(one.kind == "overhead" for one in causes):
        of, whole = "the context", context.total.tokens
    if not tokens or tokens * 10 < whole:
        return None
    text = f"System prompt, tools and unrecorded additions take {grouped(tokens)} tokens of every call"
    return Finding("overhead", f"{text}: {percent(tokens / whole)} of {of}; compaction cannot free it.", tokens)


def _cause_findings(causes: Sequence[SizeCause]) -> list[Finding]:
    """Return the verdict's causes except the overhead, which `_overhead` reports."""
    return [
        Finding(one.kind, f"{one.words[:1].upper()}{one.words[1:]}.", one.tokens, one.messages)
        for one in causes
        if one.messages
    ]


def _one_message(context: Context, largest: Sequence[Large]) -> Finding | None:
    if not largest or largest[0].tokens * 10 < max(context.total.tokens, 1):  # an empty context has no shares
        return None
    one = largest[0]
    share = percent(one.tokens / context.total.tokens)
    text = f"Message {one.number} alone ({one.what}) takes {grouped(one.tokens)} tokens, {share} of the context."
    return Finding("message", text, one.tokens, (one.message,))


def _own_preset_report(preset: Preset, course: Course) -> str:
    """Return a sentence on how far the agent's own preset agrees with the recorded compactions; "" for another
    preset."""
    own = check_own_preset(course) if preset.id == agent_preset_id(course.session) else None
    return preset_report(preset, own[1]) if own else ""


def _preset_finding(played: Replay, triggers: Sequence[Trigger], course: Course) -> Finding:
    """Return the compactions of the chosen strategy, by replay, and those that the agent recorded. `triggers` are read
    at the end of the context, because a replay covers no trigger that fires after the last call."""
    here = f" from epoch {course.numbers[0]} on" if course.numbers[0] > 1 else ""
    over = f"{grouped(played.over_window)} of {grouped(len(played.sent))} calls would have gone over the window"
    theirs = "".join(
        f" {report}"
        for report in (
            recorded_compactions_report(recorded_compactions(course)),
            _own_preset_report(played.preset, course),
        )
        if report
    )
    if not played.compacted:
        why = f" ({played.missed[0].reason})" if played.missed else ""
        over = f"; {over}" if played.over_window else ""
        end = (played.missed[0].message,) if played.missed else tuple(one.id for one in course.messages[-1:])
        due = [one for one in triggers if one.fires and not one.timed]
        if due and not played.missed:
            text = f"{played.name} would compact the session{here} before its next call: {due[0]}{over}.{theirs}"
            return Finding("strategy", text, 0, end)
        text = f"{played.name} would not have compacted the session{here} at all{why}{over}.{theirs}"
        return Finding("strategy", text, 0, end)
    first = played.compacted[0]
    text = (
        f"{played.name} would have compacted the session{here} first before call {first.call} (round {first.round}), "
        f"from {grouped(first.before)} to {grouped(first.after)} tokens, "
        f"{counted(len(played.compacted), 'time')} in all; {over}.{theirs}"
    )
    return Finding("strategy", text, first.before - first.after, tuple(one.message for one in played.compacted))
