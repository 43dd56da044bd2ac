"""Answers that were given before, found by what was asked and not by order; and new ones, as they will be then."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import replace

from workbench.base.secrets import masked, masked_value
from workbench.base.text import valid_unicode
from workbench.compaction.outcome import Outcome
from workbench.compaction.strategy import Compacting, ProgressStep
from workbench.compaction.summary_request import Answer, Requests, Summary, SummaryFailed, SummaryRequest
from workbench.summarizers.server_endpoints import ServerSummary, compaction_block
from workbench.summarizers.summarizer import PureSummarizer

Answering = Generator[Requests, tuple[Answer, ...] | None, tuple[Answer, ...]]
"""Yields the requests that are to be answered, hears their answers, and returns those to all."""


def ask_only_missing(generator: Compacting, known: Mapping[str, Answer]) -> Compacting:
    """The same run, which asks only what has no answer among `known` (by the requests' keys)."""

    def answered(asked: Requests) -> Answering:
        missing = tuple(request for request in asked if request.key not in known)
        fresh = iter(((yield missing) if missing else ()) or ())
        return tuple(known[request.key] if request.key in known else next(fresh) for request in asked)

    return _map_turns(generator, answered)


def receive_recorded_forms(generator: Compacting) -> Compacting:
    """The same run, which hears every answer as it would again from the journal: one that is broken off and gone on
    with comes to what an unbroken one does."""

    def answered(asked: Requests) -> Answering:
        return tuple(map(recorded_form, (yield asked) or ()))

    return _map_turns(generator, answered)


def _map_turns(generator: Compacting, answered: Callable[[Requests], Answering]) -> Compacting:
    """The same run, of which `answered` puts every turn's requests on, or does not, and says what their answers are."""
    given: tuple[Answer, ...] | None = None
    with closing(generator):
        while True:
            try:
                asked = generator.send(given)
            except StopIteration as end:
                outcome: Outcome = end.value
                return outcome
            if isinstance(asked, ProgressStep):
                yield asked
                given = None
            else:
                given = yield from answered(asked)


def recorded_form(answer: Answer) -> Answer:
    """The answer as the journal gives it back, which keeps no secret and no half of a character."""
    match answer:
        case ServerSummary():
            block = compaction_block(masked_value(answer.block.raw))
            return replace(answer, text=masked(valid_unicode(answer.text)), block=block)
        case Summary():
            return replace(answer, text=masked(valid_unicode(answer.text)))
        case _:
            return answer


def recorded_forms(answers: Mapping[str, Answer]) -> dict[str, Answer]:
    """All of them as the journal gives them back."""
    return {key: recorded_form(answer) for key, answer in answers.items()}


def recorded_summarizer(answers: Mapping[str, Answer]) -> PureSummarizer:
    """Answers a request with the one recorded under its `key`."""

    def answer(request: SummaryRequest) -> Answer:
        found = answers.get(request.key)
        if found is None:
            return SummaryFailed("error", f"no recorded answer to this {request.purpose} request; run it again")
        return found

    return answer
