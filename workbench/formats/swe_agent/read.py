"""Reading: SWE-agent trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.formats.format import Progress
from workbench.formats.kit.blocks import as_text, from_anthropic, is_summary
from workbench.formats.kit.document import parse
from workbench.formats.kit.mark import marked
from workbench.formats.kit.titles import first_words
from workbench.formats.kit.values import dict_of
from workbench.formats.openai_chat.embedded import Item, chat_messages
from workbench.formats.swe_agent.signature import ID
from workbench.session import Epoch, Kind, LoadWarning, Records, Session, SessionFacts, Thinking

_NO_MODELS = ("replay", "human", "human_thought", "instant_empty_submit")


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
    replayed = dict_of(dict_of(_config(document).get("agent")).get("model"))
    info = dict_of(document.get("info"))
    name = replayed.get("name", replayed.get("model_name"))
    return Session(
        format=ID,
        path=path,
        messages=messages,
        branch=own if len(own) < len(messages) else range(len(messages)),
        epochs=(Epoch(1, sent),),
        records=Records(data),
        title=first_words(messages),
        model=name if isinstance(name, str) and name not in _NO_MODELS else None,
        cwd=_cwd(document.get("trajectory")),
        warnings=(*warnings, *odd, *_processed(document.get("trajectory"), [items[n] for n in own])),
        facts=SessionFacts(exit_status=as_text(info.get("exit_status") or "")),
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
    raw = dict_of(item).get("thinking_blocks")
    return tuple(b for b in from_anthropic(raw) if isinstance(b, Thinking)) if isinstance(raw, list) else ()


def kinds_of(items: Sequence[Any]) -> list[Kind]:
    """The kind of each message: in text histories a user's message is an observation from the first answer on."""
    kinds: list[Kind] = []
    answered = False
    for item in map(dict_of, items):
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
        as_text(dict_of(a).get("content")) != as_text(dict_of(b).get("content"))
        for a, b in zip(sent, items, strict=False)
        if isinstance(dict_of(a).get("content"), str) and isinstance(dict_of(b).get("content"), str)
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
        return dict_of(raw)
    try:
        return dict_of(parse(Path("replay_config"), raw.encode("utf-8", "replace"))[0])
    except BadInput:
        return {}


def _cwd(steps: Any) -> str | None:
    state = dict_of(steps[0]).get("state") if isinstance(steps, list) and steps else None
    found = dict_of(state).get("working_dir")
    return found if isinstance(found, str) else None
