"""Reading only what a session was billed: for audits of many thousand files.

Up to its first bill a file is read as always. Behind it what the person said and the tools gave, most of the bytes, is
passed over, and of the answers the bill alone is decoded. Where anything else decides what the rows of an audit say,
nothing is told, and the file must be read whole: a making of room, a summary of another file, lines that were printed
or exported, a bill that may be absurd.
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
from workbench.formats.absurd import CHARACTERS_PER_TOKEN, may_be_too_large
from workbench.formats.claude_code.events import of_answer
from workbench.formats.claude_code.lines import TITLES, Reading
from workbench.formats.claude_code.read import main_of, messages_of, model_of, moment_in, taken, title_of
from workbench.formats.claude_code.signature import ID, WEB_EXPORT
from workbench.formats.claude_code.tree import branch_of
from workbench.formats.format import Skimmed, no_progress
from workbench.formats.kit.jsonl import lines_of
from workbench.formats.kit.mark import STALE_USAGE
from workbench.session import Billed, Epoch, Session, SessionFacts, Usage

_USAGE = b'"usage":'
_USER, _PROGRESS, _ANSWER = b'"type":"user"', b'"type":"progress"', b'"role":"assistant"'
_FRONT = 600
"""Bytes of a line among which a person's or a tool's says its type; an answer may say it last, but its role before all
that it holds. In a text a quotation mark has a backslash before it. Most lines of a file say it at the same place,
where it is looked for first: looking for it takes as long as decoding half the line."""

_DECIDE = ("summary", "content-replacement")
"""Lines that must be read with all the others, beside those of the tool that say it made room."""


_Count = Annotated[int, Meta(ge=0, le=2**63 - 1)] | None


class _Usage(Struct, gc=False):
    """Tokens, of which only these make a bill."""

    input_tokens: _Count = 0
    output_tokens: _Count = 0
    cache_read_input_tokens: _Count = 0
    cache_creation_input_tokens: _Count = 0


class _Body(Struct):
    id: Annotated[str, Meta(min_length=1)]
    model: str | None = None
    usage: _Usage | None = None
    context_management: Any = None


class _Line(Struct, rename={"spent": STALE_USAGE}):
    """Of an answer's line what decides about bills. One that is not of this shape must be read with all the others."""

    uuid: str
    type: str
    message: _Body | None = None
    isSidechain: Any = None
    isCompactSummary: Any = UNSET
    isApiErrorMessage: Any = None
    forkedFrom: Any = None
    spent: Any = UNSET


_line = Decoder(_Line).decode
"""Passing over what is not wanted takes half as long as making values of it."""


class _Answer(Struct, gc=False):
    """An API message, over all of its lines: `usage` is the last line's that tells of one, `output` the largest of any,
    `start` the place of the first in the file."""

    start: int
    model: str | None
    side: bool
    usage: _Usage | None = None
    output: int = 0


def skim(path: Path, data: bytes) -> Skimmed | None:
    """The session up to its first answer, and every bill. None where that would not tell all."""
    first = data.find(_USAGE)
    told: dict[str, Any] = {}
    if data[:1] != b"{" or first < 0 or WEB_EXPORT.match(data) or (spans := _answers(data, told)) is None:
        return None
    begun = data[: data.find(b"\n", first) + 1 or len(data)]
    reading = taken(lines_of(begun), no_progress)
    if reading.printed.seen or not any(draft.blocks for draft in reading.drafts):
        return None
    answers = _billed(data, spans)
    return None if answers is None else _skimmed(path, reading, answers, {**told, **_newest(data)})


def _billed(data: bytes, spans: Sequence[tuple[int, int]]) -> list[_Answer] | None:
    """The answers in these lines. None where one of them decides that all must be read."""
    found: dict[tuple[str, bool], _Answer] = {}
    for start, stop in spans:
        try:
            line = _line(data[start:stop])
        except ValueError:
            return None
        if line.type != "assistant":
            if _decides(line.type, orjson.loads(data[start:stop])):
                return None
            continue
        body = line.message
        if body is None or line.spent is not UNSET or line.isCompactSummary is not UNSET or line.forkedFrom:
            return None
        if body.model == "<synthetic>" or line.isApiErrorMessage is True:
            continue
        if body.context_management and of_answer({"context_management": body.context_management}, None):
            return None
        side = line.isSidechain is True
        one = found.get((body.id, side))
        if one is None:
            one = found[body.id, side] = _Answer(start, body.model, side)
        usage = body.usage
        if usage and (usage.input_tokens or usage.cache_read_input_tokens or usage.cache_creation_input_tokens):
            one.usage = usage
            if usage.output_tokens and usage.output_tokens > one.output:
                one.output = usage.output_tokens
    return [*found.values()]


def _answers(data: bytes, told: dict[str, Any]) -> list[tuple[int, int]] | None:
    """Where the lines lie that may be answers. Of the others `told` learns what they tell of the session. None where
    one of them decides that all must be read: it is known before any answer is decoded."""
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
        said = data.find(_ANSWER, start, front)
        before = front if said < 0 else said
        if (place := data.find(_USER, start, before)) >= 0:
            user = place - start
        elif (place := data.find(_PROGRESS, start, before)) >= 0:
            progress = place - start
        elif said >= 0:
            answer = said - start
            spans.append((start, stop))
        else:
            value = json_value(data[start:stop])
            if not isinstance(value, dict):
                return None
            type = value.get("type")
            if type == "assistant":
                spans.append((start, stop))
            elif _decides(type, value):
                return None
            else:
                told |= _told(type, value)
    return spans


def _decides(type: Any, line: Any) -> bool:
    """Whether a line that is no answer must be read with all the others."""
    return type in _DECIDE or (type == "system" and _makes_room(line))


def _makes_room(line: dict[str, Any]) -> bool:
    return "snipMetadata" in line or str(line.get("subtype")).endswith("_boundary")


def _newest(data: bytes) -> dict[str, str]:
    """The folder and the version of the newest lines of the session's own."""
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


def _told(type: Any, line: dict[str, Any]) -> dict[str, Any]:
    """What a line tells of the whole session: its title, what it cost."""
    if type == "cost-state":
        cost = line.get("totalCostUSD")
        return {"cost": float(cost)} if isinstance(cost, int | float) and not isinstance(cost, bool) else {}
    title = line.get(TITLES[type]) if type in ("custom-title", "ai-title") else None
    return {type: title} if isinstance(title, str) and title else {}


def _skimmed(path: Path, reading: Reading, answers: list[_Answer], told: dict[str, Any]) -> Skimmed | None:
    """None where a bill may be absurd: so little for all that stands before it in the file, or too much."""
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
    messages, facts = messages_of(reading), reading.facts
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
        id=facts.get("sessionId", ""),
        title=told.get("custom-title") or told.get("ai-title") or title_of(reading, messages, branch),
        model=next((one.model for one in reversed(answers) if one.model and not one.side), None)
        or model_of(messages, branch),
        cwd=told.get("cwd", facts.get("cwd")),
        facts=SessionFacts(
            agent=facts.get("agentId", ""),
            cost=told.get("cost", reading.cost),
            version=told.get("version", facts.get("version", "")),
            git_branch=facts.get("gitBranch", ""),
        ),
    )
    return Skimmed(session, tuple(bills))
