"""Requests for summaries that strategies yield, and the answers that they receive.

The body of a request is one text that contains the messages, or the messages themselves with the prompt at the end. A
request of messages begins like the agent's last call, so this beginning is read from the prompt cache. A request of one
text is in no cache. Nor are messages under another system prompt or without the tools, because caches match prefixes:
tools, system prompt, messages.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from msgspec import Struct

from workbench.base.secrets import masked
from workbench.compaction.language import Language
from workbench.compaction.render import tagged
from workbench.session import Message, Text, Tool, Usage
from workbench.session.bounded import bounded_message
from workbench.session.masked import searched_message, without_rests

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


class TemplateMark(Struct, frozen=True):
    """Fixed words of a template in the section `under` (its title in the request), "" for the whole answer.

    `how`: use of the words: `opening`, at the very beginning; `label`, a name before its text; `item`, before each
    finished task; `note`, on a line of its own. `of`: content that belongs to a label, in the template's words.
    """

    words: str
    how: Literal["opening", "label", "item", "note"]
    under: str = ""
    of: str = ""

    def line(self, text: str = "") -> str:
        """The mark with text after it."""
        match self.how:
            case "opening":
                return f"{self.words}{text}"
            case "label":
                return f"* **{self.words}**: {text}".rstrip()
            case "item":
                return f"* {self.words} {text}"
            case "note":
                return f"*{self.words}*"


Form = Literal["prose", "sections", "memories", "narrative"]
"""`narrative`: flowing text about reasons and methods, next to entries with all other facts word for word."""


@dataclass(frozen=True, kw_only=True)
class RequestSettings:
    """Requirements on a summarizer's answer, apart from the prompt.

    `max_chars`, `max_lines`: 0 for no limit. `sections`: titles that a `form="sections"` answer must have, in order.
    With `form="memories"`, each message is a memory, and so is each line of the answer. `marks`: fixed words that the
    answer must contain. `tools`: definitions sent with a request of one text. `timeout_s`, `max_output_tokens`: None
    for the summarizer's own limit.
    """

    form: Form = "prose"
    sections: tuple[str, ...] = ()
    marks: tuple[TemplateMark, ...] = ()
    language: Language = "en"
    max_chars: int = 0
    max_lines: int = 0
    temperature: float | None = None
    timeout_s: float | None = None
    max_output_tokens: int | None = None
    tools: tuple[Tool, ...] = ()


@dataclass(frozen=True)
class SummaryRequest(RequestSettings):
    """One call of a summarizer.

    `messages`: input messages of which anything is shown. `body`: the request as sent, prompt included: one text, or a
    conversation, which may hold more messages than are to be summarized. `previous`: earlier summary given as context
    (policy `earlier_summary`: nest or extend). `chars`: approximate size of the text to summarize, for estimates that
    must not render it. `exact`: false if the request depends on an answer that was only estimated. `seen(i)`:
    characters of `messages[i]` that the summarizer sees: (seen, of). `masking`: function that masks a message's
    secrets, possibly cached.
    """

    purpose: str
    messages: Sequence[Message]
    prompt: str
    body: RequestBody
    previous: str = ""
    chars: int = 0
    exact: bool = True
    seen: Callable[[int], tuple[int, int]] | None = None
    masking: Callable[[Message], Message] = searched_message

    @cached_property
    def masked(self) -> tuple[Message, ...]:
        """Messages with secrets masked, from which code (not a model) takes everything that it writes about them."""
        return tuple(map(self.masking, self.messages))

    @property
    def sources(self) -> tuple[str, ...]:
        """Ids of the messages."""
        return tuple(message.id for message in self.messages)

    @cached_property
    def text(self) -> str:
        """The request as text: exactly as sent if it is one text, else the conversation with its messages in tags."""
        return self.body.text

    @cached_property
    def shown(self) -> str:
        """The request as displayed and saved: without fragments of secrets that were cut."""
        return without_rests(self.text, map(bounded_message, self.messages), self.masked)

    @cached_property
    def key(self) -> str:
        """Hash of the request as sent. Recorded answers are found by it, not by their order."""
        sent = "\n".join([self.text, *(tool.schema for tool in self.tools)])
        return hashlib.blake2b(sent.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Summary:
    """A summarizer's answer. `origins`: ids of the source messages of each line, if they are known."""

    text: str
    model: str = ""
    usage: Usage | None = None
    seconds: float = 0.0
    origins: tuple[tuple[str, ...], ...] = ()


FailureKind = Literal["timeout", "overflow", "empty", "truncated", "refused", "inflated", "error"]


@dataclass(frozen=True, slots=True)
class SummaryFailed:
    """Reason why there is no summary. Secrets in `detail` are masked: it may quote a server, and is shown and saved."""

    kind: FailureKind
    detail: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "detail", masked(self.detail))

    def __str__(self) -> str:
        return f"the summarizer failed ({self.kind})" + (f": {self.detail}" if self.detail else "")


Answer = Summary | SummaryFailed
Requests = tuple[SummaryRequest, ...]
