"""The drafts of a run: what was written, what a person made of it, and what follows if it is taken as it stands.

A run is told again from its start with the drafts as its answers, by the strategy's own generator, so that what is
committed cannot disagree with what was read. A request that no draft answers any more (an edit changed what a later
call is asked) is named: it has to be sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.bench import Bench
from workbench.bench.assessment import Assessment, assess
from workbench.compaction.summary_request import Answer, Summary, SummaryFailed, SummaryRequest
from workbench.summarizers.driver import Run, drive
from workbench.summarizers.summarizer import Summarizer


@dataclass(frozen=True)
class Draft:
    """One request, what came back, and the text as it stands now. `first` is the text as it came, of a failed call as
    far as it came. `accepted`: a person takes it although the call failed."""

    request: SummaryRequest
    answer: Answer
    first: str
    text: str
    accepted: bool = False

    @property
    def edited(self) -> bool:
        return self.text.strip() != self.first.strip()

    @property
    def final_answer(self) -> Answer:
        """What the strategy receives: the answer itself while nobody touched it."""
        if not (self.edited or (self.accepted and isinstance(self.answer, SummaryFailed))):
            return self.answer
        if not self.text.strip():
            return SummaryFailed("empty", "the draft has no text")
        if isinstance(self.answer, Summary):
            return Summary(self.text.strip(), self.answer.model, self.answer.usage, self.answer.seconds)
        return Summary(self.text.strip(), model="a person")


def drafts_of(run: Run, heard: Sequence[str]) -> tuple[Draft, ...]:
    """The drafts of a run that has ended; `heard[i]` is what call i had written, for the calls that failed."""
    return tuple(
        Draft(request, answer, text, text)
        for request, answer, came in zip(run.requests, run.answers, heard, strict=True)
        for text in [with_unix_newlines(answer.text if isinstance(answer, Summary) else came)]
    )


def with_unix_newlines(text: str) -> str:
    """The text with one kind of line end, as every editor keeps it."""
    return "\n".join(text.splitlines())


NOT_SENT = "the edited drafts change this request; send it"


def rerun_with_drafts(bench: Bench, drafts: Sequence[Draft]) -> Assessment:
    """Tell the run again with the drafts. Walks the head: not for the event loop."""

    def answer(request: SummaryRequest) -> Answer:
        draft = draft_for(request, drafts)
        return SummaryFailed("error", NOT_SENT) if draft is None else draft.final_answer

    return assess(bench, drive(bench.compacting(), answer))


def requests_without_draft(run: Run) -> tuple[SummaryRequest, ...]:
    """The requests of a run told again that no draft answers: they would have to be sent."""
    return tuple(
        request
        for request, answer in zip(run.requests, run.answers, strict=True)
        if isinstance(answer, SummaryFailed) and answer.detail == NOT_SENT
    )


def draft_for(request: SummaryRequest, drafts: Sequence[Draft]) -> Draft | None:
    """The draft that answers a request: the one that was asked the same, or the same about these messages and more.

    The latter is what a pin does: it takes a message out of what is summarized. A draft about it may stand.
    """
    same = next((draft for draft in drafts if draft.request.key == request.key), None)
    return same or next((draft for draft in drafts if _asks_about_part_of(request, draft.request)), None)


def _asks_about_part_of(request: SummaryRequest, other: SummaryRequest) -> bool:
    if (request.purpose, request.prompt, request.previous) != (other.purpose, other.prompt, other.previous):
        return False
    known = {message.id: message for message in other.messages}
    return all(known.get(message.id) is message for message in request.messages)


def draft_summarizer(drafts: Sequence[Draft], summarizer: Summarizer) -> Summarizer:
    """Answers with the drafts, and asks `summarizer` where none answers."""
    if not drafts:
        return summarizer

    async def summarize(request: SummaryRequest) -> Answer:
        draft = await asyncio.to_thread(draft_for, request, drafts)
        return draft.final_answer if draft else await summarizer(request)

    return summarize


async def user_writes(request: SummaryRequest) -> Answer:
    """The person's own words: none yet, but for the titles that are asked for."""
    return SummaryFailed("empty", "written here, by you")
