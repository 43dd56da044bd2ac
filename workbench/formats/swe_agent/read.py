"""Reading: SWE-agent trajectory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.formats.format import Progress, Written
from workbench.formats.kit.blocks import as_text, from_anthropic, is_summary
from workbench.formats.kit.document import elements, glimpse, parse, render, splice
from workbench.formats.kit.json_spans import replace_fields
from workbench.formats.kit.mark import MARK, marked
from workbench.formats.kit.settle import settled
from workbench.formats.kit.titles import first_words
from workbench.formats.openai_chat.embedded import Item, chat_messages, pieces, told
from workbench.session import Epoch, Kind, LoadWarning, Message, Records, Session, Thinking

ID = "swe-agent"
_NO_MODELS = ("replay", "human", "human_thought", "instant_empty_submit")
_TYPES = {"system": "system_prompt", "assistant": "action"}


def recognise(head: bytes) -> str:
    document = glimpse(head)
    if not isinstance(document, dict) or "trajectory" not in document:
        return ""
    steps = document["trajectory"]
    if "history" in document and isinstance(document["history"], list):
        return "trajectory beside history"
    first = steps[0] if isinstance(steps, list) and steps else None
    # The trajectory may stand first and be longer than the head.
    return "a trajectory of actions with their observations" if _is_step(first) else ""


def _is_step(step: Any) -> bool:
    return isinstance(step, dict) and "action" in step and ("observation" in step or "response" in step)


def read(path: Path, data: bytes, progress: Progress) -> Session:
    progress(0, len(data))
    document, warnings = parse(path, data)
    items = document.get("history") if isinstance(document, dict) else None
    if not isinstance(items, list):
        raise BadInput(f"{path}: has no history; open a .traj file of SWE-agent.")
    odd: list[LoadWarning] = []
    chat = chat_messages(path, [_chat(item) for item in items], odd)
    messages = tuple(
        replace(message, kind=kind, blocks=(*_thinking(item), *message.blocks))
        for message, item, kind in zip(chat, items, kinds_of(items), strict=True)
    )
    main = next(
        (item["agent"] for item in items if isinstance(item, dict) and isinstance(item.get("agent"), str)), None
    )
    own = [n for n, item in enumerate(items) if not isinstance(item, dict) or item.get("agent", main) == main]
    sent = [n for n in own if messages[n].blocks]
    progress(len(data), len(data))
    replayed = _dict(_dict(_config(document).get("agent")).get("model"))
    info = _dict(document.get("info"))
    name = replayed.get("name", replayed.get("model_name"))
    return Session(
        format=ID,
        path=path,
        messages=messages,
        branch=own if len(own) < len(messages) else range(len(messages)),
        epochs=(Epoch(1, sent if len(sent) < len(messages) else range(len(messages))),),
        records=Records(data),
        title=first_words(messages),
        model=name if isinstance(name, str) and name not in _NO_MODELS else None,
        cwd=_cwd(document.get("trajectory")),
        warnings=(*warnings, *odd, *_processed(document.get("trajectory"), [items[n] for n in own])),
        meta={key: info[key] for key in ("exit_status", "model_stats") if key in info},
    )


def _chat(item: Any) -> Any:
    """An item as a chat API takes it: a tool's message names one call, the first of its list."""
    if not isinstance(item, dict):
        return item
    kept = {key: item[key] for key in ("role", "content", "tool_calls", "tool_call_id") if item.get(key) is not None}
    ids = item.get("tool_call_ids")
    if kept.get("role") == "tool" and isinstance(ids, list) and ids:
        kept["tool_call_id"] = ids[0]
    return {"content": None, **kept}


def _thinking(item: Any) -> tuple[Any, ...]:
    raw = _dict(item).get("thinking_blocks")
    return tuple(b for b in from_anthropic(raw) if isinstance(b, Thinking)) if isinstance(raw, list) else ()


def kinds_of(items: Sequence[Any]) -> list[Kind]:
    """The kind of each message: in text histories a user's message is an observation from the first answer on."""
    kinds: list[Kind] = []
    answered = False
    for item in map(_dict, items):
        role, demo = item.get("role"), bool(item.get("is_demo"))
        kind: Kind = "normal"
        if noted := marked(item):
            kind = noted
        elif demo:
            kind = "meta"
        elif role == "user" and is_summary(as_text(item.get("content") or "")):
            kind = "summary"
        elif role not in ("assistant", "system", "tool") and answered:
            kind = "meta"
        kinds.append(kind)
        answered = answered or (role == "assistant" and not demo)
    return kinds


def _processed(steps: Any, items: Sequence[Any]) -> list[LoadWarning]:
    """What the last prompt that was sent says otherwise than the history."""
    last = next((s for s in reversed(steps) if isinstance(s, dict)), {}) if isinstance(steps, list) else {}
    sent = last.get("query", last.get("messages"))
    if not isinstance(sent, list) or len(sent) > len(items):
        return []
    changed = sum(
        as_text(_dict(a).get("content")) != as_text(_dict(b).get("content"))
        for a, b in zip(sent, items, strict=False)
        if isinstance(_dict(a).get("content"), str) and isinstance(_dict(b).get("content"), str)
    )
    if not changed:
        return []
    return [
        LoadWarning(f"the last prompt had {changed} messages shortened by a history processor; shown is the history")
    ]


def _config(document: Item) -> Item:
    """The replay configuration, which some versions keep as JSON text."""
    raw = document.get("replay_config")
    if not isinstance(raw, str):
        return _dict(raw)
    try:
        return _dict(parse(Path("replay_config"), raw.encode("utf-8", "replace"))[0])
    except BadInput:
        return {}


def _cwd(steps: Any) -> str | None:
    state = _dict(steps[0]).get("state") if isinstance(steps, list) and steps else None
    found = _dict(state).get("working_dir")
    return found if isinstance(found, str) else None


def write(session: Session, messages: Sequence[Message]) -> Written:
    """The file with its history replaced; the steps of its trajectory stay. SWE-agent has no command that resumes."""
    native = session.format == ID
    notes: Counter[str] = Counter()
    messages = [message for message in messages if message.blocks]
    name = f"{session.path.name.split('.')[0] if session.path else 'session'}.compacted.traj"
    if native and messages == list(session.context()):
        return Written(session.records.data, name)
    if native:
        data = session.records.data
        raws = elements(data, "history")
    else:
        messages, more = settled(messages)
        notes.update(more)
        if session.system:
            notes["the system prompt beside the messages was left out"] += 1
        data, raws = render({"environment": "", "trajectory": [], "history": [], "info": {}}), []
    agent = next((i["agent"] for i in _items(session) if isinstance(i.get("agent"), str)), "main") if native else "main"
    found, more_notes = pieces(session, raws, messages, lambda item: _dressed(item, agent), kinds_of, _with_kind)
    notes.update(more_notes)
    if native:
        notes["the steps under `trajectory` are left as they were recorded: only the history is what is sent"] += 1
    return Written(splice(data, "history", found), name, notes=told(notes))


def _items(session: Session) -> list[Item]:
    document = parse(session.path or Path("session"), session.records.data)[0]
    return [_dict(item) for item in document["history"]]


def _dressed(item: Item, agent: str) -> Item:
    """A chat item with SWE-agent's keys. Its content is never null there."""
    role = item["role"]
    dressed = {
        **item,
        "content": item.get("content") or "",
        "agent": agent,
        "message_type": _TYPES.get(role, "observation"),
    }
    if role == "tool":
        dressed["tool_call_ids"] = [dressed.pop("tool_call_id")]
    if role == "assistant":
        dressed |= {"thought": dressed["content"] if isinstance(dressed["content"], str) else "", "action": ""}
    return dressed


def _with_kind(raw: bytes, kind: Kind) -> bytes:
    return replace_fields(raw, {MARK: render(kind)})


def _dict(value: Any) -> Item:
    return value if isinstance(value, dict) else {}
