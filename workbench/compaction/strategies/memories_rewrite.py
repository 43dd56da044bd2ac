"""`memories-rewrite`: rewrite the agent's long-term memories to fewer lines. The history is not touched.

The newest memories follow the model's answer word for word. The model may see them, so that it does not repeat them,
but cannot change them. All lines count towards the limit, so that the result never fires the trigger.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.compaction import vocabulary
from workbench.compaction.context import Context, Gauge, memories_in
from workbench.compaction.memories import condense, essence
from workbench.compaction.outcome import Fate, FateSpan, KeptSpan, Outcome, Rung, unchanged
from workbench.compaction.policy import Converted, setting
from workbench.compaction.product_parameters import flag
from workbench.compaction.prompt_policies import TextPolicy, builtin_text
from workbench.compaction.prompts import fill, lint_prompt
from workbench.compaction.request import ask
from workbench.compaction.strategy import Compacting, Strategy, Trigger
from workbench.compaction.summary_request import SummaryFailed, SummaryRequest, TextBody
from workbench.session import Message, Text


class MemoriesRewritePolicy(TextPolicy):
    """Augment's `memories_params`. Its `maxLines` has no default there; 50 is the workbench's."""

    max_lines: int = setting(50, "trigger", "Rewrite when the memories have more lines than this.", unit="lines", ge=1)
    compression_target: int = setting(
        50, "summary", "Most lines after the rewrite, the newest memories included.", unit="lines", ge=1
    )
    num_recent_memories_to_keep: int = setting(
        10, "split", "Number of newest memories kept word for word.", unit="lines", ge=0
    )
    prompt: str = vocabulary.prompt(
        vocabulary.shipped_text("memories-rewrite.en.md"),
        empty="skipped. {compression_target} becomes the number of lines left after the newest memories, "
        "{num_recent_memories_to_keep} the number of these",
        old=("compression_prompt",),
    )
    recent_memories_subprompt: str = setting(
        vocabulary.shipped_text("recent-memories.en.md"),
        "summary",
        "Instruction about the newest memories, at the end of the request; {recent_memories} is replaced by them. "
        "The result ends with them word for word, whatever the model answers. Empty: no instruction.",
        multiline=True,
    )

    converted: ClassVar = {"earlier_summary": Converted()}
    builtin_texts: ClassVar = {
        "prompt": builtin_text("memories-rewrite"),
        "recent_memories_subprompt": builtin_text("recent-memories"),
    }

    @property
    def most_lines(self) -> int:
        """Most lines after the rewrite: never enough to fire the trigger again."""
        return min(self.compression_target, self.max_lines)


def triggers(now: Gauge, policy: MemoriesRewritePolicy) -> tuple[Trigger, ...]:
    """Return one trigger, which fires on more than `max_lines` lines if there is a prompt."""
    fires = now.memory_lines > policy.max_lines and bool(policy.prompt.strip())
    note = "" if policy.prompt.strip() else "skipped: there is no prompt"
    return (Trigger("memories", now.memory_lines, policy.max_lines + 1, "lines", fires, note),)


def compact(context: Context, policy: MemoriesRewritePolicy, trace: list[str]) -> Compacting:
    """Send one request for the older memories. The outcome holds the rewritten memories in `memories`, and the
    context's messages unchanged."""
    lines = context.memory_lines
    keep = policy.num_recent_memories_to_keep
    older, recent = (lines[:-keep], lines[-keep:]) if keep else (lines, [])
    room = policy.most_lines - len(recent)
    if not older:
        why = f"{len(lines)} memories, the newest {keep} kept" if lines else "there are no memories"
        return unchanged(context.messages, f"nothing to rewrite: {why}", trace)
    if room < 1:
        why = f"the newest {keep}, kept word for word, already fill {policy.most_lines} lines"
        return unchanged(context.messages, f"nothing can be rewritten: {why}", trace)

    answer = yield from ask(_request(older, recent, room, policy), trace)
    if isinstance(answer, SummaryFailed):
        return unchanged(context.messages, str(answer), trace)
    rewritten = _without_repeats(answer, recent, trace)
    if not rewritten:
        return unchanged(context.messages, "the answer has only the newest memories, which are kept anyway", trace)
    if len(rewritten) > room:
        trace.append(f"the answer's {len(rewritten)} lines were merged to {room}")
        rewritten = [memory.text for memory in condense(rewritten, room)]
    return _outcome(context, "\n".join([*rewritten, *recent]), trace)


def _without_repeats(answer: str, recent: Sequence[str], trace: list[str]) -> list[str]:
    """Memories in an answer, except those that are kept word for word anyway. Tags and fences around them are
    removed."""
    kept = set(map(essence, recent))
    lines = [line for line in memories_in(answer) if not _FRAME.fullmatch(line.strip())]
    new = [line for line in lines if essence(line) not in kept]
    if len(new) < len(lines):
        trace.append(f"{counted(len(lines) - len(new), 'line')} of the answer repeated the newest memories")
    return new


_FRAME = re.compile(r"</?[a-z_]+>|```\w*")


def _request(older: list[str], recent: Sequence[str], room: int, policy: MemoriesRewritePolicy) -> SummaryRequest:
    """Request with each memory as a message of its own, so that the lines of an answer can be traced to memories."""
    values = {"compression_target": str(room), "num_recent_memories_to_keep": str(len(recent))}
    prompt = fill(policy.sent_text("prompt"), values).strip()
    about_recent = fill(
        policy.sent_text("recent_memories_subprompt"), {**values, "recent_memories": "\n".join(recent)}
    ).strip()
    memories = tuple(Message(f"memory-{number}", "user", (Text(line),)) for number, line in enumerate(older, 1))
    parts = [prompt, "<memories>\n" + "\n".join(older) + "\n</memories>", *([about_recent] if recent else [])]
    return SummaryRequest(
        "memories",
        memories,
        prompt,
        TextBody(lambda: "\n\n".join(filter(None, parts)) + "\n"),
        form="memories",
        language=policy.language,
        max_lines=room,
        chars=sum(map(len, older)),
    )


def _outcome(context: Context, memories: str, trace: list[str]) -> Outcome:
    meter = context.layout.sizes.meter
    before, after = meter.text_tokens(context.memories), meter.text_tokens(memories)
    many, few = len(context.memory_lines), len(memories_in(memories))
    line = f"memories: {grouped(many)} → {grouped(few)} lines, {grouped(before)} → {grouped(after)} tokens"
    count = len(context)
    smaller = after < before
    return Outcome(
        "compacted" if smaller else "not_smaller",
        line if smaller else f"not smaller: {line}",
        context.messages,
        (KeptSpan(0, count),) if count else (),
        (FateSpan(0, count, Fate.KEPT),) if count else (),
        rungs=(Rung("rewrite", before, after),),
        memories=memories,
        trace=(*trace, line),
    )


def lint(policy: MemoriesRewritePolicy) -> tuple[str, ...]:
    """Problems of the prompt, then of the numbers."""
    found = list(lint_prompt(policy.sent_text("prompt")))
    target, keep = policy.compression_target, policy.num_recent_memories_to_keep
    if target < 50:
        found.append(f"compression_target = {target} loses much; use 50 to 100 lines.")
    if target > 100:
        found.append(f"compression_target = {target} saves little; use 50 to 100 lines.")
    if keep < 10:
        found.append(f"num_recent_memories_to_keep = {keep} lets the model rewrite new memories; use 10 to 20.")
    if keep > 20:
        found.append(f"num_recent_memories_to_keep = {keep} leaves little to rewrite; use 10 to 20.")
    if keep >= policy.most_lines:
        found.append(f"The newest {keep} memories fill all {policy.most_lines} lines; nothing can be rewritten.")
    if policy.max_lines < target:
        found.append(f"compression_target = {target} would fire again; max_lines = {policy.max_lines} is used instead.")
    return tuple(found)


STRATEGY = Strategy(
    id="memories-rewrite",
    title="Memories rewrite",
    about="Rewrites the agent's long-term memories to fewer lines. Leaves the history unchanged.",
    policy_type=MemoriesRewritePolicy,
    triggers=triggers,
    compact=compact,
    idle=lambda policy: "" if policy.prompt.strip() else "skipped: there is no prompt",
    prompts={"memories-rewrite": "prompt", "recent-memories": "recent_memories_subprompt"},
    default_preset="augment-memories",
    unit="memory",
    movable=False,
    lint=lint,
    parameters=flag(
        "memories_params",
        MemoriesRewritePolicy,
        (
            "compression_prompt",
            "compression_target",
            "num_recent_memories_to_keep",
            "recent_memories_subprompt",
            "max_lines",
        ),
        defaults={"prompt": "", "recent_memories_subprompt": ""},
    ),
)
