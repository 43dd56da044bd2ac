"""Listens to a run while it goes on, so that it can be kept however it ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from workbench.compaction.summary_request import Answer, SummaryFailed, SummaryRequest
from workbench.session import Usage
from workbench.summarizers.driver import Answered, Event, Failed, RequestsMade
from workbench.summarizers.live_events import Ended, LiveEvent, Misbilled, bills, sentence
from workbench.summarizers.runs import Call, call_record, new_id, total
from workbench.tokens.cost import Cost, actual_of_all


class Recorder:
    """Told what the driver tells (`told`) and what live calls tell (`heard`), both on the event loop. `id` is the run's
    in the journal, however often it is kept."""

    def __init__(self) -> None:
        self.id = new_id()
        self.events: list[LiveEvent] = []
        self._by_key: defaultdict[str, list[LiveEvent]] = defaultdict(list)
        self._requests: list[SummaryRequest] = []
        self._answers: dict[int, Answer] = {}
        self._seconds: dict[str, float] = {}

    def told(self, event: Event) -> None:
        match event:
            case RequestsMade(requests, _):
                self._requests.extend(requests)
            case Answered(number, _, summary):
                self._answers[number] = summary
            case Failed(number, _, failure):
                self._answers[number] = failure
            case _:
                pass

    def took(self, requests: Sequence[SummaryRequest], answers: Sequence[Answer]) -> None:
        """What nobody watched: all requests of a run and their answers."""
        self._requests.extend(requests)
        self._answers.update(enumerate(answers))

    def heard(self, event: LiveEvent) -> None:
        self.events.append(event)
        self._by_key[event.key].append(event)
        if isinstance(event, Ended):
            self._seconds[event.key] = event.seconds

    def calls(self) -> tuple[Call, ...]:
        """The record of every request so far; those without an answer count as cancelled.

        Renders and hashes the requests: not for the event loop.
        """
        return tuple(map(self.call, range(len(self._requests))))

    def call(self, number: int) -> Call:
        """That of one of them."""
        request = self._requests[number]
        events, seconds = self._by_key.get(request.key, ()), self._seconds.get(request.key, 0.0)
        return call_record(request, self._answers.get(number), events, seconds)

    def bills_of(self, number: int) -> tuple[Usage, ...]:
        """What each attempt at one of them has billed."""
        return bills(self._by_key.get(self._requests[number].key, ()))

    @property
    def failed(self) -> bool:
        """Whether a request has ended without a summary."""
        return any(isinstance(answer, SummaryFailed) for answer in self._answers.values())

    @property
    def bills(self) -> tuple[Usage, ...]:
        """What each attempt of live calls has billed so far, those that failed included."""
        return bills(self.events)

    @property
    def misbilled(self) -> str:
        """Why what was billed is not known, "" where nothing impossible was told."""
        return next((sentence(event) for event in self.events if isinstance(event, Misbilled)), "")

    def cost(self, model: str) -> Cost:
        """What all attempts cost together; unknown where the usage of one was left out. Raises BadInput for a broken
        table of the user's."""
        return Cost(model, note=self.misbilled) if self.misbilled else actual_of_all(self.bills, model)

    @property
    def usage(self) -> Usage:
        """All of that together."""
        return total(self.bills)
