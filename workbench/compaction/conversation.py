"""Body of a summary request: one text that contains the messages, or the messages themselves with the prompt at the
end.

A request of messages begins like the agent's last call, so this beginning is read from the prompt cache. A request of
one text is in no cache. Nor are messages under another system prompt or without the tools, because caches match
prefixes: tools, system prompt, messages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from workbench.compaction.language import Language
from workbench.compaction.render import tagged
from workbench.session import Message, Text, Tool

AsMessages = Literal["messages", "messages_without_tools", "messages_under_prompt"]
"""`messages`: the session's own system prompt, tools and messages, then the prompt as the last user message, as Claude
Code does. `messages_without_tools`: the same without tools, as Codex does. `messages_under_prompt`: the prompt is the
system prompt, and the last user message only asks for the summary, as Gemini CLI does."""

RequestShape = Literal["text", AsMessages]

ASK: dict[Language, str] = {
    "en": "Write the summary now, as the instructions above say.",
    "zh": "请按照上述指示，现在写出摘要。",
}
"""Last user message when the prompt is the system prompt."""


@dataclass(frozen=True)
class TextBody:
    """One user message with the whole request; rendered on demand, because it may be megabytes."""

    render: Callable[[], str]

    @property
    def text(self) -> str:
        """The whole request as text."""
        return self.render()


@dataclass(frozen=True)
class MessagesBody:
    """Unchanged messages, under `system` and `tools`, followed by the user message `last`."""

    shape: AsMessages
    system: str
    tools: tuple[Tool, ...]
    messages: Sequence[Message]
    last: str

    @property
    def text(self) -> str:
        """Everything as text, each message in the tags of its role; for reading, not for sending."""
        answered = {result.call_id for message in self.messages for result in message.results}
        parts = [f"<system_prompt>\n{self.system}\n</system_prompt>"] if self.system else []
        parts += [f"<tools>\n{tools_text(self.tools)}\n</tools>"] if self.tools else []
        parts += filter(None, (tagged(message, answered) for message in self.messages))
        return "\n".join([*parts, f"<user>\n{self.last}\n</user>"])


RequestBody = TextBody | MessagesBody


def follow_up(body: RequestBody, answer: str, last: str) -> RequestBody:
    """Body of the next request: this body, the answer to it, and the user message `last`."""
    if isinstance(body, MessagesBody):
        turn = (Message("asked", "user", (Text(body.last),)), Message("answered", "assistant", (Text(answer),)))
        return replace(body, messages=(*body.messages, *turn), last=last)
    return TextBody(lambda: f"{body.text}\n\n<summary>\n{answer}\n</summary>\n\n{last}")


def tools_text(tools: Sequence[Tool]) -> str:
    """Definitions of tools as in the session, one per line."""
    return "\n".join(tool.schema for tool in tools)
