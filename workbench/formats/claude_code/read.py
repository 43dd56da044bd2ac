"""Reading: Claude Code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.base.reading import read_file
from workbench.base.text import are, counted
from workbench.formats.agent_texts import with_user_text
from workbench.formats.claude_code.agents import COMPACT, agent_files, agents_inside
from workbench.formats.claude_code.epochs import Recorded, divided
from workbench.formats.claude_code.events import Event
from workbench.formats.claude_code.lines import NOTIFICATION, Draft, Own, Prompt, Reading, take, time_of
from workbench.formats.claude_code.signature import ID, WEB_EXPORT, is_printed
from workbench.formats.claude_code.tree import JOINED, LINE, RESUMED, Moment, branch_of, branches_of, chain_of
from workbench.formats.format import Part, Progress, ReadLines, no_progress
from workbench.formats.kit.document import parse, render
from workbench.formats.kit.json_spans import array_items
from workbench.formats.kit.jsonl import Lines, Record, lines_of, object_of, objects_of
from workbench.formats.kit.titles import shortened
from workbench.formats.kit.values import dict_of, list_of
from workbench.session import (
    ApiError,
    LoadWarning,
    Message,
    Records,
    Session,
    SessionFacts,
    Text,
    Tool,
    ToolResult,
    ToolUse,
)

_PARENT = re.compile(rb'"parentUuid": ?"([^"]+)"')
_UUID = re.compile(rb'"uuid": ?"([^"]+)"')


def read(path: Path, data: bytes, progress: Progress) -> Session:
    """Read a session. Raises BadInput when the file holds no message at all."""
    on_web = WEB_EXPORT.match(data) is not None
    if not on_web and data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] != b"[":
        return read_lines(path, lines_of(data), progress)
    found, odd = _listed(path, data, "loglines" if on_web else None)
    return _read(path, Lines(found, Records(data), len(data)), progress, on_web=on_web, odd=odd)


def by_line(first: bytes) -> ReadLines | None:
    return None if WEB_EXPORT.match(first) else read_lines


def read_lines(path: Path, lines: Lines, progress: Progress) -> Session:
    """The same of a file of lines, as it lies where Claude Code keeps it."""
    return _read(path, lines, progress, on_web=False)


def _read(path: Path, lines: Lines, progress: Progress, *, on_web: bool, odd: Sequence[LoadWarning] = ()) -> Session:
    reading = taken(lines, progress)
    reading.warnings[:0] = odd
    if not any(draft.blocks for draft in reading.drafts):
        raise BadInput(f"{path} is a Claude Code file without messages; open the session's own file.")
    return session_of(path, reading, on_web=on_web)


def taken(lines: Lines, progress: Progress) -> Reading:
    """All that these lines of the file say."""
    reading = Reading(lines.records)
    for value, index, line in objects_of(lines.found, lines.size, lines.records, reading.warnings, progress):
        said = reading.printed.line(value, index) if "session_id" in value and is_printed(value) else value
        if said is not None:
            take(reading, said, index, line)
    return reading


def read_part(path: Path, data: bytes, part_id: str, progress: Progress) -> Session:
    """Read one sub-agent of a session, in its file or beside it, or a branch of it. Raises BadInput when there is no
    such one."""
    if part_id in (RESUMED, JOINED) or part_id.startswith(LINE):
        return _read_branch(path, data, part_id, progress)
    inside = agents_inside(data)
    if part_id in inside:
        return read(path, b"\n".join(inside[part_id]), progress)
    beside = {agent.id: agent.file for agent in agent_files(path)}
    if file := beside.get(part_id):
        return read(file, read_file(file), progress)
    known = ", ".join([*inside, *beside, *(branch.id for branch in branches(path, data))][:20]) or "none"
    raise BadInput(f"{path} has no sub-agent {part_id!r}; it has {known}.")


def _read_branch(path: Path, data: bytes, branch_id: str, progress: Progress) -> Session:
    try:
        return session_of(path, taken(lines_of(data), progress), on_web=False, branch_id=branch_id)
    except KeyError:
        known = ", ".join(branch.id for branch in branches(path, data)) or "a single branch"
        raise BadInput(f"{path} has no branch {branch_id!r}; it has {known}.") from None


def _listed(path: Path, data: bytes, key: str | None) -> tuple[Iterator[Record], list[LoadWarning]]:
    """The lines that one document lists, under `key` or as such, as records (spans of the document's bytes), and what
    was odd about the document. Raises BadInput for one that is damaged or lists nothing."""
    value, odd = parse(path, data)
    values = list_of(dict_of(value).get(key) if key else value)
    text = data.decode("latin-1")  # one character per byte, so that spans of characters are spans of bytes
    bom = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    try:
        spans = [(start + bom, stop + bom) for start, stop in array_items(text[bom:], key)]
    except ValueError as error:
        raise BadInput(f"{path} is a broken export of Claude Code ({error}); export it again.") from None
    return _records(data, spans, values), odd


def _records(data: bytes, spans: Iterable[tuple[int, int]], values: Iterable[Any]) -> Iterator[Record]:
    line, seen = 1, 0
    for (start, stop), value in zip(spans, values, strict=True):
        line += data.count(b"\n", seen, start)
        seen = start
        yield Record(start, stop, line, value)


def session_of(path: Path, reading: Reading, *, on_web: bool, branch_id: str = RESUMED) -> Session:
    """The session with a branch of it as the live one. Raises KeyError where it has no such branch."""
    drafts, facts = reading.drafts, reading.facts
    messages, main = messages_of(reading), main_of(reading)
    branch, warnings = branch_of(reading.tree, messages, main, moment_in(reading), branch_id)
    if branch_id == JOINED:
        messages, unbilled = _unbilled(reading, messages, main)
        warnings += unbilled
    if on_web:  # its lines have no links, and that is as it should be
        branch, warnings = main, []
    warnings += _unkept(reading)
    for type, count in reading.unknown.items():
        warnings.append(
            LoadWarning(f"{counted(count, 'record')} of unknown type {type!r} {are(count)} kept in the file, not shown")
        )
    title = title_of(reading, messages, branch)
    found = divided(messages, branch, [draft.sent for draft in drafts], _recorded(reading))
    messages, branch = found.messages, found.branch
    answered = (_api_error(draft, line, value) for draft, line, value in reading.api_errors)
    errors = sorted((*answered, *reading.retried), key=lambda error: error.line or 0)
    printed = reading.printed
    prompt = reading.prompts.get(all(draft.side for draft in drafts), Prompt())
    if printed.seen and next((m.role for m in map(messages.__getitem__, branch) if m.kind == "normal"), "") != "user":
        warnings.append(
            LoadWarning("user messages are missing: Claude Code prints them only with --replay-user-messages")
        )
    model = model_of(messages, branch) or printed.model
    window = printed.windows.get(model or "")
    return Session(
        format=ID,
        path=path,
        messages=messages,
        branch=branch if len(branch) < len(messages) else range(len(messages)),
        epochs=tuple(replace(epoch, window=window) for epoch in found.epochs),
        records=reading.records,
        id=facts.get("sessionId", ""),
        title=title,
        model=model,
        cwd=facts.get("cwd"),
        system=prompt.system,
        tools=prompt.tools or tuple(Tool(name, render({"name": name}).decode()) for name in printed.tools),
        warnings=tuple(sorted([*reading.warnings, *warnings], key=lambda warning: warning.line or 0)),
        facts=SessionFacts(
            agent=facts.get("agentId", ""),
            api_errors=tuple(errors),
            cost=reading.cost if printed.cost is None else printed.cost,
            version=facts.get("version", ""),
            git_branch=facts.get("gitBranch", ""),
            own=Own(facts.get("slug", ""), on_web or printed.seen),
        ),
    )


def _unbilled(
    reading: Reading, messages: tuple[Message, ...], main: list[int]
) -> tuple[tuple[Message, ...], list[LoadWarning]]:
    """The messages without the usage of calls that were sent no more than the resumed branch."""
    resumed = set(branch_of(reading.tree, messages, main, moment_in(reading))[0])
    billed = [number for number in resumed if messages[number].usage] if len(resumed) < len(main) else []
    if not billed:
        return messages, []
    line = reading.records.lines[messages[min(billed)].source[0]]
    told = f"{counted(len(billed), 'call')} from here on sent only part of this branch; their usage is ignored"
    unbilled = (replace(one, usage=None) if number in resumed else one for number, one in enumerate(messages))
    return tuple(unbilled), [LoadWarning(told, line)]


def moment_in(reading: Reading) -> Moment:
    """The time of a link of what was read; progress and snapshots of files are no lines that Claude Code loads."""
    known: dict[int, float | None] = {}

    def moment(link: int) -> float | None:
        if link not in known:
            value = object_of(reading.records[reading.tree.records[link]]) or {}
            passed = value.get("type") == "progress" or value.get("subtype") == "file_snapshot"
            known[link] = None if passed else time_of(value.get("timestamp"))
        return known[link]

    return moment


def branches(path: Path, data: bytes) -> tuple[Part, ...]:
    """The branches of a file of lines, some of which name parents that it lacks; none for any other file."""
    if WEB_EXPORT.match(data) or not _has_broken_links(data):
        return ()
    reading = taken(lines_of(data), no_progress)
    found = branches_of(reading.tree, messages_of(reading), main_of(reading), moment_in(reading))
    return tuple(Part(one.id, one.title, one.messages) for one in found)


def _has_broken_links(data: bytes) -> bool:
    """True when a line names a parent whose id no line has. Searches the bytes and decodes no line."""
    return not set(_PARENT.findall(data)) <= set(_UUID.findall(data))


def messages_of(reading: Reading) -> tuple[Message, ...]:
    """All messages of the file, with what the person said in them."""
    return with_user_text(_billed(reading))


def main_of(reading: Reading) -> list[int]:
    """The messages that are no sub-agent's; all of them where none is."""
    drafts = reading.drafts
    return [number for number, draft in enumerate(drafts) if not draft.side] or list(range(len(drafts)))


def _billed(reading: Reading) -> Iterator[Message]:
    """The messages; what this program noted to be spent is no bill of the context that the file has now."""
    for draft in reading.drafts:
        if not draft.side and draft.source[0] <= reading.spent:
            draft.bill = None
        message = draft.message()
        yield _noticed(message, reading.notices) if reading.notices else message


def _noticed(message: Message, notices: list[str]) -> Message:
    """A task's notification as it was sent, where the file records a request that holds it."""
    if message.kind != "meta" or not message.text.startswith(NOTIFICATION):
        return message
    whole = next((text for text in notices if message.text in text), "")
    return replace(message, blocks=(Text(whole, injected=True),)) if whole else message


def _recorded(reading: Reading) -> Recorded:
    """Where room was made, with the lines that it speaks of as messages."""
    drafts = reading.drafts if reading.events or reading.loose_events else []
    holder = {record: number for number, draft in enumerate(drafts) for record in draft.source}

    def numbers(uuids: Iterable[str]) -> list[int]:
        records = [reading.by_uuid[uuid] for uuid in uuids if uuid in reading.by_uuid]
        return list(dict.fromkeys([holder[record] for record in records if record in holder]))

    def kept(event: Event) -> list[int]:
        if any(uuid not in reading.by_uuid for uuid in event.kept.needed):
            return []
        found = numbers(event.kept.uuids or chain_of(reading.tree, event.kept.head, event.kept.tail))
        if not found:
            return []
        calls = {block.id for n in found for block in reading.drafts[n].blocks if isinstance(block, ToolUse)}
        if not event.kept.uuids:  # a result hangs at its own call, beside the chain
            answers = (n for n, draft in enumerate(reading.drafts) if _answers(draft, calls))
            found = sorted({*found, *answers})
        return [number for number in found if reading.drafts[number].sent]

    return Recorded(reading.events, reading.loose_events, kept, numbers)


def _unkept(reading: Reading) -> Iterator[LoadWarning]:
    """A warning for each boundary that preserves messages which the file does not have."""
    for number, event in reading.events.items():
        needed = event.kept.needed
        missing = sum(uuid not in reading.by_uuid for uuid in needed)
        if missing:
            noun, segment = ("preserved message", "") if event.kept.uuids else ("end", " of the preserved segment")
            of = f"{grouped(missing)} of {counted(len(needed), noun)}{segment}"
            text = f"{of} {are(missing)} not in this file, so Claude Code keeps none of it on resume"
            yield LoadWarning(text, reading.records.lines[reading.drafts[number].source[0]])


def _answers(draft: Draft, calls: set[str]) -> bool:
    return any(isinstance(block, ToolResult) and block.call_id in calls for block in draft.blocks)


def is_model(message: Message) -> bool:
    return message.role == "assistant" and message.kind == "normal" and bool(message.model)


def model_of(messages: Sequence[Message], branch: Sequence[int]) -> str | None:
    """The model that answered last; None where none is told."""
    live = map(messages.__getitem__, reversed(branch))
    return next((one.model for one in live if is_model(one)), None)


def _api_error(draft: Draft, line: int, value: Mapping[str, object]) -> ApiError:
    status, kind = value.get("apiErrorStatus"), value.get("error")
    text, code = draft.message().text, status if isinstance(status, int) else None
    return ApiError(draft.id, text, draft.time, line, code, kind if isinstance(kind, str) else "")


def title_of(reading: Reading, messages: tuple[Message, ...], branch: list[int]) -> str:
    """The person's title, the tool's, or the first words of the first request.

    Title lines of type `summary` are often for leaves of other files: only one whose leaf is here counts.
    """
    if reading.facts.get("agentId", "").startswith(COMPACT):
        return "the call for a summary"
    for type in ("custom-title", "ai-title"):
        if type in reading.titles:
            return reading.titles[type]
    for leaf, title in reversed(reading.titled_leaves):
        if leaf in reading.by_uuid:
            return title
    asked = (message.said for message in map(messages.__getitem__, branch) if message.starts_round)
    return shortened(next((said for said in asked if said.strip()), ""))
