"""The settings of `progressive`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import field_validator

from workbench.compaction.policy import setting
from workbench.compaction.progressive.importance import ImportanceWeights
from workbench.compaction.progressive.task_type import TaskCutoffs
from workbench.compaction.prompt_policies import SummaryPolicy, builtin_text
from workbench.compaction.shape import SUMMARY_MARKER


class ProgressivePolicy(SummaryPolicy):
    """Settings and defaults of the strategy's design (docs/strategies.md, Sources), and settings of the workbench's own
    for questions that the design leaves open."""

    trigger_on_remaining_tokens: bool = setting(
        True, "trigger", "Climb the ladder when too few tokens remain. Checked before each model call."
    )
    summary_remaining_token_threshold: float = setting(
        25.0, "trigger", "Too few tokens: less than this share of the window.", unit="% of the window", ge=0, le=100
    )
    trigger_on_rounds: bool = setting(True, "trigger", "Summarize everything after too many rounds.")
    conversation_turn_threshold: int = setting(
        200,
        "trigger",
        "Too many rounds: this number or more.",
        unit="rounds",
        needs={"trigger_on_rounds": (True,)},
        ge=1,
    )
    trigger_on_marker: bool = setting(
        True, "trigger", f"Summarize everything when the model itself writes {SUMMARY_MARKER}."
    )
    manual_runs: Literal["full", "ladder"] = setting(
        "ladder",
        "trigger",
        "Manual run: ladder climbs as if too few tokens remained; full summarizes everything at once.",
    )
    task_type: Literal["auto", "code", "analysis", "conversation", "mixed", "unknown"] = setting(
        "auto", "ladder", "Task type, which chooses the chain of rungs. auto: detected from the session."
    )
    sliding_window_size: int = setting(
        9,
        "ladder",
        "Sliding window: newest messages kept, for example 5 of the agent and 4 of user or tools between them. "
        "Parallel results count as one; messages after the last answer do not count. Odd, so that roles "
        "alternate after the summary.",
        unit="messages",
        ge=1,
    )
    importance_score_threshold: float = setting(
        3.0, "ladder", "Importance: messages with at least this score are kept.", unit="points", ge=0
    )
    importance_newest: int = setting(
        5, "ladder", "Importance: number of newest other messages kept.", unit="messages", ge=0
    )
    key_events_newest: int = setting(
        5, "ladder", "Key events: number of newest other messages kept.", unit="messages", ge=0
    )
    incremental_summary_chunk_size: int = setting(
        20,
        "ladder",
        "Incremental: rounds per chunk. Every chunk except the last becomes a summary.",
        unit="rounds",
        ge=1,
    )
    recent_memories: int = setting(10, "retained", "Number of newest memories in a summary.", unit="memories", ge=0)
    non_interactive: bool = setting(
        False, "retained", "No user is present: the complete first request is kept word for word."
    )
    rung_prompt: str = setting(
        "", "summary", "Prompt of a light rung. Empty: the built-in prompt of the language.", multiline=True
    )
    full_prompt: str = setting(
        "",
        "summary",
        "Prompt of the full summary. Empty: the built-in prompt of the language.",
        multiline=True,
    )
    importance_weights: ImportanceWeights = setting(ImportanceWeights(), "importance", "Points that each signal adds.")
    task_cutoffs: TaskCutoffs = setting(TaskCutoffs(), "task type", "Limits that decide the task type.")

    builtin_texts: ClassVar = {
        "rung_prompt": builtin_text("progressive-rung"),
        "full_prompt": builtin_text("progressive-full"),
    }

    @field_validator("sliding_window_size")
    @classmethod
    def _must_be_odd(cls, value: int) -> int:
        if value % 2 == 0:
            raise ValueError(f"the window must be odd, so that roles alternate; use {value - 1} or {value + 1}")
        return value

    @property
    def rung_prompt_used(self) -> str:
        """Prompt of a light rung: the policy's, or the built-in one."""
        return self.sent_text("rung_prompt").strip() or self.builtin_texts["rung_prompt"](self.language)

    @property
    def full_prompt_used(self) -> str:
        """Prompt of the full summary: the policy's, or the built-in one."""
        return self.sent_text("full_prompt").strip() or self.builtin_texts["full_prompt"](self.language)
