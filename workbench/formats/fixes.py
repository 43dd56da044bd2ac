"""Faults of a damaged session and the fixes of a repair: typed values, and their only wording.

`FIXED` describes the fix of each kind of fault, `LEFT` the reason why a fault stays. JSON is made from the same
values.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct


class Fault(StrEnum):
    """Kinds of damage. The value is the name in JSON."""

    NUL_PADDING = "nul-padding"
    CUT_RECORD = "cut-record"
    GLUED_RECORDS = "glued-records"
    SPLIT_RECORD = "split-record"
    NOT_A_RECORD = "not-a-record"
    BROKEN_TEXT = "broken-text"
    LONE_SURROGATE = "lone-surrogate"
    LINE_SEPARATOR = "line-separator"
    CUT_DOCUMENT = "cut-document"
    TRAILING_BYTES = "trailing-bytes"
    MISSING_HEADER = "missing-header"
    MISSING_FIELD = "missing-field"
    DANGLING_PARENT = "dangling-parent"
    REPEATED_ID = "repeated-id"
    REPEATED_RECORD = "repeated-record"
    OTHER_BRANCH = "other-branch"
    SEVERAL_SESSIONS = "several-sessions"
    NEGATIVE_COUNT = "negative-count"
    IMPOSSIBLE_USAGE = "impossible-usage"
    STALE_USAGE = "stale-usage"
    ORPHAN_RESULT = "orphan-result"
    EARLY_RESULT = "early-result"
    LATE_RESULT = "late-result"
    REPEATED_RESULT = "repeated-result"
    MISSING_RESULT = "missing-result"
    IMAGE_PIXELS = "image-pixels"
    IMAGE_BYTES = "image-bytes"
    IMAGE_COUNT = "image-count"
    REQUEST_BYTES = "request-bytes"
    REFUSED_REASONING = "refused-reasoning"
    OLDER_COMPACTION = "older-compaction"
    LOST_SUMMARY = "lost-summary"
    NO_FIRST_MESSAGE = "no-first-message"
    REWRITTEN = "rewritten"
    REFUSED_BY_RULES = "refused-by-rules"
    CHANGED_CONTENT = "changed-content"


FIXED: dict[Fault, str] = {
    Fault.NUL_PADDING: "removed {subject} NUL bytes left by a crash",
    Fault.CUT_RECORD: "removed a record cut off after {subject} bytes; the rest is lost",
    Fault.GLUED_RECORDS: "put {subject} records from one line on separate lines",
    Fault.SPLIT_RECORD: "joined a record that was split over {subject} lines",
    Fault.NOT_A_RECORD: "removed {subject} bytes that are not a record",
    Fault.BROKEN_TEXT: "rewrote the record as strict JSON: it had invalid UTF-8, control characters, NaN or similar",
    Fault.LONE_SURROGATE: "replaced {subject} lone surrogates by U+FFFD: APIs reject them",
    Fault.LINE_SEPARATOR: "escaped {subject} raw U+2028 or U+2029: some agents end a line there",
    Fault.CUT_DOCUMENT: "closed a document that was cut off; its last {subject} bytes could not be read",
    Fault.TRAILING_BYTES: "removed {subject} bytes after the end of the document",
    Fault.MISSING_HEADER: "added the missing header line ({subject})",
    Fault.MISSING_FIELD: "added the missing field {subject}",
    Fault.DANGLING_PARENT: "linked to {subject}: its parent is not in the file before it",
    Fault.REPEATED_ID: "gave the record a new id: {subject} has the same",
    Fault.REPEATED_RECORD: "removed a copy of the record on {subject}",
    Fault.OTHER_BRANCH: "made the branch that ends on line {subject} the newest",
    Fault.SEVERAL_SESSIONS: "set the session id to {subject}, as in the other records",
    Fault.NEGATIVE_COUNT: "set {subject} to 0: a count cannot be negative",
    Fault.IMPOSSIBLE_USAGE: "removed the recorded usage: {subject} tokens are impossible here",
    Fault.STALE_USAGE: "removed the recorded usage: {subject} tokens are more than the context can have",
    Fault.ORPHAN_RESULT: "turned the result of {subject} into text: its call is not in the context",
    Fault.EARLY_RESULT: "moved the result of {subject} right after its call",
    Fault.LATE_RESULT: "moved the result of {subject} to its call",
    Fault.REPEATED_RESULT: "turned a second result of {subject} into text",
    Fault.MISSING_RESULT: "added a result for {subject} that says none was recorded",
    Fault.IMAGE_PIXELS: "replaced an image by a text: {subject}",
    Fault.IMAGE_BYTES: "replaced an image by a text: {subject}",
    Fault.IMAGE_COUNT: "replaced an image by a text: {subject}",
    Fault.REQUEST_BYTES: "replaced an image by a text: {subject}",
    Fault.REFUSED_REASONING: "removed {subject} reasoning blocks that the API rejects",
    Fault.OLDER_COMPACTION: "removed an older compaction from the range that {subject} keeps",
    Fault.LOST_SUMMARY: "marked the message as the summary {subject}, which hides the messages before it",
    Fault.NO_FIRST_MESSAGE: "inserted a user message {subject} before it: a session cannot start with an answer",
    Fault.REWRITTEN: "wrote the newest context as a new session: {subject}",
}

LEFT: dict[Fault, str] = {
    Fault.CUT_RECORD: "a record is cut off after {subject} bytes",
    Fault.CUT_DOCUMENT: "the document is cut off before its first message",
    Fault.REFUSED_REASONING: "the API rejected the order of the reasoning blocks; start a new turn without reasoning",
    Fault.REQUEST_BYTES: "the request is {subject} bytes large without its images; compact the session",
    Fault.REFUSED_BY_RULES: "{subject}",
    Fault.CHANGED_CONTENT: "the repaired file does not read back as expected: {subject}",
}


class Fix(Struct, frozen=True):
    """One fix, or one fault that stays (`Repair.left`).

    `line` is the 1-based line in the damaged file, `entry` the 1-based index in the list of messages of a document;
    both are None for the entire file. `subject` is the value in the sentence: an id, a count, a size.
    """

    fault: Fault
    line: int | None = None
    entry: int | None = None
    subject: str = ""

    @property
    def reason(self) -> str:
        """Text of the fix."""
        return FIXED[self.fault].format(subject=self.subject)

    @property
    def objection(self) -> str:
        """Text of a fault that stays."""
        return LEFT.get(self.fault, "{subject}").format(subject=self.subject or self.fault)

    @property
    def place(self) -> str:
        """ "line 12", "entry 12", or "file"."""
        if self.line is not None:
            return f"line {self.line}"
        return f"entry {self.entry}" if self.entry is not None else "file"


class Branch(Struct, frozen=True):
    """A chain of records from the first one to a newest one.

    `line` is that of the newest record, by which the user chooses; `messages` counts the messages on the chain. `live`:
    the agent loads this branch of the damaged file. `chosen`: the repaired file has it.
    """

    line: int
    messages: int
    live: bool = False
    chosen: bool = False


def in_order(fixes: Sequence[Fix]) -> tuple[Fix, ...]:
    """Sort the fixes in file order, those of the entire file first."""
    return tuple(sorted(fixes, key=lambda fix: (fix.line or 0, fix.entry or 0)))
