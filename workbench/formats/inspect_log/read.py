"""Read Inspect logs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.base.errors import BadInput
from workbench.base.text import counted
from workbench.formats.agent_texts import with_user_text
from workbench.formats.format import Progress, RecordedRequest
from workbench.formats.inspect_log import ID
from workbench.formats.inspect_log.contexts import SampleContexts, answer_of, inputs_of, usage_of
from workbench.formats.inspect_log.items import MessageReader
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.compressed import ZIP, zip_members
from workbench.formats.kit.document import Item, elements, parse, splice
from workbench.formats.kit.json_spans import replace_fields
from workbench.formats.kit.marks import STALE_USAGE
from workbench.formats.kit.names import first_words, unique_id
from workbench.formats.kit.several import Numbered
from workbench.formats.kit.values import dict_of, list_of, word_of
from workbench.session.message import Message
from workbench.session.session import LoadWarning, Records, Session, Tool

_SAMPLE = re.compile(r"samples/.+\.json")

_HEADERS = ("header.json", "_journal/start.json")


class Reader(Numbered[int]):
    """Reader of the samples of a log, by index."""

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
        recorded = sample.get("messages")
        if not isinstance(recorded, list):
            raise BadInput(f"{path}: the sample has no list of messages; open a log that was written with samples.")
        reader = _message_reader(sample)
        ids: dict[str, int] = {}
        sample_messages = [reader.message(item, str(place + 1), (place,)) for place, item in enumerate(recorded)]
        contexts = SampleContexts(
            _message_reader(sample),
            [replace(message, id=unique_id(message.id, ids)) for message in sample_messages],
            ids,
        )
        if not dict_of(sample.get("metadata")).get(STALE_USAGE):
            contexts.read(sample)
        epochs = contexts.epochs()
        messages = contexts.with_usage(epochs)
        return Session(
            format=ID,
            path=path,
            messages=with_user_text(messages if contexts.calls else _with_last_usage(messages, sample)),
            records=Records(log),
            epochs=epochs,
            id=as_text(sample.get("uuid") or sample.get("id") or ""),
            title=first_words(messages),
            model=word_of(dict_of(body.get("eval")).get("model")),
            tools=_tools(sample, reader),
            warnings=(*warnings, *reader.warnings, *_warn_without_input(contexts.without_input)),
        )


def requests(session: Session) -> Iterator[RecordedRequest]:
    """Yield the recorded input of each call, whether or not it belongs to the conversation."""
    body, _ = parse(session.path or Path(), session.records.data)
    sample = _sample(dict_of(body))
    reader = _message_reader(sample)
    ids = {message.id for message in session.messages}
    for event in map(dict_of, list_of(sample.get("events"))):
        if event.get("event") == "model" and (input := inputs_of(sample, event)):
            answer = word_of(answer_of(event).get("id"))
            messages = with_user_text(reader.message(item, str(place)) for place, item in enumerate(input, 1))
            yield RecordedRequest(answer if answer in ids else "", messages)


def _sample(body: Item) -> Item:
    return dict_of(next(iter(list_of(body.get("samples"))), None))


def _message_reader(sample: Item) -> MessageReader:
    attachments = dict_of(sample.get("attachments"))
    return MessageReader({key: text for key, text in attachments.items() if isinstance(text, str)})


def _with_last_usage(messages: tuple[Message, ...], sample: Item) -> tuple[Message, ...]:
    """Set the usage of the sample's output on the last answer, for a log without events."""
    last = next((n for n in range(len(messages) - 1, -1, -1) if messages[n].role == "assistant"), None)
    usage = usage_of(dict_of(sample.get("output")).get("usage"))
    if last is None or usage is None or dict_of(sample.get("metadata")).get(STALE_USAGE):
        return messages
    return (*messages[:last], replace(messages[last], usage=usage), *messages[last + 1 :])


def _warn_without_input(compactions: Sequence[Item]) -> Iterator[LoadWarning]:
    """Warn about compactions after which no call records its input."""
    if compactions:
        before = ", ".join(str(event.get("tokens_before")) for event in compactions)
        text = f"Inspect compacted {counted(len(compactions), 'time')} (from {before} tokens)"
        yield LoadWarning(f"{text}; the shortened context is not in the log")


def _tools(sample: Item, reader: MessageReader) -> tuple[Tool, ...]:
    events = map(dict_of, reversed(list_of(sample.get("events"))))
    definitions = next((list_of(event.get("tools")) for event in events if event.get("tools")), [])
    tools: list[Tool] = []
    for tool in map(dict_of, definitions):
        schema = {key: reader.resolve(value) if isinstance(value, str) else value for key, value in tool.items()}
        text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
        tools.append(Tool(as_text(tool.get("name") or ""), text))
    return tuple(tools)


def samples_of(path: Path, data: bytes) -> list[bytes]:
    """Return the bytes of every sample. Raises BadInput without one."""
    if data.startswith(ZIP):
        samples = [raw for name, raw in _zip_members(path, data) if _SAMPLE.fullmatch(name)]
    else:
        recorded = dict_of(parse(path, data)[0]).get("samples")
        samples = elements(data, "samples") if isinstance(recorded, list) else []
    if not samples:
        raise BadInput(f"{path}: this Inspect log holds no samples; open one that was written with samples.")
    return samples


def log_of(path: Path, data: bytes, samples: Sequence[bytes], number: int) -> bytes:
    """Return the log as JSON with only that sample."""
    if not data.startswith(ZIP):
        return data if len(samples) == 1 else splice(data, "samples", [number])
    members = dict(_zip_members(path, data))
    header = next((members[name] for name in _HEADERS if members.get(name)), b'{"version":2,"eval":{}}')
    if not isinstance(parse(path, header)[0], dict):
        raise BadInput(f"{path}: the header of this log is not an object; restore a whole copy and open that.")
    return replace_fields(header, {"samples": b"[" + samples[number] + b"]"})


def _zip_members(path: Path, data: bytes) -> list[tuple[str, bytes]]:
    """Return header and samples, sorted by name. Raises BadInput for a damaged or too large zip."""
    members = zip_members(path, data, lambda name: bool(_SAMPLE.fullmatch(name)) or name in _HEADERS)
    return sorted(members, key=lambda member: _by_number(member[0]))


def _by_number(name: str) -> tuple[list[int], str]:
    return [int(digits) for digits in re.findall(r"[0-9]{1,18}", name)], name
