"""Answers that were given before, found by what was asked and not by order."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.compaction.strategy import Answer, SummaryFailed, SummaryRequest
from workbench.summarizers.summarizer import Answerer


def recorded(answers: Mapping[str, Answer]) -> Answerer:
    """Answers a request with the one recorded under its `key`."""

    def answer(request: SummaryRequest) -> Answer:
        found = answers.get(request.key)
        if found is None:
            return SummaryFailed("error", f"no recorded answer to this {request.purpose} request; run it again")
        return found

    return answer
