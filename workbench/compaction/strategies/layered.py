"""`layered`: whole rounds archived under a fixed template, tool results compressed by tool.

Source: spec/strategies.md §3 and document 002. What goes where:

    before   [system] [archive?] R1 … Rk                    | Rk+1 … Rn  current input
    after    [system] [archive?] [new archive: system] pins | Rk+1 … Rn  current input

An archive is never compacted again, only added to. Where the model answers too late, nothing stands for R1 … Rk.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from workbench.compaction.archived_summary import SECTIONS, dates, filled, lacking
from workbench.compaction.context import Context
from workbench.compaction.fates import kept_runs, merged
from workbench.compaction.gauge import Gauge
from workbench.compaction.lint import lint_prompt
from workbench.compaction.outcome import Fate, Kept, Made, Outcome, Piece, Rung, Status, unchanged
from workbench.compaction.painting import Stroke, each, painted
from workbench.compaction.policy import EarlierSummary, Policy
from workbench.compaction.prompts import load_prompt
from workbench.compaction.request import Given, Rendered, render_request
from workbench.compaction.round_cut import Cut, cut_rounds, place_of_archive, without_archive
from workbench.compaction.setting import setting
from workbench.compaction.shortened import Shortened, about_originals, shortened, two_ends
from workbench.compaction.strategy import Compacting, Step, Strategy, Summary, SummaryFailed, Trigger
from workbench.compaction.text import summary_inside
from workbench.compaction.tool_results import Limits
from workbench.compaction.verdict import cleaned, judged
from workbench.figures import grouped
from workbench.session import Message, Span, Text

TIMED_OUT = "Summary generation timed out, keeping recent history only."
WINDOW = 200_000
"""Taken where `context_window` is 0 and the session's own window is not known."""


class LayeredPolicy(Policy):
    """The numbers of document 002, A3 to A6, and a few of the workbench's own."""

    context_window: int = setting(
        WINDOW, "trigger", "The model's context window. 0: the session's own.", unit="tokens", ge=0
    )
    trigger_fraction: float = setting(
        0.8, "trigger", "Compact when the tokens reach this part of the window.", unit="of the window", gt=0, le=1
    )
    min_messages: int = setting(3, "trigger", "With fewer messages nothing is compacted.", unit="messages", ge=0)
    min_rounds: int = setting(
        10, "split", "At least so many of the newest whole rounds stay; an open one stays besides.", unit="rounds", ge=1
    )
    compress_results: Literal["head", "finished", "off"] = setting(
        "head",
        "results",
        "Which tool results are compressed: those of the archived rounds, before the summarizer reads them; those of "
        "every finished round, the kept ones included; or none.",
    )
    tool_results: Limits = setting(Limits(), "results", "How much of a tool result stays, by kind of tool.")
    earlier_summary: EarlierSummary = setting(
        "keep",
        "summary",
        "What becomes of an earlier summary: drop it; keep it where it stands (the document's rule: archives are only "
        "added to); nest it in the new request as context; or extend it: carry its text on before the new one.",
    )
    prompt: str = setting(
        load_prompt("layered-summary.en.md").text,
        "summary",
        "What the model is asked: the fixed template, with the titles of its five sections.",
        multiline=True,
        min_length=1,
    )
    language: str = setting("en", "summary", "Language of the summary: en or zh.", pattern="^(en|zh)$")
    timeout_s: float = setting(
        120.0, "summary", "After this time there is no summary: the newest rounds stay alone.", unit="seconds", gt=0
    )
    summary_char_limit: int = setting(
        0, "summary", "A longer summary is cut at a line or sentence. 0: no limit.", unit="characters", ge=0
    )
    request_hard_limit_chars: int = setting(
        1_000_000,
        "summary",
        "A longer request loses its middle; the document sets no bound.",
        unit="characters",
        ge=1_000,
    )


def gauge(context: Context, policy: LayeredPolicy) -> Gauge:
    """The context's gauge as document 002 reads it: the usage of the last API call that still speaks of this context,
    the counted size without the new input, and the characters of that input (0: none stands at the end)."""
    current = context.layout.rounds.current_input
    counted = context.total.tokens - context.size(current.start, current.stop).tokens
    new = context.size(current.start, current.stop).chars
    return replace(context.gauge(), tokens=counted, last_usage=_last_usage(context), input_chars=new)


def _last_usage(context: Context) -> int | None:
    """Input, cache and output of the newest call on which the sizes are anchored; a call that was billed for messages
    which a compaction has since replaced anchors nothing."""
    anchor = context.layout.sizes.anchored_until
    if not anchor:
        return None
    for message in reversed(context.messages[: anchor + 1]):
        if message.usage is not None and message.role == "assistant" and message.usage.context > 0:
            return message.usage.context + message.usage.output
    return None


def triggers(now: Gauge, policy: LayeredPolicy) -> tuple[Trigger, ...]:
    """`last_usage + len(user_input) // 3 ≥ 0.8 × context_window`, when a new user input arrives."""
    limit = round(policy.trigger_fraction * (policy.context_window or now.window or WINDOW), 6)
    usage = now.tokens if now.last_usage is None else now.last_usage
    value = usage + now.input_chars // 3
    why_not = []
    if not now.input_chars:
        why_not.append("not checked inside a round: no new user input stands at the end")
    if now.messages < policy.min_messages:
        why_not.append(f"{now.messages} messages, at least {policy.min_messages} are needed")
    basis = ["counted: no API call of this context records its usage"] if now.last_usage is None else []
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


def compact(context: Context, policy: LayeredPolicy) -> Compacting:
    """See the module's docstring. Only a time-out has a fallback (document 002, E2); any other failure gives the input
    back with the reason."""
    fired = triggers(gauge(context, policy), policy)
    trace = [str(trigger) for trigger in fired]
    if not context.manual and not any(trigger.fires for trigger in fired):
        return unchanged(context.messages, "no trigger fires", trace)

    cut = cut_rounds(context, policy.min_rounds, keep_summaries=policy.earlier_summary == "keep", trace=trace)
    short = None if policy.compress_results == "off" else shortened(context.layout, policy.tool_results)
    rewritten = _to_rewrite(policy, cut, short)
    rungs: list[Rung] = []
    if short is not None and rewritten:
        rungs.append(_compress_rung(context, short, rewritten))
        trace.append(f"{rungs[0].name}: {rungs[0].note}")
        yield Step(rungs[0].name, rungs[0].note)

    def outcome(
        status: Status, reason: str, cut: Cut, archive: Made | None = None, asked: Asked | None = None
    ) -> Outcome:
        pieces = _pieces(context, cut, short, rewritten, archive)
        fates = painted(len(context), _strokes(context, cut, short, rewritten, asked))
        return judged(
            context, Outcome(status, reason, context.messages, pieces, fates, tuple(rungs), trace=tuple(trace))
        )

    if not cut.head:
        nothing = f"nothing to compact: {cut.why_empty}"
        if not rewritten:
            return unchanged(context.messages, nothing, trace)
        return outcome("compacted", f"tool results only, {nothing}", cut)

    asked = _ask(context, policy, cut, short, trace)
    (answer,) = (yield (asked.rendered.request,)) or (SummaryFailed("error", "no answer"),)
    if isinstance(answer, SummaryFailed):
        if answer.kind != "timeout":
            return unchanged(context.messages, str(answer), trace)
        trace.append(TIMED_OUT)
        bare = without_archive(context, cut, keep_summaries=policy.earlier_summary != "drop")
        return replace(outcome("fallback", "", bare), reason=TIMED_OUT)
    archive = _archive(context, policy, cut, asked, answer, trace)
    if archive is None:
        return unchanged(context.messages, "the summary is empty", trace)
    done = outcome("compacted", "", cut, archive, asked)
    if rungs:
        rungs.append(Rung("archive the oldest rounds", rungs[0].after, context.outcome_size(done).tokens))
        done = replace(done, rungs=tuple(rungs))
    return done


def _to_rewrite(policy: LayeredPolicy, cut: Cut, short: Shortened | None) -> Sequence[int]:
    """The kept messages whose tool results become shorter: those of finished rounds, pins excepted."""
    if short is None or policy.compress_results != "finished":
        return ()
    return [i for i in short.changed_in(Span(cut.tail, cut.ended)) if i not in cut.pins]


def _compress_rung(context: Context, short: Shortened, rewritten: Sequence[int]) -> Rung:
    tokens, meter = context.layout.sizes.tokens, context.layout.sizes.meter
    saved = sum(tokens[i] - meter.tokens(short.layout.messages[i]) for i in rewritten)
    before = context.total.tokens
    note = f"{grouped(len(rewritten))} messages of the kept rounds, {grouped(saved)} tokens less"
    return Rung("compress tool results", before, before - saved, note)


@dataclass(frozen=True, slots=True)
class Asked:
    """The request, the spans of the head that it is about, and the earlier summaries whose text it carries."""

    rendered: Rendered
    given: tuple[Span, ...] = ()
    carried: tuple[int, ...] = ()


def _ask(context: Context, policy: LayeredPolicy, cut: Cut, short: Shortened | None, trace: list[str]) -> Asked:
    """The prompt and the head, its tool results compressed; over the hard limit the two ends of it."""
    carried = cut.earlier if policy.earlier_summary in ("nest", "extend") else ()
    carried = tuple(i for i in carried if context.messages[i].role != "assistant")
    shown = context if short is None else context.with_(layout=short.layout)
    spans = two_ends(cut.head, shown.layout.chars, policy.request_hard_limit_chars)
    if left_out := sum(map(len, cut.head)) - sum(map(len, spans)):
        trace.append(f"hard limit: {grouped(left_out)} messages in the middle of the head are not shown")
    given = Given(
        "archived session summary",
        policy.prompt.strip(),
        spans,
        previous="\n\n".join(summary_inside(context.messages[i].text) for i in carried),
        carry_on=policy.earlier_summary == "extend",
        hard_limit=policy.request_hard_limit_chars,
    )
    rendered = render_request(
        shown,
        given,
        form="sections",
        sections=SECTIONS,
        language=policy.language,
        max_chars=policy.summary_char_limit,
        timeout_s=policy.timeout_s,
    )
    if short is None:
        return Asked(rendered, spans, carried)
    fewer = sum(len(short.changed_in(span)) for span in spans)
    trace.append(f"tool results compressed for the summarizer: {grouped(fewer)} messages")
    return Asked(about_originals(context, short, spans, rendered), spans, carried)


def _archive(
    context: Context, policy: LayeredPolicy, cut: Cut, asked: Asked, answer: Summary, trace: list[str]
) -> Made | None:
    """The system message that stands for the head; None for an empty answer."""
    summary = cleaned(answer.text, policy.summary_char_limit, trace)
    if not summary:
        return None
    head = [message for span in cut.head for message in context.messages[span.start : span.stop]]
    under = filled(summary, *dates(head), policy.language)
    trace.extend(f"warning: {warning}" for warning in under.warnings)
    previous = asked.rendered.request.previous
    text = f"{previous}\n\n{under.text}" if policy.earlier_summary == "extend" and previous else under.text
    message = Message(f"summary-{head[-1].id}", "system", (Text(text),), kind="summary", time=head[-1].time)
    stands_for = merged(sorted([*cut.head, *each(asked.carried)], key=lambda span: span.start))
    return Made(message, tuple(stands_for))


def _pieces(
    context: Context, cut: Cut, short: Shortened | None, rewritten: Sequence[int], archive: Made | None
) -> tuple[Piece, ...]:
    before = list(cut.stays)
    at = place_of_archive(context.messages, before)
    pieces: list[Piece] = [*kept_runs(before[:at]), *([archive] if archive else []), *kept_runs(before[at:])]
    here = cut.tail
    for index in rewritten:
        if here < index:
            pieces.append(Kept(here, index))
        assert short is not None
        pieces.append(Made(short.layout.messages[index], (Span(index, index + 1),)))
        here = index + 1
    if here < len(context):
        pieces.append(Kept(here, len(context)))
    return tuple(pieces)


def _strokes(
    context: Context, cut: Cut, short: Shortened | None, rewritten: Sequence[int], asked: Asked | None
) -> Iterable[Stroke]:
    if asked is not None:
        yield Stroke(Fate.SUMMARIZED, each(asked.carried), "all")
        for span in asked.given:
            for part, saw in asked.rendered.saw(span):
                yield Stroke(Fate.SUMMARIZED, (part,), saw)
                if short is not None and saw == "all":
                    yield Stroke(Fate.SUMMARIZED, each(short.changed_in(part)), "part")
    yield Stroke(Fate.KEPT, (*each(cut.stays), Span(cut.tail, len(context))))
    yield Stroke(Fate.COMPRESSED, each(rewritten))
    yield Stroke(Fate.PINNED, each(sorted(cut.pins)))


def lint(policy: LayeredPolicy) -> tuple[str, ...]:
    return (*lint_prompt(policy.prompt), *lacking(policy.prompt))


STRATEGY = Strategy(
    id="layered",
    title="Layered",
    about="Whole rounds but the newest archived under a fixed template; tool results compressed by tool.",
    policy_type=LayeredPolicy,
    triggers=triggers,
    compact=compact,
    gauge=gauge,
    unit="round",
    lint=lint,
)
