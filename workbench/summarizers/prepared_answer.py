"""Prepared answers for demos: invented texts, streamed offline at a fixed pace. They are not recorded from a run."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from workbench.compaction.summary_request import Answer, Summary, SummaryRequest
from workbench.summarizers.live_events import CallEnded, OnLiveEvent, PromptSent, TextReceived
from workbench.summarizers.summarizer import Summarizer

MODEL = "recording"

FOLDER = Path(__file__).resolve().parent / "recordings"

DEMO = "claude-code-overflow"

AT_LINE_END = 4
"""Length of the pause at a line break, in pauses between words: models are slower there, too."""

Pause = Callable[[float], Awaitable[None]]


class PreparedAnswer(BaseModel):
    """Prepared answer for one sample session.

    `about`: what is invented. `session`, `preset`: what it was written for. `priced_as`: model whose prices estimate
    the cost of such a live call. `first_token_s`: seconds before the first word. `words_per_s`: words per second after
    it. `text`: lines of the answer.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    about: str
    session: str
    preset: str
    priced_as: str
    first_token_s: float
    words_per_s: float
    text: tuple[str, ...]

    @property
    def pace(self) -> str:
        """Sentence that states the pace."""
        first, then = f"{self.first_token_s:g} s", f"{self.words_per_s:g} a second"
        return f"It comes at a set pace: the first word after {first}, then {then}."

    @property
    def answer(self) -> str:
        return "\n".join(self.text)


def prepared_answers() -> tuple[str, ...]:
    """Return the names of the packaged prepared answers, sorted."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


def load_prepared_answer(name: str = DEMO) -> PreparedAnswer:
    return PreparedAnswer.model_validate_json((FOLDER / f"{name}.json").read_bytes())


async def no_pause(seconds: float) -> None:
    """Return at once, for `pause` of `prepared_summarizer`."""


def prepared_summarizer(recording: PreparedAnswer, on_event: OnLiveEvent, pause: Pause = asyncio.sleep) -> Summarizer:
    """Return a summarizer that sends a prepared answer to `on_event` word by word, whatever the request. It waits
    with `pause(seconds)`; `no_pause` makes it send everything at once."""

    async def summarize(request: SummaryRequest) -> Answer:
        key = await asyncio.to_thread(lambda: request.key)
        began = time.perf_counter()
        on_event(PromptSent(key, MODEL, 1, len(request.text)))
        await pause(recording.first_token_s)
        for word in re.findall(r"\s*\S+", recording.answer):
            on_event(TextReceived(key, word))
            await pause((AT_LINE_END if "\n" in word else 1) / recording.words_per_s)
        seconds = time.perf_counter() - began
        on_event(CallEnded(key, "end_turn", seconds))
        return Summary(recording.answer, model=MODEL, seconds=seconds)

    return summarize
