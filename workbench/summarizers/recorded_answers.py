"""Answers of a recorded run, found by request key and not by order; and new answers in recorded form."""

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
"""Yields the requests to ask, receives their answers, and returns the answers to all requests."""


def ask_only_missing(generator: Compacting, known: Mapping[str, Answer]) -> Compacting:
    """Wrap `generator` so that it asks only requests without an answer in `known` (by request key)."""

    def answered(requests: Requests) -> Answering:
        missing = tuple(request for request in requests if request.key not in known)
        fresh = iter(((yield missing) if missing else ()) or ())
        return tuple(known[request.key] if request.key in known else next(fresh) for request in requests)

    return _map_turns(generator, answered)


def receive_recorded_forms(generator: Compacting) -> Compacting:
    """Wrap `generator` so that it receives each answer in recorded form. An interrupted and resumed run then equals an
    uninterrupted one."""

    def answered(requests: Requests) -> Answering:
        return tuple(map(recorded_form, (yield requests) or ()))

    return _map_turns(generator, answered)


def _map_turns(generator: Compacting, answered: Callable[[Requests], Answering]) -> Compacting:
    """Wrap `generator` so that `answered` decides which requests of a turn to ask, and returns all answers."""
    answers_so_far: tuple[Answer, ...] | None = None
    with closing(generator):
        while True:
            try:
                requests = generator.send(answers_so_far)
            except StopIteration as end:
                outcome: Outcome = end.value
                return outcome
            if isinstance(requests, ProgressStep):
                yield requests
                answers_so_far = None
            else:
                answers_so_far = yield from answered(requests)


def recorded_form(answer: Answer) -> Answer:
    """Return the answer as the run history returns it: secrets masked, broken characters replaced."""
    match answer:
        case ServerSummary():
            block = compaction_block(masked_value(answer.block.raw))
            return replace(answer, text=masked(valid_unicode(answer.text)), block=block)
        case Summary():
            return replace(answer, text=masked(valid_unicode(answer.text)))
        case _:
            return answer


def recorded_forms(answers: Mapping[str, Answer]) -> dict[str, Answer]:
    """Return all answers in recorded form."""
    return {key: recorded_form(answer) for key, answer in answers.items()}


def recorded_summarizer(answers: Mapping[str, Answer]) -> PureSummarizer:
    """Return a summarizer that answers each request with the answer recorded under its key."""

    def answer(request: SummaryRequest) -> Answer:
        found = answers.get(request.key)
        if found is None:
            return SummaryFailed("error", f"no recorded answer to this {request.purpose} request; run it again")
        return found

    return answer
