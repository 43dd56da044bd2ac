"""Read pydantic-ai messages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any, Literal

from workbench.base.stamps import seconds_of
from workbench.formats.agent_texts import kind_of, with_summary_answers, with_user_text
from workbench.formats.kit.blocks import arguments_of, as_text, in_result
from workbench.formats.kit.conversation import Document
from workbench.formats.kit.epochs import epochs_at
from workbench.formats.kit.usage import usage_of_prompt
from workbench.formats.kit.values import count_of, dict_of, dollars_of, list_of, text_of, word_of
from workbench.formats.pydantic_ai import ID, items_of
from workbench.session.images import media_of
from workbench.session.message import Block, Media, Message, Opaque, Role, Text, Thinking, ToolResult, ToolUse, Usage
from workbench.session.session import Session

Item = dict[str, Any]
_RETRY = "Fix the errors and try again."
"""Text sent after the reason why a call or a response must be repeated."""


class Reader(Document):
    """Reader of requests and responses. Ids are `m1`, `m2`, … by position; further messages of an item are `m1.2`, …"""

    format = ID
    needs = "has no list of messages; open what pydantic-ai's ModelMessagesTypeAdapter wrote"

    def session(self) -> Session:
        items = self.items(items_of(self.document))
        found = [message for index, item in enumerate(items) for message in self._messages(index, item)]
        ended = [n for n, message in enumerate(found) if message.role == "assistant" and message.kind == "summary"]
        messages = with_user_text(with_summary_answers(found))
        prompts = [n for n, message in enumerate(messages) if message.is_own_system]
        instructions = [text_of(dict_of(item).get("instructions")) for item in items]
        return self._session(
            messages,
            epochs=tuple(epochs_at(messages, ended, lasting=prompts)),
            id=next((id for item in items if (id := word_of(dict_of(item).get("conversation_id")))), ""),
            model=next((message.model for message in reversed(messages) if message.model), None),
            system=next((text for text in reversed(instructions) if text), ""),
        )

    def _messages(self, index: int, item: Any) -> Iterator[Message]:
        fields, id, source = dict_of(item), f"m{index + 1}", (index,)
        if not fields:
            yield self.not_an_object(index, item)
            return
        answers = fields.get("kind") == "response"
        parts = [dict_of(part) for part in list_of(fields.get("parts"))]
        unplaced = _usage(fields.get("usage")) if answers else None
        model = word_of(fields.get("model_name")) if answers else None
        time = seconds_of(fields.get("timestamp"))
        count = 0
        for (role, kind), run in groupby(parts, key=_role_of if not answers else _role_in_response):
            blocks = tuple(block for part in run for block in _blocks(part))
            if not blocks:
                continue
            count += 1
            usage = unplaced if role == "assistant" and kind != "summary" else None
            unplaced = None if usage else unplaced
            name = id if count == 1 else f"{id}.{count}"
            message_kind = kind if kind != "normal" else kind_of(role, blocks)
            yield Message(name, role, blocks, message_kind, time, usage, model if role == "assistant" else None, source)


def _role_of(part: Item) -> tuple[Role, Literal["normal", "meta", "summary"]]:
    """Return role and kind of a request's part. pydantic-ai's text about an unusable response is not the user's."""
    kind = part.get("part_kind")
    if kind in ("system-prompt", "instruction-delta"):
        return "system", "normal"
    if kind == "tool-return" or (kind == "retry-prompt" and part.get("tool_name")):
        return "tool", "normal"
    if kind == "compaction":
        return "user", "summary"
    return "user", "normal" if kind == "user-prompt" else "meta"


def _role_in_response(part: Item) -> tuple[Role, Literal["normal", "meta", "summary"]]:
    """Return role and kind of a response's part: a provider runs its own tools within a response, and may compact in
    one."""
    kind = text_of(part.get("part_kind"))
    if kind.endswith("-tool-return"):
        return "tool", "normal"
    return "assistant", "summary" if kind == "compaction" else "normal"


def _blocks(part: Item) -> Iterator[Block]:
    kind, content = part.get("part_kind"), part.get("content")
    text = text_of(content)
    if kind in ("text", "system-prompt", "user-prompt", "instruction-delta"):
        yield from _user_parts(content)
    elif kind == "thinking":
        yield Thinking(text, text_of(part.get("signature")))
    elif kind in ("tool-call", "builtin-tool-call"):
        yield ToolUse(text_of(part.get("tool_call_id")), text_of(part.get("tool_name")), arguments_of(part.get("args")))
    elif kind in ("tool-return", "builtin-tool-return"):
        yield _result(part)
    elif kind == "retry-prompt" and part.get("tool_name"):
        yield ToolResult(text_of(part.get("tool_call_id")), (Text(_with_retry_text(content)),), is_error=True)
    elif kind in ("retry-prompt", "retry-feedback"):
        yield Text(_with_retry_text(content))
    elif kind == "compaction":
        yield Text(text) if text else Opaque("compaction", part)
    elif kind == "file":
        yield _media(dict_of(content))
    elif kind not in _UNSENT:
        yield Opaque(text_of(kind), part)


_UNSENT = ("instruction", "instruction-baseline", "instruction-digest", "model-settings-delta")
"""Parts whose text `instructions` already contain, or that only change a setting."""


def _result(part: Item) -> ToolResult:
    """Return a tool result; if the user rejected the call, with the user's reason."""
    content, outcome = part.get("content"), part.get("outcome")
    blocks = tuple(in_result(b, content) for b in _user_parts(content))
    reason = text_of(content) if outcome == "denied" and content != _DENIED else ""
    return ToolResult(text_of(part.get("tool_call_id")), blocks, outcome not in (None, "success"), reason)


_DENIED = "The tool call was denied."
"""Text of a rejection without a reason."""


def _with_retry_text(content: Any) -> str:
    text = as_text(content)
    return text if text.endswith(_RETRY) else f"{text}\n\n{_RETRY}"


def _user_parts(content: Any) -> Iterator[Block]:
    """Yield a text, or texts and files, which are objects with a kind; any other value is sent as its JSON."""
    parts = content if isinstance(content, list) and any(map(_is_file, content)) else [content]
    for part in parts:
        if _is_file(part):
            yield Text(text_of(part.get("content"))) if part["kind"] == "text" else _media(part)
        elif part is not None and part != "" and dict_of(part).get("kind") != "cache-point":
            yield Text(as_text(part))


_FILES = ("image-url", "audio-url", "video-url", "document-url", "binary", "text", "uploaded-file")


def _is_file(part: Any) -> bool:
    return dict_of(part).get("kind") in _FILES


def _media(part: Item) -> Media:
    kind = text_of(part.get("kind")).removesuffix("-url")
    return media_of(word_of(part.get("media_type")) or kind or "file", text_of(part.get("data")))


def _usage(recorded: Any) -> Usage | None:
    """Return the usage; `input_tokens` includes cached tokens."""
    usage = dict_of(recorded)
    prompt = count_of(usage.get("input_tokens")) or count_of(usage.get("request_tokens"))
    output = count_of(usage.get("output_tokens")) or count_of(usage.get("response_tokens"))
    read, written = count_of(usage.get("cache_read_tokens")), count_of(usage.get("cache_write_tokens"))
    return usage_of_prompt(prompt, output, read, written, dollars_of(usage.get("cost")))
