"""LangChain dumps: lists of `dumpd` constructors or of `{type, data}`, bare or at `messages`.

A call that is both in `content`, in the provider's form, and in `tool_calls`, in LangChain's form, is one call.
Summaries of LangChain's own middleware are user messages whose `additional_kwargs` name their source.

No usual place: the program that dumps messages chooses the file.
"""

from __future__ import annotations

from typing import Any, Literal

from workbench.formats.format import Codec, Format, TriggerSetting
from workbench.formats.kit.values import dict_of, text_of
from workbench.formats.look import Look
from workbench.formats.machine import Program
from workbench.session.message import Role

ID = "langchain"
KEYS = frozenset(["additional_kwargs", "data", "id", "kwargs", "lc", "response_metadata", "type"])

ROLES: dict[str, Role] = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool"}

PLACES = (
    (),
    ("messages",),
    ("values", "messages"),
    ("channel_values", "messages"),
    ("checkpoint", "channel_values", "messages"),
)
"""Keys that lead to a list of messages: of a dump, LangGraph's state, its server's answer about a thread (`values`) and
a checkpoint (`channel_values`)."""

FORMS = (("kwargs",), ("data",), ())
"""Keys that lead to a message's fields: in a constructor, in type and data, or flat."""


def recognise(look: Look) -> str:
    items = items_of(look.document) or []
    forms = {form_of(item) for item in items}
    if forms == {"constructor"}:
        return "a list of LangChain constructors"
    if forms == {"type and data"}:
        return "a list of LangChain's type and data"
    talk = any(short_name(text_of(dict_of(item).get("type"))) in ("human", "ai") for item in items)
    return "a list of LangChain messages" if forms == {"flat"} and talk else ""


def place_of(document: Any) -> tuple[str, ...] | None:
    """Return the keys that lead to the list of messages; None without one."""
    for place in PLACES:
        found = document
        for key in place:
            found = dict_of(found).get(key)
        if isinstance(found, list):
            return place
    return None


def items_of(document: Any) -> list[Any] | None:
    place = place_of(document)
    if place is None:
        return None
    for key in place:
        document = document[key]
    return list(document)


def form_of(item: Any) -> Literal["constructor", "type and data", "flat", ""]:
    """Return the form of a message; "" for any other value."""
    fields = dict_of(item)
    if fields.get("lc") == 1 and fields.get("type") == "constructor":
        return "constructor"
    if short_name(text_of(fields.get("type"))) not in (*ROLES, "chat", "remove"):
        return ""
    if isinstance(fields.get("data"), dict):
        return "type and data"
    return "flat" if "content" in fields and ("role" not in fields or fields["type"] == "chat") else ""


def short_name(name: str) -> str:
    """Return `human`, `ai`, … for a message's type or class; `AIMessageChunk` was streamed."""
    return name.removesuffix("Chunk").removesuffix("Message").lower()


def _codec() -> Codec:
    from workbench.formats.kit.marks import EXPORT_NOTE, in_document
    from workbench.formats.langchain import read, rules, write

    paths = ((*place, 0, *form, "additional_kwargs") for place in PLACES for form in FORMS)
    return Codec(read.Reader.read, write.write, rules.validate, note=in_document(EXPORT_NOTE, *paths))


def _setting(trigger: int, window: int) -> str:
    return f'give SummarizationMiddleware trigger=("tokens", {trigger})'


FORMAT = Format(
    ID,
    "LangChain messages",
    recognise,
    _codec,
    keys=KEYS,
    preset="langchain",
    trigger_setting=TriggerSetting(_setting, in_tokens=True),
    program=Program("langchain", "", ("agents/middleware/summarization.py",), "DEFAULT_SUMMARY_PROMPT"),
)
