"""The grounding of what a run wrote: each summary against the messages that it stands for, all told as one."""

from __future__ import annotations

from collections import Counter

from workbench.analysis.claims import ClaimKind
from workbench.analysis.grounding import Ground, Grounding
from workbench.compaction.outcome import NewMessage, Outcome
from workbench.compaction.summary_request import Summary
from workbench.summarizers.driver import Run


def grounded(run: Run) -> Grounding | None:
    """What the summaries in a run's outcome say without ground; None where none was written.

    A place (`Unfounded.start`) counts in its own summary. Summaries that a later one replaced do not count.
    """
    pairs = [
        (request, answer)
        for request, answer in zip(run.requests, run.answers, strict=True)
        if isinstance(answer, Summary) and _stands(answer.text, run.outcome)
    ]
    if not pairs:
        return None
    found = [Ground(request.masked, request.previous).check(answer.text) for request, answer in pairs]
    checked: Counter[ClaimKind] = Counter()
    for one in found:
        checked.update(one.checked)
    return Grounding(dict(checked), tuple(missing for one in found for missing in one.unfounded))


def _stands(text: str, outcome: Outcome) -> bool:
    words = text.strip()
    return any(words[:400] in piece.message.text for piece in outcome.pieces if isinstance(piece, NewMessage)) or words[
        :400
    ] in (outcome.memories or "")
