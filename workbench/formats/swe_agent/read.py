"""Read SWE-agent trajectories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.formats.agent_texts import is_summary
from workbench.formats.kit.blocks import as_text, from_anthropic
from workbench.formats.kit.conversation import Document
from workbench.formats.kit.document import parse
from workbench.formats.kit.marks import STALE_USAGE, marked
from workbench.formats.kit.names import first_words
from workbench.formats.kit.values import dict_of, list_of
from workbench.formats.openai_chat.embedded import Item, chat_messages
from workbench.formats.swe_agent import ID
from workbench.session import Compaction, Epoch, Kind, LoadWarning, Message, Session, SessionFacts, Thinking

_KEEPING = ("default", "DefaultHistoryProcessor", "cache_control")
"""History processors that shorten nothing."""

_NO_MODELS = ("replay", "human", "human_thought", "instant_empty_submit")
"""Values of the model's name in sessions that no model answered."""


class Reader(Document):
    format = ID
    needs = "has no history; open a .traj file of SWE-agent"

    def session(self) -> Session:
        document = self.body
        items = self.items(document.get("history"))
        chat = chat_messages(self.path, [_chat(item) for item in items], self.warnings)
        messages = [
            replace(message, kind=kind, blocks=(*_thinking(item), *message.blocks))
            for message, item, kind in zip(chat, items, kinds_of(items), strict=True)
        ]
        main = next((item["agent"] for item in map(dict_of, items) if isinstance(item.get("agent"), str)), None)
        own = [n for n, item in enumerate(items) if not isinstance(item, dict) or item.get("agent", main) == main]
        config = _config(document)
        model = dict_of(dict_of(config.get("agent")).get("model"))
        is_stale = document.get(STALE_USAGE) is True  # the prompts belong to another history
        prompts = [] if is_stale else _prompts(document.get("trajectory"))
        epochs, cleared, warnings = _cleared(messages, items, own, prompts)
        if not cleared and not is_stale and not _are_complete(document.get("trajectory"), prompts, items, own):
            warnings = _processors(config)
        self.warnings += warnings
        name = model.get("name", model.get("model_name"))
        return self._session(
            [*messages, *cleared],
            first_words(messages),
            branch=own,
            epochs=epochs,
            model=name if isinstance(name, str) and name not in _NO_MODELS else None,
            cwd=_cwd(document.get("trajectory")),
            facts=SessionFacts(exit_status=as_text(dict_of(document.get("info")).get("exit_status") or "")),
        )


def _chat(item: Any) -> Any:
    """Return an item as a message of the chat API. A tool message gets the first id of its `tool_call_ids`."""
    if not isinstance(item, dict):
        return item
    chat_item = {
        key: item[key] for key in ("role", "content", "tool_calls", "tool_call_id") if item.get(key) is not None
    }
    ids = item.get("tool_call_ids")
    if chat_item.get("role") == "tool" and isinstance(ids, list) and ids:
        chat_item["tool_call_id"] = ids[0]
    return {"content": None, **chat_item}


def _thinking(item: Any) -> tuple[Any, ...]:
    raw = dict_of(item).get("thinking_blocks")
    return tuple(b for b in from_anthropic(raw) if isinstance(b, Thinking)) if isinstance(raw, list) else ()


def kinds_of(items: Sequence[Any]) -> list[Kind]:
    """Return the kind of each message. User messages after the first response are "meta": they hold the output of
    commands in histories without tool calls."""
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


def _prompts(steps: Any) -> list[list[Any]]:
    """Return the recorded prompts, call by call."""
    fields = (dict_of(step) for step in list_of(steps))
    return [prompt for step in fields if isinstance(prompt := step.get("query", step.get("messages")), list)]


def _are_complete(steps: Any, prompts: Sequence[list[Any]], items: Sequence[Any], own: Sequence[int]) -> bool:
    """Return True if every step records its prompt, and each prompt is the beginning of the history."""
    history = [dict_of(items[place]) for place in own]
    return bool(prompts) and len(prompts) == len(list_of(steps)) and all(_begins(history, prompt) for prompt in prompts)


def _begins(history: Sequence[Item], prompt: Sequence[Any]) -> bool:
    pairs = zip(map(dict_of, prompt), history, strict=False)
    return len(prompt) <= len(history) and all(
        sent.get(key) == recorded.get(key) for sent, recorded in pairs for key in ("role", "content")
    )


def _cleared(
    messages: Sequence[Message], items: Sequence[Any], own: Sequence[int], prompts: Sequence[list[Any]]
) -> tuple[tuple[Epoch, ...], list[Message], list[LoadWarning]]:
    """Return the epochs, the shortened messages in their form in the newest prompt, and warnings.

    The processor shortens messages separately for each call. The epochs show one clearing instead, at the first prompt
    that differs from the history.
    """
    sent = [n for n in own if messages[n].blocks]
    changes = [_changes(prompt, items, own) for prompt in prompts]
    newest = changes[-1] if changes else {}
    first = next((len(prompt) for prompt, changed in zip(prompts, changes, strict=True) if changed), 0)
    forms: dict[int, int] = {}
    cleared: list[Message] = []
    for place, content in newest.items():
        item = {**dict_of(items[place]), "content": content}
        form = chat_messages(Path(), [_chat(item)], [])[0]
        forms[place] = len(messages) + len(cleared)
        old = messages[place]
        cleared.append(replace(form, id=f"{old.id}~cleared", kind=old.kind, time=old.time, source=()))
    if not cleared:
        return (Epoch(1, sent),), [], []
    before = [n for n in own[:first] if messages[n].blocks]
    epochs = (
        Epoch(1, before, Compaction("history processor", way="clearing")),
        Epoch(2, [forms.get(n, n) for n in sent], copies=frozenset(forms.values())),
    )
    text = f"a history processor shortens messages per call; shown: the newest call, {len(cleared)} shortened"
    return epochs, cleared, [LoadWarning(text)]


def _changes(prompt: Sequence[Any], items: Sequence[Any], own: Sequence[int]) -> dict[int, str]:
    """Return the contents of a prompt that differ from the history, by index in the history. Empty if the prompt
    belongs to another history."""
    if len(prompt) > len(own):
        return {}
    changed: dict[int, str] = {}
    for sent, place in zip(map(dict_of, prompt), own, strict=False):
        recorded = dict_of(items[place])
        if sent.get("role") != recorded.get("role"):
            return {}
        if not isinstance(sent.get("content"), str) or not isinstance(recorded.get("content"), str):
            continue
        if sent["content"] != recorded["content"]:
            if recorded.get("role") in ("assistant", "system"):
                return {}
            changed[place] = sent["content"]
    return changed


def _processors(config: Item) -> list[LoadWarning]:
    """Return a warning if the configuration names processors that shorten the context; else none."""
    agent = dict_of(config.get("agent"))
    named = [dict_of(one).get("type") for one in list_of(agent.get("history_processors"))]
    named.append(dict_of(agent.get("config")).get("history_processor"))  # before 1.0: a single class name
    shortening = [name for name in named if isinstance(name, str) and name not in _KEEPING]
    if not shortening:
        return []
    listed = ", ".join(shortening)
    return [
        LoadWarning(
            f"history processors are configured ({listed}): the context sent was shorter than the history shown"
        )
    ]


def _config(document: Item) -> Item:
    """Return the replay configuration, which some versions store as JSON text."""
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
