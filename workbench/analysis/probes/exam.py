"""Exam of a model: the same probes are asked about several contexts, the arms: the full context, each compaction of it,
and no context at all.

Each context is sent as a conversation with the questions as the last user message, at temperature 0, so that the model
answers as the agent would. All arms get the same shuffled batches of questions. A model judges prose answers that do
not match verbatim, without knowing which arm answered or how many arms there are.

Answers of earlier runs are taken from the run history: no model gets the same questions in the same order again.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from xml.sax.saxutils import escape

from workbench.analysis.probes.probe import Probe, contains_term, mark_reply
from workbench.compaction.context import Context
from workbench.compaction.outcome import Outcome, unchanged
from workbench.compaction.prompts import load_prompt
from workbench.compaction.strategy import Compacting
from workbench.compaction.summary_request import Answer, MessagesBody, Summary, SummaryRequest, TextBody
from workbench.session import Message, Session
from workbench.session.masked import searched_message
from workbench.summarizers import run_history
from workbench.summarizers.run_records import RunRecord

QUESTIONS_PER_PROMPT = 12
"""Questions in one prompt. Prompts have fewer if the questions run out, or if each one left would give away an answer.
The number is fixed because the number of questions in one prompt moves the share of right answers, in a published study
by 9 to 11 points: shares with different numbers cannot be compared. 20 questions and their 4 controls fill 2 prompts,
40 and their 8 fill 4."""

JUDGEMENTS_PER_CALL = 40

ANSWER_TOKENS = 60
"""Output tokens reserved per answer and per judgement."""

TIMEOUT_S = 300.0
"""Seconds per call: a full context is long."""

FULL, NOTHING = "full context", "nothing"

_LINE = re.compile(r"^\W*(\d{1,4})\s*[:.)\]-]\s*(.*)$", re.MULTILINE)

_VERDICT = re.compile(r"^\W*(\d{1,4})\W+(yes|no)\b", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True)
class Arm:
    """Name and size in tokens of a context from which questions are answered."""

    name: str
    tokens: int


@dataclass(frozen=True)
class ArmContext:
    """Messages of an arm; `outcome` is the compaction, None for the full context and for no context. `masking` returns
    a message without its secrets, and may be cached."""

    arm: Arm
    messages: tuple[Message, ...]
    outcome: Outcome | None = None
    masking: Callable[[Message], Message] = searched_message

    @cached_property
    def masked(self) -> tuple[Message, ...]:
        """Messages without their secrets, for text search and display."""
        return tuple(map(self.masking, self.messages))


def arm_contexts(context: Context, outcomes: Sequence[tuple[str, Outcome]]) -> tuple[ArmContext, ...]:
    """Return the contexts of all arms: the full one, that of each outcome under its name, and none."""
    masking = context.shape.masking
    full = ArmContext(Arm(FULL, context.total.tokens), tuple(context.messages), masking=masking)
    between = (
        ArmContext(Arm(name, context.outcome_size(outcome).tokens), tuple(outcome.messages), outcome, masking)
        for name, outcome in outcomes
    )
    return (full, *between, ArmContext(Arm(NOTHING, 0), ()))


@dataclass(frozen=True)
class QuestionBatch:
    """Questions of one call: `numbers` are indexes of probes, `arm` is the index of the arm."""

    arm: int
    numbers: tuple[int, ...]
    request: SummaryRequest


@dataclass(frozen=True)
class Exam:
    """Probes, and the contexts of all arms."""

    session: Session
    probes: tuple[Probe, ...]
    contexts: tuple[ArmContext, ...]
    seed: int = 0

    @property
    def arms(self) -> tuple[Arm, ...]:
        """Arms in order."""
        return tuple(one.arm for one in self.contexts)

    @cached_property
    def batches(self) -> tuple[tuple[int, ...], ...]:
        """Indexes of probes in shuffled batches. No question gives away another answer of its batch."""
        left = list(range(len(self.probes)))
        random.Random(self.seed).shuffle(left)
        found: list[list[int]] = []
        for number in left:
            room = (batch for batch in found if len(batch) < QUESTIONS_PER_PROMPT)
            batch = next((batch for batch in room if not self._gives_away(number, batch)), None)
            if batch is None:
                found.append([number])
            else:
                batch.append(number)
        return tuple(map(tuple, found))

    def _gives_away(self, number: int, batch: Sequence[int]) -> bool:
        one = self.probes[number]
        return any(
            _states_answer(other.question, one) or _states_answer(one.question, other)
            for other in (self.probes[place] for place in batch)
        )

    @cached_property
    def question_batches(self) -> tuple[QuestionBatch, ...]:
        """Every call to the model, arm by arm."""
        return tuple(
            QuestionBatch(number, batch, self._request(source, batch))
            for number, source in enumerate(self.contexts)
            for batch in self.batches
        )

    def _request(self, source: ArmContext, batch: Sequence[int]) -> SummaryRequest:
        prompt = load_prompt("probe.md").text
        questions = "\n".join(f"{place}: {self.probes[number].question}" for place, number in enumerate(batch, 1))
        last = f"{prompt}\n\n{questions}"
        body = MessagesBody("messages_without_tools", self.session.system, (), source.messages, last)
        room = ANSWER_TOKENS * len(batch)
        return SummaryRequest(
            f"questions to {source.arm.name}",
            (),
            prompt,
            body if source.messages else TextBody(lambda: last),
            chars=len(last) + 8 * room,
            temperature=0.0,
            timeout_s=TIMEOUT_S,
            max_output_tokens=room,
        )

    def replies(self, answers: Mapping[str, Answer]) -> tuple[tuple[str | None, ...], ...]:
        """Return the replies by arm and probe, None if missing. The keys of `answers` are `SummaryRequest.key`."""
        found: list[list[str | None]] = [[None] * len(self.probes) for _ in self.arms]
        for sheet in self.question_batches:
            answer = answers.get(sheet.request.key)
            for place, text in _LINE.findall(answer.text) if isinstance(answer, Summary) else ():
                if 1 <= int(place) <= len(sheet.numbers):
                    found[sheet.arm][sheet.numbers[int(place) - 1]] = text.strip()
        return tuple(map(tuple, found))

    def doubtful_replies(self, replies: Sequence[Sequence[str | None]]) -> list[tuple[int, str]]:
        """Return the prose replies that code cannot judge, each once as (index of the probe, reply), shuffled over all
        arms."""
        doubtful = {
            (number, reply.strip()): None
            for row in replies
            for number, reply in enumerate(row)
            if self.probes[number].prose and reply and mark_reply(self.probes[number], reply) == "wrong"
        }
        found = list(doubtful)
        random.Random(self.seed).shuffle(found)
        return found

    def judge_requests(self, doubtful: Sequence[tuple[int, str]]) -> tuple[SummaryRequest, ...]:
        """Return the requests to the judge."""
        batches = [doubtful[at : at + JUDGEMENTS_PER_CALL] for at in range(0, len(doubtful), JUDGEMENTS_PER_CALL)]
        return tuple(map(self._judgement, batches))

    def _judgement(self, batch: Sequence[tuple[int, str]]) -> SummaryRequest:
        prompt = load_prompt("probe-judge.md").text
        items = "\n".join(
            f'<item number="{place}"><question>{escape(self.probes[number].question)}</question>'
            f"<right>{escape(self.probes[number].answer)}</right><given>{escape(reply)}</given></item>"
            for place, (number, reply) in enumerate(batch, 1)
        )
        whole = f"{prompt}\n\n<items>\n{items}\n</items>"
        return SummaryRequest(
            "judgement of answers",
            (),
            prompt,
            TextBody(lambda: whole),
            chars=len(whole),
            temperature=0.0,
            max_output_tokens=ANSWER_TOKENS * len(batch),
        )

    def most_judgements(self) -> Compacting:
        """Request judgements as if every arm gave long, different prose, for the upper bound of a cost estimate."""
        prose = [number for number, probe in enumerate(self.probes) if probe.prose]
        longest = [(number, f"{arm} word" * ANSWER_TOKENS) for number in prose for arm in range(len(self.contexts))]
        if longest:
            yield self.judge_requests(longest)
        return unchanged((), "questions change nothing")

    def accepted_replies(
        self, doubtful: Sequence[tuple[int, str]], answers: Mapping[str, Answer]
    ) -> set[tuple[int, str]]:
        """Return the replies that the judge accepted, as in `doubtful`."""
        right = set()
        for at, request in enumerate(self.judge_requests(doubtful)):
            answer = answers.get(request.key)
            for place, verdict in _VERDICT.findall(answer.text) if isinstance(answer, Summary) else ():
                index = at * JUDGEMENTS_PER_CALL + int(place) - 1
                if verdict.lower() == "yes" and 1 <= int(place) <= JUDGEMENTS_PER_CALL and index < len(doubtful):
                    right.add(doubtful[index])
        return right

    def asking(self, known: Mapping[str, Answer]) -> Compacting:
        """Request every answer and judgement that `known` does not have. Compacts nothing."""
        answers = dict(known)
        # Arms with the same content are asked once.
        missing = {
            sheet.request.key: sheet.request for sheet in self.question_batches if sheet.request.key not in answers
        }
        if missing:
            received = yield tuple(missing.values())
            answers.update(zip(missing, received or (), strict=True))
        doubtful = self.doubtful_replies(self.replies(answers))
        judging = tuple(request for request in self.judge_requests(doubtful) if request.key not in answers)
        if judging:
            yield judging
        return unchanged((), "questions change nothing")


def _states_answer(question: str, probe: Probe) -> bool:
    return bool(probe.answer) and not probe.prose and contains_term(probe.answer, question)


STRATEGY = "probe"
"""Strategy name of runs that asked probes and compacted nothing."""


def known_answers(session: str, model: str) -> dict[str, Answer]:
    """Return the answers of `model` by request key, without failures. `session` is the digest of the session. Raises
    BadInput for an unreadable run history."""
    runs = [
        one.id
        for one in run_history.list_runs()
        if (one.strategy, one.session, one.model) == (STRATEGY, session, model)
    ]
    found: dict[str, Answer] = {}
    for id in reversed(runs):
        found |= {
            key: answer for key, answer in run_history.load_run(id).answers.items() if isinstance(answer, Summary)
        }
    return found


def without_strategy(record: RunRecord) -> RunRecord:
    """Return the record of a run that asked probes, with `STRATEGY` as its strategy and without preset and policy."""
    return record.model_copy(update={"strategy": STRATEGY, "preset": "", "policy": {}})
