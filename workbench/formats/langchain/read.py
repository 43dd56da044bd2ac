"""Read LangChain messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from workbench.formats.agent_texts import kind_of, with_user_text
from workbench.formats.kit.blocks import arguments_of, as_text, from_anthropic, in_result, input_of, to_anthropic
from workbench.formats.kit.conversation import Document
from workbench.formats.kit.document import Item
from workbench.formats.kit.epochs import epochs_at, split_at_compactions
from workbench.formats.kit.marks import STALE_USAGE, marked, without_stale_usage
from workbench.formats.kit.usage import openai_usage, usage_of_prompt
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of, word_of
from workbench.formats.langchain import ID, ROLES, items_of, short_name
from workbench.session.images import media_of_url
from workbench.session.message import Block, Kind, Message, Opaque, Thinking, ToolResult, ToolUse, Usage
from workbench.session.session import Session, SessionFacts

SUMMARY = {"lc_source": "summarization"}


class Reader(Document):
    """Reader of a list, which is one context, except for messages before the Messages API's own compaction, which that
    API ignores."""

    format = ID
    needs = "has no list of messages; open a dump of LangChain messages"

    def session(self) -> Session:
        items = self.items(items_of(self.document))
        read = (self._message(index, item) for index, item in enumerate(items))
        split, compacted = split_at_compactions(message for message in read if message is not None)
        marked_items = {n for n, item in enumerate(items) if _has_stale_usage(item)}
        last = max((n for n, message in enumerate(split) if message.source[0] in marked_items), default=-1)
        messages = with_user_text(without_stale_usage(split, range(len(split)), last))
        prompts = [n for n, message in enumerate(messages) if message.is_own_system]
        sources = {message.source[0] for message in messages}
        return self._session(
            messages,
            epochs=tuple(epochs_at(messages, compacted, lasting=prompts)),
            model=next((message.model for message in reversed(messages) if message.model), None),
            facts=SessionFacts(unread=tuple(n for n in range(len(items)) if n not in sources)),
        )

    def _message(self, index: int, item: Any) -> Message | None:
        if not isinstance(item, dict):
            return self.not_an_object(index, item)
        name, fields = _kind_name(item), fields_of(item)
        id = self.unique_id(word_of(fields.get("id")) or f"m{index + 1}")
        if name == "remove":
            self.warn(f"message {index + 1} removes another one; it is not shown")
            return None
        role = ROLES.get({"human": "human", "user": "human", "assistant": "ai"}.get(name, name))
        if name == "chat":
            role = {"user": "user", "assistant": "assistant", "system": "system"}.get(as_text(fields.get("role")))  # type: ignore[assignment]
        if role is None:
            self.warn(f"message {index + 1} is a {name[:40]}; read as user")
            role = "user"
        blocks = tuple(_parts(fields.get("content")))
        extra = dict_of(fields.get("additional_kwargs"))
        if role == "tool":
            call_id = as_text(fields.get("tool_call_id") or fields.get("name") or "")
            content = tuple(in_result(b, _raw(b)) for b in blocks)
            blocks = (ToolResult(call_id, content, fields.get("status") == "error"),)
        elif role == "assistant":
            blocks = tuple(_with_calls(blocks, fields, extra))
        kind: Kind | None = "summary" if role == "user" and extra.get("lc_source") == "summarization" else None
        about = dict_of(fields.get("response_metadata"))
        return Message(
            id,
            role,
            blocks,
            marked(extra) or kind or kind_of(role, blocks),
            usage=_usage(dict_of(fields.get("usage_metadata"))) or _provider_usage(about),
            model=word_of(about.get("model_name")) or word_of(about.get("model")),
            source=(index,),
        )


def _has_stale_usage(item: Any) -> bool:
    return dict_of(fields_of(dict_of(item)).get("additional_kwargs")).get(STALE_USAGE) is True


def _kind_name(item: Item) -> str:
    """Return `human`, `ai`, … for a message in any form; for a constructor, from the last part of its id."""
    if "lc" not in item:
        return short_name(as_text(item.get("type")))
    last = as_text(list_of(item.get("id"))[-1]) if list_of(item.get("id")) else as_text(fields_of(item).get("type"))
    return short_name(last)


def fields_of(item: Item) -> Item:
    """Return the fields of a message in any form."""
    if "lc" in item:
        return dict_of(item.get("kwargs"))
    return dict_of(item.get("data")) if "data" in item else item


def _raw(block: Block) -> Any:
    return block.raw if isinstance(block, Opaque) else to_anthropic(block, [])


def _parts(content: Any) -> Iterator[Block]:
    for part in list_of(content):
        kind = dict_of(part).get("type")
        if kind == "image_url":
            url = part.get("image_url")
            yield media_of_url(as_text(dict_of(url).get("url") or url or ""), "image")
        elif kind == "reasoning":
            yield _reasoning(part)
        elif kind == "tool_call":
            yield _call(part.get("id"), part.get("name"), part.get("args"))
        elif kind == "function_call":
            yield _call(part.get("call_id"), part.get("name"), arguments_of(part.get("arguments")))
        elif kind == "custom_tool_call":
            yield _call(part.get("call_id"), part.get("name"), part.get("input"))
        else:
            yield from_anthropic([part])[0]
    if not isinstance(content, list):
        yield from from_anthropic(content)


def _reasoning(part: Item) -> Block:
    """Return reasoning in LangChain's form since 1.0, or in the form of OpenAI's Responses API."""
    summary = [text_of(dict_of(one).get("text")) for one in list_of(part.get("summary"))]
    sealed = text_of(part.get("encrypted_content"))
    if isinstance(part.get("reasoning"), str):
        return Thinking(part["reasoning"], sealed)
    return Thinking("\n".join(filter(None, summary)), sealed) if any(summary) or sealed else Opaque("reasoning", part)


def _with_calls(blocks: Sequence[Block], fields: Item, extra: Item) -> Iterator[Block]:
    """Yield the blocks with each call once: at its place in the content, with the arguments that LangChain decoded."""
    calls = [
        _call(call.get("id"), call.get("name"), call.get("args"))
        for call in map(dict_of, [*list_of(fields.get("tool_calls")), *list_of(fields.get("invalid_tool_calls"))])
    ]
    if not calls:
        for call in map(dict_of, list_of(extra.get("tool_calls"))):
            function = dict_of(call.get("function"))
            calls.append(_call(call.get("id"), function.get("name"), arguments_of(function.get("arguments"))))
    for block in blocks:
        if isinstance(block, ToolUse) and (same := next((call for call in calls if call.id == block.id), None)):
            calls.remove(same)
            block = same
        yield block
    yield from calls


def _call(id: Any, name: Any, args: Any) -> ToolUse:
    return ToolUse(as_text(id or ""), as_text(name or ""), input_of(args))


def _usage(usage: Item) -> Usage | None:
    details = dict_of(usage.get("input_token_details"))
    prompt, read, written = (
        count_of(v) for v in (usage.get("input_tokens"), details.get("cache_read"), details.get("cache_creation"))
    )
    return usage_of_prompt(prompt, count_of(usage.get("output_tokens")), read, written)


def _provider_usage(about: Item) -> Usage | None:
    """Return the usage in the provider's own response, for messages without LangChain's."""
    usage = dict_of(about.get("token_usage")) or dict_of(about.get("usage"))
    return openai_usage(usage) if "prompt_tokens" in usage else None
