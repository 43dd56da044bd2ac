"""Read Claude Code sessions, their sub-agents and their branches."""

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
from workbench.formats.claude_code import ID, WEB_EXPORT, is_printed
from workbench.formats.claude_code.agents import COMPACT, agent_files, agents_inside, compaction_call, compaction_calls
from workbench.formats.claude_code.epochs import RecordedEvents, divide_into_epochs
from workbench.formats.claude_code.events import Event
from workbench.formats.claude_code.lines import (
    NOTIFICATION,
    LoadedFile,
    MessageDraft,
    Prompt,
    Reading,
    add_record,
    time_of,
)
from workbench.formats.claude_code.tree import JOINED, LINE, RESUMED, Moment, branch_of, branches_of, chain_of
from workbench.formats.format import Part, Progress, ReadLines, no_progress
from workbench.formats.kit.document import parse, render
from workbench.formats.kit.json_spans import array_items
from workbench.formats.kit.jsonl import Lines, Record, lines_of, object_of, objects_of
from workbench.formats.kit.names import shortened
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
    """Read a session. Raises BadInput when the file holds no message."""
    on_web = WEB_EXPORT.match(data) is not None
    if not on_web and data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] != b"[":
        return read_lines(path, lines_of(data), progress)
    found, warnings = _document_lines(path, data, "loglines" if on_web else None)
    return _read(path, Lines(found, Records(data), len(data)), progress, on_web=on_web, warnings=warnings)


def by_line(first: bytes) -> ReadLines | None:
    """Return `read_lines`, None for a web export."""
    return None if WEB_EXPORT.match(first) else read_lines


def read_lines(path: Path, lines: Lines, progress: Progress) -> Session:
    """Read a session of JSON lines. Raises BadInput like `read`."""
    return _read(path, lines, progress, on_web=False)


def _read(
    path: Path, lines: Lines, progress: Progress, *, on_web: bool, warnings: Sequence[LoadWarning] = ()
) -> Session:
    reading = decode_lines(lines, progress)
    reading.warnings[:0] = warnings
    if not any(draft.blocks for draft in reading.drafts):
        raise BadInput(f"{path} is a Claude Code file without messages; open the session's own file.")
    return session_of(path, reading, on_web=on_web)


def decode_lines(lines: Lines, progress: Progress) -> Reading:
    """Decode all lines of the file."""
    reading = Reading(lines.records)
    for value, index, line in objects_of(lines.found, lines.size, lines.records, reading.warnings, progress):
        printed = "session_id" in value and is_printed(value)
        record = reading.printed.session_line(value, index) if printed else value
        if record is not None:
            add_record(reading, record, index, line)
    return reading


def read_part(path: Path, data: bytes, part_id: str, progress: Progress) -> Session:
    """Read a sub-agent of a session, from its file or one next to it, or a branch. Raises BadInput for another id."""
    if part_id in (RESUMED, JOINED) or part_id.startswith(LINE):
        return _read_branch(path, data, part_id, progress)
    inside = agents_inside(data)
    if part_id in inside:
        return read(path, b"\n".join(inside[part_id]), progress)
    files = {agent.id: agent.file for agent in agent_files(path)}
    if file := files.get(part_id):
        return read(file, read_file(file), progress)
    known = ", ".join([*inside, *files, *(branch.id for branch in branches(path, data))][:20]) or "none"
    raise BadInput(f"{path} has no sub-agent {part_id!r}; it has {known}.")


def _read_branch(path: Path, data: bytes, branch_id: str, progress: Progress) -> Session:
    try:
        return session_of(path, decode_lines(lines_of(data), progress), on_web=False, branch_id=branch_id)
    except KeyError:
        known = ", ".join(branch.id for branch in branches(path, data)) or "a single branch"
        raise BadInput(f"{path} has no branch {branch_id!r}; it has {known}.") from None


def _document_lines(path: Path, data: bytes, key: str | None) -> tuple[Iterator[Record], list[LoadWarning]]:
    """Return the lines that a document lists (under `key`, None for the document itself) as records, and its warnings.
    Raises BadInput for a damaged document."""
    value, warnings = parse(path, data)
    values = list_of(dict_of(value).get(key) if key else value)
    text = data.decode("latin-1")  # one character per byte, so that spans of characters are spans of bytes
    bom = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    try:
        spans = [(start + bom, stop + bom) for start, stop in array_items(text[bom:], key)]
    except ValueError as error:
        raise BadInput(f"{path} is a broken export of Claude Code ({error}); export it again.") from None
    return _records(data, spans, values), warnings


def _records(data: bytes, spans: Iterable[tuple[int, int]], values: Iterable[Any]) -> Iterator[Record]:
    line, seen = 1, 0
    for (start, stop), value in zip(spans, values, strict=True):
        line += data.count(b"\n", seen, start)
        seen = start
        yield Record(start, stop, line, value)


def session_of(path: Path, reading: Reading, *, on_web: bool, branch_id: str = RESUMED) -> Session:
    """Return the session with one branch as the live one. Raises KeyError for an unknown branch."""
    drafts, facts = reading.drafts, reading.facts
    messages, main = messages_of(reading), main_of(reading)
    branch, warnings = branch_of(reading.tree, messages, main, moment_in(reading), branch_id)
    if branch_id == JOINED:
        messages, unbilled = _unbilled(reading, messages, main)
        warnings += unbilled
    if on_web:  # lines of a web export have no links
        branch, warnings = main, []
    warnings += _missing_preserved(reading)
    for type, count in reading.unknown.items():
        warnings.append(
            LoadWarning(f"{counted(count, 'record')} of unknown type {type!r} {are(count)} kept in the file, not shown")
        )
    title = title_of(reading, messages, branch)
    found = divide_into_epochs(messages, branch, [draft.sent for draft in drafts], _recorded_events(reading))
    messages, branch = found.messages, found.branch
    answered = (_api_error(draft, line, value) for draft, line, value in reading.api_errors)
    errors = sorted((*answered, *reading.retried), key=lambda error: error.line or 0)
    printed = reading.printed
    prompt = reading.prompts.get(all(draft.sidechain for draft in drafts), Prompt())
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
            own=LoadedFile(facts.get("slug", ""), on_web or printed.seen),
        ),
    )


def _unbilled(
    reading: Reading, messages: tuple[Message, ...], main: list[int]
) -> tuple[tuple[Message, ...], list[LoadWarning]]:
    """Remove the usage of calls that sent only the resumed branch; return the messages and a warning."""
    resumed = set(branch_of(reading.tree, messages, main, moment_in(reading))[0])
    billed = [number for number in resumed if messages[number].usage] if len(resumed) < len(main) else []
    if not billed:
        return messages, []
    line = reading.records.lines[messages[min(billed)].source[0]]
    ignored = f"{counted(len(billed), 'call')} from here on sent only part of this branch; their usage is ignored"
    unbilled = (replace(one, usage=None) if number in resumed else one for number, one in enumerate(messages))
    return tuple(unbilled), [LoadWarning(ignored, line)]


def moment_in(reading: Reading) -> Moment:
    """Return a function for the time of a link; None for progress and file snapshots, which are never loaded."""
    known: dict[int, float | None] = {}

    def moment(link: int) -> float | None:
        if link not in known:
            value = object_of(reading.records[reading.tree.records[link]]) or {}
            unloaded = value.get("type") == "progress" or value.get("subtype") == "file_snapshot"
            known[link] = None if unloaded else time_of(value.get("timestamp"))
        return known[link]

    return moment


def branches(path: Path, data: bytes) -> tuple[Part, ...]:
    """Return the branches of a file in which parents are missing; none for any other file."""
    if WEB_EXPORT.match(data) or not _has_broken_links(data):
        return ()
    reading = decode_lines(lines_of(data), no_progress)
    return tuple(branches_of(reading.tree, messages_of(reading), main_of(reading), moment_in(reading)))


def _has_broken_links(data: bytes) -> bool:
    """Return True if a line names a parent whose id no line has. Searches the bytes and decodes no line."""
    return not set(_PARENT.findall(data)) <= set(_UUID.findall(data))


def relatives(session: Session) -> list[tuple[str, str]]:
    """Return id and description of each branch, sub-agent and summary call."""
    return [*_relatives(session)]


def _relatives(session: Session) -> Iterator[tuple[str, str]]:
    if session.path is None:
        return
    if len(session.branch) < len(session.messages):
        for part in branches(session.path, session.records.data)[1:]:
            yield part.id, f"{part.title}, {counted(part.messages, 'message')}"
    live = set(session.branch)
    if any(number not in live for number in range(len(session.messages))):
        yield from ((id, "a sub-agent in this file") for id in agents_inside(session.records.data))
    calls = {file: boundary for boundary, file in compaction_calls(session).items()}
    for agent in agent_files(session.path):
        description = "the call for a summary" if agent.is_summary_call else "a sub-agent in its own file"
        if agent.file in calls:
            description += f", for the boundary {calls[agent.file]}"
        yield agent.id, description
    if call := compaction_call(session):
        length = len(call.answer.text) if call.answer else 0
        sent = grouped(len(call.prompt.text))
        yield "this file", f"the call for a summary: {sent} characters sent, {grouped(length)} returned"


def messages_of(reading: Reading) -> tuple[Message, ...]:
    """Return all messages of the file, with the user's words marked."""
    return with_user_text(_messages_without_stale_usage(reading))


def main_of(reading: Reading) -> list[int]:
    """Return the messages outside sub-agents; all messages if the file holds only a sub-agent."""
    drafts = reading.drafts
    return [number for number, draft in enumerate(drafts) if not draft.sidechain] or list(range(len(drafts)))


def _messages_without_stale_usage(reading: Reading) -> Iterator[Message]:
    """Yield the messages, without the usage that this program marked as stale."""
    for draft in reading.drafts:
        if not draft.sidechain and draft.source[0] <= reading.stale_until:
            draft.bill = None
        message = draft.message()
        yield _with_complete_notice(message, reading.notices) if reading.notices else message


def _with_complete_notice(message: Message, notices: list[str]) -> Message:
    """Return a task's notification with its complete text from a recorded request, if there is one."""
    if message.kind != "meta" or not message.text.startswith(NOTIFICATION):
        return message
    complete = next((text for text in notices if message.text in text), "")
    return replace(message, blocks=(Text(complete, injected=True),)) if complete else message


def _recorded_events(reading: Reading) -> RecordedEvents:
    """Return the recorded compactions, with functions that find the messages of their lines."""
    drafts = reading.drafts if reading.events or reading.loose_events else []
    holder = {record: number for number, draft in enumerate(drafts) for record in draft.source}

    def numbers(uuids: Iterable[str]) -> list[int]:
        records = [reading.by_uuid[uuid] for uuid in uuids if uuid in reading.by_uuid]
        return list(dict.fromkeys([holder[record] for record in records if record in holder]))

    def preserved_numbers(event: Event) -> list[int]:
        if any(uuid not in reading.by_uuid for uuid in event.preserved.needed):
            return []
        found = numbers(event.preserved.uuids or chain_of(reading.tree, event.preserved.head, event.preserved.tail))
        if not found:
            return []
        calls = {block.id for n in found for block in reading.drafts[n].blocks if isinstance(block, ToolUse)}
        if not event.preserved.uuids:  # the parent of a result is its call, outside the chain
            answers = (n for n, draft in enumerate(reading.drafts) if _answers(draft, calls))
            found = sorted({*found, *answers})
        return [number for number in found if reading.drafts[number].sent]

    return RecordedEvents(reading.events, reading.loose_events, preserved_numbers, numbers)


def _missing_preserved(reading: Reading) -> Iterator[LoadWarning]:
    """Yield a warning for each boundary that preserves messages missing in the file."""
    for number, event in reading.events.items():
        needed = event.preserved.needed
        missing = sum(uuid not in reading.by_uuid for uuid in needed)
        if missing:
            noun, segment = ("preserved message", "") if event.preserved.uuids else ("end", " of the preserved segment")
            of = f"{grouped(missing)} of {counted(len(needed), noun)}{segment}"
            text = f"{of} {are(missing)} not in this file, so Claude Code keeps none of it on resume"
            yield LoadWarning(text, reading.records.lines[reading.drafts[number].source[0]])


def _answers(draft: MessageDraft, calls: set[str]) -> bool:
    return any(isinstance(block, ToolResult) and block.call_id in calls for block in draft.blocks)


def is_model(message: Message) -> bool:
    """Return True for an answer of a model, not one that Claude Code made itself."""
    return message.role == "assistant" and message.kind == "normal" and bool(message.model)


def model_of(messages: Sequence[Message], branch: Sequence[int]) -> str | None:
    """Return the model of the branch's last answer, or None."""
    live = map(messages.__getitem__, reversed(branch))
    return next((one.model for one in live if is_model(one)), None)


def _api_error(draft: MessageDraft, line: int, value: Mapping[str, object]) -> ApiError:
    status, kind = value.get("apiErrorStatus"), value.get("error")
    text, code = draft.message().text, status if isinstance(status, int) else None
    return ApiError(draft.id, text, draft.time, line, code, kind if isinstance(kind, str) else "")


def title_of(reading: Reading, messages: tuple[Message, ...], branch: list[int]) -> str:
    """Return the user's title, else Claude Code's, else the first words of the first request.

    Title lines of type `summary` often name leaves of other files; only those with a leaf in this file count.
    """
    if reading.facts.get("agentId", "").startswith(COMPACT):
        return "the call for a summary"
    for type in ("custom-title", "ai-title"):
        if type in reading.titles:
            return reading.titles[type]
    for leaf, title in reversed(reading.titled_leaves):
        if leaf in reading.by_uuid:
            return title
    requests = (message.user_text for message in map(messages.__getitem__, branch) if message.starts_round)
    return shortened(next((text for text in requests if text.strip()), ""))
