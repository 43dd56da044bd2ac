"""Classify the type of a session's task from its calls and messages, with evidence.

The cut-offs are the workbench's own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from workbench.base.figures import grouped, percent
from workbench.compaction.shape import Shape, per_shape
from workbench.compaction.shape_calls import calls_of
from workbench.facts.calls import ToolCall, is_check
from workbench.facts.commands_and_paths import core_command
from workbench.facts.tools import CHANGES, tool_name
from workbench.facts.wording import is_agent_message

TaskKind = Literal["code", "analysis", "conversation", "mixed", "unknown"]

_LOOKS = re.compile(
    r"^(?:cat|head|tail|less|ls|tree|find|fd|grep|rg|ag|awk|wc|du|df|stat|file|jq|sqlite3|psql|mysql|duckdb|curl|wget|"
    r"sed -n|git (?:log|show|diff|status|blame|grep|ls-files|branch)|gh (?:api|(?:pr|issue|run) (?:view|list|diff)))\b"
)
_SEARCHES = ("grep", "glob", "ls", "search", "find", "query", "fetch", "codebase_retrieval", "list", "read")
_QUERY = re.compile(r"(?:^|_)(?:" + "|".join(_SEARCHES) + r")(?:_|$|er|s$)|websearch|webfetch|toolsearch")


class TaskCutoffs(BaseModel):
    """Limits at which a session has a type."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code_share: float = Field(
        0.2, ge=0, le=1, description="Code: edits, builds and tests are at least this share of classified calls."
    )
    analysis_share: float = Field(
        0.5,
        ge=0,
        le=1,
        description="Analysis: no edits, and reads and searches are at least this share of calls.",
    )
    conversation_calls_per_round: float = Field(
        0.5, ge=0, description="Conversation: at most this number of tool calls per round."
    )
    conversation_mean_chars: int = Field(
        600, ge=1, description="Conversation: messages average at most this number of characters."
    )


@dataclass(frozen=True, slots=True)
class Evidence:
    """Counts on which a verdict is based. `edits` to `other` count calls; each call is in one of them."""

    rounds: int
    edits: int
    checks: int
    lookups: int
    other: int
    text_messages: int
    mean_chars: int

    @property
    def calls(self) -> int:
        """Number of all calls."""
        return self.edits + self.checks + self.lookups + self.other

    def __str__(self) -> str:
        return (
            f"{self.edits} edits and writes, {self.checks} builds and tests, {self.lookups} reads and searches, "
            f"{self.other} other calls in {self.rounds} rounds; {self.text_messages} text messages, on average "
            f"{grouped(self.mean_chars)} characters"
        )


@dataclass(frozen=True, slots=True)
class TaskType:
    """Verdict with its reason. `overruled`: detected type if the user set another one, else ""."""

    kind: TaskKind
    evidence: Evidence
    why: str
    overruled: str = ""

    def __str__(self) -> str:
        says = f" (set by the user; detected: {self.overruled})" if self.overruled else ""
        return f"task type {self.kind}{says}: {self.why}; {self.evidence}"

    @property
    def remark(self) -> str:
        """Verdict, with the setting that decides it."""
        how = (
            f"set by you; detected: {self.overruled}"
            if self.overruled
            else "detected; the setting task_type overrides it"
        )
        return f"task type {self.kind} ({how}): {self.why}; {self.evidence}"


def task_type(shape: Shape, cutoffs: TaskCutoffs, chosen: TaskKind | Literal["auto"] = "auto") -> TaskType:
    """Type of a session's task; `chosen` other than auto is the user's choice and wins."""
    evidence = evidence_of(shape)
    found, why = _classify(evidence, cutoffs)
    if chosen == "auto":
        return TaskType(found, evidence, why)
    return TaskType(chosen, evidence, why, overruled=found)


def _classify(seen: Evidence, cutoffs: TaskCutoffs) -> tuple[TaskKind, str]:
    classified = seen.edits + seen.checks + seen.lookups
    code = (seen.edits + seen.checks) / classified if classified else 0.0
    a_round = seen.calls / max(seen.rounds, 1)
    if seen.text_messages and a_round <= cutoffs.conversation_calls_per_round:
        if seen.mean_chars <= cutoffs.conversation_mean_chars:
            return "conversation", f"short messages and {a_round:.1f} calls a round"
        if not seen.calls:
            return "unknown", "no tool was called, and the messages are long"
    if not seen.edits and seen.lookups >= cutoffs.analysis_share * seen.calls and seen.lookups:
        return "analysis", f"nothing was edited, and {seen.lookups} of {seen.calls} calls read or search"
    if classified and code >= cutoffs.code_share:
        return "code", f"{percent(code)} of {classified} classified calls edit, build or test"
    if sum(1 for count in (seen.edits + seen.checks, seen.lookups, seen.other) if count) > 1:
        return "mixed", f"mixed calls, {percent(code)} edit, build or test"
    return "unknown", "no calls to classify"


@per_shape
def evidence_of(shape: Shape) -> Evidence:
    """Counts that decide the type of a task."""
    counts = dict.fromkeys(("edits", "checks", "lookups", "other"), 0)
    for called in calls_of(shape):
        counts[_call_class(called)] += 1
    text_messages = [
        len(text)
        for message in shape.messages
        if (text := (message.text if is_agent_message(message) else message.user_text).strip())
    ]
    mean = sum(text_messages) // len(text_messages) if text_messages else 0
    return Evidence(len(shape.rounds.rounds), **counts, text_messages=len(text_messages), mean_chars=mean)


def _call_class(called: ToolCall) -> str:
    kinds = {action.kind for action in called.actions}
    if kinds & CHANGES and "command" not in kinds:
        return "edits"
    if "command" in kinds:
        lines = [action.target for action in called.actions if action.kind == "command"]
        if any(map(is_check, lines)):
            return "checks"
        return "lookups" if all(_LOOKS.match(core_command(line)) for line in lines) else "other"
    return "lookups" if kinds or _QUERY.search(tool_name(called.call.name)) else "other"
