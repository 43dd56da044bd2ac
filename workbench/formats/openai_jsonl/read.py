"""Read OpenAI JSONL."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workbench.base.errors import BadInput
from workbench.formats.bodies import ApiRequest, request_in, response_in
from workbench.formats.format import Progress
from workbench.formats.kit.jsonl import objects_of, records_of
from workbench.formats.kit.names import first_words
from workbench.formats.kit.several import Numbered
from workbench.formats.kit.values import dict_of, list_of, word_of
from workbench.formats.openai_jsonl import ID
from workbench.session import LoadWarning, Message, Records, Session

_CONVERSATION = frozenset(["body", "input", "messages", "params", "response", "result"])
Line = tuple[dict[str, Any], int, int]
"""Object of a line, its record index, and its line number."""


class Reader(Numbered[Line]):
    def read_entries(self, progress: Progress) -> list[Line]:
        self.records = Records(self.data)
        objects = objects_of(records_of(self.data), len(self.data), self.records, self.warnings, progress)
        found = [line for line in objects if _CONVERSATION & line[0].keys()]
        if not found:
            needed = "open a file whose lines have messages or a body"
            raise BadInput(f"{self.path}: no line holds a conversation; {needed}.")
        return found

    def describe(self, entry: Line) -> tuple[str, int]:
        messages = _messages(entry[0])[0]
        return ": ".join(filter(None, (word_of(entry[0].get("custom_id")), first_words(messages)))), len(messages)

    def session(self, entry: Line) -> Session:
        value, index, number = entry
        messages, request = _messages(value)
        if not messages:
            raise BadInput(f"{self.path}: line {number} holds no readable conversation; choose another line.")
        alone = () if request else (LoadWarning("has only the answer; the request is in the batch's input", number),)
        return Session(
            format=ID,
            path=self.path,
            messages=tuple(replace(one, id=f"m{place}", source=(index,)) for place, one in enumerate(messages, 1)),
            records=self.records,
            id=word_of(value.get("custom_id")) or "",
            title=first_words(messages),
            model=(request.model if request else None) or next((one.model for one in messages if one.model), None),
            tools=request.tools if request else (),
            warnings=(*self.warnings, *(request.warnings if request else ()), *alone),
        )


def _messages(line: dict[str, Any]) -> tuple[tuple[Message, ...], ApiRequest | None]:
    """Return the conversation of a line, and its request; None for a batch result."""
    for key in ("body", "params"):
        if isinstance(line.get(key), dict):
            request = request_in(line[key])
            return (request.messages if request else ()), request
    response = dict_of(line.get("response")).get("body", dict_of(line.get("result")).get("message"))
    if response is not None:
        answer = response_in(response)
        return ((answer,) if answer else ()), None
    preferred = list_of(line.get("preferred_output"))
    body = dict_of(line["input"]) if "preferred_output" in line else line
    request = request_in({**body, "messages": [*list_of(body.get("messages")), *preferred]})
    return (request.messages if request else ()), request
