"""The last steps that strategies share: an answer made fit for use, an outcome judged by its size."""

from __future__ import annotations

from dataclasses import replace

from workbench.compaction.context import Context
from workbench.compaction.outcome import Outcome
from workbench.compaction.text import cut_at_sentence, without_summary_tags
from workbench.figures import grouped


def cleaned(text: str, limit: int, trace: list[str]) -> str:
    """A summarizer's answer without its outer tags, cut to `limit` characters (0: no limit); `trace` tells of it."""
    summary = without_summary_tags(text)
    if limit and len(summary) > limit:
        trace.append(f"the summary's {grouped(len(summary))} characters were cut to {grouped(limit)}")
        return cut_at_sentence(summary, limit)
    return summary


def judged(context: Context, draft: Outcome) -> Outcome:
    """The draft with its verdict: an outcome that is not smaller in tokens is reported, not called a success
    (spec/strategies.md, What holds §6)."""
    before, after = context.total, context.outcome_size(draft)
    line = f"{grouped(before.tokens)} → {grouped(after.tokens)} tokens"
    trace = (*draft.trace, line)
    if draft.status == "compacted" and after.tokens >= before.tokens:
        return replace(draft, status="not_smaller", reason=f"not smaller: {line}", trace=trace)
    return replace(draft, reason=f"{draft.reason}: {line}" if draft.reason else line, trace=trace)
