"""`clear-tool-results`: old tool results are replaced by a marker; the messages stay, no model is asked.

Parameters and meaning are those of Anthropic's `clear_tool_uses_20250919` (anthropic-sdk-python,
`types/beta/beta_clear_tool_uses_20250919_edit_param.py`). What goes where:

    before   call a · result a · call b · result b · … · call z · result z
    after    call a · [cleared] · call b · [cleared] · … · call z · result z
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from workbench.compaction.context import Context
from workbench.compaction.fates import Stroke, painted
from workbench.compaction.gauge import Gauge
from workbench.compaction.keeping import in_place, pinned_with_pairs
from workbench.compaction.layout import Layout, per_layout
from workbench.compaction.outcome import Fate, Outcome, unchanged
from workbench.compaction.policy import EarlierSummary, Policy, names_in, setting
from workbench.compaction.spans import each
from workbench.compaction.strategy import NOT_DUE, Compacting, Step, Strategy, Trigger, is_due, judged
from workbench.figures import grouped
from workbench.session import Block, Message, Span, Text, ToolResult, ToolUse, pairs_of


class ClearToolResultsPolicy(Policy):
    """The fields of `clear_tool_uses_20250919`, flattened, with the API's defaults."""

    trigger: Literal["input_tokens", "tool_uses"] = setting(
        "input_tokens", "trigger", "What is watched: tokens of the context, or the number of tool uses in it."
    )
    trigger_value: int = setting(
        100_000, "trigger", "Clear when there is at least so much.", unit="tokens or tool uses", ge=1
    )
    keep_tool_uses: int = setting(3, "split", "The newest tool uses stay as they are.", unit="tool uses", ge=0)
    clear_at_least_tokens: int = setting(
        0,
        "split",
        "Change nothing unless at least this is cleared: every change costs the prompt cache.",
        unit="tokens",
        ge=0,
    )
    exclude_tools: str = setting(
        "", "split", "Tools whose results are never cleared: names separated by commas. They count as tool uses."
    )
    clear_tool_inputs: bool = setting(False, "result", "Clear the inputs of the calls too.")
    clear_inputs_of: str = setting(
        "", "result", "Clear only the inputs of these tools: names separated by commas. Empty: of all."
    )
    placeholder: str = setting(
        "[Old tool result content cleared]", "result", "Stands for a cleared result.", min_length=1
    )
    earlier_summary: EarlierSummary = setting(
        "keep", "result", "Earlier summaries stay as they are whatever is chosen: only tool results are touched."
    )


@dataclass(frozen=True, slots=True)
class Use:
    """A tool call and its result: indexes of the messages, and the tool's name."""

    id: str
    name: str
    call: int
    result: int


@per_layout
def answered_uses(layout: Layout) -> tuple[Use, ...]:
    """The tool uses that have a result, in the order of their calls."""
    messages = layout.messages
    names = {(call.id, index): call.name for index, message in enumerate(messages) for call in message.calls}
    found = [
        Use(pair.id, names[pair.id, pair.call], pair.call, pair.result)
        for pair in pairs_of(messages)
        if pair.call is not None and pair.result is not None
    ]
    return tuple(sorted(found, key=lambda use: (use.call, use.result)))


@per_layout
def count_uses(layout: Layout) -> int:
    """How many calls there are, open ones too."""
    return sum(len(message.calls) for message in layout.messages)


def triggers(now: Gauge, policy: ClearToolResultsPolicy) -> tuple[Trigger, ...]:
    """The one that the policy chooses."""
    limit = policy.trigger_value
    if policy.trigger == "tool_uses":
        return (Trigger("tool uses", now.tool_uses, limit, "tool uses", now.tool_uses >= limit),)
    return (Trigger("tokens", now.tokens, limit, "tokens", now.tokens >= limit),)


def gauge(context: Context, policy: ClearToolResultsPolicy) -> Gauge:
    """The context's gauge with its tool uses counted."""
    return replace(context.gauge(), tool_uses=count_uses(context.layout))


def compact(context: Context, policy: ClearToolResultsPolicy) -> Compacting:
    """Clear all but the newest tool uses, oldest first, in place."""
    fired = triggers(gauge(context, policy), policy)
    trace = [str(trigger) for trigger in fired]
    if not is_due(context, fired):
        return unchanged(context.messages, NOT_DUE, trace)
    answered = answered_uses(context.layout)
    chosen = _chosen(context, policy, answered)
    changed = _changed(context, policy, chosen)
    trace.append(
        f"tool uses: {len(answered)} answered, the newest {min(policy.keep_tool_uses, len(answered))} kept; "
        f"{len(chosen)} may be cleared, in {len(changed)} messages"
    )
    if not changed:
        return unchanged(context.messages, "nothing to clear: every tool result is kept or cleared already", trace)
    if policy.clear_at_least_tokens and (few := _too_few(context, policy, changed)):
        return unchanged(context.messages, few, trace)
    yield Step("clear", f"{len(chosen)} tool uses")
    return judged(context, _outcome(context, changed, trace))


def _too_few(context: Context, policy: ClearToolResultsPolicy, changed: dict[int, Message]) -> str:
    """Why it is not worth it, "" if it is."""
    tokens = context.layout.sizes.tokens
    cleared = sum(tokens[i] - context.layout.measured(message).tokens for i, message in changed.items())
    if cleared >= policy.clear_at_least_tokens:
        return ""
    wanted = grouped(policy.clear_at_least_tokens)
    return f"only {grouped(cleared)} tokens could be cleared, less than the {wanted} asked for"


def _chosen(context: Context, policy: ClearToolResultsPolicy, answered: Sequence[Use]) -> list[Use]:
    """All but the newest, excluded tools and pins left out."""
    older = answered[: -policy.keep_tool_uses] if policy.keep_tool_uses else answered
    spared, pins = names_in(policy.exclude_tools), pinned_with_pairs(context)
    return [use for use in older if use.name not in spared and use.result not in pins and use.call not in pins]


def _changed(context: Context, policy: ClearToolResultsPolicy, chosen: Sequence[Use]) -> dict[int, Message]:
    """The messages that would differ, by index: their blocks replaced, their id and the rest as before."""
    results: dict[int, set[str]] = {}
    inputs: dict[int, set[str]] = {}
    only = names_in(policy.clear_inputs_of)
    for use in chosen:
        results.setdefault(use.result, set()).add(use.id)
        if policy.clear_tool_inputs and (not only or use.name in only):
            inputs.setdefault(use.call, set()).add(use.id)
    known = _made(context.layout).setdefault(policy.placeholder, {})
    changed: dict[int, Message] = {}
    for index in sorted(results.keys() | inputs.keys()):
        cleared = results.get(index, _NONE), inputs.get(index, _NONE)
        if index not in known or known[index][0] != cleared:
            known[index] = (cleared, _changed_message(context.messages[index], *cleared, policy.placeholder))
        message = known[index][1]
        if message is not context.messages[index]:
            changed[index] = message
    return changed


_NONE: set[str] = set()


@per_layout
def _made(layout: Layout) -> dict[str, dict[int, tuple[tuple[set[str], set[str]], Message]]]:
    """By placeholder and index: what was cleared, and the message without it. A plan clears thousands of results, and
    the next one nearly the same."""
    return {}


def _changed_message(message: Message, results: set[str], inputs: set[str], placeholder: str) -> Message:
    """The message with these results and inputs cleared; the same object if there is nothing to clear."""
    blocks = tuple(_cleared(block, results, inputs, placeholder) for block in message.blocks)
    if all(new is old for new, old in zip(blocks, message.blocks, strict=True)):
        return message
    return replace(message, blocks=blocks, source=())


def _cleared(block: Block, results: set[str], inputs: set[str], placeholder: str) -> Block:
    """The block without its content if its use is to be cleared; the same object if there is nothing to clear."""
    if isinstance(block, ToolResult) and block.call_id in results and block.text != placeholder:
        return ToolResult(block.call_id, (Text(placeholder),), block.is_error)
    if isinstance(block, ToolUse) and block.id in inputs and block.input:
        return ToolUse(block.id, block.name, {})
    return block


def _outcome(context: Context, changed: dict[int, Message], trace: list[str]) -> Outcome:
    pieces = in_place(Span(0, len(context)), changed)
    strokes = [
        Stroke(Fate.KEPT, [Span(0, len(context))]),
        Stroke(Fate.COMPRESSED, each(changed)),
        Stroke(Fate.PINNED, each(sorted(pinned_with_pairs(context)))),
    ]
    fates = painted(len(context), strokes)
    return Outcome("compacted", "", context.messages, tuple(pieces), fates, trace=tuple(trace))


STRATEGY = Strategy(
    id="clear-tool-results",
    title="Clear tool results",
    about="Old tool results are replaced by a marker and the newest stay; no model is asked.",
    policy_type=ClearToolResultsPolicy,
    triggers=triggers,
    compact=compact,
    gauge=gauge,
    unit="tool use",
    movable=False,
)
