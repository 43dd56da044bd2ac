"""Settings that several policies have, each defined once with its name, type and help; the default may differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from workbench.compaction.language import Language
from workbench.compaction.policy import Needs, setting
from workbench.compaction.prompts import load_prompt
from workbench.compaction.summary_request import RequestShape

EarlierSummary = Literal["drop", "keep", "nest", "extend"]
MessagesAs = Literal["messages", "events"]
TokensAs = Literal["counted", "text", "json"]

Unread = Literal["keep", "answer", "summarize"]

SUMMARY_TEMPLATE = "Template of the summary message; must contain {summary}."
REPLY = "Text of the agent's acknowledgement of the summary."


def earlier_summary(default: EarlierSummary) -> Any:
    """Treatment of an earlier summary."""
    return setting(
        default,
        "summary",
        "Earlier summary: drop it; keep it in place; nest it in the new request as context; or extend it: "
        "summarize only later messages and keep its text.",
    )


def unread(default: Unread) -> Any:
    """Treatment of unanswered messages."""
    return setting(
        default,
        "split",
        "Messages without an answer (newest tool results with their calls, or the running request): keep after "
        "the summary; keep, or the newest answer if there are none; or summarize with the rest.",
    )


def language(default: Language) -> Any:
    """Language of prompt, labels and summary."""
    return setting(
        default,
        "summary",
        "Language of prompt, labels and summary. For a text in the other language, the built-in text is sent.",
    )


def summary_char_limit(default: int, zero: str = "no limit", needs: Needs | None = None) -> Any:
    """Limit of the summary. `zero`: meaning of 0 in words, "" if a limit is required."""
    help = "A longer summary is cut at a line or sentence." + (f" 0: {zero}." if zero else "")
    return setting(default, "summary", help, unit="characters", needs=needs, ge=0 if zero else 1)


def request_char_limit(default: int, needs: Needs | None = None) -> Any:
    """Limit of the request in characters."""
    return setting(
        default,
        "request",
        "A longer request is cut to this size, in the middle unless another setting says where. 0: no limit.",
        unit="characters",
        old=("request_hard_limit_chars", "request_limit_chars", "request_limit", "guard_chars", "transcript_limit"),
        needs=needs,
        ge=0,
    )


def request_shape(default: RequestShape) -> Any:
    """Form of the request."""
    return setting(
        default,
        "request",
        "Form of the request: one text that contains the messages; the messages themselves with the session's "
        "system prompt and tools, the prompt last (uses the prompt cache); the same without tools; or the "
        "messages with the prompt as system prompt. Over the limit, the oldest messages are not sent.",
    )


AS_TEXT: Needs = {"request_shape": ("text",)}
"""Condition of settings that have an effect only in a request of one text."""


def result_char_limit(default: int, needs: Needs | None = None) -> Any:
    """Limit of each tool result in the request."""
    return setting(
        default,
        "request",
        "Longest part of each tool result that is in the request.",
        unit="characters",
        old=("result_limit",),
        needs=needs,
        ge=0,
    )


def thinking_char_limit() -> Any:
    """Limit of the agent's thinking per message in the request."""
    return setting(
        0,
        "request",
        "Longest part of each message's thinking that is in the request. 0: none.",
        unit="characters",
        needs=AS_TEXT,
        ge=0,
    )


def prompt(
    default: str | Callable[[], str] = "",
    *,
    empty: str = "the built-in prompt in the chosen language",
    old: tuple[str, ...] = (),
    needs: Needs | None = None,
) -> Any:
    """Prompt for the model. `empty`: meaning of an empty prompt in words."""
    help = f"Prompt for the model. Empty: {empty}."
    return setting(default, "summary", help, multiline=True, old=old, needs=needs)


def summary_template(default: str, *, also: str = "", empty: str = "") -> Any:
    """Template of the summary message, with {summary}. `also`: other placeholders. `empty`: meaning of an empty
    template in words, "" if it must not be empty."""
    help = " ".join(filter(None, (SUMMARY_TEMPLATE, also, empty and f"Empty: {empty}.")))
    return setting(default, "result", help, multiline=True, pattern=rf"{'^$|' if empty else ''}\{{summary\}}")


REPLIES: dict[Language, str] = {
    "en": "Ok. I will continue the conversation from this point.",
    "zh": "好的，我将从这里继续对话。",
}


def reply(default: str) -> Any:
    """The agent's acknowledgement of the summary."""
    return setting(default, "result", f"{REPLY} Empty: nothing.")


def keep_first() -> Any:
    """Number of first messages kept before the summary."""
    return setting(
        0, "split", "Number of first messages kept before the summary, with complete tool pairs.", unit="messages", ge=0
    )


def messages_as() -> Any:
    """Unit for message counts."""
    return setting(
        "messages",
        "split",
        "Unit for every message count: messages, or events (each call, each result, each other message, the "
        "system prompt).",
    )


def tokens_as(needs: Needs) -> Any:
    """Source of token figures."""
    return setting(
        "counted",
        "split",
        "Token source: the usual count; or characters / 4, rounded up, of a message's text, thinking, calls and "
        "results, or of its compact JSON.",
        needs=needs,
    )


def keep_preamble() -> Any:
    """Keep the instructions and context that the agent injected before the first request."""
    return setting(False, "split", "Keep instructions and context that the agent injected before the first request.")


def trigger_window_percent(default: float) -> Any:
    """Trigger on a share of the model's window."""
    return setting(
        default, "trigger", "Compact when this share of the model's window is used. 0: never.", unit="%", ge=0, le=100
    )


def trigger_messages(default: int) -> Any:
    """Trigger on a number of messages."""
    return setting(
        default,
        "trigger",
        "Compact at this number of messages, leading system messages not counted. 0: never.",
        unit="messages",
        ge=0,
    )


def shipped_text(file: str) -> Callable[[], str]:
    """Default of a field from a prompt file, read when a policy is created."""
    return lambda: load_prompt(file).text


def of_hundred(share: Any) -> Any:
    """Convert a share of one to a percentage; return a value that is not a number unchanged, so that the field rejects
    it."""
    return round(share * 100, 9) if isinstance(share, int | float) else share
