"""Read AI SDK messages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.base.text import counted
from workbench.formats.agent_texts import kind_of, with_summary_answers, with_user_text
from workbench.formats.ai_sdk import ID, items_of
from workbench.formats.kit.blocks import arguments_of, as_text, in_result
from workbench.formats.kit.conversation import Document
from workbench.formats.kit.usage import usage_of_prompt
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of, word_of
from workbench.session.images import media_of
from workbench.session.message import Block, Media, Message, Opaque, Role, Text, Thinking, ToolResult, ToolUse, Usage
from workbench.session.session import Session

Item = dict[str, Any]
_ROLES: dict[Any, Role] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
_DENIED = "Tool execution denied."
"""Result that the SDK sends for a call that the user refused without a reason."""


class Reader(Document):
    """Reader of one list of messages, which is one epoch."""

    format = ID
    needs = "has no list of messages; open what the AI SDK stored or sends"

    def session(self) -> Session:
        items = self.items(items_of(self.document))
        messages = [message for index, item in enumerate(items) for message in self._messages(index, item)]
        unsent = sum(_is_display_only(part) for item in items for part in list_of(dict_of(item).get("parts")))
        if unsent:
            self.warn(f"{counted(unsent, 'part')} of type data or source are for display and not sent")
        chat = self.body
        return self._session(
            with_user_text(with_summary_answers(messages)),
            word_of(chat.get("title")),
            id=word_of(chat.get("id")) or "",
            system=text_of(chat.get("system")) or text_of(chat.get("instructions")),
        )

    def _messages(self, index: int, item: Any) -> Iterator[Message]:
        """Yield the messages that the SDK sends for an item."""
        message, source = dict_of(item), (index,)
        if not message:
            yield self.not_an_object(index, item, id=self.unique_id(f"m{index + 1}"))
            return
        role = _ROLES.get(text_of(message.get("role")))
        if role is None:
            self.warn(f"message {index + 1} has no known role; read as user")
            role = "user"
        steps = list(_steps(message))
        metadata = dict_of(message.get("metadata"))
        usage = _usage(metadata.get("usage") or metadata.get("totalUsage")) if len(steps) == 1 else None
        time = seconds_of(message.get("createdAt")) or seconds_of(metadata.get("createdAt"))
        name = word_of(message.get("id")) or f"m{index + 1}"
        for step in steps or [[]]:
            for answers, run in groupby(step, key=lambda block: isinstance(block, ToolResult)):
                blocks = tuple(run)
                step_role: Role = "tool" if answers else "user" if role == "tool" else role
                kind = kind_of(step_role, blocks)
                step_usage = usage if step_role == "assistant" else None
                yield Message(
                    self.unique_id(name),
                    step_role,
                    blocks,
                    kind,
                    time,
                    step_usage,
                    word_of(metadata.get("model")),
                    source,
                )


def _steps(item: Item) -> Iterator[list[Block]]:
    """Yield the blocks of each step, results last. A `ModelMessage` is one step."""
    parts = item.get("parts")
    if not isinstance(parts, list):
        content = item.get("content")
        blocks = [Text(content)] if isinstance(content, str) and content else list(map(_sent_block, list_of(content)))
        yield [*blocks, *_invocation_blocks(item.get("toolInvocations"))]
        return
    step: list[Block] = []
    results: list[Block] = []
    for part in map(dict_of, parts):
        if part.get("type") == "step-start":
            if step:
                yield step + results
            step, results = [], []
        elif not _is_display_only(part):
            for block in _stored_blocks(part):
                (results if isinstance(block, ToolResult) else step).append(block)
    if step or results:
        yield step + results


def _is_display_only(part: Any) -> bool:
    return text_of(dict_of(part).get("type")).startswith(("data-", "source"))


def _stored_blocks(part: Item) -> Iterator[Block]:
    """Yield the blocks of a stored part; a call and its result are one part."""
    kind = text_of(part.get("type"))
    if kind == "tool-invocation":
        yield from _invocation_blocks([part.get("toolInvocation")])
    elif kind == "dynamic-tool" or kind.startswith("tool-"):
        name = word_of(part.get("toolName")) or kind.removeprefix("tool-")
        id = text_of(part.get("toolCallId"))
        yield ToolUse(id, name, arguments_of(part.get("input", part.get("rawInput"))))
        yield from _result(id, part)
    else:
        yield _sent_block(part)


def _result(id: str, part: Item) -> Iterator[ToolResult]:
    """Yield the result of a stored call, if any; a refusal may hold the user's reason."""
    state = part.get("state")
    if state == "output-available":
        yield ToolResult(id, _output(part.get("output")))
    elif state == "output-error":
        yield ToolResult(id, (Text(text_of(part.get("errorText"))),), is_error=True)
    elif state == "output-denied":
        reason = text_of(dict_of(part.get("approval")).get("reason"))
        yield ToolResult(id, (Text(reason or _DENIED),), is_error=True, user_text=reason)


def _invocation_blocks(invocations: Any) -> Iterator[Block]:
    """Yield calls as version 4 stores them, then their results."""
    items = [dict_of(one) for one in list_of(invocations)]
    for one in items:
        yield ToolUse(text_of(one.get("toolCallId")), text_of(one.get("toolName")), arguments_of(one.get("args")))
    for one in items:
        if one.get("state") == "result":
            yield ToolResult(text_of(one.get("toolCallId")), _output(one.get("result")))


def _sent_block(part: Any) -> Block:
    """Return the block of a part of a `ModelMessage`."""
    item = dict_of(part)
    kind = text_of(item.get("type"))
    if kind == "text" and isinstance(item.get("text"), str):
        return Text(item["text"])
    if kind == "reasoning":
        return Thinking(text_of(item.get("text")) or text_of(item.get("reasoning")))
    if kind in ("image", "file"):
        return _media(kind, item)
    if kind == "tool-call":
        input = arguments_of(item.get("input", item.get("args")))
        return ToolUse(text_of(item.get("toolCallId")), text_of(item.get("toolName")), input)
    if kind == "tool-result":
        return _sent_result(item)
    return Opaque(kind, part)


def _sent_result(part: Item) -> ToolResult:
    """Return a result of a `ModelMessage`. Its `output` has a type; in version 4 the result is the bare value."""
    id = text_of(part.get("toolCallId"))
    if "output" not in part:
        return ToolResult(id, _output(part.get("result")), part.get("isError") is True)
    output = dict_of(part["output"])
    kind = text_of(output.get("type"))
    if kind == "execution-denied":
        reason = text_of(output.get("reason"))
        return ToolResult(id, (Text(reason or _DENIED),), is_error=True, user_text=reason)
    return ToolResult(id, _output(output.get("value")), kind.startswith("error"))


def _output(value: Any) -> tuple[Text | Media, ...]:
    """Return a result's content: a text, a list of parts, or the JSON of any other value."""
    parts = value if isinstance(value, list) and value and all("type" in dict_of(part) for part in value) else None
    if parts is None:
        return () if value is None or value == "" else (Text(as_text(value)),)
    blocks = ((_sent_block(part), part) for part in parts)
    return tuple(in_result(block, part) for block, part in blocks)


def _media(kind: str, part: Item) -> Media:
    data = part.get("url") or part.get("data") or part.get("image")
    head, comma, encoded = text_of(data).partition(",")
    is_data_url = head.startswith("data:")
    type = (
        word_of(part.get("mediaType"))
        or word_of(part.get("mimeType"))
        or (head[5:].split(";")[0] if is_data_url else "")
    )
    data_text = encoded if is_data_url and comma else "" if "://" in head else text_of(data)
    return media_of(type or kind, data_text)


def _usage(recorded: Any) -> Usage | None:
    """Return the usage of a one-step answer where the application stored it in the message, else None."""
    usage = dict_of(recorded)
    details = dict_of(usage.get("inputTokenDetails"))
    prompt = count_of(usage.get("inputTokens")) or count_of(usage.get("promptTokens"))
    output = count_of(usage.get("outputTokens")) or count_of(usage.get("completionTokens"))
    read = count_of(details.get("cacheReadTokens")) or count_of(usage.get("cachedInputTokens"))
    written = count_of(details.get("cacheWriteTokens"))
    return usage_of_prompt(prompt, output, read, written)
