"""Reading: Inspect log."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.base.errors import BadInput
from workbench.base.text import counted
from workbench.formats.agent_texts import with_user_text
from workbench.formats.format import Progress, Sent
from workbench.formats.inspect_log.contexts import Contexts, answer_of, inputs_of, usage_of
from workbench.formats.inspect_log.items import Items
from workbench.formats.inspect_log.signature import ID
from workbench.formats.kit import zipped
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.document import elements, parse, splice
from workbench.formats.kit.ids import unique_id
from workbench.formats.kit.item_list import Item
from workbench.formats.kit.json_spans import replace_fields
from workbench.formats.kit.magic import ZIP
from workbench.formats.kit.mark import SPENT
from workbench.formats.kit.several import Numbered
from workbench.formats.kit.titles import first_words
from workbench.formats.kit.values import dict_of, list_of, word_of
from workbench.session.message import Message
from workbench.session.session import LoadWarning, Records, Session, Tool

_SAMPLE = re.compile(r"samples/.+\.json")

_HEADERS = ("header.json", "_journal/start.json")


class Reader(Numbered[int]):
    """The samples of a log, by their places from 0."""

    what = "sample"

    def read_entries(self, progress: Progress) -> Sequence[int]:
        self.samples = samples_of(self.path, self.data)
        return range(len(self.samples))

    def describe(self, entry: int) -> tuple[str, int]:
        sample = dict_of(parse(self.path, self.samples[entry])[0])
        return f"{sample.get('id')}, epoch {sample.get('epoch', 1)}", len(list_of(sample.get("messages")))

    def session(self, entry: int) -> Session:
        path = self.path
        log = log_of(path, self.data, self.samples, entry)
        document, warnings = parse(path, log)
        body = dict_of(document)
        sample = _sample(body)
        given = sample.get("messages")
        if not isinstance(given, list):
            raise BadInput(f"{path}: the sample has no list of messages; open a log that was written with samples.")
        items = _items(sample)
        ids: dict[str, int] = {}
        own = [items.message(item, str(place + 1), (place,)) for place, item in enumerate(given)]
        contexts = Contexts(_items(sample), [replace(message, id=unique_id(message.id, ids)) for message in own], ids)
        if not dict_of(sample.get("metadata")).get(SPENT):
            contexts.read(sample)
        epochs = contexts.epochs()
        messages = contexts.with_bills(epochs)
        return Session(
            format=ID,
            path=path,
            messages=with_user_text(messages if contexts.calls else _with_last_bill(messages, sample)),
            records=Records(log),
            epochs=epochs,
            id=as_text(sample.get("uuid") or sample.get("id") or ""),
            title=first_words(messages),
            model=word_of(dict_of(body.get("eval")).get("model")),
            tools=_tools(sample, items),
            warnings=(*warnings, *items.warnings, *_untold(contexts.untold)),
        )


def requests(session: Session) -> Iterator[Sent]:
    """What each call was sent, as the log records it, whatever the messages of the sample are."""
    body, _ = parse(session.path or Path(), session.records.data)
    sample = _sample(dict_of(body))
    items = _items(sample)
    ids = {message.id for message in session.messages}
    for event in map(dict_of, list_of(sample.get("events"))):
        if event.get("event") == "model" and (given := inputs_of(sample, event)):
            answer = word_of(answer_of(event).get("id"))
            messages = with_user_text(items.message(item, str(place)) for place, item in enumerate(given, 1))
            yield Sent(answer if answer in ids else "", messages)


def _sample(body: Item) -> Item:
    return dict_of(next(iter(list_of(body.get("samples"))), None))


def _items(sample: Item) -> Items:
    attachments = dict_of(sample.get("attachments"))
    return Items({key: text for key, text in attachments.items() if isinstance(text, str)})


def _with_last_bill(messages: tuple[Message, ...], sample: Item) -> tuple[Message, ...]:
    """The messages of a log without events, whose last answer is the sample's output."""
    last = next((n for n in range(len(messages) - 1, -1, -1) if messages[n].role == "assistant"), None)
    usage = usage_of(dict_of(sample.get("output")).get("usage"))
    if last is None or usage is None or dict_of(sample.get("metadata")).get(SPENT):
        return messages
    return (*messages[:last], replace(messages[last], usage=usage), *messages[last + 1 :])


def _untold(compactions: Sequence[Item]) -> Iterator[LoadWarning]:
    """Compactions of which the log does not tell what was sent after them."""
    if compactions:
        before = ", ".join(str(event.get("tokens_before")) for event in compactions)
        told = f"Inspect compacted {counted(len(compactions), 'time')} (from {before} tokens)"
        yield LoadWarning(f"{told}; the shortened context is not in the log")


def _tools(sample: Item, items: Items) -> tuple[Tool, ...]:
    events = map(dict_of, reversed(list_of(sample.get("events"))))
    given = next((list_of(event.get("tools")) for event in events if event.get("tools")), [])
    tools: list[Tool] = []
    for tool in map(dict_of, given):
        schema = {key: items.whole(value) if isinstance(value, str) else value for key, value in tool.items()}
        text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
        tools.append(Tool(as_text(tool.get("name") or ""), text))
    return tuple(tools)


def samples_of(path: Path, data: bytes) -> list[bytes]:
    """The bytes of every sample. Raises BadInput when there is none."""
    if data.startswith(ZIP):
        samples = [raw for name, raw in _unzipped(path, data) if _SAMPLE.fullmatch(name)]
    else:
        found = dict_of(parse(path, data)[0]).get("samples")
        samples = elements(data, "samples") if isinstance(found, list) else []
    if not samples:
        raise BadInput(f"{path}: this Inspect log holds no samples; open one that was written with samples.")
    return samples


def log_of(path: Path, data: bytes, samples: Sequence[bytes], number: int) -> bytes:
    """The log as JSON with the one sample in it."""
    if not data.startswith(ZIP):
        return data if len(samples) == 1 else splice(data, "samples", [number])
    found = dict(_unzipped(path, data))
    header = next((found[name] for name in _HEADERS if found.get(name)), b'{"version":2,"eval":{}}')
    if not isinstance(parse(path, header)[0], dict):
        raise BadInput(f"{path}: the header of this log is not an object; restore a whole copy and open that.")
    return replace_fields(header, {"samples": b"[" + samples[number] + b"]"})


def _unzipped(path: Path, data: bytes) -> list[tuple[str, bytes]]:
    """Header and samples, sorted by name. Raises BadInput for a damaged zip, and for one that grows beyond bounds."""
    found = zipped.members(path, data, lambda name: bool(_SAMPLE.fullmatch(name)) or name in _HEADERS)
    return sorted(found, key=lambda member: _by_number(member[0]))


def _by_number(name: str) -> tuple[list[int], str]:
    return [int(digits) for digits in re.findall(r"[0-9]{1,18}", name)], name
