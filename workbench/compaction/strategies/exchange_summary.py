"""`exchange-summary`: one summary node, with an abridged history, stands for all but the newest exchanges.

Source: spec/strategies.md §1 and document 000 (Augment). What goes where:

    before   [system] [summary?] E1 E2 … Ek            | Ek+1 … En
    after    [system] node: template(abridged, summary) | Ek+1 … En
                      "Ok. I will continue …" + open calls of Ek
                      pins
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import Field, ValidationError

from workbench.compaction.abridge import AbridgedHistoryParams, abridge, abridged_text
from workbench.compaction.context import Context
from workbench.compaction.fates import fate_spans, kept_runs, merged, pinned_with_pairs, without
from workbench.compaction.gauge import Gauge
from workbench.compaction.lint import lint_summary_prompt
from workbench.compaction.outcome import Fate, FateSpan, Made, Outcome, Piece, unchanged
from workbench.compaction.policy import Policy, explain
from workbench.compaction.prompts import fill, load_prompt
from workbench.compaction.request import Given, Rendered, render_request
from workbench.compaction.split import guarded_start, head_length
from workbench.compaction.strategy import Compacting, Strategy, SummaryFailed, Trigger
from workbench.compaction.text import summary_inside
from workbench.compaction.verdict import cleaned, judged
from workbench.errors import BadInput
from workbench.figures import grouped
from workbench.session import Block, Message, Span, Text, leading_system

CODE_REVIEW_BOTS = ("1", "2", "CODE_REVIEW_BOT", "CODE_REVIEW_EVAL_BOT")
NODE_TEMPLATE = "summary-node.en.md"


def _field(
    default: Any, group: str, description: str, *, unit: str = "", multiline: bool = False, **limits: Any
) -> Any:
    extra: dict[str, Any] = {"group": group}
    if unit:
        extra["unit"] = unit
    if multiline:
        extra["multiline"] = True
    return Field(default, description=description, json_schema_extra=extra, **limits)


class ExchangeSummaryPolicy(Policy):
    """The parameters of document 000 §8 with its defaults, which mean *disabled*, and a few of the workbench's own."""

    trigger_on_history_size_chars: int = _field(
        0, "trigger", "Compact when the history has at least this size. 0: never.", unit="characters", ge=0
    )
    history_tail_size_chars_to_exclude: int = _field(
        0, "split", "The newest exchanges that fit below this size stay as they are.", unit="characters", ge=0
    )
    min_tail_exchanges: int = _field(
        1, "split", "At least so many exchanges stay, whatever their size.", unit="exchanges", ge=0
    )
    simulate_cache_expiry: bool = _field(
        False,
        "trigger",
        "Also fire when the prompt cache is about to expire. Document 000 finds this written but never called.",
    )
    trigger_on_history_size_chars_when_cache_expiring: int = _field(
        0, "trigger", "The threshold when the cache is about to expire. 0: never.", unit="characters", ge=0
    )
    cache_ttl_ms: int = _field(0, "trigger", "How long the provider keeps the prompt cache.", unit="ms", ge=0)
    buffer_time_before_cache_expiration_ms: int = _field(
        0, "trigger", "Fire so long before the cache expires.", unit="ms", ge=0
    )
    prompt: str = _field("", "summary", "What the model is asked. Empty: disabled.", multiline=True)
    summary_char_limit: int = _field(
        0, "summary", "A longer summary is cut at a line or sentence. 0: no limit.", unit="characters", ge=0
    )
    language: str = _field("en", "summary", "Language of the summary: en or zh.", pattern="^(en|zh)$")
    offer_tools: bool = _field(
        False,
        "summary",
        "Send the tool definitions with the request, as document 000's system does (its chat mode is not CHAT).",
    )
    guard_total_chars: int = _field(
        800_000,
        "summary",
        "The head is cut into segments of a third of this; of 4 or more, the oldest are left out.",
        unit="characters",
        ge=3,
    )
    request_hard_limit_chars: int = _field(
        1_000_000,
        "summary",
        "A longer request loses its middle: the guard is no bound, one exchange of 5 MB passes it.",
        unit="characters",
        ge=1_000,
    )
    summary_node_request_message_template: str = _field(
        load_prompt(NODE_TEMPLATE).text,
        "node",
        "The summary node's request, with {summary} and {abridged_history}.",
        multiline=True,
    )
    summary_node_response_message: str = _field(
        "Ok. I will continue the conversation from this point.", "node", "The summary node's response.", min_length=1
    )
    abridged_history_params: AbridgedHistoryParams = _field(
        AbridgedHistoryParams(), "abridged", "Limits of the abridged history."
    )
    history_summary_version: int = _field(3, "versions", "Summaries of other versions are left out.", ge=0)
    min_version: str = _field("", "versions", "The feature flag's minimum version. Empty: disabled.")
    bot_type: str = _field("", "versions", "Code-review bots (1, 2 and their names) never summarize.")


def disabled(policy: ExchangeSummaryPolicy) -> str:
    """Why this policy would never summarize, "" if it would (document 000 §1.4). A threshold of 0 is not among the
    reasons: a manual run counts it as reached."""
    if policy.bot_type.upper() in CODE_REVIEW_BOTS:
        return f"disabled: bot type {policy.bot_type} is a code-review bot"
    if not policy.min_version:
        return "disabled: no minimum version is set (min_version)"
    if not policy.prompt.strip():
        return "disabled: the prompt is empty (prompt)"
    return ""


def policy_from_params(text: str) -> ExchangeSummaryPolicy:
    """The policy of pasted `history_summary_params` (document 000 §1.6).

    Takes the object, the JSON string that the flag carries, or the whole `feature_flags`. What is left out has the
    document's default; `min_version` is "3" unless the flags name another.

    Raises BadInput for text that is no such object.
    """
    try:
        given = json.loads(text)
        given = json.loads(given) if isinstance(given, str) else given
        flags = given.get("feature_flags", given) if isinstance(given, dict) else {}
        params = flags.get("history_summary_params", given)
        params = json.loads(params) if isinstance(params, str) else params
    except json.JSONDecodeError as error:
        raise BadInput(
            f"The parameters are no JSON (line {error.lineno}: {error.msg}); paste one JSON object."
        ) from None
    if not isinstance(params, dict):
        raise BadInput(
            "The parameters are no JSON object; paste history_summary_params, or the feature_flags around it."
        )
    version = flags.get("history_summary_min_version") or "3"
    try:
        return ExchangeSummaryPolicy.model_validate({"min_version": version, **params})
    except ValidationError as error:
        raise BadInput(f"history_summary_params: {explain(error)}") from None


@dataclass(frozen=True, slots=True)
class History:
    """What of a context is history to this strategy: exchanges by number, after `preprocess`."""

    exchanges: tuple[int, ...]
    cut: int

    """Everything before exchange number `cut` was left out because a current summary stands there."""


def preprocess(versions: Sequence[int | None], *, current: int, enabled: bool) -> History:
    """Leave out what an earlier summary replaced (spec/strategies.md §1, Preprocess; document 000 §2.2).

    `versions` has the summary version of each exchange, None for one that is no summary.
    """
    if not enabled:
        return History(tuple(i for i, version in enumerate(versions) if version is None), 0)
    newest = next((i for i in range(len(versions) - 1, -1, -1) if versions[i] == current), 0)
    return History(tuple(i for i in range(newest, len(versions)) if versions[i] in (None, current)), newest)


def history_of(context: Context, policy: ExchangeSummaryPolicy) -> History:
    layout = context.layout
    if not layout.summaries:
        return History(tuple(range(len(layout.exchanges))), 0)
    versions: list[int | None] = [None] * len(layout.exchanges)
    for index in layout.summaries:
        number = layout.exchange_index(index + 1) - 1
        versions[number] = context.summary_versions.get(context.messages[index].id, policy.history_summary_version)
    return preprocess(versions, current=policy.history_summary_version, enabled=not disabled(policy))


def gauge(context: Context, policy: ExchangeSummaryPolicy) -> Gauge:
    """The context's gauge with the size of what is history to this strategy."""
    return replace(context.gauge(), chars=sum(_sizes(context, history_of(context, policy))))


def triggers(now: Gauge, policy: ExchangeSummaryPolicy) -> tuple[Trigger, ...]:
    """(a) history size, (b) the cache about to expire, with its own threshold (spec/strategies.md §1, Triggers)."""
    why_not = disabled(policy)
    limit = policy.trigger_on_history_size_chars
    reached = limit > 0 and now.chars >= limit and not why_not
    found = [
        Trigger(
            "history size",
            now.chars,
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
    limit = policy.trigger_on_history_size_chars_when_cache_expiring
    delay = policy.cache_ttl_ms - (now.cache_age_ms or 0) - policy.buffer_time_before_cache_expiration_ms
    if why_not or limit <= 0:
        note = why_not or "disabled: threshold 0"
    elif now.cache_age_ms is None:
        note = "the age of the cache is not known"
    elif delay <= 0:
        note = "never: the cache expires before the buffer"
    else:
        note = f"simulated, in {delay / 1000:.0f} s"
    reached = not why_not and now.cache_age_ms is not None and delay > 0 and 0 < limit <= now.chars
    return Trigger("cache about to expire", now.chars, limit, "characters", reached, note)


def compact(context: Context, policy: ExchangeSummaryPolicy) -> Compacting:
    """See the module's docstring. A failed summary has no fallback here: the input comes back with the reason."""
    fired = triggers(gauge(context, policy), policy)
    trace = [str(trigger) for trigger in fired]
    if why_not := disabled(policy):
        return unchanged(context.messages, why_not, trace)
    if not context.manual and not any(trigger.fires for trigger in fired):
        return unchanged(context.messages, "no trigger fires", trace)

    cut = _cut(context, policy, trace)
    if isinstance(cut, str):
        return unchanged(context.messages, f"nothing to compact: {cut}", trace)

    entries = abridge(context.layout, cut.tail, policy.abridged_history_params)
    trace.append(f"abridged history: {len(entries)} entries, {grouped(len(abridged_text(entries)))} characters")
    rendered = _request(context, policy, cut)
    (answer,) = (yield (rendered.request,)) or (SummaryFailed("error", "no answer"),)
    if isinstance(answer, SummaryFailed):
        return unchanged(context.messages, str(answer), trace)
    summary = cleaned(answer.text, policy.summary_char_limit, trace)
    if not summary:
        return unchanged(context.messages, "the summary is empty", trace)

    if policy.earlier_summary == "extend" and rendered.request.previous:
        summary = f"{rendered.request.previous}\n\n{summary}"
    template = policy.summary_node_request_message_template
    if "{summary}" not in template:
        template = load_prompt(NODE_TEMPLATE).text
        trace.append("the node's template has no {summary} and was refused; the default is used")
    text = fill(template, {"summary": summary, "abridged_history": abridged_text(entries)})
    pieces = _pieces(context, policy, cut, text)
    fates = _fates(context, policy, cut, rendered, [entry.span for entry in entries])
    draft = Outcome("compacted", "", context.messages, pieces, fates, trace=tuple(trace))
    return judged(context, draft)


@dataclass(frozen=True, slots=True)
class Cut:
    """Where the context is cut, by message index.

    `head`: what the summary stands for; `given`: what of it the summarizer is shown; `last`: the head's last exchange;
    `tail`: the first message of the tail; `earlier`: summaries in the head; `pins`: with their pairs, wherever they
    are.
    """

    system: int
    head: tuple[Span, ...]
    given: tuple[Span, ...]
    last: Span
    tail: int
    earlier: tuple[int, ...]
    pins: frozenset[int]


def _sizes(context: Context, history: History) -> Sequence[int]:
    sizes = context.layout.exchange_sizes
    return sizes if len(history.exchanges) == len(sizes) else [sizes[number] for number in history.exchanges]


def _spans(context: Context, numbers: Sequence[int]) -> tuple[Span, ...]:
    """Exchanges by ascending numbers as spans of messages, those that touch made one."""
    exchanges = context.layout.exchanges
    if numbers and numbers[-1] - numbers[0] + 1 == len(numbers):
        return (Span(exchanges[numbers[0]].start, exchanges[numbers[-1]].stop),)
    return tuple(merged(exchanges[number] for number in numbers))


def _cut(context: Context, policy: ExchangeSummaryPolicy, trace: list[str]) -> Cut | str:
    """The cut, or why there is nothing to compact."""
    layout = context.layout
    numbers, sizes = (history := history_of(context, policy)).exchanges, _sizes(context, history)
    length = _head_length(context, policy, history, sizes, trace)
    if length == 0:
        return "the head is empty"
    tail = layout.exchanges[numbers[length]].start if length < len(numbers) else len(context)
    trace.append(
        f"head: {length} exchanges, {grouped(sum(sizes[:length]))} characters; "
        f"tail: {len(numbers) - length} exchanges, {grouped(sum(sizes[length:]))} characters"
    )
    head = numbers[:length]
    old = {layout.exchange_index(i + 1) - 1 for i in layout.summaries}
    fresh = [number for number in head if number not in old] if old else head
    if not fresh:
        return "the head holds only an earlier summary"
    pins = pinned_with_pairs(context)
    spans = _spans(context, fresh)
    if not without(spans, pins):
        return "every message of the head is pinned"
    fresh_sizes = [size for number, size in zip(head, sizes, strict=False) if number not in old]
    skipped = guarded_start(fresh_sizes, policy.guard_total_chars)
    if skipped:
        trace.append(f"guard: the oldest {skipped} of {len(fresh)} exchanges are not shown to the summarizer")
    return Cut(
        system=leading_system(context.messages),
        head=spans,
        given=_spans(context, fresh[skipped:]),
        last=layout.exchanges[fresh[-1]],
        tail=tail,
        earlier=tuple(i for i in layout.summaries if layout.exchange_index(i + 1) - 1 in head),
        pins=pins,
    )


def _head_length(
    context: Context, policy: ExchangeSummaryPolicy, history: History, sizes: Sequence[int], trace: list[str]
) -> int:
    """How many exchanges are the head, by hand or by the policy; a manual run has reached its threshold."""
    layout = context.layout
    if context.split_at is not None:
        first_tail = max(layout.exchange_index(layout.index_of[context.split_at] + 1) - 1, 0)
        trace.append(f"split by hand before exchange {first_tail + 1}")
        return bisect_left(history.exchanges, first_tail)
    limit = 0 if context.manual else policy.trigger_on_history_size_chars
    tail_chars = policy.history_tail_size_chars_to_exclude
    trace.append(
        f"tail by size: below {grouped(tail_chars)} characters, at least {policy.min_tail_exchanges} exchanges"
    )
    return head_length(sizes, tail_chars, policy.min_tail_exchanges, limit)


def _request(context: Context, policy: ExchangeSummaryPolicy, cut: Cut) -> Rendered:
    """The prompt, then the guarded head; the earlier summary only if the policy nests or extends it."""
    previous = ""
    if policy.earlier_summary in ("nest", "extend"):
        texts = [context.messages[i].text for i in cut.earlier if context.messages[i].role != "assistant"]
        previous = "\n\n".join(map(summary_inside, texts))
    given = Given(
        "summary of the head",
        policy.prompt.strip(),
        cut.given,
        previous=previous,
        carry_on=policy.earlier_summary == "extend",
        hard_limit=policy.request_hard_limit_chars,
    )
    return render_request(
        context, given, language=policy.language, max_chars=policy.summary_char_limit, tools=policy.offer_tools
    )


def _pieces(context: Context, policy: ExchangeSummaryPolicy, cut: Cut, text: str) -> tuple[Piece, ...]:
    """System, node, pins, tail. Open calls of the last head exchange go with the node's response, so that their
    results,
    first in the tail, keep their pair; with pins in between they stand in a message of their own after the pins."""
    messages = context.messages
    stands_for = tuple(without(cut.head, cut.pins))
    carried = _open_calls(context, cut)
    kept = sorted(i for i in {*cut.pins, *context.layout.own_system} if cut.system <= i < cut.tail)
    if policy.earlier_summary == "keep":
        kept = sorted({*kept, *cut.earlier})
    newest = messages[cut.last.stop - 1]
    name, time = f"summary-{newest.id}", newest.time
    reply: tuple[Block, ...] = (Text(policy.summary_node_response_message),)
    node = Message(f"{name}:request", "user", (Text(text),), kind="summary", time=time)
    answer = Message(f"{name}:response", "assistant", reply if kept else (*reply, *carried), kind="summary", time=time)
    pieces: list[Piece] = [*kept_runs(range(cut.system)), Made(node, stands_for), Made(answer, stands_for)]
    pieces += kept_runs(kept)
    if kept and carried:
        bridge = Message(f"{name}:calls", "assistant", carried, time=time)
        pieces.append(Made(bridge, (cut.last,)))
    return (*pieces, *kept_runs(range(cut.tail, len(messages))))


def _open_calls(context: Context, cut: Cut) -> tuple[Block, ...]:
    """Calls of the head that the tail answers, but for those of messages that are kept as pins."""
    if not context.layout.open_across[cut.tail]:
        return ()
    answered = {result.call_id for m in context.messages[cut.tail : cut.tail + 200] for result in m.results}
    return tuple(
        call
        for index in range(cut.last.start, cut.last.stop)
        if index not in cut.pins
        for call in context.messages[index].calls
        if call.id in answered
    )


def _fates(
    context: Context, policy: ExchangeSummaryPolicy, cut: Cut, rendered: Rendered, abridged: Sequence[Span]
) -> tuple[FateSpan, ...]:
    """Later layers win: dropped, abridged, summarized, kept, pinned."""
    nested = rendered.request.previous != ""
    keep = set(context.layout.own_system)
    if policy.earlier_summary == "keep":
        keep |= set(cut.earlier)
    layers = [
        (Fate.DROPPED, [Span(0, len(context))]),
        (Fate.ABRIDGED, abridged),
        (Fate.DROPPED, [Span(i, i + 1) for i in cut.earlier]),
        (Fate.SUMMARIZED, [*cut.given, *([Span(i, i + 1) for i in cut.earlier] if nested else [])]),
        (Fate.KEPT, [Span(0, cut.system), Span(cut.tail, len(context)), *(Span(i, i + 1) for i in sorted(keep))]),
    ]
    return fate_spans(context, layers, cut.pins, rendered.saw)


STRATEGY = Strategy(
    id="exchange-summary",
    title="Exchange summary",
    about="A head/tail split by characters over exchanges; an abridged history and a model's summary in one node.",
    policy_type=ExchangeSummaryPolicy,
    triggers=triggers,
    compact=compact,
    gauge=gauge,
    unit="exchange",
    lint=lambda policy: lint_summary_prompt(policy.prompt),
)
