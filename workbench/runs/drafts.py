"""Drafts of a run: summaries that the user can edit before they are committed.

The strategy's own generator runs again with the drafts as its answers, so that the committed outcome cannot disagree
with the drafts. An edit can change a later request; that request then has no draft and has to be sent.
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
    """A request, its answer, and the edited text. `original` is the received text, of a failed call the received part.
    `accepted`: the user accepts the text although the call failed."""

    request: SummaryRequest
    answer: Answer
    original: str
    text: str
    accepted: bool = False

    @property
    def edited(self) -> bool:
        return self.text.strip() != self.original.strip()

    @property
    def final_answer(self) -> Answer:
        """Answer for the strategy: the edited or accepted text, else the model's own answer."""
        if not (self.edited or (self.accepted and isinstance(self.answer, SummaryFailed))):
            return self.answer
        if not self.text.strip():
            return SummaryFailed("empty", "the draft has no text")
        if isinstance(self.answer, Summary):
            return Summary(self.text.strip(), self.answer.model, self.answer.usage, self.answer.seconds)
        return Summary(self.text.strip(), model="a person")


def drafts_of(run: Run, partial_texts: Sequence[str]) -> tuple[Draft, ...]:
    """Return the drafts of a run that has ended; `partial_texts[i]` is the text of call i if it failed."""
    return tuple(
        Draft(request, answer, text, text)
        for request, answer, partial in zip(run.requests, run.answers, partial_texts, strict=True)
        for text in [with_unix_newlines(answer.text if isinstance(answer, Summary) else partial)]
    )


def with_unix_newlines(text: str) -> str:
    """Return the text with \\n as its only line end, as the editor holds it."""
    return "\n".join(text.splitlines())


NOT_SENT = "the edited drafts change this request; send it"


def rerun_with_drafts(bench: Bench, drafts: Sequence[Draft]) -> Assessment:
    """Run the strategy again with the drafts as answers. O(messages): call it off the event loop."""

    def answer(request: SummaryRequest) -> Answer:
        draft = draft_for(request, drafts)
        return SummaryFailed("error", NOT_SENT) if draft is None else draft.final_answer

    return assess(bench, drive(bench.compacting(), answer))


def requests_without_draft(run: Run) -> tuple[SummaryRequest, ...]:
    """Return the requests of a `rerun_with_drafts` run that no draft answers: they have to be sent."""
    return tuple(
        request
        for request, answer in zip(run.requests, run.answers, strict=True)
        if isinstance(answer, SummaryFailed) and answer.detail == NOT_SENT
    )


def draft_for(request: SummaryRequest, drafts: Sequence[Draft]) -> Draft | None:
    """Return the draft of the same request, or of the same request about these messages and more; else None.

    A pin takes a message out of the messages to summarize; the draft that covers it may still be used.
    """
    same = next((draft for draft in drafts if draft.request.key == request.key), None)
    return same or next((draft for draft in drafts if _asks_about_part_of(request, draft.request)), None)


def _asks_about_part_of(request: SummaryRequest, other: SummaryRequest) -> bool:
    if (request.purpose, request.prompt, request.previous) != (other.purpose, other.prompt, other.previous):
        return False
    known = {message.id: message for message in other.messages}
    return all(known.get(message.id) is message for message in request.messages)


def draft_summarizer(drafts: Sequence[Draft], summarizer: Summarizer) -> Summarizer:
    """Return a summarizer that answers with the drafts and asks `summarizer` for the rest."""
    if not drafts:
        return summarizer

    async def summarize(request: SummaryRequest) -> Answer:
        draft = await asyncio.to_thread(draft_for, request, drafts)
        return draft.final_answer if draft else await summarizer(request)

    return summarize


async def user_writes(request: SummaryRequest) -> Answer:
    """Answer without a text: the user writes the summary."""
    return SummaryFailed("empty", "written here, by you")
