"""Fill a template with a summary and what a product adds to it: user messages, tools used, the transcript's file, and
a note that the newest messages follow.

The placeholders are `{summary}` and the fields of `FrameWords`; one without a value is left empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from workbench.compaction.context import Context
from workbench.compaction.keeping import Head
from workbench.compaction.language import Language
from workbench.compaction.prompts import fill


class FrameWords(Struct, frozen=True):
    """Sentences that fill the placeholders; `{}` stands for the value (`kept` has none)."""

    user_messages: str
    tools_used: str
    transcript: str
    kept: str


WORDS: dict[Language, FrameWords] = {
    "en": FrameWords(
        "You were originally given instructions from a user over one or more turns. Here were the user messages:\n"
        "{}\n\n",
        "Tools used before this summary: {}\n\n",
        "\n\nShould an exact detail be missing, the whole transcript until here is in the session file {}",
        "\n\nBehind this summary stand the newest messages of that conversation, word for word. It was written without "
        "them: what it calls open may be done there.",
    ),
    "zh": FrameWords(
        "用户此前在一轮或多轮对话中给出了指示。以下是用户的原话：\n{}\n\n",
        "摘要之前用过的工具：{}\n\n",
        "\n\n如缺少确切细节，此前的完整记录在会话文件 {} 中",
        "\n\n摘要之后是该对话最新的消息，逐字保留。摘要撰写时未包含它们：其中称为未完成的事可能已在那里完成。",
    ),
}

PLACES = "May also contain {user_messages}, {tools_used}, {transcript} and {kept}."

_USER_MESSAGE = re.compile(r"<user_message>\n(.*?)\n</user_message>", re.DOTALL)


def fill_frame(template: str, summary: str, context: Context, head: Head, language: Language) -> str:
    """Return `template` with its placeholders filled; `summary` is the summary of `head`."""
    words = WORDS[language]
    facts = {
        "user_messages": "\n".join(f"<user_message>\n{text}\n</user_message>" for text in _user_texts(context, head)),
        "tools_used": ", ".join(_tools(context, head)),
        "transcript": context.transcript,
        "kept": "yes" if head.stop < len(context) else "",
    }
    values = {name: getattr(words, name).format(fact) if fact else "" for name, fact in facts.items()}
    return fill(template, {"summary": summary, **values})


def _user_texts(context: Context, head: Head) -> Iterator[str]:
    """Yield the user's texts: first those that earlier summaries repeat, then those in the head."""
    for index in head.earlier:
        yield from _USER_MESSAGE.findall(context.messages[index].text)
    for index in range(head.lead, head.stop):
        message = context.messages[index]
        if message.starts_round and message.said.strip():
            yield message.said.strip()


def _tools(context: Context, head: Head) -> list[str]:
    return sorted({call.name for index in range(head.lead, head.stop) for call in context.messages[index].calls})
