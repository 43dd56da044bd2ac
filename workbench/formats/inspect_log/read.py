"""Reading: Inspect log."""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.formats.format import Part, Progress
from workbench.formats.inspect_log.signature import ID
from workbench.formats.kit.blocks import as_text, from_anthropic, kind_of
from workbench.formats.kit.document import elements, parse, splice
from workbench.formats.kit.ids import unique_id
from workbench.formats.kit.item_list import Item
from workbench.formats.kit.json_spans import replace_fields
from workbench.formats.kit.magic import ZIP
from workbench.formats.kit.mark import marked
from workbench.formats.kit.titles import first_words
from workbench.formats.kit.values import count_of, dict_of, list_of, word_of
from workbench.formats.kit.zstd import HIGHEST_RATIO, LARGEST
from workbench.session.message import Block, Media, Message, Opaque, Role, Text, Thinking, ToolResult, ToolUse, Usage
from workbench.session.session import LoadWarning, Records, Session, Tool

_SAMPLE = re.compile(r"samples/.+\.json")
_ATTACHED = "attachment://"
_FREE = 1 << 26
"""Bytes that may be unpacked whatever the ratio."""
_ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}


def sessions_in(path: Path, data: bytes) -> tuple[Part, ...]:
    """The samples of a log, in its order. Raises BadInput when it cannot be read."""
    parts: list[Part] = []
    for number, raw in enumerate(_samples(path, data)):
        sample = dict_of(parse(path, raw)[0])
        title = f"{sample.get('id')}, epoch {sample.get('epoch', 1)}"
        parts.append(Part(str(number + 1), title, len(list_of(sample.get("messages")))))
    return tuple(parts)


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read the first sample. Raises BadInput when the log has none."""
    samples = _samples(path, data)
    session = _read(path, data, samples, 0, progress)
    if len(samples) == 1:
        return session
    warning = LoadWarning(f"holds {len(samples)} samples; this is the first")
    return replace(session, warnings=(warning, *session.warnings))


def read_part(path: Path, data: bytes, part_id: str, progress: Progress) -> Session:
    """Read one sample by its place from 1. Raises BadInput when there is no such sample."""
    samples = _samples(path, data)
    if not part_id.isdecimal() or not 1 <= int(part_id) <= len(samples):
        raise BadInput(f"{path} has no sample {part_id}; choose one of 1 to {len(samples)}.")
    return _read(path, data, samples, int(part_id) - 1, progress)


def _samples(path: Path, data: bytes) -> list[bytes]:
    """The bytes of every sample. Raises BadInput when there is none."""
    if data.startswith(ZIP):
        samples = [raw for name, raw in _unzipped(path, data) if _SAMPLE.fullmatch(name)]
    else:
        found = dict_of(parse(path, data)[0]).get("samples")
        samples = elements(data, "samples") if isinstance(found, list) else []
    if not samples:
        raise BadInput(f"{path}: this Inspect log holds no samples; open one that was written with samples.")
    return samples


def _unzipped(path: Path, data: bytes) -> Iterator[tuple[str, bytes]]:
    """Header and samples, sorted by name. Raises BadInput for a damaged zip, and for one that grows beyond bounds."""
    size, most = 0, min(LARGEST, max(_FREE, HIGHEST_RATIO * len(data)))
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for entry in sorted(archive.infolist(), key=lambda entry: _by_number(entry.filename)):
                if not (_SAMPLE.fullmatch(entry.filename) or entry.filename in ("header.json", "_journal/start.json")):
                    continue
                with archive.open(entry) as file:
                    raw = file.read(most + 1 - size)
                size += len(raw)
                if size > LARGEST or (size > _FREE and size > HIGHEST_RATIO * len(data)):
                    raise BadInput(
                        f"{path} unpacks to more than {size >> 20} MiB; unpack the sample you want yourself."
                    )
                yield entry.filename, raw
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise BadInput(f"{path}: the zip cannot be read ({error}); restore a whole copy and open that.") from None


def _by_number(name: str) -> tuple[list[int], str]:
    return [int(digits) for digits in re.findall(r"[0-9]{1,18}", name)], name


def _read(path: Path, data: bytes, samples: Sequence[bytes], number: int, progress: Progress) -> Session:
    progress(0, len(data))
    if data.startswith(ZIP):
        found = dict(_unzipped(path, data))
        header = found.get("header.json") or found.get("_journal/start.json") or b'{"version":2,"eval":{}}'
        if not isinstance(parse(path, header)[0], dict):
            raise BadInput(f"{path}: the header of this log is no object; restore a whole copy and open that.")
        log = replace_fields(header, {"samples": b"[" + samples[number] + b"]"})
    else:
        log = data if len(samples) == 1 else splice(data, "samples", [number])
    body, warnings = parse(path, log)
    session = _session(path, log, dict_of(body), warnings)
    progress(len(data), len(data))
    return session


def _session(path: Path, log: bytes, body: Item, warnings: list[LoadWarning]) -> Session:
    sample = dict_of(list_of(body.get("samples"))[0])
    items = sample.get("messages")
    if not isinstance(items, list):
        raise BadInput(f"{path}: the sample has no list of messages; open a log that was written with samples.")
    events = [dict_of(event) for event in list_of(sample.get("events"))]
    attachments = {key: text for key, text in dict_of(sample.get("attachments")).items() if isinstance(text, str)}
    usages, ids = dict(_usages(events)), dict[str, int]()
    messages = tuple(_message(n, item, attachments, usages, ids, warnings) for n, item in enumerate(items))
    compactions = [event for event in events if event.get("event") == "compaction"]
    if compactions:
        tokens = ", ".join(str(event.get("tokens_before")) for event in compactions)
        warnings.append(LoadWarning(f"Inspect compacted {len(compactions)} times (from {tokens} tokens)"))
    about = dict_of(body.get("eval"))
    return Session(
        format=ID,
        path=path,
        messages=messages,
        records=Records(log),
        id=as_text(sample.get("uuid") or sample.get("id") or ""),
        title=first_words(messages),
        model=word_of(about.get("model")),
        tools=_tools(events, attachments),
        warnings=tuple(warnings),
    )


def _usages(events: Sequence[Item]) -> Iterator[tuple[str, Usage]]:
    """What each call cost, by the id of the message it gave."""
    for event in events:
        output = dict_of(event.get("output"))
        choices = list_of(output.get("choices"))
        id = word_of(dict_of(dict_of(choices[0]).get("message")).get("id")) if choices else None
        given = dict_of(output.get("usage"))
        sent, said = count_of(given.get("input_tokens")), count_of(given.get("output_tokens"))
        read, made = (count_of(given.get(f"input_tokens_cache_{what}")) for what in ("read", "write"))
        if id and sent:
            # With some providers the input has the cached tokens in it; the total tells.
            within = given.get("total_tokens") == sent + said
            yield id, Usage(max(sent - read - made, 0) if within else sent, said, read, made)


def _tools(events: Sequence[Item], attachments: dict[str, str]) -> tuple[Tool, ...]:
    given = next((list_of(event.get("tools")) for event in reversed(events) if event.get("tools")), [])
    tools: list[Tool] = []
    for tool in map(dict_of, given):
        schema = {key: _whole(value, attachments) if isinstance(value, str) else value for key, value in tool.items()}
        text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
        tools.append(Tool(as_text(tool.get("name") or ""), text))
    return tuple(tools)


def _whole(text: str, attachments: dict[str, str]) -> str:
    return attachments.get(text.removeprefix(_ATTACHED), text) if text.startswith(_ATTACHED) else text


def _message(
    index: int,
    item: Any,
    attachments: dict[str, str],
    usages: dict[str, Usage],
    ids: dict[str, int],
    warnings: list[LoadWarning],
) -> Message:
    source = (index,)
    if not isinstance(item, dict):
        warnings.append(LoadWarning(f"message {index + 1} is not an object; it is shown as it is"))
        return Message(f"m{index + 1}", "user", (Opaque(type(item).__name__, item),), "meta", source=source)
    own = word_of(item.get("id"))
    role = _ROLES.get(as_text(item.get("role")))
    if role is None:
        warnings.append(LoadWarning(f"message {index + 1} has no known role; it is read as the user's"))
        role = "user"
    blocks = tuple(_parts(item.get("content"), attachments))
    if role == "tool":
        failed = dict_of(item.get("error"))
        content = tuple(b if isinstance(b, Text | Media) else Text(as_text(item.get("content"))) for b in blocks)
        if failed and not content:
            content = (Text(as_text(failed.get("message") or "")),)
        blocks = (ToolResult(as_text(item.get("tool_call_id") or ""), content, bool(failed)),)
    for call in list_of(item.get("tool_calls")) if role == "assistant" else ():
        blocks = (*blocks, _call(call, attachments))
    kind = marked(dict_of(item.get("metadata"))) or kind_of(role, blocks)
    id = unique_id(own or f"m{index + 1}", ids)
    return Message(id, role, blocks, kind, None, usages.get(own or ""), word_of(item.get("model")), source)


def _call(call: Any, attachments: dict[str, str]) -> Block:
    if not isinstance(call, dict) or not isinstance(call.get("function"), str):
        return Opaque("tool_call", call)
    given = call.get("arguments")
    if isinstance(given, dict):
        known = {key: _whole(value, attachments) if isinstance(value, str) else value for key, value in given.items()}
        return ToolUse(as_text(call.get("id") or ""), call["function"], known)
    return ToolUse(as_text(call.get("id") or ""), call["function"], "" if given is None else as_text(given))


def _parts(content: Any, attachments: dict[str, str]) -> Iterator[Block]:
    for part in list_of(content):
        kind = as_text(dict_of(part).get("type"))
        if kind == "reasoning" and isinstance(part.get("reasoning"), str):
            hidden = part.get("redacted") is True
            text = _whole(part["reasoning"], attachments)
            yield Thinking("" if hidden else text, text if hidden else word_of(part.get("signature")) or "")
        elif kind in ("image", "audio", "video", "document") and isinstance(part.get(kind), str):
            head, _, encoded = _whole(part[kind], attachments).partition(",")
            yield Media(head[5:].split(";")[0] or kind if head.startswith("data:") else kind, len(encoded))
        elif kind == "text" and isinstance(part.get("text"), str):
            yield Text(_whole(part["text"], attachments))
        else:
            yield from_anthropic([part])[0] if isinstance(part, str) else Opaque(kind, part)
    if isinstance(content, str):
        yield from from_anthropic(_whole(content, attachments))
    elif not isinstance(content, list):
        yield from from_anthropic(content)
