"""Reading: OpenAI JSONL."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workbench.base.errors import BadInput
from workbench.formats.bodies import ApiRequest, request_in, response_in
from workbench.formats.format import Progress
from workbench.formats.kit.jsonl import objects_of, records_of
from workbench.formats.kit.several import Numbered
from workbench.formats.kit.titles import first_words
from workbench.formats.kit.values import dict_of, list_of, word_of
from workbench.formats.openai_jsonl.signature import ID
from workbench.session import LoadWarning, Message, Records, Session

_CONVERSATION = frozenset(["body", "input", "messages", "params", "response", "result"])
Line = tuple[dict[str, Any], int, int]
"""The object of a line, its index among the records, and its number."""


class Reader(Numbered[Line]):
    def read_entries(self, progress: Progress) -> list[Line]:
        self.records = Records(self.data)
        given = objects_of(records_of(self.data), len(self.data), self.records, self.warnings, progress)
        found = [line for line in given if _CONVERSATION & line[0].keys()]
        if not found:
            needed = "open a file whose lines have messages or a body"
            raise BadInput(f"{self.path}: no line holds a conversation; {needed}.")
        return found

    def describe(self, entry: Line) -> tuple[str, int]:
        messages = _messages(entry[0])[0]
        return ": ".join(filter(None, (word_of(entry[0].get("custom_id")), first_words(messages)))), len(messages)

    def session(self, entry: Line) -> Session:
        value, index, number = entry
        messages, asked = _messages(value)
        if not messages:
            raise BadInput(f"{self.path}: line {number} holds no readable conversation; choose another line.")
        alone = () if asked else (LoadWarning("has only the answer; the request is in the batch's input", number),)
        return Session(
            format=ID,
            path=self.path,
            messages=tuple(replace(one, id=f"m{place}", source=(index,)) for place, one in enumerate(messages, 1)),
            records=self.records,
            id=word_of(value.get("custom_id")) or "",
            title=first_words(messages),
            model=(asked.model if asked else None) or next((one.model for one in messages if one.model), None),
            tools=asked.tools if asked else (),
            warnings=(*self.warnings, *(asked.warnings if asked else ()), *alone),
        )


def _messages(line: dict[str, Any]) -> tuple[tuple[Message, ...], ApiRequest | None]:
    """The conversation of a line, and what of it was a request: none in the results of a batch."""
    for key in ("body", "params"):
        if isinstance(line.get(key), dict):
            asked = request_in(line[key])
            return (asked.messages if asked else ()), asked
    came = dict_of(line.get("response")).get("body", dict_of(line.get("result")).get("message"))
    if came is not None:
        answer = response_in(came)
        return ((answer,) if answer else ()), None
    preferred = list_of(line.get("preferred_output"))
    body = dict_of(line["input"]) if "preferred_output" in line else line
    asked = request_in({**body, "messages": [*list_of(body.get("messages")), *preferred]})
    return (asked.messages if asked else ()), asked
