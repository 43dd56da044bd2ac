"""Reading: mini-swe-agent trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.stamps import seconds_of
from workbench.formats.format import Progress
from workbench.formats.kit.blocks import as_text, is_summary
from workbench.formats.kit.document import parse
from workbench.formats.kit.mark import marked
from workbench.formats.kit.titles import first_words
from workbench.formats.kit.values import dict_of
from workbench.formats.mini_swe_agent.signature import ID
from workbench.formats.openai_chat.embedded import chat_messages
from workbench.session import Epoch, Kind, LoadWarning, Message, Records, Session, SessionFacts, Usage

VERSION = "mini-swe-agent-1.1"
COMPACTED = "workbench_compacted_at"
_TYPED = ("The user added a new task", "The user interrupted", "Command not executed. The user rejected")


def read(path: Path, data: bytes, progress: Progress) -> Session:
    progress(0, len(data))
    document, warnings = parse(path, data)
    items = document.get("messages") if isinstance(document, dict) else document
    if not isinstance(items, list):
        raise BadInput(f"{path}: has no list of messages; open a .traj.json of mini-swe-agent.")
    info = dict_of(document.get("info")) if isinstance(document, dict) else {}
    config = dict_of(info.get("config"))
    compacted = document.get(COMPACTED) if isinstance(document, dict) else None
    odd: list[LoadWarning] = []
    chat = chat_messages(path, [_chat(item) for item in items], odd)
    messages = tuple(
        _finished(message, item, kind, seconds_of(compacted))
        for message, item, kind in zip(chat, items, kinds_of(items), strict=True)
    )
    progress(len(data), len(data))
    named = dict_of(config.get("model")).get("model_name")
    cwd = dict_of(config.get("environment")).get("cwd")
    sent = [n for n, m in enumerate(messages) if m.blocks and _role(items[n]) != "exit"]
    return Session(
        format=ID,
        path=path,
        messages=messages,
        epochs=(Epoch(1, sent),),
        records=Records(data),
        id=as_text(document.get("instance_id") or "") if isinstance(document, dict) else "",
        title=first_words(messages, after="<pr_description>"),
        model=named if isinstance(named, str) else next((m.model for m in reversed(messages) if m.model), None),
        cwd=cwd if isinstance(cwd, str) else None,
        warnings=(*warnings, *odd),
        facts=SessionFacts(exit_status=as_text(info.get("exit_status") or "")),
    )


def _chat(item: Any) -> Any:
    """An item as an API takes it: without `extra`, which may hold the whole answer once more, and with a known role."""
    if not isinstance(item, dict):
        return item
    return {key: value for key, value in item.items() if key != "extra"} | (
        {"role": "user"} if item.get("role") == "exit" else {}
    )


def _finished(message: Message, item: Any, kind: Kind, compacted: float | None) -> Message:
    extra = dict_of(dict_of(item).get("extra"))
    response = dict_of(extra.get("response"))
    stamp = seconds_of(extra.get("timestamp")) or seconds_of(response.get("created"))
    model = response.get("model")
    return replace(
        message,
        kind=kind,
        time=compacted if kind == "summary" and stamp is None else stamp,
        usage=_usage(response.get("usage")) if message.role == "assistant" else None,
        model=model if isinstance(model, str) else None,
    )


def _usage(usage: Any) -> Usage | None:
    counts = {key: value for key, value in dict_of(usage).items() if type(value) is int and value > 0}
    if "prompt_tokens" not in counts:
        return None
    details = dict_of(dict_of(usage).get("prompt_tokens_details"))
    cached = details.get("cached_tokens")
    read = min(cached, counts["prompt_tokens"]) if type(cached) is int and cached > 0 else 0
    return Usage(counts["prompt_tokens"] - read, counts.get("completion_tokens", 0), cache_read=read)


def kinds_of(items: Sequence[Any]) -> list[Kind]:
    """The kind of each message of a list."""
    kinds: list[Kind] = []
    answered = False
    for item in items:
        role, said = _role(item), as_text(dict_of(item).get("content") or "")
        noted = marked(dict_of(dict_of(item).get("extra")))
        if noted:
            kinds.append(noted)
        elif role in ("assistant", "system", "tool"):
            kinds.append("normal")
        elif role == "user" and is_summary(said):
            kinds.append("summary")
        else:
            kinds.append("meta" if role != "user" or (answered and not said.startswith(_TYPED)) else "normal")
        answered = answered or role == "assistant"
    return kinds


def _role(item: Any) -> str:
    return as_text(dict_of(item).get("role"))
