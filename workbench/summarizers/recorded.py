"""Answers that were given before, found by what was asked and not by order."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing

from workbench.compaction.outcome import Outcome
from workbench.compaction.strategy import Answer, Compacting, Step, SummaryFailed, SummaryRequest
from workbench.summarizers.summarizer import Answerer


def but_known(generator: Compacting, known: Mapping[str, Answer]) -> Compacting:
    """The same run, which asks only what has no answer among `known` (by the requests' keys)."""
    given: tuple[Answer, ...] | None = None
    with closing(generator):
        while True:
            try:
                asked = generator.send(given)
            except StopIteration as end:
                outcome: Outcome = end.value
                return outcome
            if isinstance(asked, Step):
                given = yield asked
                continue
            missing = tuple(request for request in asked if request.key not in known)
            answers = (yield missing) if missing else ()
            fresh = iter(answers or ())
            given = tuple(known[request.key] if request.key in known else next(fresh) for request in asked)


def recorded(answers: Mapping[str, Answer]) -> Answerer:
    """Answers a request with the one recorded under its `key`."""

    def answer(request: SummaryRequest) -> Answer:
        found = answers.get(request.key)
        if found is None:
            return SummaryFailed("error", f"no recorded answer to this {request.purpose} request; run it again")
        return found

    return answer
