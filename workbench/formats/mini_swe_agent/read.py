"""Reading: mini-swe-agent trajectory."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.stamps import seconds_of
from workbench.formats.format import Progress, Written
from workbench.formats.kit.blocks import as_text, is_summary
from workbench.formats.kit.document import elements, glimpse, parse, render, splice
from workbench.formats.kit.json_spans import array_items, field_of, replace_fields
from workbench.formats.kit.mark import MARK, marked
from workbench.formats.kit.settle import settled
from workbench.formats.kit.titles import first_words
from workbench.formats.openai_chat.embedded import Item, chat_messages, pieces, told
from workbench.session import Epoch, Kind, LoadWarning, Message, Records, Session, Usage

ID = "mini-swe-agent"
_VERSION = "mini-swe-agent-1.1"
_COMPACTED = "workbench_compacted_at"
_TYPED = ("The user added a new task", "The user interrupted", "Command not executed. The user rejected")
_OBSERVED = ("<returncode>", "<output>", "<exception>", "<error>")
_SUBMITTED = frozenset(["exit_status", "submission"])
_BOM = b"\xef\xbb\xbf"


def recognise(head: bytes) -> str:
    document = glimpse(head)
    if isinstance(document, dict):
        format = document.get("trajectory_format")
        if isinstance(format, str) and format.startswith("mini-swe-agent"):
            return f"trajectory_format {format}"
        info = _dict(document.get("info"))
        if "mini_version" in info:
            return "info with a mini_version"
        # A submission may be longer than the head, and everything else stands behind it.
        return "info with a submission" if document.keys() == {"info"} and info.keys() >= _SUBMITTED else ""
    items = [item for item in document if isinstance(item, dict)] if isinstance(document, list) else []
    if not items or any("ts" in item or "type" in item for item in items):
        return ""
    if any(isinstance(item.get("extra"), dict) for item in items):
        return "a bare list of messages with extra"
    observed = any(i.get("role") == "user" and as_text(i.get("content")).startswith(_OBSERVED) for i in items[2:])
    return "a bare list of messages with <returncode> observations" if observed else ""


def read(path: Path, data: bytes, progress: Progress) -> Session:
    progress(0, len(data))
    document, warnings = parse(path, data)
    items = document.get("messages") if isinstance(document, dict) else document
    if not isinstance(items, list):
        raise BadInput(f"{path}: has no list of messages; open a .traj.json of mini-swe-agent.")
    info = _dict(document.get("info")) if isinstance(document, dict) else {}
    config = _dict(info.get("config"))
    compacted = document.get(_COMPACTED) if isinstance(document, dict) else None
    odd: list[LoadWarning] = []
    chat = chat_messages(path, [_chat(item) for item in items], odd)
    messages = tuple(
        _finished(message, item, kind, seconds_of(compacted))
        for message, item, kind in zip(chat, items, kinds_of(items), strict=True)
    )
    progress(len(data), len(data))
    named = _dict(config.get("model")).get("model_name")
    cwd = _dict(config.get("environment")).get("cwd")
    sent = [n for n, m in enumerate(messages) if m.blocks and _role(items[n]) != "exit"]
    return Session(
        format=ID,
        path=path,
        messages=messages,
        branch=range(len(messages)),
        epochs=(Epoch(1, sent if len(sent) < len(messages) else range(len(messages))),),
        records=Records(data),
        id=as_text(document.get("instance_id") or "") if isinstance(document, dict) else "",
        title=first_words(messages, after="<pr_description>"),
        model=named if isinstance(named, str) else next((m.model for m in reversed(messages) if m.model), None),
        cwd=cwd if isinstance(cwd, str) else None,
        warnings=(*warnings, *odd),
        meta={key: info[key] for key in ("exit_status", "mini_version", "model_stats") if key in info},
    )


def _chat(item: Any) -> Any:
    """An item as an API takes it: without `extra`, which may hold the whole answer once more, and with a known role."""
    if not isinstance(item, dict):
        return item
    return {key: value for key, value in item.items() if key != "extra"} | (
        {"role": "user"} if item.get("role") == "exit" else {}
    )


def _finished(message: Message, item: Any, kind: Kind, compacted: float | None) -> Message:
    extra = _dict(_dict(item).get("extra"))
    response = _dict(extra.get("response"))
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
    counts = {key: value for key, value in _dict(usage).items() if type(value) is int and value > 0}
    if "prompt_tokens" not in counts:
        return None
    details = _dict(_dict(usage).get("prompt_tokens_details"))
    cached = details.get("cached_tokens")
    read = min(cached, counts["prompt_tokens"]) if type(cached) is int and cached > 0 else 0
    return Usage(counts["prompt_tokens"] - read, counts.get("completion_tokens", 0), cache_read=read)


def kinds_of(items: Sequence[Any]) -> list[Kind]:
    """The kind of each message of a list."""
    kinds: list[Kind] = []
    answered = False
    for item in items:
        role, said = _role(item), as_text(_dict(item).get("content") or "")
        noted = marked(_dict(_dict(item).get("extra")))
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


def write(session: Session, messages: Sequence[Message]) -> Written:
    """The trajectory with its messages replaced. The agent has no command that resumes one."""
    native = session.format == ID
    notes: Counter[str] = Counter()
    messages = [message for message in messages if message.blocks]
    name = f"{session.path.name.split('.')[0] if session.path else 'session'}.compacted.traj.json"
    if native and messages == list(session.context()):
        return Written(session.records.data, name, session.id)
    if not native:
        messages, more = settled(messages)
        notes.update(more)
        if session.system:
            notes["the system prompt beside the messages was left out"] += 1
    data = session.records.data.removeprefix(_BOM) if native else b"{}"
    bare = native and data.lstrip().startswith(b"[")
    found, more_notes = pieces(session, _raws(data, bare) if native else [], messages, _dressed, kinds_of, _with_kind)
    notes.update(more_notes)
    if bare:
        return Written(splice(data, None, found), name, notes=told(notes))
    if not native:
        info = {"config": {"model": {"model_name": session.model or ""}}, "model_stats": {}, "exit_status": ""}
        data = render({"info": info, "messages": [], "trajectory_format": _VERSION})
    data = splice(data, "messages", found)
    data = replace_fields(data, {_COMPACTED: render(round(time.time(), 3))})
    return Written(data, name, session.id if native else "", notes=told(notes))


def _raws(data: bytes, bare: bool) -> list[bytes]:
    if not bare:
        return elements(data, "messages")
    return [data[start:stop] for start, stop in array_items(data.decode("latin-1"))]


def _dressed(item: Item) -> Item:
    return item


def _with_kind(raw: bytes, kind: Kind) -> bytes:
    """An item with its kind noted in `extra`, the one key that is not sent."""
    old = field_of(raw, "extra") or b""
    extra = old if old.startswith(b"{") else b"{}"
    return replace_fields(raw, {"extra": replace_fields(extra, {MARK: render(kind)})})


def _role(item: Any) -> str:
    return as_text(_dict(item).get("role"))


def _dict(value: Any) -> Item:
    return value if isinstance(value, dict) else {}
