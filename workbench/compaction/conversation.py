"""How a request for a summary is put: as one text that tells the messages, or as the messages themselves with the
prompt at their end.

What is sent as messages begins as the agent's own last call did, and that beginning is read from the prompt's cache;
one text is new to every cache, and so are messages under another system prompt or without the tools, for a prompt is
cached by its prefix: tools, system prompt, messages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from workbench.compaction.language import Language
from workbench.compaction.render import tagged
from workbench.session import Message, Text, Tool

AsMessages = Literal["messages", "messages_without_tools", "messages_under_prompt"]
"""`messages`: the session's own system prompt, tools and messages, then the prompt as the user's last words, as Claude
Code asks; `messages_without_tools`: the same without tools, as Codex does; `messages_under_prompt`: the prompt is the
system prompt, and the last words only ask for the summary, as Gemini CLI does."""

RequestShape = Literal["text", AsMessages]

ASK: dict[Language, str] = {
    "en": "Write the summary now, as the instructions above say.",
    "zh": "请按照上述指示，现在写出摘要。",
}
"""The last words where the prompt is the system prompt."""


@dataclass(frozen=True)
class TextBody:
    """One user message that holds everything; rendered when it is asked for, because it may be megabytes."""

    render: Callable[[], str]

    @property
    def text(self) -> str:
        return self.render()


@dataclass(frozen=True)
class MessagesBody:
    """Messages as they are, under `system` and `tools`, and what the user says `last`."""

    shape: AsMessages
    system: str
    tools: tuple[Tool, ...]
    messages: Sequence[Message]
    last: str

    @property
    def text(self) -> str:
        """All of it as text, each message in the tags of its role: to be read, not to be sent."""
        answered = {result.call_id for message in self.messages for result in message.results}
        parts = [f"<system_prompt>\n{self.system}\n</system_prompt>"] if self.system else []
        parts += [f"<tools>\n{tools_text(self.tools)}\n</tools>"] if self.tools else []
        parts += filter(None, (tagged(message, answered) for message in self.messages))
        return "\n".join([*parts, f"<user>\n{self.last}\n</user>"])


RequestBody = TextBody | MessagesBody


def follow_up(body: RequestBody, answer: str, last: str) -> RequestBody:
    """What is sent after an answer: the same, the answer, and what the user says then."""
    if isinstance(body, MessagesBody):
        turn = (Message("asked", "user", (Text(body.last),)), Message("answered", "assistant", (Text(answer),)))
        return replace(body, messages=(*body.messages, *turn), last=last)
    return TextBody(lambda: f"{body.text}\n\n<summary>\n{answer}\n</summary>\n\n{last}")


def tools_text(tools: Sequence[Tool]) -> str:
    """The definitions of tools as the session holds them, a line each."""
    return "\n".join(tool.schema for tool in tools)
