"""Google ADK sessions: `{id, app_name, user_id, state, events}`, in snake_case or camelCase.

A compaction event replaces the events in a range of time; a rewind hides all events from an invocation on. Events
without content only change the state: they are no messages and stay in the file. Calls without an id are named after
their event, and their responses are matched by the tool's name.

With several agents, each has its own context: it gets the others' texts and calls as user text. Each context can be
read; the default is that of the agent that spoke last, with which ADK continues. The words around other agents' texts
are those of ADK 1.x.

No usual place: the application that runs the agents chooses the database or folder.
"""

from __future__ import annotations

from typing import Any

from workbench.formats.format import Codec, ExportForm, Format, TriggerSetting
from workbench.formats.kit.document import Item
from workbench.formats.kit.values import dict_of
from workbench.formats.look import Look
from workbench.formats.machine import Program

ID = "adk"
KEYS = frozenset(
    ["app_name", "appName", "events", "id", "invocation_id", "invocationId", "author", "user_id", "userId", "state"]
)


def recognise(look: Look) -> str:
    body = dict_of(look.document)
    events = body.get("events")
    owned = either(body, "app_name") is not None and either(body, "user_id") is not None
    if owned and (isinstance(events, list) or "state" in body):
        return "events with app_name and user_id"
    first = dict_of(events[0]) if isinstance(events, list) and events else {}
    return "events with author and invocation id" if "author" in first and either(first, "invocation_id") else ""


def camel(key: str) -> str:
    """Return a snake_case key in camelCase."""
    first, *rest = key.split("_")
    return first + "".join(word.capitalize() for word in rest)


def either(holder: Item, key: str) -> Any:
    """Return the value of a key written in snake_case or in camelCase, None without it."""
    return holder[key] if key in holder else holder.get(camel(key))


def _codec() -> Codec:
    from workbench.formats.adk import read, rules, write
    from workbench.formats.kit.marks import EXPORT_NOTE, in_document

    return Codec(
        read.read,
        write.write,
        rules.validate,
        addressed=write.addressed,
        sessions_in=read.sessions_in,
        read_part=read.read_part,
        forms=(ExportForm("appended", "an event with actions.compaction after the events it hides", write.append),),
        note=in_document(EXPORT_NOTE, ("state",)),
    )


def _setting(trigger: int, window: int) -> str:
    return f"set token_threshold={trigger} of its EventsCompactionConfig, with an event_retention_size"


FORMAT = Format(
    ID,
    "Google ADK session",
    recognise,
    _codec,
    api="gemini",
    keys=KEYS,
    preset="adk",
    trigger_setting=TriggerSetting(_setting, in_tokens=True),
    program=Program("adk", "adk", ("adk/apps/llm_event_summarizer.py",), "_DEFAULT_PROMPT_TEMPLATE"),
)
