"""`exchange-summary`: replace all but the newest exchanges (E) with a summary and an abridged history.

before   [system] [summary?] E1 E2 … Ek            | Ek+1 … En
after    [system] summary message: template(abridged history, summary)
                  reply + open calls of Ek
                  pins                    | Ek+1 … En
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.compaction import vocabulary
from workbench.compaction.context import Context, Gauge
from workbench.compaction.excerpt import Excerpt, tagged_style
from workbench.compaction.exchange.abridge import AbridgedEntries, AbridgedHistoryParams, abridge
from workbench.compaction.exchange.cut import (
    CutSettings,
    ExchangeCut,
    ExchangeHistory,
    HistorySize,
    cut_exchanges,
    history_of,
    open_calls,
    replaced_size,
)
from workbench.compaction.fates import Stroke, painted
from workbench.compaction.invariants import (
    must_stay,
    with_verdict,
)
from workbench.compaction.outcome import Fate, FateSpan, NewMessage, Outcome, Piece, unchanged
from workbench.compaction.policy import Needs, setting
from workbench.compaction.product_parameters import flag
from workbench.compaction.prompt_policies import SummaryPolicy, builtin_text
from workbench.compaction.prompts import fill, lint_summary_prompt
from workbench.compaction.request import RequestPrompt, ask_for_summary, truncation_for
from workbench.compaction.spans import joined, kept_pieces, spans_of, without
from workbench.compaction.strategy import AbridgedHistory, Compacting, Strategy, StrategyView, Traits, Trigger
from workbench.compaction.summary_request import SummaryFailed
from workbench.compaction.summary_template import summaries_in_request, text_of_summaries
from workbench.compaction.vocabulary import EarlierSummary
from workbench.session import Block, Message, Span, Text

CODE_REVIEW_BOTS = ("1", "2", "CODE_REVIEW_BOT", "CODE_REVIEW_EVAL_BOT")


CACHE: Needs = {"simulate_cache_expiry": (True,)}
"""Condition of the settings that apply only when cache expiry is simulated."""


class ExchangeSummaryPolicy(SummaryPolicy):
    """Settings of Augment's server, and a few that the workbench adds. Augment's defaults disable the strategy."""

    trigger_on_history_size_chars: int = setting(
        0, "trigger", "Compact when the history reaches this size. 0: never.", unit="characters", ge=0
    )
    history_tail_size_chars_to_exclude: int = setting(
        0,
        "split",
        "Keep the newest exchanges that fit below this size. An exchange is a request or results, and the answer.",
        unit="characters",
        ge=0,
    )
    min_tail_exchanges: int = setting(
        1, "split", "Keep at least this number of exchanges, whatever their size.", unit="exchanges", ge=0
    )
    simulate_cache_expiry: bool = setting(
        False,
        "trigger",
        "Also fire shortly before the prompt cache expires, when nothing was sent since the last answer. "
        "Augment's client has this and never calls it.",
    )
    trigger_on_history_size_chars_when_cache_expiring: int = setting(
        0,
        "trigger",
        "Size threshold when the cache is about to expire. 0: never.",
        unit="characters",
        needs=CACHE,
        ge=0,
    )
    cache_ttl_ms: int = setting(
        0, "trigger", "Time for which the provider keeps the prompt cache.", unit="ms", needs=CACHE, ge=0
    )
    buffer_time_before_cache_expiration_ms: int = setting(
        0, "trigger", "Fire this long before the cache expires.", unit="ms", needs=CACHE, ge=0
    )
    cache_age_ms: int | None = setting(
        None,
        "trigger",
        "Age of the cache at the check. Empty: from the session's time stamps.",
        unit="ms",
        needs=CACHE,
        ge=0,
    )
    prompt: str = vocabulary.prompt(empty="disabled")
    offer_tools: bool = setting(
        False,
        "summary",
        "Send the tool definitions with the request, as Augment's server does (its chat mode is not CHAT).",
    )
    guard_total_chars: int = setting(
        800_000,
        "summary",
        "The head is split into segments of a third of this size; of 4 or more, the newest 2 or 3 are sent.",
        unit="characters",
        ge=3,
    )
    summary_template: str = setting(
        vocabulary.shipped_text("summary-node.en.md"),
        "result",
        f"{vocabulary.SUMMARY_TEMPLATE} May also contain {{abridged_history}}.",
        multiline=True,
        old=("summary_node_request_message_template",),
    )
    reply: str = setting(
        vocabulary.REPLIES["en"],
        "result",
        vocabulary.REPLY,
        old=("summary_node_response_message",),
        min_length=1,
    )
    earlier_summary: EarlierSummary = vocabulary.earlier_summary("drop")
    abridged_history_params: AbridgedHistoryParams = setting(
        AbridgedHistoryParams(), "abridged", "Limits of the abridged history."
    )
    history_summary_version: int = setting(3, "versions", "Summaries of other versions are ignored.", ge=0)
    min_version: str = setting("", "versions", "The feature flag's minimum version. Empty: disabled.")
    bot_type: str = setting("", "versions", "Code-review bots (1, 2 and their names) never summarize.")

    builtin_texts: ClassVar = {
        "prompt": builtin_text("exchange-summary"),
        "summary_template": builtin_text("summary-node"),
        "reply": vocabulary.REPLIES.__getitem__,
    }


def disabled(policy: ExchangeSummaryPolicy) -> str:
    """Return the reason why this policy never summarizes; "" if it can. A size threshold of 0 is no reason: the trigger
    never fires, but a manual run summarizes."""
    if policy.bot_type.upper() in CODE_REVIEW_BOTS:
        return f"disabled: bot type {policy.bot_type} is a code-review bot"
    if not policy.min_version:
        return "disabled: no minimum version is set (min_version)"
    if not policy.prompt.strip():
        return "disabled: the prompt is empty (prompt)"
    return ""


def _history(context: Context, policy: ExchangeSummaryPolicy) -> ExchangeHistory:
    return history_of(
        context,
        version=policy.history_summary_version,
        enabled=not disabled(policy),
        side_by_side=policy.earlier_summary == "keep",
    )


def _history_size(context: Context, policy: ExchangeSummaryPolicy) -> HistorySize:
    version, enabled = policy.history_summary_version, not disabled(policy)
    return HistorySize(
        context.summary_versions,
        version,
        enabled,
        side_by_side=policy.earlier_summary == "keep",
        replaced=replaced_size(context, version=version, enabled=enabled),
    )


def triggers(now: Gauge, policy: ExchangeSummaryPolicy) -> tuple[Trigger, ...]:
    """Return the trigger on the size of the history and, if cache expiry is simulated, the one on the prompt cache.
    Each has its own threshold in characters."""
    why_not = disabled(policy)
    limit, chars = policy.trigger_on_history_size_chars, now.meters["history"]
    reached = limit > 0 and chars >= limit and not why_not
    found = [
        Trigger(
            "history size",
            chars,
            limit,
            "characters",
            reached,
            why_not or ("" if limit else "disabled: threshold 0"),
        )
    ]
    if policy.simulate_cache_expiry:
        found.append(_cache_trigger(now, policy, why_not))
    return tuple(found)


def _cache_trigger(now: Gauge, policy: ExchangeSummaryPolicy, why_not: str) -> Trigger:
    """Return the trigger on the prompt cache. It is due when the time since the newest answer, which read the cache,
    reaches the cache's lifetime minus the buffer; it fires if the history also reaches its threshold."""
    limit = policy.trigger_on_history_size_chars_when_cache_expiring
    chars = now.meters["history"]
    age = now.cache_age_ms if policy.cache_age_ms is None else policy.cache_age_ms
    timer = policy.cache_ttl_ms - policy.buffer_time_before_cache_expiration_ms
    due = False
    if why_not or limit <= 0:
        note = why_not or "disabled: threshold 0"
    elif timer <= 0:
        note = "never: the buffer is as long as the cache lifetime"
    elif age is None:
        note = f"due {_seconds(timer)} after the newest answer, if nothing is sent before"
    elif age < timer:
        note = f"due in {_seconds(timer - age)}"
    elif age < policy.cache_ttl_ms:
        due, note = True, f"the cache expires in {_seconds(policy.cache_ttl_ms - age)}"
    else:
        due, note = True, f"due {_seconds(age - timer)} ago; the cache has expired"
    return Trigger("cache about to expire", chars, limit, "characters", due and chars >= limit, note, timed=True)


def _seconds(ms: int) -> str:
    return f"{ms / 1000:g} s"


def compact(context: Context, policy: ExchangeSummaryPolicy, trace: list[str]) -> Compacting:
    """Compact as the module describes; append the steps to `trace`. Without a summary, and with an empty head, the
    outcome is "unchanged": there is no fallback."""
    cut = cut_exchanges(context, _history(context, policy), _cut_settings(policy), trace)
    if isinstance(cut, str):
        return unchanged(context.messages, f"nothing to compact: {cut}", trace)
    staying = _staying(context, policy, cut)
    if not without(cut.head, staying):
        return unchanged(context.messages, "nothing to compact: every message of the head is kept", trace)

    history = abridge(context, cut.tail, policy.abridged_history_params)
    trace.append(f"abridged history: {counted(len(history.entries), 'entry')}, {grouped(len(history.text))} characters")
    in_request = summaries_in_request(context, cut.earlier, policy.earlier_summary)
    prompt = RequestPrompt(
        "summary of the head",
        policy.sent_text("prompt").strip(),
        text_of_summaries(context, in_request),
        carry_on=policy.earlier_summary == "extend",
        language=policy.language,
    )
    style = tagged_style(context, cut.shown)
    bounds = truncation_for(policy.request_char_limit, prompt, style)
    settings = replace(policy.request, tools=context.tools if policy.offer_tools else ())
    answer = yield from ask_for_summary(context, cut.shown, prompt, style, bounds, settings, trace)
    if isinstance(answer, SummaryFailed):
        return unchanged(context.messages, str(answer), trace)
    summary, shown = answer

    template = policy.sent_text("summary_template")
    if "{summary}" not in template:
        template = policy.builtin_texts["summary_template"](policy.language)
        trace.append("the summary template lacks {summary}; the default template is used")
    text = fill(template, {"summary": summary, "abridged_history": history.text})
    pieces = _pieces(context, policy, cut, staying, in_request, text)
    fates = _fates(context, cut, staying, in_request, shown, history)
    return with_verdict(context, Outcome("compacted", "", context.messages, pieces, fates, trace=tuple(trace)))


def _cut_settings(policy: ExchangeSummaryPolicy) -> CutSettings:
    return CutSettings(policy.history_tail_size_chars_to_exclude, policy.min_tail_exchanges, policy.guard_total_chars)


def _staying(context: Context, policy: ExchangeSummaryPolicy, cut: ExchangeCut) -> tuple[int, ...]:
    """Return the ascending indexes of messages that are kept between the leading system messages and the tail."""
    shape = context.shape
    earlier = cut.earlier if policy.earlier_summary == "keep" else ()
    return tuple(sorted(index for index in must_stay(context, earlier) if shape.lead <= index < cut.tail))


def _pieces(
    context: Context,
    policy: ExchangeSummaryPolicy,
    cut: ExchangeCut,
    staying: tuple[int, ...],
    in_request: tuple[int, ...],
    text: str,
) -> tuple[Piece, ...]:
    """Return leading system messages, summary message, reply, kept messages, tail. The results of open calls of the
    head's last exchange come first in the tail, so these calls are added to the reply; if messages are kept in between,
    they get a message of their own after these."""
    replaces = tuple(joined(without(cut.head, staying), in_request))
    found = open_calls(context.shape, cut.last, cut.tail)
    calls = tuple(call for index, call in found if index not in staying)
    newest = context.messages[cut.last.stop - 1]
    name, time = f"summary-{newest.id}", newest.time
    reply: tuple[Block, ...] = (Text(policy.sent_text("reply")),)
    node = Message(f"{name}:request", "user", (Text(text),), kind="summary", time=time)
    answer = Message(f"{name}:response", "assistant", reply if staying else (*reply, *calls), kind="summary", time=time)
    pieces: list[Piece] = [
        *kept_pieces([Span(0, context.shape.lead)]),
        NewMessage(node, replaces),
        NewMessage(answer, replaces),
    ]
    pieces += kept_pieces(spans_of(staying))
    if staying and calls:
        pieces.append(NewMessage(Message(f"{name}:calls", "assistant", calls, time=time), (cut.last,)))
    return (*pieces, *kept_pieces([Span(cut.tail, len(context))]))


def _fates(
    context: Context,
    cut: ExchangeCut,
    staying: tuple[int, ...],
    in_request: tuple[int, ...],
    shown: Excerpt,
    history: AbridgedEntries,
) -> tuple[FateSpan, ...]:
    strokes = [
        Stroke(Fate.ABRIDGED, [span for entry in history.entries for span in entry.spans]),
        *shown.strokes(),
        Stroke(Fate.SUMMARIZED, spans_of(in_request), "all"),
        Stroke(Fate.KEPT, [Span(0, context.shape.lead), *spans_of(staying), Span(cut.tail, len(context))]),
        Stroke(Fate.PINNED, spans_of(sorted(cut.pins))),
    ]
    return painted(len(context), strokes)


def abridged(context: Context, policy: ExchangeSummaryPolicy, before: int) -> AbridgedHistory:
    """Return the abridged history of the messages before index `before`."""
    params = policy.abridged_history_params
    history = abridge(context, before, params)
    entries = tuple((entry.spans, entry.text) for entry in history.entries)
    return AbridgedHistory(entries, params.total_chars_limit, history.whole)


STRATEGY = Strategy(
    id="exchange-summary",
    title="Exchange summary",
    about="Splits exchanges into head and tail by size. The head becomes one message: summary and abridged history.",
    policy_type=ExchangeSummaryPolicy,
    triggers=triggers,
    compact=compact,
    idle=disabled,
    prompts={"exchange-summary": "prompt", "summary-node": "summary_template", "abridged-entry": ""},
    default_preset="augment-example",
    meters={"history": _history_size},
    unit="exchange",
    traits=Traits(versions=True, cache=True, tool_calls=True),
    lint=lambda policy: lint_summary_prompt(policy.sent_text("prompt")),
    parameters=flag(
        "history_summary_params",
        ExchangeSummaryPolicy,
        (
            "trigger_on_history_size_chars",
            "history_tail_size_chars_to_exclude",
            "trigger_on_history_size_chars_when_cache_expiring",
            "prompt",
            "cache_ttl_ms",
            "buffer_time_before_cache_expiration_ms",
            "summary_node_request_message_template",
            "summary_node_response_message",
            "abridged_history_params",
            "history_summary_version",
            "min_tail_exchanges",
        ),
        defaults={"min_version": "3"},
        other_flags={"history_summary_min_version": "min_version"},
    ),
    view=StrategyView(abridged=abridged),
)
