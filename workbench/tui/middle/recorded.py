"""The agent's recorded summary next to ours: sizes, losses and unsupported claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.bench import Bench
from workbench.compaction.outcome import Fate, NewMessage, Outcome
from workbench.compaction.shape import Shape, newest_per_shape
from workbench.compaction.summary_template import summary_inside
from workbench.session import Compaction, Message, Session, Span
from workbench.tui.middle.parts import Parts, TabInput, side_by_side
from workbench.tui.plain import figure
from workbench.tui.widgets.text_view import TextPart

if TYPE_CHECKING:
    from workbench.analysis.grounding import Grounding, SummaryChecker
    from workbench.analysis.retention import TrackedFact

SIDE_BY_SIDE = 64
"""Cells of the pane from which both summaries are side by side, not below each other."""

LISTED = 12
"""Most losses of each summary that are listed."""


def recorded_parts(view: TabInput) -> Parts:
    """Both summaries: the claims of each checked against the messages that ours replaces, and the facts that each
    outcome lost."""
    bench = view.bench
    recorded = bench.session.epochs[bench.epoch - 1].ended_by
    if recorded is None:
        others = [epoch.number for epoch in bench.session.epochs if epoch.ended_by is not None]
        where = (
            f" Epochs with one: {', '.join(map(str, others))}; {{ goes there."
            if others and not bench.session.begins_at
            else ""
        )
        return [TextPart("This epoch does not end with a recorded compaction.", "title"), TextPart(where.strip())]
    their = recorded_summary(bench.session, recorded)
    if their is None:
        words = "The session records a compaction here, without a summary: "
        return [TextPart(words + _trigger_words(recorded), "title")]
    run = bench.result or bench.offline
    our = [p.message for p in run.outcome.pieces if isinstance(p, NewMessage) and p.message.kind == "summary"]
    checker = _checker(bench, run.outcome)
    count = bench.layout.sizes.meter.text_tokens
    theirs = (text := summary_inside(their.text), count(text), checker.check(text))
    from workbench.analysis.recorded_compactions import recorded_outcome
    from workbench.analysis.retention import is_unreadable

    their_outcome = recorded_outcome(bench.session, bench.epoch)
    if is_unreadable(their_outcome):
        words = "The session records a compaction here, with an encrypted summary: "
        return [TextPart(words + _trigger_words(recorded), "title"), TextPart("Its content is unknown.")]
    they_lost = bench.retention(their_outcome).lost
    parts = [TextPart("The recorded summary (theirs) next to ours, for the same messages", "title")]
    parts += [TextPart(_trigger_words(recorded), "dim"), TextPart("")]
    if not our:
        parts += [TextPart(f"Ours: no summary. {run.outcome.reason}", "warning"), TextPart("")]
        found = _losses("theirs", theirs[2], they_lost)
        return [*parts, *_table([("theirs", *theirs, they_lost)]), *found, *_whole("Theirs", theirs[0])]
    text = "\n\n".join(summary_inside(message.text) for message in our)
    ours = (text, count(text), checker.check(text))
    we_lost = bench.retention(run.outcome).lost
    who = "the last run" if bench.result else "an offline run by the extractive summarizer"
    framed = figure(sum(len(message.text) for message in our))
    parts += [TextPart(f"Ours: {who}; the summary message has {framed} characters", "dim"), TextPart("")]
    parts += _table([("theirs", *theirs, they_lost), ("ours", *ours, we_lost)])
    lost = _losses("theirs", theirs[2], they_lost), _losses("ours", ours[2], we_lost)
    whole = _whole("Theirs", theirs[0]), _whole("Ours", ours[0])
    if view.width >= SIDE_BY_SIDE:
        return [*parts, *side_by_side(*lost, view.width), *side_by_side(*whole, view.width)]
    if view.width:
        parts.append(TextPart("m widens this pane: both are then side by side", "dim"))
    return [*parts, *lost[0], *lost[1], *whole[0], *whole[1]]


def recorded_summary(session: Session, recorded: Compaction) -> Message | None:
    """Summary message of a recorded compaction, or None."""
    if recorded.summary is None:
        return None
    return next((message for message in session.messages if message.id == recorded.summary), None)


def _trigger_words(recorded: Compaction) -> str:
    before = f"recorded: {figure(recorded.tokens_before)} tokens" if recorded.tokens_before is not None else ""
    trigger = f"trigger: {recorded.trigger}" if recorded.trigger else ""
    return " · ".join(filter(None, (trigger, before))) or "trigger not recorded"


def _checker(bench: Bench, outcome: Outcome) -> SummaryChecker:
    replaced = (Fate.SUMMARIZED, Fate.ABRIDGED, Fate.DROPPED)
    spans = tuple(Span(span.start, span.stop) for span in outcome.fates if span.fate in replaced)
    spans = spans or (Span(0, len(bench.messages)),)
    return _checker_of(bench.layout.shape, spans)


@newest_per_shape
def _checker_of(shape: Shape, spans: tuple[Span, ...]) -> SummaryChecker:
    """Checker of claims against the messages in `spans`, cached: a head of 60 000 messages takes seconds."""
    from workbench.analysis.grounding import SummaryChecker

    return SummaryChecker([message for span in spans for message in shape.masked[span.start : span.stop]])


def _table(rows: Sequence[tuple[str, str, int, Grounding, Sequence[TrackedFact]]]) -> Parts:
    lines = [f"{'':<7}{'characters':>10}{'tokens':>8}{'claims':>7}{'unsupported':>12}{'lost':>6}"]
    for name, text, tokens, found, facts in rows:
        lost = f"{figure(len(facts)):>6}"
        claims = f"{figure(found.claims):>7}{figure(len(found.unsupported)):>12}"
        lines.append(f"{name:<7}{figure(len(text)):>10}{'~' + figure(tokens):>8}{claims}{lost}")
    note = "claims: paths, commands, identifiers, numbers, quotations; unsupported: claims that are in no message"
    return [
        TextPart("\n".join(lines), one_row=True),
        TextPart(f"{note}; lost: facts that the summary does not keep", "dim"),
    ]


def _losses(whose: str, found: Grounding, lost: Sequence[TrackedFact]) -> Parts:
    parts = [TextPart(""), TextPart(f"Lost by {whose}", "title")]
    if not lost:
        parts.append(TextPart("No fact is lost.", "good"))
    for loss in lost[:LISTED]:
        why = f" ({loss.why})" if loss.why else ""
        parts.append(TextPart(f"✘ {loss.kind}: {' '.join(loss.text.split())[:300]}{why}", "warning", one_row=True))
    if len(lost) > LISTED:
        parts.append(TextPart(f"… and {figure(len(lost) - LISTED)} more", "dim"))
    if found.unsupported:
        several = ", ".join(one.text for one in found.unsupported[:LISTED])
        parts.append(TextPart(f"? unsupported: {several}"[:2_000], "dim"))
    return parts


def _whole(title: str, text: str) -> Parts:
    return [TextPart(""), TextPart(f"── {title} · {figure(len(text))} characters", "title"), TextPart(text)]
