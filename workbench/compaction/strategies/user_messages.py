"""`user-messages`: keep the user's own messages word for word, and replace everything that the agent did with one
summary.

Codex compacts in this way. With a limit of 0 tokens for user messages only the summary remains, as in Claude Code.

    before   [system] u1 a r a · u2 a r · u3 a
    after    [system] u1… (its middle cut) u2 u3 · summary · [files restored] [unread]   (pins among the user messages)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from msgspec import Struct

from workbench.base.figures import grouped
from workbench.base.text import clip_middle
from workbench.compaction import vocabulary
from workbench.compaction.context import Context, Gauge
from workbench.compaction.excerpt import labelled_style
from workbench.compaction.head import Head, head_fates, head_of, ordered_pieces, preamble_of, summary_messages
from workbench.compaction.invariants import end_of_head, with_pairs, with_verdict
from workbench.compaction.language import Language
from workbench.compaction.outcome import KeptSpan, NewMessage, Outcome, Piece, unchanged
from workbench.compaction.policy import setting
from workbench.compaction.prompt_policies import PromptPolicy, RequestShapePolicy, builtin_text
from workbench.compaction.prompts import fill, lint_prompt
from workbench.compaction.render import LABELS, WHOLE
from workbench.compaction.request import RequestPrompt, ask_for_summary, truncation_for
from workbench.compaction.restoring import RestoredFile, RestoreLimits, restore_files
from workbench.compaction.spans import kept_pieces, spans_of
from workbench.compaction.strategy import Compacting, Strategy, Trigger
from workbench.compaction.summary_request import SummaryFailed
from workbench.compaction.summary_template import text_of_summaries
from workbench.compaction.triggers import TokenLimits, count_trigger, token_triggers
from workbench.session import Message, Span, Text

TEMPLATES: dict[Language, str] = {
    "en": "Another language model worked on this task before you and left the summary below. Build on what it did and "
    "do not do it again. It is notes, not an order: what the user asked for stands in the user's own messages."
    "\n\n{summary}",
    "zh": "另一个语言模型此前处理过此任务，并留下了下面的摘要。请在其工作的基础上继续，不要重做。"
    "它是笔记，不是命令：用户的要求见用户自己的消息。"
    "\n\n{summary}",
}


SENTENCES: dict[Language, dict[str, str]] = {
    "en": {
        "user_messages": "You were originally given instructions from a user over one or more turns. "
        "Here were the user messages:\n{}\n\n",
        "tools_used": "Tools used before this summary: {}\n\n",
        "transcript": "\n\nShould an exact detail be missing, the whole transcript until here is in the session file "
        "{}",
        "kept": "\n\nBehind this summary stand the newest messages of that conversation, word for word. It was written "
        "without them: what it calls open may be done there.",
    },
    "zh": {
        "user_messages": "用户此前在一轮或多轮对话中给出了指示。以下是用户的原话：\n{}\n\n",
        "tools_used": "摘要之前用过的工具：{}\n\n",
        "transcript": "\n\n如缺少确切细节，此前的完整记录在会话文件 {} 中",
        "kept": "\n\n摘要之后是该对话最新的消息，逐字保留。摘要撰写时未包含它们：其中称为未完成的事可能已在那里完成。",
    },
}
"""Sentence for each placeholder of the template besides {summary}; `{}` in it stands for the value. A placeholder
without a value is left empty."""

PLACES = "May also contain {user_messages}, {tools_used}, {transcript} and {kept}."

_USER_MESSAGE = re.compile(r"<user_message>\n(.*?)\n</user_message>", re.DOTALL)


class UserMessagesPolicy(PromptPolicy, RequestShapePolicy, TokenLimits):
    """Settings of `user-messages`: kept user messages, the summary, and restored files."""

    trigger_window_percent: float = vocabulary.trigger_window_percent(90.0)
    trigger_on_reasoning: bool = setting(
        False,
        "trigger",
        "Count recorded reasoning tokens of earlier rounds towards the trigger, for agents that send reasoning again.",
    )
    user_message_tokens: int = setting(
        20_000,
        "split",
        "Keep the newest user messages that fit, word for word; the next one is cut in the middle. 0: keep only "
        "the summary.",
        unit="tokens",
        ge=0,
    )
    keep_first: int = vocabulary.keep_first()
    unread: vocabulary.Unread = vocabulary.unread("keep")
    keep_preamble: bool = vocabulary.keep_preamble()
    preamble_place: Literal["first", "before_newest_request"] = setting(
        "first",
        "split",
        "Position of the preamble: first, or before the newest kept user message, as agents do that inject it again.",
        needs={"keep_preamble": (True,)},
    )
    summary_template: str = vocabulary.summary_template(TEMPLATES["en"], also=PLACES)
    reply: str = vocabulary.reply("")
    restore_files: int = setting(
        0, "restored", "Number of recently read files restored after the summary.", unit="files", ge=0
    )
    restore_tokens_each: int = setting(
        5_000, "restored", "A larger file is only mentioned by name.", unit="tokens", needs={"restore_files": ...}, ge=0
    )
    restore_tokens: int = setting(
        50_000, "restored", "Limit for all restored files together.", unit="tokens", needs={"restore_files": ...}, ge=0
    )

    builtin_texts: ClassVar = {
        "prompt": builtin_text("user-messages"),
        "summary_template": TEMPLATES.__getitem__,
        "reply": vocabulary.REPLIES.__getitem__,
    }


@dataclass
class ReasoningMeter:
    """Recorded reasoning tokens of all rounds but the newest."""

    value: int = 0
    newest: int = 0

    def add(self, message: Message, chars: int, tokens: int) -> None:
        """Add a message; a new round moves the tokens of the round before into the sum."""
        if message.starts_round:
            self.value, self.newest = self.value + self.newest, 0
        if message.usage:
            self.newest += message.usage.reasoning


def triggers(now: Gauge, policy: UserMessagesPolicy) -> tuple[Trigger, ...]:
    """Read the token triggers, with earlier reasoning counted if the policy says so."""
    earlier = now.meters["reasoning"] if policy.trigger_on_reasoning else 0
    note = f"context {grouped(now.tokens)} + {grouped(earlier)} of earlier reasoning" if earlier else ""
    counted = now._replace(tokens=now.tokens + earlier) if earlier else now
    return token_triggers(counted, policy, note) or (count_trigger("tokens", counted.tokens, 0, "tokens"),)


class KeptUserText(Struct, frozen=True):
    """Kept user messages: complete ones by index, and the one that did not fit, with its middle cut."""

    whole: frozenset[int]
    cut: tuple[int, Message] | None


def compact(context: Context, policy: UserMessagesPolicy, trace: list[str]) -> Compacting:
    """Compact as the module describes. There is no fallback: without a summary the context is returned unchanged."""
    head = head_of(context, end_of_head(context.shape, policy.unread), policy.earlier_summary)
    always = head.must_stay | _first(context, policy, head)
    own_text = _user_text(context, policy, head, always, trace)
    staying = always | own_text.whole
    if head.is_spent(staying):
        return unchanged(context.messages, "nothing to compact: every message is kept", trace)
    style = labelled_style(context.shape, LABELS[policy.language], WHOLE)
    template = policy.sent_text("summary_template")
    previous = text_of_summaries(context, head.in_request, template, *TEMPLATES.values())
    carry_on = policy.earlier_summary == "extend"
    prompt = RequestPrompt("summary of the conversation", policy.asks(), previous, carry_on, policy.language)
    bounds = truncation_for(policy.request_char_limit, prompt, style)
    answer = yield from ask_for_summary(
        context, head.fresh, prompt, policy.sent(head, style), bounds, policy.request, trace
    )
    if isinstance(answer, SummaryFailed):
        return unchanged(context.messages, str(answer), trace)
    summary, shown = answer
    text = _fill_template(template, summary, context, head, policy.language)
    new_messages = summary_messages(context, head, staying, "user", text, policy.sent_text("reply"))
    files = _files(context, policy, staying | frozenset(range(head.stop, len(context))), trace)
    new = [*new_messages, *(file.piece for file in files)]
    pieces = _pieces(context, policy, staying, own_text, new, kept_pieces([Span(head.stop, len(context))]))
    whole = [own_text.cut[0]] if own_text.cut else []
    whole += [span.start for file in files if file.whole for span in file.piece.replaces]
    fates = head_fates(context, head, shown, staying, compressed=spans_of(sorted(whole)))
    return with_verdict(context, Outcome("compacted", "", context.messages, pieces, fates, trace=tuple(trace)))


def _fill_template(template: str, summary: str, context: Context, head: Head, language: Language) -> str:
    """Return `template` with its placeholders filled; `summary` is the summary of `head`."""
    found = {
        "user_messages": "\n".join(f"<user_message>\n{text}\n</user_message>" for text in _user_texts(context, head)),
        "tools_used": ", ".join(_tools(context, head)),
        "transcript": context.transcript,
        "kept": "yes" if head.stop < len(context) else "",
    }
    sentences = {name: SENTENCES[language][name].format(value) if value else "" for name, value in found.items()}
    return fill(template, {"summary": summary, **sentences})


def _user_texts(context: Context, head: Head) -> Iterator[str]:
    """Yield the user's texts: first those that earlier summaries repeat, then those in the head."""
    for index in head.earlier:
        yield from _USER_MESSAGE.findall(context.messages[index].text)
    for index in range(head.lead, head.stop):
        message = context.messages[index]
        if message.starts_round and message.user_text.strip():
            yield message.user_text.strip()


def _tools(context: Context, head: Head) -> list[str]:
    return sorted({call.name for index in range(head.lead, head.stop) for call in context.messages[index].calls})


def _first(context: Context, policy: UserMessagesPolicy, head: Head) -> frozenset[int]:
    """First messages and the preamble, without earlier summaries."""
    stop = min(head.lead + policy.keep_first, head.stop)
    chosen = {i for i in range(head.lead, stop) if not context.messages[i].is_summary}
    if policy.keep_preamble:
        chosen.update(index for index in preamble_of(context) if head.lead <= index < head.stop)
    return with_pairs(context.shape, chosen)


def _user_text(
    context: Context, policy: UserMessagesPolicy, head: Head, always: frozenset[int], trace: list[str]
) -> KeptUserText:
    """The user's own messages that fit, from the newest back."""
    tokens = context.layout.sizes.tokens
    left, whole = policy.user_message_tokens, set[int]()
    cut: tuple[int, Message] | None = None
    if left:
        for index in range(head.stop - 1, head.lead - 1, -1):
            message = context.messages[index]
            if not message.starts_round or index in always:
                continue
            if tokens[index] > left:
                shorter = _shortened(context, message, left)
                cut = (index, shorter) if shorter is not None else None
                break
            left -= tokens[index]
            whole.add(index)
    trace.append(
        f"user messages: {len(whole)} kept{(', the next one cut in the middle' if cut else '')}, "
        f"{grouped(policy.user_message_tokens - left)} of {grouped(policy.user_message_tokens)} tokens"
    )
    return KeptUserText(frozenset(whole), cut)


def _shortened(context: Context, message: Message, room: int) -> Message | None:
    """Message with its text cut in the middle to at most `room` tokens; None if not even a few words fit."""
    meter, text = context.layout.sizes.meter, context.shape.masking(message).text
    chars = len(text)
    while chars >= 8:
        shorter = replace(message, blocks=(Text(clip_middle(text, chars)),), source=())
        cost = meter.tokens(shorter)
        if cost <= room:
            return shorter
        chars = min(chars - 1, chars * room // cost)
    return None


def _files(
    context: Context, policy: UserMessagesPolicy, staying: frozenset[int], trace: list[str]
) -> list[RestoredFile]:
    """Restored files, except those whose recorded read stays in the context."""
    allowance = RestoreLimits(policy.restore_files, policy.restore_tokens_each, policy.restore_tokens)
    files = restore_files(context, allowance, policy.language, staying)
    if policy.restore_files:
        trace.append(f"files restored after the summary: {len(files)} of at most {policy.restore_files}")
    return files


def _pieces(
    context: Context,
    policy: UserMessagesPolicy,
    staying: frozenset[int],
    own_text: KeptUserText,
    new: Sequence[NewMessage],
    after: Sequence[KeptSpan],
) -> tuple[Piece, ...]:
    """Kept messages in order, then new messages, then messages that were not summarized. If the policy injects the
    preamble again and keeps several user messages, the preamble comes directly before the newest of them. System
    messages move with it only if the API has them among the turns."""
    cut = {} if own_text.cut is None else {own_text.cut[0]: own_text.cut[1]}
    own_indexes = sorted(own_text.whole | cut.keys())
    preamble = [*preamble_of(context)] if policy.keep_preamble else []
    if context.api != "openai-responses":
        preamble = [index for index in preamble if not context.messages[index].is_own_system]
    if policy.preamble_place == "first" or len(own_indexes) < 2 or not preamble:
        return ordered_pieces(context, _in_turn(sorted(staying | cut.keys()), cut), new, after)
    newest, there = own_indexes[-1], staying | cut.keys() | {*range(context.shape.lead)}
    rest = sorted(there.difference(preamble, [newest]))
    early, late = ([i for i in rest if i < newest], [i for i in rest if i > newest])
    return (*_in_turn([*early, *preamble, newest, *late], cut), *new, *after)


def _in_turn(indexes: Sequence[int], new: Mapping[int, Message]) -> list[Piece]:
    """Pieces of the messages in this order, with replacements `new` (by index) in place; adjacent messages form one
    piece."""
    pieces: list[Piece] = []
    for index in indexes:
        last = pieces[-1] if pieces else None
        if index in new:
            pieces.append(NewMessage(new[index], (Span(index, index + 1),)))
        elif isinstance(last, KeptSpan) and last.stop == index:
            pieces[-1] = KeptSpan(last.start, index + 1)
        else:
            pieces.append(KeptSpan(index, index + 1))
    return pieces


STRATEGY = Strategy(
    id="user-messages",
    title="User messages",
    about="Keeps user messages word for word and replaces the rest with one summary after them.",
    policy_type=UserMessagesPolicy,
    triggers=triggers,
    meters={"reasoning": lambda context, policy: ReasoningMeter()},
    compact=compact,
    prompts={"user-messages": "prompt"},
    default_preset="codex",
    movable=False,
    lint=lambda policy: lint_prompt(policy.asks()),
)
