"""Settings of `message-window`: the window's end, its request, and the order of the result."""

from __future__ import annotations

from typing import ClassVar, Literal

from workbench.compaction import vocabulary
from workbench.compaction.language import Language
from workbench.compaction.policy import Converted, setting
from workbench.compaction.prompt_policies import PromptPolicy, RequestShapePolicy, builtin_text
from workbench.compaction.triggers import MessageLimits
from workbench.compaction.vocabulary import EarlierSummary, MessagesAs, TokensAs

SafeEnd = Literal["plain_chat", "whole_pairs", "user_message", "answer"]
CutRule = Literal["first_messages", "newest_messages", "newest_spoken", "newest_tokens", "head_percent", "half"]
TEMPLATES: dict[Language, str] = {
    "zh": "[对话摘要 - 早期上下文]\n{summary}",
    "en": "[Conversation summary - earlier context]\n{summary}",
}
OPENINGS = {"zh": "对话摘要：", "en": "Conversation summary:"}
"""Words with which the built-in prompts ask the summary to begin."""
MARKERS = {"zh": "...[已截断]", "en": "...[cut]"}
BEGUN: dict[Language, str] = {
    "zh": "\n\n---\n\n**被拆开的一轮的开头：**\n\n",
    "en": "\n\n---\n\n**The beginning of the round that goes on below:**\n\n",
}
"""Separator between a summary and that of the beginning of a split round."""
DROPPED = {"zh": "[更早的消息已被丢弃]", "en": "[Earlier messages were dropped.]"}


class MessageWindowPolicy(PromptPolicy, RequestShapePolicy, MessageLimits):
    """Settings of the window. The defaults are the strategy's own; each product has others in its preset."""

    trigger_messages: int = vocabulary.trigger_messages(40)
    messages_as: MessagesAs = vocabulary.messages_as()
    cut: CutRule = setting(
        "first_messages",
        "split",
        "Rule for the window's end: a number of messages from the start (window_messages); all except the newest "
        "messages or the newest user and agent messages (keep_messages), or the newest tokens (keep_tokens); a "
        "share of the characters (head_percent); or half of each limit that was reached (messages include the "
        "first ones and the summary).",
    )
    window_messages: int = setting(
        30,
        "split",
        "Number of messages in the window, leading system messages not counted.",
        unit="messages",
        needs={"cut": ("first_messages",)},
        ge=1,
    )
    keep_messages: int = setting(
        20,
        "split",
        "Number of newest messages kept.",
        unit="messages",
        needs={"cut": ("newest_messages", "newest_spoken")},
        ge=0,
    )
    keep_tokens: int = setting(
        20_000,
        "split",
        "Keep the newest messages with this number of tokens.",
        unit="tokens",
        needs={"cut": ("newest_tokens",)},
        ge=0,
    )
    keep_at: Literal["most", "least"] = setting(
        "most",
        "split",
        "Keep at most keep_tokens, or at least: then the message that crosses the limit is kept, too.",
        needs={"cut": ("newest_tokens",)},
    )
    tokens_as: TokensAs = vocabulary.tokens_as(needs={"cut": ("newest_tokens",)})
    head_percent: float = setting(
        70.0,
        "split",
        "Share of all characters that the window covers.",
        unit="%",
        needs={"cut": ("head_percent",)},
        gt=0,
        le=100,
    )
    min_tail_messages: int = setting(
        10, "split", "Minimum number of newest messages kept, in manual runs, too.", unit="messages", ge=0
    )
    min_window_messages: int = setting(
        0,
        "split",
        "A window with no more messages than this includes the tail: only unanswered messages are kept. 0: no minimum.",
        unit="messages",
        ge=0,
    )
    safe_end: SafeEnd = setting(
        "plain_chat",
        "split",
        "The window may end after a message without calls and results; after any complete tool pair; before a "
        "user message; or after an agent's answer. The first option finds almost no place in sessions full of "
        "tool calls.",
    )
    search: Literal["back", "forward"] = setting(
        "back",
        "split",
        "Direction to search for a safe end: back, keeping more; or forward, keeping less, and back only if "
        "none follows.",
    )
    keep_first: int = vocabulary.keep_first()
    keep_preamble: bool = vocabulary.keep_preamble()
    text_char_limit: int = setting(
        500,
        "request",
        "Part of each text in the request.",
        unit="characters",
        old=("text_limit",),
        needs=vocabulary.AS_TEXT,
        ge=1,
    )
    thinking_char_limit: int = vocabulary.thinking_char_limit()
    result_char_limit: int = vocabulary.result_char_limit(200, needs=vocabulary.AS_TEXT)
    call_char_limit: int = setting(
        0,
        "request",
        "Part of each call's input in the request. 0: only the tool's name.",
        unit="characters",
        old=("call_input_limit",),
        needs=vocabulary.AS_TEXT,
        ge=0,
    )
    request_char_limit: int = vocabulary.request_char_limit(12_000)
    request_cut: Literal["end", "middle", "start", "before_user_message"] = setting(
        "end",
        "request",
        "Part of a request over the limit that is not sent. before_user_message: its start up to a user message, "
        "and in every request the part before the first user message.",
        old=("transcript_cut",),
        needs={"request_char_limit": ..., **vocabulary.AS_TEXT},
    )
    split_round: bool = setting(
        False,
        "request",
        "If the window ends inside a round, summarize the start of that round with a separate request, after the "
        "other summary.",
        needs=vocabulary.AS_TEXT,
    )
    language: Language = vocabulary.language("zh")
    summary_char_limit: int = vocabulary.summary_char_limit(1_500, "")
    second_look: bool = setting(
        False,
        "summary",
        "Ask the model what its summary lacks. Its second summary is used.",
    )
    temperature: float = setting(0.3, "summary", "Used if the model supports it.", ge=0, le=2)
    earlier_summary: EarlierSummary = vocabulary.earlier_summary("drop")
    summary_template: str = vocabulary.summary_template("", empty="a heading in the chosen language")
    summary_role: Literal["system", "user", "assistant"] = setting("system", "result", "Role of the summary message.")
    reply: str = vocabulary.reply("")
    reply_at: Literal["summary", "end"] = setting(
        "summary",
        "result",
        "Position of the acknowledgement: after the summary; or at the end, if the user would speak last there.",
        needs={"reply": ...},
    )
    fallback_messages: int = setting(
        50,
        "fallback",
        "Without a summary, drop the oldest messages until this number is left. 0: change nothing.",
        unit="messages",
        ge=0,
    )

    foremost: ClassVar = (
        "trigger_messages",
        "trigger_window_percent",
        "trigger_tokens",
        "cut",
        "window_messages",
        "keep_messages",
        "keep_tokens",
        "safe_end",
        "prompt",
        "summary_char_limit",
        "earlier_summary",
        "fallback_messages",
    )
    converted: ClassVar = {
        "fallback": Converted("fallback_messages", lambda old: 0 if old == "unchanged" else 50),
        "first_in_request": Converted(),
        "request_from": Converted("request_cut", lambda old: "before_user_message" if old == "user_message" else "end"),
    }
    builtin_texts: ClassVar = {
        "prompt": builtin_text("message-window"),
        "summary_template": TEMPLATES.__getitem__,
        "reply": vocabulary.REPLIES.__getitem__,
    }
