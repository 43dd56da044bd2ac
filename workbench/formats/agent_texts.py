"""Texts of all agents, applied to every session: a file of one format may contain text of another format's agent."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from workbench.formats.augment import texts as augment
from workbench.formats.claude_code import texts as claude_code
from workbench.formats.codex import texts as codex
from workbench.formats.copilot import texts as copilot
from workbench.formats.cursor import texts as cursor
from workbench.formats.gemini import texts as gemini
from workbench.formats.kit import user_text
from workbench.formats.kit.blocks import SUMMARY_LABEL, is_compaction
from workbench.formats.kit.user_text import AgentTexts, is_injected
from workbench.formats.opencode import texts as opencode
from workbench.formats.qwen_code import texts as qwen_code
from workbench.formats.roo_cline import texts as roo_cline
from workbench.session import Block, Kind, Message, Opaque, Text

_UNATTRIBUTED = AgentTexts(tags=("system-notification",))

TEXTS = user_text.merged(
    claude_code.TEXTS,
    codex.TEXTS,
    gemini.TEXTS,
    copilot.TEXTS,
    cursor.TEXTS,
    opencode.TEXTS,
    qwen_code.TEXTS,
    roo_cline.TEXTS,
    _UNATTRIBUTED,
)


def with_user_text(messages: Iterable[Message], also: Collection[str] = ()) -> tuple[Message, ...]:
    """Split each user text into own and injected parts, and find the user's words in tool results. Readers call it
    last. `also`: further tags whose contents the format's agent writes."""
    return user_text.with_user_text(messages, TEXTS, also)


def split_user_text(text: str, also: Collection[str] = ()) -> tuple[Text, ...]:
    """Return a user's text as blocks of own and injected words in turn; joined they equal `text`."""
    return user_text.split_user_text(text, TEXTS, also)


def kind_of(role: str, blocks: Sequence[Block]) -> Kind:
    """Return the kind of an Anthropic message: a summary of older messages, only injected texts, or an ordinary
    message."""
    first = blocks[0] if blocks else None
    if role == "assistant":
        return "summary" if isinstance(first, Opaque) and is_compaction(first.raw) else "normal"
    if role != "user" or not all(isinstance(block, Text) for block in blocks):
        return "normal"
    texts = [block.text for block in blocks if isinstance(block, Text)]
    own_texts = [text for text in texts if not is_injected(split_user_text(text))]
    if own_texts and is_summary(own_texts[0]):
        return "summary"
    return "meta" if texts and not own_texts else "normal"


def is_summary(text: str) -> bool:
    """Return True for a text that begins like a summary: Claude Code's, Augment's, or one labelled by this program."""
    return text.lstrip().startswith((claude_code.CONTINUATION, SUMMARY_LABEL)) or augment.is_supervisors(text)


def with_summary_answers(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return the messages, with a response that only acknowledges the summary before it as part of that summary."""
    found: list[Message] = []
    for message in messages:
        before = found[-1].kind if found else "normal"
        if before == "summary" and message.role == "assistant" and message.text.startswith(augment.RESUMED):
            message = replace(message, kind="summary")
        found.append(message)
    return tuple(found)
