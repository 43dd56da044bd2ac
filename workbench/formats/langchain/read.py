"""Reading: LangChain messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.formats.format import Progress, Written
from workbench.formats.kit.blocks import as_text, from_anthropic, kind_of, to_anthropic
from workbench.formats.kit.document import glimpse, new_name, parse, splice
from workbench.formats.kit.ids import unique_id
from workbench.formats.kit.item_list import (
    Item,
    Notes,
    Render,
    count_of,
    dict_of,
    list_of,
    pieces,
    with_unread,
    word_of,
)
from workbench.formats.kit.mark import MARK, marked
from workbench.formats.kit.settle import settled
from workbench.formats.kit.titles import first_words
from workbench.formats.openai_chat.embedded import told
from workbench.session import (
    Block,
    Epoch,
    Kind,
    LoadWarning,
    Media,
    Message,
    Opaque,
    Records,
    Role,
    Session,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Usage,
)

ID = "langchain"
_ROLES: dict[str, Role] = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool"}
_NAMES: dict[Role, tuple[str, str]] = {
    "user": ("human", "HumanMessage"),
    "assistant": ("ai", "AIMessage"),
    "system": ("system", "SystemMessage"),
    "tool": ("tool", "ToolMessage"),
}
_SUMMARY = {"lc_source": "summarization"}


def recognise(head: bytes) -> str:
    items = _items(glimpse(head))
    first = dict_of(items[0]) if items else {}
    if first.get("lc") == 1 and first.get("type") == "constructor":
        return "a list of LangChain constructors"
    known = as_text(first.get("type")) in (*_ROLES, "chat")
    return "a list of LangChain's type and data" if known and isinstance(first.get("data"), dict) else ""


def _items(document: Any) -> list[Any] | None:
    items = document if isinstance(document, list) else dict_of(document).get("messages")
    return items if isinstance(items, list) else None


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """One epoch: a list is a context already. Raises BadInput when there is no list of messages."""
    progress(0, len(data))
    document, warnings = parse(path, data)
    items = _items(document)
    if items is None:
        raise BadInput(f"{path}: has no list of messages; open a dump of LangChain messages.")
    ids: dict[str, int] = {}
    read = ((index, _message(index, item, ids, warnings)) for index, item in enumerate(items))
    messages = tuple(message for _, message in read if message is not None)
    progress(len(data), len(data))
    everything = range(len(messages))
    sources = {message.source[0] for message in messages}
    return Session(
        format=ID,
        path=path,
        messages=messages,
        branch=everything,
        epochs=(Epoch(1, everything),),
        records=Records(data),
        title=first_words(messages),
        model=next((message.model for message in reversed(messages) if message.model), None),
        warnings=tuple(warnings),
        meta={"unread": tuple(n for n in range(len(items)) if n not in sources)},
    )


def _kind_name(item: Item) -> str:
    """`human`, `ai`, … from either form; the last part of a constructor's id, whatever module it once was in."""
    if "lc" not in item:
        return as_text(item.get("type"))
    last = as_text(list_of(item.get("id"))[-1]) if list_of(item.get("id")) else as_text(fields_of(item).get("type"))
    return last.removesuffix("Chunk").removesuffix("Message").lower()


def fields_of(item: Item) -> Item:
    return dict_of(item.get("kwargs" if "lc" in item else "data"))


def _message(index: int, item: Any, ids: dict[str, int], warnings: list[LoadWarning]) -> Message | None:
    if not isinstance(item, dict):
        warnings.append(LoadWarning(f"message {index + 1} is not an object; it is shown as it is"))
        return Message(f"m{index + 1}", "user", (Opaque(type(item).__name__, item),), "meta", source=(index,))
    name, given = _kind_name(item), fields_of(item)
    id = unique_id(word_of(given.get("id")) or f"m{index + 1}", ids)
    if name == "remove":
        warnings.append(LoadWarning(f"message {index + 1} removes another one; it is not shown"))
        return None
    role = _ROLES.get({"human": "human", "user": "human", "assistant": "ai"}.get(name, name))
    if name == "chat":
        role = {"user": "user", "assistant": "assistant", "system": "system"}.get(as_text(given.get("role")))  # type: ignore[assignment]
    if role is None:
        warnings.append(LoadWarning(f"message {index + 1} is a {name[:40]}; it is read as the user's"))
        role = "user"
    blocks = tuple(_parts(given.get("content")))
    extra = dict_of(given.get("additional_kwargs"))
    if role == "tool":
        call_id = as_text(given.get("tool_call_id") or given.get("name") or "")
        content = tuple(b if isinstance(b, Text | Media) else Text(as_text(_raw(b))) for b in blocks)
        blocks = (ToolResult(call_id, content, given.get("status") == "error"),)
    elif role == "assistant":
        blocks = tuple(_with_calls(blocks, given, extra))
    kind: Kind | None = "summary" if role == "user" and extra.get("lc_source") == "summarization" else None
    about = dict_of(given.get("response_metadata"))
    return Message(
        id,
        role,
        blocks,
        marked(extra) or kind or kind_of(role, blocks),
        usage=_usage(dict_of(given.get("usage_metadata"))),
        model=word_of(about.get("model_name")) or word_of(about.get("model")),
        source=(index,),
    )


def _raw(block: Block) -> Any:
    return block.raw if isinstance(block, Opaque) else to_anthropic(block)


def _parts(content: Any) -> Iterator[Block]:
    for part in content if isinstance(content, list) else ():
        kind = dict_of(part).get("type")
        if kind == "image_url":
            url = part.get("image_url")
            head, _, encoded = as_text(dict_of(url).get("url") or url or "").partition(",")
            yield Media(head[5:].split(";")[0] or "image" if head.startswith("data:") else "image", len(encoded))
        elif kind == "reasoning" and isinstance(part.get("reasoning"), str):
            yield Thinking(part["reasoning"])
        else:
            yield from_anthropic([part])[0]
    if not isinstance(content, list):
        yield from from_anthropic(content)


def _with_calls(blocks: Sequence[Block], given: Item, extra: Item) -> Iterator[Block]:
    """The blocks with each call once: where it stands in the content, with the arguments that LangChain decoded."""
    calls: dict[str, ToolUse] = {}
    rest: list[ToolUse] = []
    for call in map(dict_of, [*list_of(given.get("tool_calls")), *list_of(given.get("invalid_tool_calls"))]):
        made = _call(call.get("id"), call.get("name"), call.get("args"))
        rest.append(made)
    if not rest:
        for call in map(dict_of, list_of(extra.get("tool_calls"))):
            function = dict_of(call.get("function"))
            rest.append(_call(call.get("id"), function.get("name"), _decoded(function.get("arguments"))))
    for made in rest:
        calls.setdefault(made.id, made)
    for block in blocks:
        if isinstance(block, ToolUse) and block.id in calls:
            found = calls.pop(block.id)
            rest.remove(found)
            block = found
        yield block
    yield from rest


def _call(id: Any, name: Any, args: Any) -> ToolUse:
    known = args if isinstance(args, dict) else "" if args is None else as_text(args)
    return ToolUse(as_text(id or ""), as_text(name or ""), known)


def _decoded(value: Any) -> Any:
    try:
        decoded = json.loads(value)
    except (ValueError, TypeError, RecursionError):
        return value
    return decoded if isinstance(decoded, dict) else value


def _usage(given: Item) -> Usage | None:
    details = dict_of(given.get("input_token_details"))
    sent, read, made = (
        count_of(v) for v in (given.get("input_tokens"), details.get("cache_read"), details.get("cache_creation"))
    )
    return Usage(max(sent - read - made, 0), count_of(given.get("output_tokens")), read, made) if sent else None


def write(session: Session, messages: Sequence[Message]) -> Written:
    """The loaded list with its messages replaced; from another format, a list of constructors."""
    name = new_name(session.path)
    notes: Notes = Notes()
    if session.format != ID:
        settled_messages, more = settled(messages)
        notes.update(more)
        if session.system:
            settled_messages.insert(0, Message("system", "system", (Text(session.system),)))
        found = pieces((), settled_messages, _renderer(own=False, dumped=True), notes)
        return Written(splice(b"[]", None, found), name, notes=told(notes))
    data = session.records.data
    if list(messages) == list(session.context()):
        return Written(data, name)
    document, _ = parse(session.path or Path(), data)
    dumped = any("lc" in dict_of(item) for item in _items(document) or ())
    found = pieces(session.messages, messages, _renderer(own=True, dumped=dumped), notes)
    found = with_unread(found, session.meta["unread"])
    return Written(splice(data, None if isinstance(document, list) else "messages", found), name, notes=told(notes))


def _renderer(*, own: bool, dumped: bool) -> Render:
    def rendered(message: Message, notes: Notes) -> list[Item]:
        made: list[tuple[Role, Item]] = [("tool", _result(result)) for result in message.results]
        others = [block for block in message.blocks if not isinstance(block, ToolResult)]
        if others or not made:
            role: Role = "user" if message.role == "tool" else message.role
            made.append((role, _said(message, role, others, notes, own)))
        return [_dressed(role, fields, dumped) for role, fields in made]

    return rendered


def _dressed(role: Role, fields: Item, dumped: bool) -> Item:
    short, long = _NAMES[role]
    if not dumped:
        return {"type": short, "data": fields | {"type": short}}
    where = ["langchain", "schema", "messages", long]
    return {"lc": 1, "type": "constructor", "id": where, "kwargs": fields | {"type": short}}


def _result(result: ToolResult) -> Item:
    texts = [part.text if isinstance(part, Text) else part.placeholder for part in result.content]
    content = texts[0] if len(texts) == 1 else [{"type": "text", "text": text} for text in texts if text] or ""
    status = "error" if result.is_error else "success"
    return {"content": content, "tool_call_id": result.call_id, "status": status}


def _said(message: Message, role: Role, blocks: Sequence[Block], notes: Notes, own: bool) -> Item:
    content: list[Any] = []
    calls: list[ToolUse] = []
    for place, block in enumerate(blocks):
        if isinstance(block, ToolUse):
            calls.append(block)
            if not all(isinstance(later, ToolUse) for later in blocks[place:]):
                content.append(to_anthropic(block))
        elif isinstance(block, Thinking) and not own:
            notes["reasoning was left out: a model takes back only its own"] += 1
        elif isinstance(block, Thinking) and not block.signature:
            content.append({"type": "reasoning", "reasoning": block.text})
        elif isinstance(block, Opaque) and not (own and isinstance(block.raw, dict)):
            notes["blocks that only the session's own format knows were left out"] += 1
        elif not isinstance(block, Text) or block.text:
            content.append(to_anthropic(block))
    plain = [part["text"] for part in content if part.get("type") == "text"]
    fields: Item = {"content": "".join(plain) if len(content) <= 1 and len(plain) == len(content) else content}
    extra: Item = {}
    if message.kind == "summary" and role == "user":
        extra = dict(_SUMMARY)
    elif message.kind != kind_of(role, tuple(blocks)):
        extra = {MARK: message.kind}
    fields |= {"additional_kwargs": extra, "response_metadata": {}}
    if role == "assistant":
        good = [call for call in calls if isinstance(call.input, dict)]
        bad = [call for call in calls if not isinstance(call.input, dict)]
        fields["tool_calls"] = [{"name": c.name, "args": c.input, "id": c.id, "type": "tool_call"} for c in good]
        fields["invalid_tool_calls"] = [
            {"name": c.name, "args": c.input, "id": c.id, "error": None, "type": "invalid_tool_call"} for c in bad
        ]
    return fields
