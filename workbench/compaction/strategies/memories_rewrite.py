"""`memories-rewrite`: the agent's long-term memories, rewritten to fewer lines. The history is not touched.

The newest memories are appended word for
word by us; the model never sees them, so it cannot change them.
"""

from __future__ import annotations

from typing import ClassVar

from workbench.base.figures import grouped
from workbench.compaction import vocabulary
from workbench.compaction.context import Context
from workbench.compaction.gauge import Gauge
from workbench.compaction.lint import lint_prompt
from workbench.compaction.outcome import Fate, FateSpan, Kept, Outcome, Rung, unchanged
from workbench.compaction.policy import Converted, Policy, setting
from workbench.compaction.prompts import fill
from workbench.compaction.request import answer_to
from workbench.compaction.strategy import (
    Compacting,
    Strategy,
    SummaryFailed,
    SummaryRequest,
    Trigger,
)
from workbench.session import Message, Text


class MemoriesRewritePolicy(Policy):
    """Augment's `memories_params`. Its `maxLines` has no value there; 50 is the workbench's."""

    max_lines: int = setting(50, "trigger", "Rewrite when there are more lines than this.", unit="lines", ge=1)
    compression_target: int = setting(50, "summary", "Lines that the rewritten part has at most.", unit="lines", ge=1)
    num_recent_memories_to_keep: int = setting(
        10, "split", "The newest memories, kept word for word.", unit="lines", ge=0
    )
    prompt: str = vocabulary.prompt(
        vocabulary.shipped_text("memories-rewrite.en.md"),
        empty="skipped. {compression_target} and {num_recent_memories_to_keep} are filled in",
        old=("compression_prompt",),
    )
    recent_memories_subprompt: str = setting(
        vocabulary.shipped_text("recent-memories.en.md"),
        "summary",
        "Stands between the rewritten memories and the newest ones. Empty: nothing does.",
        multiline=True,
    )

    converted: ClassVar = {"earlier_summary": Converted()}


def triggers(now: Gauge, policy: MemoriesRewritePolicy) -> tuple[Trigger, ...]:
    """More than `max_lines` lines."""
    fires = now.memory_lines > policy.max_lines and bool(policy.prompt.strip())
    note = "" if policy.prompt.strip() else "skipped: there is no prompt"
    return (Trigger("memories", now.memory_lines, policy.max_lines + 1, "lines", fires, note),)


def compact(context: Context, policy: MemoriesRewritePolicy, trace: list[str]) -> Compacting:
    """One request for the older memories; the outcome's `memories` carries the result, its messages are the input's."""
    lines = context.memory_lines
    keep = policy.num_recent_memories_to_keep
    older, recent = (lines[:-keep], lines[-keep:]) if keep else (lines, [])
    if not older:
        return unchanged(
            context.messages, f"nothing to rewrite: {len(lines)} memories, the newest {keep} are kept", trace
        )

    answer = yield from answer_to(_request(older, policy), trace)
    if isinstance(answer, SummaryFailed):
        return unchanged(context.messages, str(answer), trace)
    rewritten = [line for line in answer.split("\n") if line.strip()]
    if len(rewritten) > policy.compression_target:
        trace.append(f"the answer's {len(rewritten)} lines were cut to {policy.compression_target}")
        rewritten = rewritten[: policy.compression_target]
    bridge = [fill(policy.recent_memories_subprompt, _values(policy)).strip()] if recent else []
    memories = "\n".join([*rewritten, *filter(None, bridge), *recent])
    return _outcome(context, memories, trace)


def _values(policy: MemoriesRewritePolicy) -> dict[str, str]:
    return {
        "compression_target": str(policy.compression_target),
        "num_recent_memories_to_keep": str(policy.num_recent_memories_to_keep),
    }


def _request(older: list[str], policy: MemoriesRewritePolicy) -> SummaryRequest:
    """Each memory stands as a message of its own, so that an answer's lines can be traced to memories."""
    prompt = fill(policy.prompt, _values(policy)).strip()
    memories = tuple(
        Message(f"memory-{number}", "user", (Text(line),), kind="meta") for number, line in enumerate(older, 1)
    )
    return SummaryRequest(
        "memories",
        memories,
        prompt,
        lambda: prompt + "\n\n<memories>\n" + "\n".join(older) + "\n</memories>\n",
        form="lines",
        chars=sum(map(len, older)),
    )


def _outcome(context: Context, memories: str, trace: list[str]) -> Outcome:
    meter = context.layout.sizes.meter
    before, after = meter.text_tokens(context.memories), meter.text_tokens(memories)
    line = f"memories: {grouped(before)} → {grouped(after)} tokens, {len(memories.splitlines())} lines"
    count = len(context)
    smaller = after < before
    return Outcome(
        "compacted" if smaller else "not_smaller",
        line if smaller else f"not smaller: {line}",
        context.messages,
        (Kept(0, count),) if count else (),
        (FateSpan(0, count, Fate.KEPT),) if count else (),
        rungs=(Rung("rewrite", before, after),),
        memories=memories,
        trace=(*trace, line),
    )


STRATEGY = Strategy(
    id="memories-rewrite",
    title="Memories rewrite",
    about="The agent's long-term memories, rewritten to fewer lines; the history stays as it is.",
    policy_type=MemoriesRewritePolicy,
    triggers=triggers,
    when_due=compact,
    idle=lambda policy: "" if policy.prompt.strip() else "skipped: there is no prompt",
    prompts={"memories-rewrite": "prompt", "recent-memories": "recent_memories_subprompt"},
    default_preset="augment-memories",
    unit="memory",
    movable=False,
    lint=lambda policy: lint_prompt(policy.prompt),
)
