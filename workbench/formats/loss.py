"""Losses caused by an export: kinds with a count, and their only wording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from string import Formatter

from workbench.base.text import counted
from workbench.session import Media, Opaque, Thinking


class LossKind(Enum):
    """Kind of loss in an export: content that is left out, changed or added, or a fact that the user needs. Its value
    is the counted noun ("" without a count) and the text after it, with placeholders for details."""

    # Content of messages. The read-back accepts as many differences as are declared.
    REASONING = "reasoning block", "left out: only the model that wrote it can use it"
    UNKNOWN_BLOCKS = "block", "left out: only the source format knows it"
    MEDIA = "attachment", "replaced by a one-line placeholder"
    CALLS_AS_TEXT = "tool call", "written as text: {0} has none"
    RESULTS_AS_TEXT = "tool result", "written as text: {0} has none"
    ORPHAN_RESULTS = "tool result", "without a call, written as text"
    UNANSWERED_CALLS = "tool call", "without a result: got a placeholder result"
    INTERRUPTED_CALLS = "tool call", "without a result: marked as interrupted"
    SYSTEM_MESSAGES = "system message", "left out: {0} sends its own system prompt"
    USER_INSERTED = "user message", "inserted, {inserted!r}: {0}"
    ANSWER_INSERTED = "answer", "inserted after a summary, {inserted!r}: {0}"
    REQUESTS_PREFIXED = "request", "prefixed with {inserted!r}, or {0} would skip it"
    BLOCKS_AS_TEXT = "block", "written as text"
    # Changes of form that keep all content.
    SYSTEM_PROMPT = "", "system prompt left out: {0} sends its own"
    PROMPT_AS_GUIDELINES = "", "system prompt written as user guidelines: {0} sends its own"
    TOOL_DEFINITIONS = "tool definition", "left out: {0} sends its own"
    ANSWERS_JOINED = "answer", "merged with the previous one: the API allows no call after an answer"
    IDS_RENAMED = "tool call id", "renamed: ids must be unique in this format"
    RESULTS_MOVED = "tool result", "moved to its call"
    ERROR_MARKS = "tool result", "lost its error flag: {0} has none"
    EMPTY_MESSAGES = "message", "left out: it contains nothing to send"
    SUMMARIES_AS_TEXT = "summary", "in a compaction block, written as text: the API skips messages before such a block"
    SUMMARIES_AS_EVENTS = "summary", "made by {0}, written as an ordinary event"
    SUMMARY_WRAPPED = "", "{0} wraps the summary in its own text"
    SUMMARIES_UNFLAGGED = "earlier summary", "without the flag isHistorySummary: auggie does not send flagged entries"
    SUMMARY_FLAGGED = "", "auggie 0.36 does not send entries with the flag isHistorySummary; other versions do"
    LONG_RESULTS = "tool result", "over {0} bytes: Codex truncates it (over 12 000 for unknown models)"
    EDGE_LINES = "answer", "without empty lines at its edges: aider separates messages by them"
    MARKS_INDENTED = "answer", "with lines that look like aider's markers: indented by a space"
    OTHER_AGENTS = "message", "of other agents, written as user text for {0}"
    AGENT_NAMED = "", "the agent is named `agent`: under another name ADK shows it these messages as another agent's"
    # Parts of the loaded file outside the context.
    MEMORIES = "line", "of the agent's memories left out: {0} cannot store them"
    HALF_CHARACTERS = "half character", "(lone surrogate) written as U+FFFD: APIs reject it"
    COUNTS_OUT_OF_RANGE = "count", "of tokens or messages out of range: written as 0"
    NUL_BYTES = "NUL byte", "removed"
    DAMAGED_RECORDS = "record", "left out: the agent's own loader cannot read it"
    REQUEST_RECORDS = "record", "of requests left out: they belong to the old session"
    SUBAGENT_EVENTS = "event", "of sub-agents left out"
    OTHER_BRANCHES = "", "events of the conversation's other branches left out"
    EARLIER_CONDENSATIONS = "earlier condensation", "left out: the new one covers all forgotten events"
    UNFINISHED_EXCHANGES = "exchange", "left out: never completed, so not in the context"
    REPLACED_EXCHANGES = "exchange", "left out: replaced by earlier summaries; augment:inserted keeps it"
    OLDER_EXCHANGES = "", "older exchanges left out: without a summary at the start they would be sent again"
    UNDO_OR_SHARE = "", "undo state and share link of the loaded session left out"
    TRAJECTORY_KEPT = "", "the steps under `trajectory` stay as recorded: only the history is sent"
    # The file as a whole.
    UNCHANGED = "", "nothing changed: this is the loaded session"
    DELETED_WHEN_OLD = (
        "",
        (
            "Gemini CLI deletes a restored session at its next start if lastUpdated is older than its retention "
            "(general.sessionRetention, 30 days)"
        ),
    )
    NO_MESSAGE = "", "it has no message left, and a session without messages cannot be opened"
    UNKNOWN_FOLDER = "", "the file has only a hash of its project folder: resume it in that folder"
    EMAIL_KEPT = "", "the file still holds the user's e-mail address (agentState.userEmail)"
    STILL_WRITTEN = "", "{0} is still being written ({1}): the export lacks records added after it was opened"
    SIZES_BESIDE = (
        "",
        (
            "it cannot store the window and the unrecorded system + tools tokens: they are in the sidecar file "
            "NAME.workbench; opened without that, it shows other sizes"
        ),
    )
    OTHER_SIZE = "", "reopened, it shows {0} tokens instead of {1}: some content could not be carried over unchanged"

    def __init__(self, noun: str, text: str) -> None:
        self.noun = noun
        self.text = text
        self.placeholders = len({field for _, field, _, _ in Formatter().parse(text) if field and field.isdecimal()})


@dataclass(frozen=True, slots=True)
class Loss:
    """A kind of loss and its count. `details` fill the placeholders of its text; `inserted` is the text that the export
    has beyond the messages, each of the `count` times."""

    kind: LossKind
    count: int = 1
    details: tuple[str, ...] = ()
    inserted: str = ""

    def __post_init__(self) -> None:
        if len(self.details) != self.kind.placeholders:
            raise TypeError(f"{self.kind.name} takes {self.kind.placeholders} details, not {len(self.details)}.")

    def __str__(self) -> str:
        text = self.kind.text.format(*self.details, inserted=self.inserted)
        return f"{counted(self.count, self.kind.noun)} {text}" if self.kind.noun else text


Losses = list[Loss]
"""List to which a writer and the kit add losses while they write."""


def loss_of(block: Thinking | Opaque | Media) -> Loss:
    """Return the loss of a block that the target cannot hold."""
    match block:
        case Thinking():
            return Loss(LossKind.REASONING)
        case Opaque():
            return Loss(LossKind.UNKNOWN_BLOCKS)
        case Media():
            return Loss(LossKind.MEDIA)


def summed(losses: Iterable[Loss]) -> tuple[Loss, ...]:
    """Combine losses of one kind with the same details."""
    counts = Counter[tuple[LossKind, tuple[str, ...], str]]()
    for loss in losses:
        counts[loss.kind, loss.details, loss.inserted] += loss.count
    return tuple(Loss(kind, count, details, inserted) for (kind, details, inserted), count in counts.items())


def count_losses(losses: Sequence[Loss], *kinds: LossKind) -> int:
    """Return the number of losses of these kinds."""
    return sum(loss.count for loss in losses if loss.kind in kinds)
