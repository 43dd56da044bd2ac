"""Grounding of all summaries of a run, each checked against the messages that it replaces."""

from __future__ import annotations

from collections import Counter

from workbench.analysis.grounding import Grounding, SummaryChecker
from workbench.analysis.summary_claims import ClaimKind
from workbench.compaction.outcome import NewMessage, Outcome
from workbench.compaction.summary_request import Summary
from workbench.summarizers.driver import Run


def run_grounding(run: Run) -> Grounding | None:
    """Return the grounding of the summaries in a run's outcome; None without one.

    Positions (`UnsupportedClaim.start`) refer to each claim's own summary. Summaries that a later one replaced are left
    out.
    """
    pairs = [
        (request, answer)
        for request, answer in zip(run.requests, run.answers, strict=True)
        if isinstance(answer, Summary) and _is_in_outcome(answer.text, run.outcome)
    ]
    if not pairs:
        return None
    found = [SummaryChecker(request.masked, request.previous).check(answer.text) for request, answer in pairs]
    checked: Counter[ClaimKind] = Counter()
    for one in found:
        checked.update(one.checked)
    return Grounding(dict(checked), tuple(missing for one in found for missing in one.unfounded))


def _is_in_outcome(text: str, outcome: Outcome) -> bool:
    words = text.strip()
    return any(words[:400] in piece.message.text for piece in outcome.pieces if isinstance(piece, NewMessage)) or words[
        :400
    ] in (outcome.memories or "")
