"""Tabs of the middle pane: each as parts of text, made from a bench without a screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from workbench.base.errors import BadInput
from workbench.base.text import plural
from workbench.bench import Bench
from workbench.compaction.edits import nearest
from workbench.compaction.outcome import NewMessage, verdict
from workbench.session import Span, Text
from workbench.summarizers.estimate import shorten_placeholder
from workbench.tui.middle.blocks import block_parts
from workbench.tui.middle.changes import changes_parts
from workbench.tui.middle.message import message_parts
from workbench.tui.middle.parts import Parts, Piece, TabInput
from workbench.tui.middle.recorded import recorded_parts
from workbench.tui.plain import figure, several
from workbench.tui.plan_words import trigger_words
from workbench.tui.rows import FATE_WORDS, first_words, role_word
from workbench.tui.widgets.text_view import TextPart

if TYPE_CHECKING:
    from workbench.compaction.checks import Check


def request_tab(view: TabInput) -> Parts:
    """Next prompt, folded; requests for summaries; abridged history if the strategy has one."""
    return [*prompt_parts(view), *request_parts(view), *abridged_parts(view)]


def prompt_parts(view: TabInput) -> Parts:
    """Complete next prompt, part by part in its order."""
    bench, outcome = view.bench, view.bench.outcome
    after = bench.context if outcome.status == "unchanged" else bench.context.from_outcome(outcome)
    is_unwritten = _is_unwritten(bench)
    parts: Parts = [
        TextPart(f"Next prompt, in order{', with a placeholder for the summary' if is_unwritten else ''}", "title")
    ]
    for part in bench.strategy.view.prompt_parts(after, bench.policy):
        place = f"prompt/{part.name}"
        is_open = view.folds is None or view.folds.is_open(place, usual=False)
        head = f"{'▾' if is_open else '▸'} {part.name} · {part.basis.value}{figure(part.tokens)} tokens"
        parts.append(Piece(f"{head}{' · ' if part.note else ''}{part.note}", "dim", fold=place if part.text else ""))
        if is_open and part.text:
            parts += [TextPart(shorten_placeholder(part.text) if is_unwritten else part.text), TextPart("")]
    return [*parts, TextPart("")]


def _is_unwritten(bench: Bench) -> bool:
    """True if the summaries are not written yet, so that placeholders are shown."""
    return bench.result is None and not bench.has_offline_run and bool(bench.plan.requests)


def sent_texts(bench: Bench) -> list[str]:
    """Every request exactly as the bench's summarizer receives it; as plain text if that is unknown."""
    from workbench.summarizers.by_name import parse_name, request_as_sent

    requests = bench.plan.requests
    try:
        name = parse_name(bench.summarizer)
        return [request_as_sent(request, name, bench.session) for request in requests]
    except BadInput:
        return [request.shown for request in requests]


def request_parts(view: TabInput) -> Parts:
    """Every request exactly as it would be sent."""
    bench = view.bench
    requests = bench.plan.requests
    if not requests:
        return [TextPart("No summary is requested.", "title"), TextPart(bench.plan.outcome.reason, "dim")]
    parts: Parts = []
    for number, (request, text) in enumerate(zip(requests, sent_texts(bench), strict=True), 1):
        tokens = bench.layout.sizes.meter.text_tokens(text)
        exact = "exactly as sent" if request.exact else "≈ depends on an earlier answer"
        head = f"Request {number} of {len(requests)} · {request.purpose} · {figure(len(text))} characters"
        limits = (
            f"{request.form}, {request.language}, at most {figure(request.max_chars)} characters"
            if request.max_chars
            else request.form
        )
        parts += [
            TextPart(f"{head} · ~{figure(tokens)} tokens", "title"),
            TextPart(
                f"{several(len(request.messages), 'message')} · {exact} · answer: {limits}",
                "dim",
            ),
            TextPart(""),
            TextPart(text),
            TextPart(""),
        ]
    return parts


def summary_parts(view: TabInput) -> Parts:
    """New messages that replace the head."""
    bench = view.bench
    new = [piece for piece in bench.outcome.pieces if isinstance(piece, NewMessage)]
    parts = [preview_note(bench)]
    if not new:
        return [*parts, TextPart("No new message.", "title"), TextPart(bench.outcome.reason, "dim")]
    for piece in new:
        size = bench.context.measure((piece.message,))
        parts += [
            TextPart(""),
            TextPart(
                f"{piece.message.role} · {piece.message.kind} · {size} tokens · {_replaces(piece.replaces)}", "title"
            ),
        ]
        for number, block in enumerate(piece.message.blocks):
            shown = Text(shorten_placeholder(block.text)) if isinstance(block, Text) and _is_unwritten(bench) else block
            parts += [TextPart(""), *block_parts(shown, view.folds, f"{piece.message.id}/{number}")]
    return parts


def _replaces(spans: tuple[Span, ...]) -> str:
    if not spans:
        return "new"
    several = [f"{figure(s.start + 1)}–{figure(s.stop)}" if len(s) > 1 else figure(s.start + 1) for s in spans[:4]]
    return f"replaces {', '.join(several)}{'…' if len(spans) > 4 else ''}"


def preview_note(bench: Bench) -> TextPart:
    """Line that says whether the text below is a preview or a result."""
    if bench.result is None and bench.has_offline_run:
        return TextPart("Preview of an offline run, without a model. r runs it, R uses a model.", "warning")
    if bench.result is None:
        return TextPart("Preview: the summary is a placeholder of the expected size. r runs the compaction.", "warning")
    return TextPart("Result of the last run (any change discards it)", "good")


def result_tab(view: TabInput) -> Parts:
    """New context, and its changes from the one before."""
    changes = [TextPart(""), *changes_parts(view)] if view.bench.outcome.status != "unchanged" else []
    return [*result_parts(view), *changes]


def result_parts(view: TabInput) -> Parts:
    """New context, a line for each message, with the numbers of the messages that it replaces."""
    bench = view.bench
    outcome, context = bench.outcome, bench.context
    after = context.outcome_size(outcome)
    parts = [
        preview_note(bench),
        TextPart(verdict(outcome.status, outcome.reason), "title"),
        TextPart(
            f"{figure(len(bench.messages))} → {several(after.messages, 'message')} · "
            f"{context.total} → {after} tokens (with system prompt and tools)",
            "dim",
        ),
        TextPart(""),
    ]
    unchanged: list[str] = []
    for number, (message, spans) in enumerate(zip(outcome.messages, outcome.provenance, strict=True), 1):
        at = spans[0].start if spans else 0
        if spans and outcome.source[at] is message:
            size = context.size(at, at + 1)
            unchanged.append(
                f"{number:>5} {role_word(message):<8}{size!s:>9}  = {at + 1}: {first_words(message)[:300]}"
            )
            continue
        if unchanged:
            parts.append(TextPart("\n".join(unchanged), one_row=True))
            unchanged = []
        size = context.measure((message,))
        words = f"{number:>5} {role_word(message):<8}{size!s:>9}  {_replaces(spans)}: {first_words(message)[:300]}"
        parts.append(TextPart(words, "good", one_row=True))
    return [*parts, TextPart("\n".join(unchanged), one_row=True)] if unchanged else parts


def trace_parts(view: TabInput) -> Parts:
    """Reasons of the outcome: status, triggers, steps, the strategy's own account; then fates, the method of counting
    tokens, and the session's warnings."""
    bench = view.bench
    outcome, plan = bench.outcome, bench.plan
    parts = [TextPart(verdict(outcome.status, outcome.reason), "title"), TextPart(""), TextPart("Triggers", "title")]
    parts += [TextPart(trigger_words(t), "good" if t.fires else "dim") for t in plan.triggers]
    if not plan.triggers:
        parts.append(TextPart("none", "dim"))
    if bench.context.manual:
        parts.append(TextPart("✔ A manual run compacts even if no trigger fires.", "good"))
    if outcome.rungs:
        parts += [TextPart(""), TextPart("Steps", "title")]
        for rung in outcome.rungs:
            note = f": {rung.note}" if rung.note else ""
            parts.append(TextPart(f"▸ {rung.name}: {figure(rung.before)} → {figure(rung.after)} tokens{note}"))
    parts += [TextPart(""), TextPart("Account", "title"), *(TextPart(line) for line in outcome.trace)]
    counts = ((fate, count) for fate, count in outcome.fate_counts.items() if count)
    fates = [
        TextPart(f"{fate.glyph} {FATE_WORDS[fate]:<12}{figure(count):>8} {plural(count, 'message')}")
        for fate, count in counts
    ]
    parts += [TextPart(""), TextPart("Fates", "title"), *fates]
    parts += [TextPart(""), TextPart("Token counts", "title"), TextPart(bench.layout.sizes.meter.method)]
    if bench.session.warnings:
        parts += [TextPart(""), TextPart("Warnings", "title")]
        parts += [TextPart(f"! {warning}", "warning") for warning in bench.session.warnings]
    return parts


def checks_tab(view: TabInput) -> Parts:
    """Every check with its verdict, and the reasons of the outcome."""
    return [*checks_parts(view), TextPart(""), *trace_parts(view)]


def checks_parts(view: TabInput) -> Parts:
    """Every check with its verdict, failures first."""
    return (
        [preview_note(view.bench), *check_list(view.checks or ())] if view.checks else [TextPart("checking …", "dim")]
    )


def check_list(checks: tuple[Check, ...]) -> Parts:
    parts = [checks_title(checks), TextPart("")]
    for check in sorted(checks, key=lambda c: (c.passed, not c.hard)):
        parts.append(TextPart(check_line(check), "good" if check.passed else "bad" if check.hard else "warning"))
        if check.detail:
            parts.append(TextPart(f"  {check.detail}", "dim" if check.passed else ""))
    return parts


def checks_title(checks: tuple[Check, ...]) -> TextPart:
    failed = [check for check in checks if not check.passed]
    hard = sum(check.hard for check in failed)
    if failed and not hard:
        return TextPart(f"! {len(failed)} of {len(checks)} checks warn", "title")
    if not failed:
        return TextPart(f"✔ all {len(checks)} checks passed", "title")
    return TextPart(f"✘ {len(failed)} of {len(checks)} checks failed, {hard} of them required", "title")


def check_line(check: Check) -> str:
    kind = "" if check.passed else " (required: blocks an export)" if check.hard else " (warning)"
    return f"{'✔' if check.passed else '✘'} {check.name}{kind}"


def _split_in(bench: Bench) -> int:
    """Index of the split in the strategy's input, which the user's edits may have shortened."""
    edited, split = bench.plan.edited.layout, bench.outcome.split
    if edited is bench.layout or split >= len(bench.messages):
        return split if edited is bench.layout else len(edited.messages)
    id = nearest(bench.layout.shape, edited.shape, bench.messages[split].id)
    return edited.shape.index_of[id] if id is not None else 0


def abridged_parts(view: TabInput) -> Parts:
    """Abridged history of the summary message; nothing if the strategy has none."""
    bench = view.bench
    if bench.strategy.view.abridged is None:
        return []
    abridged = bench.strategy.view.abridged(bench.plan.edited, bench.policy, _split_in(bench))
    entries = abridged.entries
    size = sum(len(text) for _, text in entries)
    if not entries:
        return [TextPart("The abridged history is empty: there is nothing before the tail, or the limit is 0.", "dim")]
    covered = _message_range([span for spans, _ in entries for span in spans])
    covered += " and earlier ones" if any(not spans for spans, _ in entries) else ""
    head = f"Abridged history · {several(len(entries), 'request')} · {covered}"
    left = "" if abridged.whole else " · older ones did not fit"
    parts = [
        TextPart(f"{head} · {figure(size)} of {figure(abridged.limit)} characters{left}", "title"),
        TextPart("Made without a model from everything before the tail; part of the summary message.", "dim"),
    ]
    for spans, text in entries:
        parts += [TextPart(""), TextPart(f"── {_message_range(spans)}", "dim"), TextPart(text)]
    return parts


def _message_range(spans: Sequence[Span]) -> str:
    return f"messages {figure(spans[0].start + 1)}–{figure(spans[-1].stop)}" if spans else "before this context"


TABS: dict[str, Callable[[TabInput], Parts]] = {
    "message": message_parts,
    "request": request_tab,
    "summary": summary_parts,
    "result": result_tab,
    "checks": checks_tab,
    "theirs": recorded_parts,
}
"""Tabs of the middle pane, in their order."""

__all__ = [
    "TABS",
    "Parts",
    "TabInput",
    "checks_parts",
    "checks_title",
    "message_parts",
    "preview_note",
    "request_parts",
    "sent_texts",
    "summary_parts",
]
