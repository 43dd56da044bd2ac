"""The settings of `message-window`: where the window ends, what its request shows, and what stands where after it."""

from __future__ import annotations

from typing import ClassVar, Literal

from workbench.compaction import vocabulary
from workbench.compaction.language import Language
from workbench.compaction.policy import Converted, setting
from workbench.compaction.summarizing import Prompted, Shaped, shipped
from workbench.compaction.triggers import MessageLimits
from workbench.compaction.vocabulary import EarlierSummary, MessagesAs, TokensAs

SafeEnd = Literal["plain_chat", "whole_pairs", "user_message", "answer"]
Cut = Literal["first_messages", "newest_messages", "newest_spoken", "newest_tokens", "head_percent", "half"]
TEMPLATES: dict[Language, str] = {
    "zh": "[对话摘要 - 早期上下文]\n{summary}",
    "en": "[Conversation summary - earlier context]\n{summary}",
}
OPENINGS = {"zh": "对话摘要：", "en": "Conversation summary:"}
"""With these words the shipped prompts have the summary begin."""
MARKERS = {"zh": "...[已截断]", "en": "...[cut]"}
BEGUN: dict[Language, str] = {
    "zh": "\n\n---\n\n**被拆开的一轮的开头：**\n\n",
    "en": "\n\n---\n\n**The beginning of the round that goes on below:**\n\n",
}
"""Between a summary and that of the beginning of a round which is split."""
DROPPED = {"zh": "[更早的消息已被丢弃]", "en": "[Earlier messages were dropped.]"}


class MessageWindowPolicy(Prompted, Shaped, MessageLimits):
    """When the window closes and where it ends; the defaults are the design's, each product has its own."""

    trigger_messages: int = vocabulary.trigger_messages(40)
    messages_as: MessagesAs = vocabulary.messages_as()
    cut: Cut = setting(
        "first_messages",
        "split",
        "How the window's end is found: so many messages from the start (window_messages); or all but the newest "
        "messages, the newest user and agent messages (keep_messages), the newest tokens (keep_tokens); or a share of "
        "the characters (head_percent); or so that half of each limit that was reached is left: of trigger_messages, "
        "the first ones and the summary counted, or by hand of those that there are, and of the tokens.",
    )
    window_messages: int = setting(
        30,
        "split",
        "Messages in the window, leading system messages not counted.",
        unit="messages",
        needs={"cut": ("first_messages",)},
        ge=1,
    )
    keep_messages: int = setting(
        20,
        "split",
        "Newest messages that stay.",
        unit="messages",
        needs={"cut": ("newest_messages", "newest_spoken")},
        ge=0,
    )
    keep_tokens: int = setting(
        20_000,
        "split",
        "The newest messages that have so many tokens stay.",
        unit="tokens",
        needs={"cut": ("newest_tokens",)},
        ge=0,
    )
    keep_at: Literal["most", "least"] = setting(
        "most",
        "split",
        "Whether what stays has keep_tokens at most, or at least: then the message that reaches them stays, too.",
        needs={"cut": ("newest_tokens",)},
    )
    tokens_as: TokensAs = vocabulary.tokens_as(needs={"cut": ("newest_tokens",)})
    head_percent: float = setting(
        70.0,
        "split",
        "Share of the characters in the window.",
        unit="%",
        needs={"cut": ("head_percent",)},
        gt=0,
        le=100,
    )
    min_tail_messages: int = setting(
        10, "split", "At least so many newest messages stay, also when run by hand.", unit="messages", ge=0
    )
    min_window_messages: int = setting(
        0,
        "split",
        "A window that has no more messages takes in the tail, too: nothing stays but what the agent has not read. "
        "0: it may be as short as it is.",
        unit="messages",
        ge=0,
    )
    safe_end: SafeEnd = setting(
        "plain_chat",
        "split",
        "Where the window may end: after a message without calls and results; after any whole tool pair; before a "
        "user's own message; or after an answer of the agent's. The first finds next to nothing in sessions full of "
        "tool calls.",
    )
    search: Literal["back", "forward"] = setting(
        "back",
        "split",
        "Where to look for a safe end: back, keeping more; or forward, keeping less, and back only if none follows.",
    )
    keep_first: int = vocabulary.keep_first()
    keep_preamble: bool = vocabulary.keep_preamble()
    text_char_limit: int = setting(
        500,
        "request",
        "So much of a text is shown in the request.",
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
        "So much of a call's input is shown in the request. 0: the tool's name alone.",
        unit="characters",
        old=("call_input_limit",),
        needs=vocabulary.AS_TEXT,
        ge=0,
    )
    request_char_limit: int = vocabulary.request_char_limit(12_000)
    request_cut: Literal["end", "middle", "start", "before_user_message"] = setting(
        "end",
        "request",
        "Which part of a longer request the model is not shown; or its start up to a user's own message, and of any "
        "request what stands before the first of them.",
        old=("transcript_cut",),
        needs={"request_char_limit": ..., **vocabulary.AS_TEXT},
    )
    split_round: bool = setting(
        False,
        "request",
        "Where the window ends within a round, the beginning of that round is summarized by a request of its own, and "
        "stands behind the other summary.",
        needs=vocabulary.AS_TEXT,
    )
    language: Language = vocabulary.language("zh")
    summary_char_limit: int = vocabulary.summary_char_limit(1_500, "")
    second_look: bool = setting(
        False,
        "summary",
        "The model is shown its summary again and asked what is missing in it; what it writes then counts.",
    )
    temperature: float = setting(0.3, "summary", "Used where the model takes one.", ge=0, le=2)
    earlier_summary: EarlierSummary = vocabulary.earlier_summary("drop")
    summary_template: str = vocabulary.summary_template("", empty="a heading in the policy's language")
    summary_role: Literal["system", "user", "assistant"] = setting("system", "result", "Role of the summary message.")
    reply: str = vocabulary.reply("")
    reply_at: Literal["summary", "end"] = setting(
        "summary",
        "result",
        "Where the reply stands: behind the summary; or behind all that is done, if the user would speak last there.",
        needs={"reply": ...},
    )
    fallback_messages: int = setting(
        50,
        "fallback",
        "When there is no summary, the oldest messages are dropped until no more than so many are left. 0: everything "
        "stays as it is.",
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
    worded: ClassVar = {
        "prompt": shipped("message-window"),
        "summary_template": TEMPLATES.__getitem__,
        "reply": vocabulary.REPLIES.__getitem__,
    }
