"""Losses that an export causes: kinds with a count. Their text is made here and nowhere else."""

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

    # Content of messages. The read-back accepts a difference where one of these is declared, and only so many times.
    REASONING = "reasoning block", "left out: only the model that wrote it can use it"
    UNKNOWN_BLOCKS = "block", "left out that only the source format knows"
    MEDIA = "attachment", "replaced by a line that names it"
    CALLS_AS_TEXT = "tool call", "written as text: {0} has none"
    RESULTS_AS_TEXT = "tool result", "written as text: {0} has none"
    ORPHAN_RESULTS = "tool result", "without a call, written as text"
    UNANSWERED_CALLS = "tool call", "without a result, answered as having none"
    INTERRUPTED_CALLS = "tool call", "without a result, sent as interrupted"
    SYSTEM_MESSAGES = "system message", "left out: {0} sends its own system prompt"
    USER_INSERTED = "user message", "inserted, {inserted!r}: {0}"
    ANSWER_INSERTED = "answer", "to a summary inserted, {inserted!r}: {0}"
    REQUESTS_PREFIXED = "request", "that {0} would skip, put after {inserted!r}"
    BLOCKS_AS_TEXT = "block", "written as text"
    # The form of messages, with all of their content.
    SYSTEM_PROMPT = "", "system prompt left out: {0} sends its own"
    PROMPT_AS_GUIDELINES = "", "system prompt written as user guidelines: {0} sends its own"
    TOOL_DEFINITIONS = "tool definition", "left out: {0} sends its own"
    ANSWERS_JOINED = "answer", "joined with the one before: the API takes no call after an answer"
    IDS_RENAMED = "tool call id", "renamed: the format needs each id once"
    RESULTS_MOVED = "tool result", "moved to its call"
    ERROR_MARKS = "tool result", "without its error mark: {0} has none"
    EMPTY_MESSAGES = "message", "left out: nothing in it can be sent"
    SUMMARIES_AS_TEXT = "summary", "in a compaction block, written as text: the API skips messages before such a block"
    SUMMARIES_AS_EVENTS = "summary", "made by {0}, written as an ordinary event"
    SUMMARY_WRAPPED = "", "{0} puts its own words around the summary of a compaction"
    SUMMARIES_UNFLAGGED = "earlier summary", "without the flag isHistorySummary: auggie does not send flagged entries"
    SUMMARY_FLAGGED = "", "auggie 0.36 does not send entries with the flag isHistorySummary; other versions do"
    LONG_RESULTS = "tool result", "of more than {0} bytes: Codex sends both ends (of over 12 000 for unknown models)"
    EDGE_LINES = "answer", "without empty lines at its edges: aider separates messages by them"
    MARKS_INDENTED = "answer", "with lines that look like marks, indented by a space"
    OTHER_AGENTS = "message", "of other agents, written as user text for {0}"
    AGENT_NAMED = "", "the agent is named `agent`: ADK tells an agent of another name what that one said"
    # What the loaded file has besides the context.
    MEMORIES = "line", "of the agent's memories left out: {0} has no place for them"
    HALF_CHARACTERS = "half character", "(lone surrogate) written as U+FFFD: no API takes it"
    COUNTS_OUT_OF_RANGE = "count", "of tokens or messages, negative or beyond all bounds, written as 0"
    NUL_BYTES = "NUL byte", "removed"
    DAMAGED_RECORDS = "record", "left out that the format's own loader cannot read"
    REQUEST_RECORDS = "record", "of requests left out: they belong to the old session"
    SUBAGENT_EVENTS = "event", "of sub-agents left out"
    OTHER_BRANCHES = "", "events of the conversation's other branches left out"
    EARLIER_CONDENSATIONS = "earlier condensation", "left out: the new one names all that is forgotten"
    UNFINISHED_EXCHANGES = "exchange", "that never completed left out: not part of the context"
    REPLACED_EXCHANGES = "exchange", "that earlier summaries replaced left out; augment:inserted keeps them"
    OLDER_EXCHANGES = "", "older exchanges left out: without a summary at the start they would be sent again"
    UNDO_OR_SHARE = "", "undo state and share link of the loaded session left out"
    TRAJECTORY_KEPT = "", "the steps under `trajectory` stay as recorded: only the history is sent"
    # The file as a whole.
    UNCHANGED = "", "nothing changed: this is the loaded session"
    DELETED_WHEN_OLD = (
        "",
        (
            "put back, Gemini CLI deletes it at its next start if its lastUpdated is older than the chats it keeps "
            "(general.sessionRetention, 30 days)"
        ),
    )
    NO_MESSAGE = "", "no message is left in it, and a session without one is not opened again"
    UNKNOWN_FOLDER = "", "the file has only a hash of its project folder: resume it in that folder"
    EMAIL_KEPT = "", "the file still holds the user's e-mail address (agentState.userEmail)"
    STILL_WRITTEN = "", "{0} is still being written ({1}): the export lacks records added after it was opened"
    SIZES_BESIDE = (
        "",
        (
            "it has no place for the window and the tokens of a prompt that is not in it: they are in a sidecar file "
            "of its name and .workbench; opened without that, it shows other sizes"
        ),
    )
    OTHER_SIZE = "", "opened again it shows {0} tokens instead of {1}: not all could be carried as it was"

    def __init__(self, noun: str, text: str) -> None:
        self.noun = noun
        self.text = text
        self.places = len({field for _, field, _, _ in Formatter().parse(text) if field and field.isdecimal()})


@dataclass(frozen=True, slots=True)
class Loss:
    """A kind of loss and how often it occurs. `details` are as many as its text has places for; `inserted` is the text
    that the export has beyond the messages, each of the `count` times."""

    kind: LossKind
    count: int = 1
    details: tuple[str, ...] = ()
    inserted: str = ""

    def __post_init__(self) -> None:
        if len(self.details) != self.kind.places:
            raise TypeError(f"{self.kind.name} takes {self.kind.places} details, not {len(self.details)}.")

    def __str__(self) -> str:
        text = self.kind.text.format(*self.details, inserted=self.inserted)
        return f"{counted(self.count, self.kind.noun)} {text}" if self.kind.noun else text


Losses = list[Loss]
"""List to which a writer and the kit add losses while they write."""


def loss_of(block: Thinking | Opaque | Media) -> Loss:
    """The loss of a block that the target has no place for."""
    match block:
        case Thinking():
            return Loss(LossKind.REASONING)
        case Opaque():
            return Loss(LossKind.UNKNOWN_BLOCKS)
        case Media():
            return Loss(LossKind.MEDIA)


def summed(losses: Iterable[Loss]) -> tuple[Loss, ...]:
    """The losses, with those of one kind and the same details as one."""
    counts = Counter[tuple[LossKind, tuple[str, ...], str]]()
    for loss in losses:
        counts[loss.kind, loss.details, loss.inserted] += loss.count
    return tuple(Loss(kind, count, details, inserted) for (kind, details, inserted), count in counts.items())


def count_losses(losses: Sequence[Loss], *kinds: LossKind) -> int:
    """How many losses of these kinds there are."""
    return sum(loss.count for loss in losses if loss.kind in kinds)
