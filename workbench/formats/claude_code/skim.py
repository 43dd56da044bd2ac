"""Read only the usage of a session, for audits of thousands of files.

The file is read normally up to its first usage. After that, user messages and tool results (most of the bytes) are
skipped, and only the usage of answers is decoded. The result is None if an audit's row needs the complete file: with a
compaction, a summary of another file, printed or exported lines, or usage that may be wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import orjson
from msgspec import UNSET, Meta, Struct
from msgspec.json import Decoder

from workbench.base.values import json_value
from workbench.formats.claude_code import ID, WEB_EXPORT
from workbench.formats.claude_code.events import event_of_answer
from workbench.formats.claude_code.lines import TITLES, Reading
from workbench.formats.claude_code.read import decode_lines, main_of, messages_of, model_of, moment_in, title_of
from workbench.formats.claude_code.tree import branch_of
from workbench.formats.format import Skimmed, no_progress
from workbench.formats.kit.jsonl import lines_of
from workbench.formats.kit.marks import STALE_USAGE
from workbench.formats.usage_checks import CHARACTERS_PER_TOKEN, may_be_too_large
from workbench.session import Billed, Epoch, Session, SessionFacts, Usage

_USAGE = b'"usage":'
_USER, _PROGRESS, _ANSWER = b'"type":"user"', b'"type":"progress"', b'"role":"assistant"'
_FRONT = 600
"""Bytes at the start of a line that are searched for its type; an answer may have its type last, but its role comes
before its content. Quotes inside texts are escaped, so a match is a key. Most lines of a file have the mark at the same
offset, which is tried first: a search takes as long as decoding half the line."""

_NEED_COMPLETE_READ = ("summary", "content-replacement")
"""Line types that require reading the complete file; so do system lines that record a compaction."""


_Count = Annotated[int, Meta(ge=0, le=2**63 - 1)] | None


class _Usage(Struct, gc=False):
    """Token counts of a recorded usage."""

    input_tokens: _Count = 0
    output_tokens: _Count = 0
    cache_read_input_tokens: _Count = 0
    cache_creation_input_tokens: _Count = 0


class _Body(Struct):
    id: Annotated[str, Meta(min_length=1)]
    model: str | None = None
    usage: _Usage | None = None
    context_management: Any = None


class _Line(Struct, rename={"stale_usage": STALE_USAGE}):
    """Keys of an answer's line that affect usage. A line of another shape requires reading the complete file."""

    uuid: str
    type: str
    message: _Body | None = None
    isSidechain: Any = None
    isCompactSummary: Any = UNSET
    isApiErrorMessage: Any = None
    forkedFrom: Any = None
    stale_usage: Any = UNSET


_line = Decoder(_Line).decode
"""Decode the needed keys of a line; skipping the other values takes half the time of decoding them."""


class _Answer(Struct, gc=False):
    """An API message over all its lines. `usage`: the newest one; `output`: the largest output tokens;
    `start`: offset of the first line in bytes."""

    start: int
    model: str | None
    sidechain: bool
    usage: _Usage | None = None
    output: int = 0


def skim(path: Path, data: bytes) -> Skimmed | None:
    """Return the session up to its first answer, and all usage. None if the complete file must be read."""
    first = data.find(_USAGE)
    facts: dict[str, Any] = {}
    if data[:1] != b"{" or first < 0 or WEB_EXPORT.match(data) or (spans := _answer_spans(data, facts)) is None:
        return None
    head = data[: data.find(b"\n", first) + 1 or len(data)]
    reading = decode_lines(lines_of(head), no_progress)
    if reading.printed.seen or not any(draft.blocks for draft in reading.drafts):
        return None
    answers = _answers_with_usage(data, spans)
    return None if answers is None else _skimmed(path, reading, answers, {**facts, **_newest(data)})


def _answers_with_usage(data: bytes, spans: Sequence[tuple[int, int]]) -> list[_Answer] | None:
    """Return the answers in these lines, None if a line requires reading the complete file."""
    found: dict[tuple[str, bool], _Answer] = {}
    for start, stop in spans:
        try:
            line = _line(data[start:stop])
        except ValueError:
            return None
        if line.type != "assistant":
            if _needs_complete_read(line.type, orjson.loads(data[start:stop])):
                return None
            continue
        body = line.message
        if body is None or line.stale_usage is not UNSET or line.isCompactSummary is not UNSET or line.forkedFrom:
            return None
        if body.model == "<synthetic>" or line.isApiErrorMessage is True:
            continue
        if body.context_management and event_of_answer({"context_management": body.context_management}, None):
            return None
        sidechain = line.isSidechain is True
        one = found.get((body.id, sidechain))
        if one is None:
            one = found[body.id, sidechain] = _Answer(start, body.model, sidechain)
        usage = body.usage
        if usage and (usage.input_tokens or usage.cache_read_input_tokens or usage.cache_creation_input_tokens):
            one.usage = usage
            if usage.output_tokens and usage.output_tokens > one.output:
                one.output = usage.output_tokens
    return [*found.values()]


def _answer_spans(data: bytes, facts: dict[str, Any]) -> list[tuple[int, int]] | None:
    """Return start and stop of the lines that may be answers; add titles and cost of other lines to `facts`. None if a
    line requires reading the complete file, which is known before any answer is decoded."""
    spans: list[tuple[int, int]] = []
    user = progress = answer = 0
    at, end = 0, len(data)
    while at < end:
        start, stop = at, data.find(b"\n", at)
        stop = end if stop < 0 else stop
        at = stop + 1
        if data.startswith(_USER, start + user, stop):
            continue
        if data.startswith(_ANSWER, start + answer, stop):
            spans.append((start, stop))
            continue
        if stop == start or data.startswith(_PROGRESS, start + progress, stop):
            continue
        front = min(start + _FRONT, stop)
        role_at = data.find(_ANSWER, start, front)
        before = front if role_at < 0 else role_at
        if (place := data.find(_USER, start, before)) >= 0:
            user = place - start
        elif (place := data.find(_PROGRESS, start, before)) >= 0:
            progress = place - start
        elif role_at >= 0:
            answer = role_at - start
            spans.append((start, stop))
        else:
            value = json_value(data[start:stop])
            if not isinstance(value, dict):
                return None
            type = value.get("type")
            if type == "assistant":
                spans.append((start, stop))
            elif _needs_complete_read(type, value):
                return None
            else:
                facts |= _session_facts(type, value)
    return spans


def _needs_complete_read(type: Any, line: Any) -> bool:
    """Return True for a line, other than an answer, that requires reading the complete file."""
    return type in _NEED_COMPLETE_READ or (type == "system" and _is_compaction(line))


def _is_compaction(line: dict[str, Any]) -> bool:
    return "snipMetadata" in line or str(line.get("subtype")).endswith("_boundary")


def _newest(data: bytes) -> dict[str, str]:
    """Return folder and version of the session's newest lines outside sub-agents."""
    found: dict[str, str] = {}
    stop = len(data)
    while stop > 0 and len(found) < 2:
        start = data.rfind(b"\n", 0, stop) + 1
        value = json_value(data[start:stop])
        if isinstance(value, dict) and value.get("uuid") and value.get("isSidechain") is not True:
            known = {key: text for key in ("cwd", "version") if isinstance(text := value.get(key), str)}
            found = {**known, **found}
        stop = start - 1
    return found


def _session_facts(type: Any, line: dict[str, Any]) -> dict[str, Any]:
    """Return the title or the cost (dollars) that a line holds for the session."""
    if type == "cost-state":
        cost = line.get("totalCostUSD")
        return {"cost": float(cost)} if isinstance(cost, int | float) and not isinstance(cost, bool) else {}
    title = line.get(TITLES[type]) if type in ("custom-title", "ai-title") else None
    return {type: title} if isinstance(title, str) and title else {}


def _skimmed(path: Path, reading: Reading, answers: list[_Answer], newest: dict[str, Any]) -> Skimmed | None:
    """Build the result. None if a usage may be wrong: too small for the text before it, or too large."""
    bills: list[Billed] = []
    for one in answers:
        if usage := one.usage:
            fresh, read = usage.input_tokens or 0, usage.cache_read_input_tokens or 0
            written = usage.cache_creation_input_tokens or 0
            if one.start > (fresh + read + written) * CHARACTERS_PER_TOKEN:
                return None
            bills.append(Billed(one.model, fresh, one.output, read, written))
    if may_be_too_large([fresh + read + written for _, fresh, _, read, written in bills]):
        return None
    messages, common = messages_of(reading), reading.facts
    first = next((number for number, message in enumerate(messages) if message.bill), None)
    if first is None or not bills:
        return None
    branch, _ = branch_of(reading.tree, messages, main_of(reading), moment_in(reading))
    answer = replace(messages[first], usage=Usage(*bills[0][1:]))
    session = Session(
        format=ID,
        path=path,
        messages=(*messages[:first], answer),
        records=reading.records,
        branch=range(first + 1),
        epochs=(Epoch(1, range(first + 1)),),
        id=common.get("sessionId", ""),
        title=newest.get("custom-title") or newest.get("ai-title") or title_of(reading, messages, branch),
        model=next((one.model for one in reversed(answers) if one.model and not one.sidechain), None)
        or model_of(messages, branch),
        cwd=newest.get("cwd", common.get("cwd")),
        facts=SessionFacts(
            agent=common.get("agentId", ""),
            cost=newest.get("cost", reading.cost),
            version=newest.get("version", common.get("version", "")),
            git_branch=common.get("gitBranch", ""),
        ),
    )
    return Skimmed(session, tuple(bills))
