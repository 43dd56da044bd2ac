"""`layered`: archive whole rounds under a fixed template, and compress tool results by kind of tool.

    before   [system] [archive?] R1 … Rk                    | Rk+1 … Rn  current input
    after    [system] [archive?] [new archive: system] pins | Rk+1 … Rn  current input

An archive is never compacted again; later archives are added after it. If the model answers too late, R1 … Rk are
dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from workbench.base.figures import grouped
from workbench.base.text import are, counted
from workbench.compaction import vocabulary
from workbench.compaction.assembled.notes import notes_at, recap_of
from workbench.compaction.assembled.prompt import CURRENT, L1, L2, RECAP, assembled, open_from
from workbench.compaction.assembled.tool_results import ResultLimits, compressor, saved_in_words
from workbench.compaction.context import Context, Gauge
from workbench.compaction.excerpt import Excerpt, excerpt, tagged_style
from workbench.compaction.fates import Stroke, painted
from workbench.compaction.invariants import with_verdict
from workbench.compaction.layered.archive import MARKS, SECTIONS, dates, faults, fill_archive, prompt_problems
from workbench.compaction.layered.round_cut import RoundCut, archive_place, cut_rounds, without_archive
from workbench.compaction.layers import Layer, basis_of, by_fate, summaries_layer
from workbench.compaction.outcome import Fate, NewMessage, Outcome, Piece, Rung, Status, unchanged
from workbench.compaction.policy import Converted, setting
from workbench.compaction.prompt_parts import PromptPart
from workbench.compaction.prompt_policies import PromptPolicy, builtin_text
from workbench.compaction.prompts import lint_prompt
from workbench.compaction.request import RequestPrompt, as_text, ask, request_for, truncation_for
from workbench.compaction.shape import Shape
from workbench.compaction.spans import indexes_of, joined, kept_pieces, pieces_in_place, spans_of
from workbench.compaction.strategy import Compacting, ProgressStep, Strategy, StrategyNote, StrategyView, Trigger
from workbench.compaction.summary_request import SummaryFailed, SummaryRequest
from workbench.compaction.summary_template import summaries_in_request, text_of_summaries
from workbench.compaction.vocabulary import EarlierSummary, of_hundred
from workbench.session import Message, Span, Text

TIMED_OUT = "Summary generation timed out, keeping recent history only."
WINDOW = 200_000
"""Window if `context_window` is 0 and the session's own window is unknown."""


class LayeredPolicy(PromptPolicy):
    """Numbers of the strategy's design (docs/strategies.md, Sources), and a few of the workbench's own."""

    context_window: int = setting(
        WINDOW, "trigger", "The model's context window. 0: the session's own.", unit="tokens", ge=0
    )
    trigger_window_percent: float = vocabulary.trigger_window_percent(80.0)
    min_messages: int = setting(3, "trigger", "Do not compact with fewer messages.", unit="messages", ge=0)
    min_tail_rounds: int = setting(
        10,
        "split",
        "Keep at least this number of newest complete rounds. An open round is always kept.",
        unit="rounds",
        old=("min_rounds",),
        ge=1,
    )
    compress_results: Literal["finished", "head", "off"] = setting(
        "finished",
        "results",
        "Compress tool results of every finished round, kept rounds included (finished); of archived rounds "
        "only, before the summarizer reads them (head); or never (off).",
    )
    tool_results: ResultLimits = setting(
        ResultLimits(),
        "results",
        "Size limits of a compressed tool result, by kind of tool.",
        needs={"compress_results": ("finished", "head")},
    )
    earlier_summary: EarlierSummary = vocabulary.earlier_summary("keep")
    timeout_s: float = setting(
        120.0, "summary", "After this time, the newest rounds are kept without a summary.", unit="seconds", gt=0
    )

    builtin_texts: ClassVar = {"prompt": builtin_text("layered-summary")}
    converted: ClassVar = {"trigger_fraction": Converted("trigger_window_percent", of_hundred)}


def triggers(now: Gauge, policy: LayeredPolicy) -> tuple[Trigger, ...]:
    """Fires if `last_usage + len(user_input) // 3 ≥ 0.8 × context_window`, when new user input arrives. Without
    recorded usage of this context, the counted size without the input is used."""
    limit = round(policy.trigger_window_percent / 100 * (policy.context_window or now.window or WINDOW), 6)
    usage = now.tokens - now.input_tokens if now.last_usage is None else now.last_usage
    value = usage + now.input_chars // 3
    why_not = [] if policy.trigger_window_percent else ["off: 0 %"]
    if not now.input_chars:
        why_not.append("not checked inside a round: the last message is not user input")
    if now.messages < policy.min_messages:
        why_not.append(f"{counted(now.messages, 'message')}; the minimum is {policy.min_messages}")
    basis = ["counted: no call of this context has recorded usage"] if now.last_usage is None else []
    basis += [_window_words(now, policy)]
    return (
        Trigger(
            "tokens with the new input",
            value,
            limit,
            "tokens",
            value >= limit and not why_not,
            "; ".join(why_not + basis),
        ),
    )


def _window_words(now: Gauge, policy: LayeredPolicy) -> str:
    if policy.context_window:
        return f"window {grouped(policy.context_window)} tokens, from the settings"
    return f"window {now.limit or f'{grouped(WINDOW)} tokens, assumed'}"


def compact(context: Context, policy: LayeredPolicy, trace: list[str]) -> Compacting:
    """Compact as the module describes. Only a time-out has a fallback; after any other failure the context is returned
    unchanged."""
    cut = cut_rounds(context, policy.min_tail_rounds, keep_summaries=policy.earlier_summary == "keep", trace=trace)
    shorter = _with_compressed_results(context, policy, cut)
    rungs: list[Rung] = []
    if shorter:
        rungs.append(_compress_rung(context, shorter))
        trace.append(f"{rungs[0].name}: {rungs[0].note}")
        yield ProgressStep(rungs[0].name, rungs[0].note)

    def outcome(
        status: Status,
        reason: str,
        cut: RoundCut,
        archive: NewMessage | None = None,
        request: ArchiveRequest | None = None,
    ) -> Outcome:
        pieces = _pieces(context, cut, shorter, archive)
        fates = painted(len(context), _strokes(context, cut, shorter, request))
        return with_verdict(
            context, Outcome(status, reason, context.messages, pieces, fates, tuple(rungs), trace=tuple(trace))
        )

    if not cut.head:
        if not shorter:
            return unchanged(context.messages, f"nothing to compact: {cut.why_empty}", trace)
        return outcome("compacted", f"tool results only: {cut.why_empty}", cut)

    request = _archive_request(context, policy, cut, trace)
    summary = yield from ask(request.request, trace)
    if isinstance(summary, SummaryFailed):
        if summary.kind != "timeout":
            return unchanged(context.messages, str(summary), trace)
        trace.append(TIMED_OUT)
        bare = without_archive(context, cut, keep_summaries=policy.earlier_summary != "drop")
        return replace(outcome("fallback", "", bare), reason=TIMED_OUT)
    done = outcome("compacted", "", cut, _archive(context, policy, cut, request, summary, trace), request)
    if rungs:
        rungs.append(Rung("archive the oldest rounds", rungs[0].after, context.outcome_size(done).tokens))
        done = replace(done, rungs=tuple(rungs))
    return done


def _with_compressed_results(context: Context, policy: LayeredPolicy, cut: RoundCut) -> dict[int, Message]:
    """Kept messages of finished rounds with compressed tool results, by index, except pins."""
    if policy.compress_results != "finished":
        return {}
    message_at = compressor(context.shape, policy.tool_results)
    return {
        index: message
        for index in range(cut.tail, cut.ended)
        if index not in cut.pins and (message := message_at(index)) is not context.messages[index]
    }


def _compress_rung(context: Context, shorter: dict[int, Message]) -> Rung:
    tokens = context.layout.sizes.tokens
    saved = sum(tokens[i] - context.layout.measured(message).tokens for i, message in shorter.items())
    before = context.total.tokens
    note = f"{counted(len(shorter), 'message')} of the kept rounds, {saved_in_words(saved)}"
    return Rung("compress tool results", before, before - saved, note)


@dataclass(frozen=True, slots=True)
class ArchiveRequest:
    """The request, its prompt, the part of the head that it shows, and the earlier summaries whose text it contains."""

    request: SummaryRequest
    prompt: RequestPrompt
    shown: Excerpt
    in_request: tuple[int, ...]


def _archive_request(context: Context, policy: LayeredPolicy, cut: RoundCut, trace: list[str]) -> ArchiveRequest:
    """Request with the prompt and the head, tool results compressed. If it is too long, it has only the beginning and
    end of the head."""
    in_request = summaries_in_request(context, cut.earlier, policy.earlier_summary)
    prompt = RequestPrompt(
        "archived session summary",
        policy.asks(),
        text_of_summaries(context, in_request),
        carry_on=policy.earlier_summary == "extend",
        language=policy.language,
    )
    message_at = None if policy.compress_results == "off" else compressor(context.shape, policy.tool_results)
    style = tagged_style(context, cut.head, message_at)
    shown = excerpt(context, cut.head, style, truncation_for(policy.request_char_limit, prompt, style))
    if left_out := sum(map(len, cut.head)) - sum(map(len, shown.spans)):
        trace.append(f"hard limit: {counted(left_out, 'message')} in the middle of the head {are(left_out)} not sent")
    if message_at is not None:
        fewer = sum(message_at(index) is not context.messages[index] for index in indexes_of(shown.spans))
        trace.append(f"tool results compressed for the summarizer: {counted(fewer, 'message')}")
    settings = replace(policy.request, form="sections", sections=SECTIONS, marks=MARKS, timeout_s=policy.timeout_s)
    return ArchiveRequest(
        request_for(context, prompt, as_text(prompt, style, shown), shown, settings), prompt, shown, in_request
    )


def _archive(
    context: Context, policy: LayeredPolicy, cut: RoundCut, request: ArchiveRequest, summary: str, trace: list[str]
) -> NewMessage:
    """System message that replaces the head."""
    under = fill_archive(summary, *dates(context.shape, cut.head), policy.language)
    trace.extend(under.missing)
    newest = context.messages[cut.head[-1].stop - 1]
    text = request.prompt.with_previous(under.text)
    message = Message(f"summary-{newest.id}", "system", (Text(text),), kind="summary", time=newest.time)
    return NewMessage(message, tuple(joined(cut.head, request.in_request)))


def _pieces(
    context: Context, cut: RoundCut, shorter: dict[int, Message], archive: NewMessage | None
) -> tuple[Piece, ...]:
    before = list(cut.stays)
    at = archive_place(context.messages, before)
    pieces: list[Piece] = [
        *kept_pieces(spans_of(before[:at])),
        *([archive] if archive else []),
        *kept_pieces(spans_of(before[at:])),
    ]
    return (*pieces, *pieces_in_place(Span(cut.tail, len(context)), shorter))


def _strokes(
    context: Context, cut: RoundCut, shorter: Iterable[int], request: ArchiveRequest | None
) -> Iterable[Stroke]:
    if request is not None:
        yield Stroke(Fate.SUMMARIZED, spans_of(request.in_request), "all")
        yield from request.shown.strokes()
    yield Stroke(Fate.KEPT, (*spans_of(cut.stays), Span(cut.tail, len(context))))
    yield Stroke(Fate.COMPRESSED, spans_of(shorter))
    yield Stroke(Fate.PINNED, spans_of(sorted(cut.pins)))


def prompt_layers(context: Context, outcome: Outcome) -> tuple[Layer, ...]:
    """Layers with any tokens, in prompt order; history is divided by fate into `L3 head` and so on.

    All layers but rules and recap add up to `context.total`. No session contains these two; they are what the assembled
    prompt would add, measured by the context's meter. O(fate spans and summaries), except for the recap, for which
    every message is read once per shape.
    """
    shape, sizes = context.shape, context.layout.sizes
    fixed, opened = shape.lead, max(shape.lead, open_from(shape))
    open_input = context.size(opened, len(context)).tokens
    recap = recap_of(context)
    found = [
        Layer(L1, sizes.overhead + context.upto(fixed).tokens, sizes.overhead_basis, "▒"),
        Layer(L2, sizes.meter.text_tokens(context.rules) if context.rules else 0, sizes.meter.basis, "▤"),
        *(
            Layer(f"L3 {part.name}", part.tokens, part.basis, part.glyph)
            for part in (summaries_layer(context), *by_fate(context, outcome, fixed, opened))
        ),
        Layer(CURRENT, open_input, basis_of(context, open_input), "▷"),
        Layer(RECAP, sizes.meter.text_tokens(recap) if recap else 0, sizes.meter.basis, "◇"),
    ]
    return tuple(layer for layer in found if layer.tokens)


def prompt(context: Context, policy: LayeredPolicy) -> tuple[PromptPart, ...]:
    """Layers of the prompt; tool results are compressed if the policy compresses those of kept messages."""
    return assembled(context, policy.tool_results if policy.compress_results == "finished" else None)


def notes(shape: Shape, policy: LayeredPolicy, index: int) -> Iterator[StrategyNote]:
    """Reminder that would be sent with a request that mentions files."""
    for noted in notes_at(shape, index):
        if noted.kind == "mention":
            yield StrategyNote("it would be sent with")
            yield StrategyNote(noted.text)


def lint(policy: LayeredPolicy) -> tuple[str, ...]:
    """Problems of the prompt, including sections that it does not request."""
    return (*lint_prompt(policy.asks()), *prompt_problems(policy.asks()))


STRATEGY = Strategy(
    id="layered",
    title="Layered",
    about="Archives old rounds in a summary with fixed sections and compresses tool results by tool.",
    policy_type=LayeredPolicy,
    triggers=triggers,
    compact=compact,
    prompts={"layered-summary": "prompt"},
    unit="round",
    lint=lint,
    faults=lambda policy, text: faults(text),
    view=StrategyView(layers=prompt_layers, prompt_parts=prompt, notes=notes),
)
