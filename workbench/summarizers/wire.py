"""Requests in the form that an API takes: the same bodies as an export, and cut when a model finds them too long.

A text loses its middle. The instruction at its beginning stays complete; of the rest, the share `STEP` remains, or less
if the server's figures require it. Start and end stay because they hold the goal and the latest state; a line states
how much is missing.

Messages lose the oldest ones, as in agents, up to the next user message that answers no call: no tool pair is
separated, and the API requires a user message first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.values import json_text
from workbench.compaction.summary_request import MessagesBody, SummaryRequest
from workbench.formats.anthropic_messages.write import write as anthropic_body
from workbench.formats.kit.chat import definitions_for
from workbench.formats.kit.jsonl import loads
from workbench.formats.openai_chat.write import write as chat_body
from workbench.formats.openai_responses.write import write as responses_body
from workbench.session import Message, Session

Fields = dict[str, Any]


def messages_fields(session: Session, messages: Sequence[Message]) -> Fields:
    """Return `system`, `tools` and `messages` as the exporter writes them, of any session, without model and limits.

    Messages of a Messages API body are unchanged, images included; in other formats images are placeholders. Raises
    BadInput if none of the messages can be sent.
    """
    written = loads(anthropic_body(session, messages).data)
    document: Fields = written if isinstance(written, dict) else {"messages": written}
    if not any(message.kind != "boundary" and message.blocks for message in messages) or not document.get("messages"):
        raise BadInput("Nothing of this context can be sent to the Messages API; choose another part of the session.")
    return {name: document[name] for name in ("system", "tools", "messages") if document.get(name)}


def responses_fields(session: Session, messages: Sequence[Message]) -> Fields:
    """Return `instructions`, `tools` and `input` of a Responses body, as the exporter writes them of any session.
    Raises BadInput if none of the messages can be sent."""
    document: Fields = loads(responses_body(replace(session, format=""), messages).data)
    if not document.get("input"):
        raise BadInput("Nothing of this context can be sent to the Responses API; choose another part of the session.")
    return {name: document[name] for name in ("instructions", "tools", "input") if document.get(name)}


@dataclass(frozen=True, slots=True)
class WirePrompt:
    """A prompt as sent: `messages` with `lead` before them and `fields` next to them. A single text begins with its
    `instruction`, which is None for messages."""

    messages: Sequence[Fields]
    fields: Fields
    instruction: str | None
    lead: Sequence[Fields] = field(default=())

    @property
    def chars(self) -> int:
        """Length of the text, or of the messages as JSON, in characters."""
        return len(self.messages[0]["content"]) if self.instruction is not None else len(json_text(self.messages))

    @property
    def cut(self) -> str:
        """Description of how it is shortened."""
        return "the oldest messages were left out" if self.instruction is None else "the middle was cut"

    def shortened(self, room: float | None) -> WirePrompt | None:
        """Return a shorter prompt, without the middle of a text or the oldest messages; None if it cannot be cut
        further. `room` is the share that the server has room for, or None."""
        if self.instruction is None:
            rest = without_oldest(self.messages, room)
            return None if rest is None else replace(self, messages=rest)
        text = cut_middle(self.messages[0]["content"], self.instruction, room)
        return None if text is None else replace(self, messages=[_user_message(text)])


def messages_prompt(request: SummaryRequest, session: Session | None) -> WirePrompt:
    """Return a request for the Messages API, with tools if its text requires them.

    A conversation keeps its system prompt and tools. If it is to have no tools but contains calls, their definitions
    are sent because the API requires them, and none may be called. Raises BadInput for a conversation without its
    session.
    """
    body = request.body
    if not isinstance(body, MessagesBody):
        tools = [
            {"name": name, "description": about, "input_schema": schema}
            for name, about, schema in definitions_for(request.tools, ())
        ]
        return _text_prompt(request, {"tools": tools} if tools else {})
    fields = messages_fields(_require_session(session), body.messages)
    messages = [*fields.pop("messages"), _user_message(_without_lone_surrogates(body.last))]
    if body.shape == "messages_under_prompt":
        fields["system"] = _without_lone_surrogates(body.system)
    if body.shape != "messages" and "tools" in fields:
        fields["tool_choice"] = {"type": "none"}
    return WirePrompt(messages, fields, None)


def chat_prompt(request: SummaryRequest, session: Session | None) -> WirePrompt:
    """Return a request for OpenAI's Chat Completions. The system prompt leads, and stays when messages are dropped."""
    body = request.body
    if not isinstance(body, MessagesBody):
        tools = [
            {"type": "function", "function": {"name": name, "description": about, "parameters": schema}}
            for name, about, schema in definitions_for(request.tools, ())
        ]
        return _text_prompt(request, {"tools": tools} if tools else {})
    document = loads(chat_body(replace(_require_session(session), format=""), body.messages).data)
    messages: list[Fields] = document["messages"]
    lead = [messages.pop(0)] if messages and messages[0].get("role") == "system" else []
    fields = {"tools": document["tools"]} if document.get("tools") else {}
    if body.shape == "messages_under_prompt":
        lead = [{"role": "system", "content": _without_lone_surrogates(body.system)}]
    if body.shape != "messages" and fields:
        fields["tool_choice"] = "none"
    return WirePrompt([*messages, _user_message(_without_lone_surrogates(body.last))], fields, None, lead)


def responses_prompt(request: SummaryRequest, session: Session | None) -> WirePrompt:
    """Return a request for OpenAI's Responses."""
    body = request.body
    if not isinstance(body, MessagesBody):
        tools = [
            {"type": "function", "name": name, "description": about, "parameters": schema, "strict": False}
            for name, about, schema in definitions_for(request.tools, ())
        ]
        return _text_prompt(request, {"tools": tools} if tools else {})
    fields = responses_fields(_require_session(session), body.messages)
    items = fields.pop("input")
    if body.shape == "messages_under_prompt":
        fields["instructions"] = _without_lone_surrogates(body.system)
    if body.shape != "messages" and "tools" in fields:
        fields["tool_choice"] = "none"
    return WirePrompt([*items, _user_message(_without_lone_surrogates(body.last))], fields, None)


def _text_prompt(request: SummaryRequest, fields: Fields) -> WirePrompt:
    return WirePrompt([_user_message(_without_lone_surrogates(request.text))], fields, request.prompt)


def _require_session(session: Session | None) -> Session:
    if session is None:
        raise BadInput("This request sends a session's own messages; open the session first.")
    return session


def _user_message(text: str) -> Fields:
    return {"role": "user", "content": text}


def _without_lone_surrogates(text: str) -> str:
    """Return a text without lone surrogates, which some sessions hold and no request can carry."""
    return text.encode("utf-8", "replace").decode()


STEP = 0.8
"""Share of the material that stays each time."""

MARGIN = 0.95
"""Used share of the room by the server's figures, because characters and tokens are not proportional."""

LEAST = 2_000
"""Minimum material after a cut, in characters: a summary of less would say nothing."""


def cut_middle(text: str, instruction: str, room: float | None = None) -> str | None:
    """Return `text` with its middle cut, always shorter; None if it cannot be cut further.

    `instruction` is the beginning of the text, which stays; `room` the share that the server has room for, or None.
    """
    instruction_chars = len(instruction) if text.startswith(instruction) else 0
    material = len(text) - instruction_chars
    target = int(material * STEP)
    if room is not None:
        target = min(target, int(len(text) * room * MARGIN) - instruction_chars)
    note = f"\n[… {material - target:,} characters are left out here …]\n"
    remaining = target - len(note)
    if remaining < LEAST:
        return None
    end = remaining // 2
    return text[: instruction_chars + remaining - end] + note + text[len(text) - end :]


def without_oldest(messages: Sequence[Mapping[str, Any]], room: float | None = None) -> list[dict[str, Any]] | None:
    """Return API messages without the oldest; the last one, the instruction, stays. None if nothing or only everything
    can be dropped. `room` is the share that the server has room for, or None."""
    sizes = [len(json_text(message)) for message in messages]
    whole = sum(sizes)
    target = min(whole * STEP, whole * MARGIN * room if room is not None else whole)
    left = whole
    for at, message in enumerate(messages[:-1]):
        if at and left <= target and _may_open(message):
            return [dict(each) for each in messages[at:]] if left - sizes[-1] >= LEAST else None
        left -= sizes[at]
    return None


def _may_open(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    answers = isinstance(content, list) and any(block.get("type") == "tool_result" for block in content)
    return message.get("role") == "user" and not answers
