"""A prepared answer, played as if it were being written: for demonstrations, offline. No run was recorded."""

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
"""A pause at the end of a line is so many times that between words: models, too, hesitate there."""

Pause = Callable[[float], Awaitable[None]]


class PreparedAnswer(BaseModel):
    """An answer for one sample session, written beforehand. `about` says what is made up; `text` is its lines.

    `first_token_s` seconds pass before the first word; then come `words_per_s`. `priced_as` is the model whose prices
    say what a live call of this size costs.
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
        """How it is played, in a sentence."""
        first, then = f"{self.first_token_s:g} s", f"{self.words_per_s:g} a second"
        return f"It comes at a set pace: the first word after {first}, then {then}."

    @property
    def answer(self) -> str:
        return "\n".join(self.text)


def prepared_answers() -> tuple[str, ...]:
    """The names of all that come with the program."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


def load_prepared_answer(name: str = DEMO) -> PreparedAnswer:
    return PreparedAnswer.model_validate_json((FOLDER / f"{name}.json").read_bytes())


async def no_pause(seconds: float) -> None:
    """A pause that is none."""


def prepared_summarizer(recording: PreparedAnswer, on_event: OnLiveEvent, pause: Pause = asyncio.sleep) -> Summarizer:
    """Answers every request with the recording, word by word. `pause` waits, or does not (`at_once`)."""

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
