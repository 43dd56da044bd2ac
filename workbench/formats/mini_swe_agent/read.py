"""Read mini-swe-agent trajectories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.formats.agent_texts import is_summary
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.conversation import Document
from workbench.formats.kit.marks import marked
from workbench.formats.kit.names import first_words
from workbench.formats.kit.usage import openai_usage
from workbench.formats.kit.values import dict_of, dollars_of, list_of, text_of
from workbench.formats.mini_swe_agent import ID
from workbench.formats.openai_chat.embedded import Item, chat_messages
from workbench.session import Epoch, Kind, Message, Session, SessionFacts

VERSION = "mini-swe-agent-1.1"
COMPACTED = "workbench_compacted_at"
_TYPED = ("The user added a new task", "The user interrupted", "Command not executed. The user rejected")


class Reader(Document):
    format = ID
    needs = "has no list of messages; open a .traj.json of mini-swe-agent"

    def session(self) -> Session:
        document = self.body
        items = self.items(document.get("messages") if isinstance(self.document, dict) else self.document)
        info = dict_of(document.get("info"))
        config = dict_of(info.get("config"))
        compacted = seconds_of(document.get(COMPACTED))
        chat = chat_messages(self.path, [_chat(item) for item in items], self.warnings)
        messages = [
            _with_metadata(message, item, kind, compacted)
            for message, item, kind in zip(chat, items, kinds_of(items), strict=True)
        ]
        named = dict_of(config.get("model")).get("model_name")
        cwd = dict_of(config.get("environment")).get("cwd")
        unsent = _unsent(items, text_of(info.get("submission")))
        return self._session(
            messages,
            first_words(messages, after="<pr_description>"),
            epochs=(Epoch(1, [n for n, m in enumerate(messages) if m.blocks and n != unsent]),),
            id=as_text(document.get("instance_id") or ""),
            model=named if isinstance(named, str) else next((m.model for m in reversed(messages) if m.model), None),
            cwd=cwd if isinstance(cwd, str) else None,
            facts=SessionFacts(exit_status=as_text(info.get("exit_status") or ""), cost=_run_cost(info, messages)),
        )


def _unsent(items: Sequence[Any], submission: str) -> int | None:
    """Return the index of the message that ended the run and was not sent: an `exit`, or, up to 1.x, the submission
    repeated as a user message. None without one."""
    if not items:
        return None
    submitted = submission and _role(items[-1]) == "user" and dict_of(items[-1]).get("content") == submission
    return len(items) - 1 if submitted or _role(items[-1]) == "exit" else None


def _chat(item: Any) -> Any:
    """Return an item in the chat API's form: without `extra`, which may repeat the complete response, and with a known
    role."""
    if not isinstance(item, dict):
        return item
    if item.get("object") == "response":
        return _of_response(item)
    if item.get("type") == "function_call_output":
        return {"role": "tool", "tool_call_id": item.get("call_id"), "content": item.get("output")}
    known = {key: value for key, value in item.items() if key != "extra"}
    return known | ({"role": "user"} if item.get("role") == "exit" else {}) | _as_texts(item)


def _as_texts(item: Item) -> Item:
    """Return the content of a Responses API item, whose texts have their own types."""
    if item.get("type") != "message" or not isinstance(item.get("content"), list):
        return {}
    return {"content": "\n".join(text_of(dict_of(part).get("text")) for part in item["content"])}


def _of_response(response: Item) -> Item:
    """Return a response of the Responses API, whose items are sent back individually, as a chat message."""
    thoughts: list[str] = []
    texts: list[str] = []
    calls: list[Item] = []
    for item in map(dict_of, list_of(response.get("output"))):
        if item.get("type") == "reasoning":
            parts = [*list_of(item.get("summary")), *list_of(item.get("content"))]
            thoughts += [text_of(dict_of(part).get("text")) for part in parts]
        elif item.get("type") == "function_call":
            function = {"name": item.get("name"), "arguments": item.get("arguments")}
            calls.append({"id": item.get("call_id"), "type": "function", "function": function})
        elif item.get("type") == "message":
            texts += [text_of(dict_of(part).get("text")) for part in list_of(item.get("content"))]
    message: Item = {"role": "assistant", "content": "\n".join(filter(None, texts))}
    message |= {"reasoning_content": "\n".join(filter(None, thoughts))} if any(thoughts) else {}
    return message | ({"tool_calls": calls} if calls else {})


def _with_metadata(message: Message, item: Any, kind: Kind, compacted: float | None) -> Message:
    extra = dict_of(dict_of(item).get("extra"))
    response = dict_of(item) if dict_of(item).get("object") == "response" else dict_of(extra.get("response"))
    created = seconds_of(response.get("created")) or seconds_of(response.get("created_at"))
    stamp = seconds_of(extra.get("timestamp")) or created
    model = response.get("model")
    cost = extra.get("cost")
    return replace(
        message,
        kind=kind,
        time=compacted if kind == "summary" and stamp is None else stamp,
        usage=openai_usage(response.get("usage"), cost) if message.role == "assistant" else None,
        model=model if isinstance(model, str) else None,
    )


def _run_cost(info: Item, messages: Sequence[Message]) -> float | None:
    """Return the dollars of the run, if its calls record none."""
    if any(message.usage and message.usage.cost is not None for message in messages):
        return None
    return dollars_of(dict_of(info.get("model_stats")).get("instance_cost"))


def kinds_of(items: Sequence[Any]) -> list[Kind]:
    """Return the kind of each message of a list."""
    kinds: list[Kind] = []
    answered = False
    for item in items:
        role, text = _role(item), as_text(dict_of(_chat(item)).get("content") or "")
        noted = marked(dict_of(dict_of(item).get("extra")))
        if noted:
            kinds.append(noted)
        elif role in ("assistant", "system", "tool"):
            kinds.append("normal")
        elif role == "user" and is_summary(text):
            kinds.append("summary")
        else:
            kinds.append("meta" if role != "user" or (answered and not text.startswith(_TYPED)) else "normal")
        answered = answered or role == "assistant"
    return kinds


def _role(item: Any) -> str:
    fields = dict_of(item)
    if fields.get("object") == "response":
        return "assistant"
    return "tool" if fields.get("type") == "function_call_output" else as_text(fields.get("role"))
