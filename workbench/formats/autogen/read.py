"""Read AutoGen states and messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.formats.agent_texts import with_user_text
from workbench.formats.autogen import ID, thread_of
from workbench.formats.format import Part
from workbench.formats.kit.blocks import arguments_of, as_text
from workbench.formats.kit.conversation import MultiSessionDocument
from workbench.formats.kit.names import first_words, unique_id
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of, word_of
from workbench.session import (
    Block,
    Epoch,
    LoadWarning,
    Message,
    Opaque,
    Session,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Usage,
)
from workbench.session.images import media_of

Item = dict[str, Any]

_USERS = ("user", "user_proxy", "UserProxyAgent")
_NEVER_SENT = ("UserInputRequestedEvent", "ModelClientStreamingChunkEvent", "MemoryQueryEvent")


class Reader(MultiSessionDocument):
    """Reader of the context of each agent."""

    format = ID
    needs = "has neither an agent's context nor messages; save the state of an agent or a team"
    what = "agent"

    def parts(self) -> list[Part]:
        return [Part(name, f"as sent to {name}", count) for name, count in _agents(self.document).items()]

    def session(self) -> Session:
        """Read the context of the agent that spoke last."""
        agents = _agents(self.document)
        if not agents:
            raise self.lacking()
        chosen = _last_speaker(self.document, list(agents))
        session = self.part(chosen)
        if len(agents) == 1:
            return session
        warning = LoadWarning(f"{len(agents)} agents in the file; shown: the context of {chosen}, the last active one")
        return replace(session, warnings=(warning, *session.warnings))

    def part(self, id: str) -> Session:
        contexts = _contexts(self.document)
        if contexts:
            messages, sent = _messages_of_context(contexts[id]), None
        else:
            messages, sent = _messages_of_thread(thread_of(self.document), id)
        return self._session(
            with_user_text(messages),
            first_words(messages),
            epochs=(Epoch(1, range(len(messages)) if sent is None else sent),),
            id=id,
        )


def _contexts(document: Any) -> dict[str, list[Any]]:
    """Return each agent's recorded context by name. The state of a single agent does not name it."""
    body = dict_of(document)
    contexts: dict[str, list[Any]] = {}
    for name, state in dict_of(body.get("agent_states")).items():
        context = dict_of(dict_of(dict_of(state).get("agent_state")).get("llm_context")).get("messages")
        if isinstance(context, list):
            contexts[name] = context
    alone = dict_of(body.get("llm_context")).get("messages")
    if isinstance(alone, list):
        speaker = next((word_of(m.get("source")) for m in map(dict_of, alone) if m.get("type") == _ASSISTANT), None)
        contexts[speaker or "agent"] = alone
    return contexts


_ASSISTANT = "AssistantMessage"


def _agents(document: Any) -> dict[str, int]:
    """Return the number of messages of each agent."""
    if contexts := _contexts(document):
        return {name: len(messages) for name, messages in contexts.items()}
    counts: dict[str, int] = {}
    for item in map(dict_of, thread_of(document)):
        source = word_of(item.get("source"))
        if source and source not in _USERS:
            counts[source] = counts.get(source, 0) + 1
    return counts or ({"agent": 0} if thread_of(document) else {})


def _last_speaker(document: Any, agents: Sequence[str]) -> str:
    """Return the agent that spoke last, by the manager's thread in a team's state."""
    states = dict_of(dict_of(document).get("agent_states")).values()
    threads = [list_of(dict_of(state).get("message_thread")) for state in states] or [thread_of(document)]
    speakers = (dict_of(item).get("source") for thread in threads for item in reversed(thread))
    return next((source for source in speakers if isinstance(source, str) and source in agents), agents[-1])


def _messages_of_context(context: Sequence[Any]) -> list[Message]:
    """Return the messages of a recorded context, as the model's client receives them."""
    messages: list[Message] = []
    for n, item in enumerate(map(dict_of, context)):
        id, source = f"m{n + 1}", (n,)
        content = item.get("content")
        match item.get("type"):
            case "SystemMessage":
                messages.append(Message(id, "system", _blocks(content), source=source))
            case "UserMessage":
                messages.append(
                    _user_message(id, word_of(item.get("source")) or "user", _blocks(content), source=source)
                )
            case "AssistantMessage":
                thought = word_of(item.get("thought"))
                blocks = (*((Thinking(thought),) if thought else ()), *_blocks(content))
                messages.append(Message(id, "assistant", blocks, source=source))
            case "FunctionExecutionResultMessage":
                messages.append(Message(id, "tool", tuple(_results(content)), source=source))
            case kind:
                messages.append(Message(id, "user", (Opaque(as_text(kind or ""), item),), "meta", source=source))
    return messages


def _user_message(id: str, author: str, blocks: tuple[Block, ...], **more: Any) -> Message:
    """Return a message in the user's role: the user's text, or another agent's, marked as injected."""
    if author in _USERS:
        return Message(id, "user", blocks, **more)
    injected = tuple(replace(block, injected=True) if isinstance(block, Text) else block for block in blocks)
    return Message(id, "user", injected, "meta", **more)


def _messages_of_thread(items: Sequence[Any], agent: str) -> tuple[list[Message], list[int]]:
    """Return a team's messages and the indexes of those that one agent is sent: without the others' tool calls, and
    without its own texts that repeat a tool call for the others."""
    messages: list[Message] = []
    sent: list[int] = []
    ids: dict[str, int] = {}
    thought = ""
    for n, item in enumerate(map(dict_of, items)):
        kind = text_of(item.get("type")).split("[")[0]
        author = word_of(item.get("source")) or "user"
        id = unique_id(word_of(item.get("id")) or f"m{n + 1}", ids)
        time, content, source = seconds_of(item.get("created_at")), item.get("content"), (n,)
        own = author == agent
        if kind == "ThoughtEvent":
            thought = as_text(content) if own else thought
            message = Message(id, "assistant", (Thinking(as_text(content)),), "boundary", time, source=source)
        elif kind == "ToolCallExecutionEvent":
            message = Message(id, "tool", tuple(_results(content)), time=time, source=source)
        elif own or kind == "ToolCallRequestEvent":
            blocks = (*((Thinking(thought),) if own and thought else ()), *_blocks(content))
            thought = "" if own else thought
            message = Message(id, "assistant", blocks, time=time, usage=_usage(item), source=source)
        else:
            message = _user_message(id, author, _blocks(content), time=time, source=source)
        others_tools = kind in ("ToolCallRequestEvent", "ToolCallExecutionEvent") and not own
        repeated = own and kind in ("ToolCallSummaryMessage", "HandoffMessage")
        if message.blocks and message.kind != "boundary" and kind not in _NEVER_SENT and not (others_tools or repeated):
            sent.append(len(messages))
        messages.append(message)
    return messages, sent


def _blocks(content: Any) -> tuple[Block, ...]:
    """Return the blocks of a message's content: a text, calls, texts and images, or the JSON of a structured answer."""
    if isinstance(content, str):
        return (Text(content),) if content else ()
    return tuple(_block(part) for part in list_of(content)) if isinstance(content, list) else (Text(as_text(content)),)


def _block(part: Any) -> Block:
    item = dict_of(part)
    if isinstance(item.get("name"), str) and "arguments" in item:
        return ToolUse(as_text(item.get("id") or ""), item["name"], arguments_of(item["arguments"]))
    if "data" in item:
        return media_of("image", as_text(item["data"]))
    return Text(part) if isinstance(part, str) else Opaque(type(part).__name__, part)


def _results(content: Any) -> Iterator[ToolResult]:
    for result in map(dict_of, list_of(content)):
        text = as_text(result.get("content") or "")
        yield ToolResult(text_of(result.get("call_id")), (Text(text),) if text else (), result.get("is_error") is True)


def _usage(item: Item) -> Usage | None:
    counts = dict_of(item.get("models_usage"))
    prompt = count_of(counts.get("prompt_tokens"))
    return Usage(prompt, count_of(counts.get("completion_tokens"))) if prompt else None
