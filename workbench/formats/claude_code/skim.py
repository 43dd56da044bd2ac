"""Reading only what a session was billed: for audits of many thousand files.

Up to its first bill a file is read as always; behind it only the answers are decoded, which are a third of the bytes,
and of them the bill alone is kept. Where anything else decides what the rows of an audit say, nothing is told, and the
file must be read whole: a making of room, a summary of another file, lines that were printed or exported, a bill that
may be absurd.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from workbench.base.errors import BadInput
from workbench.formats.absurd import CHARACTERS_PER_TOKEN
from workbench.formats.claude_code.events import of_answer
from workbench.formats.claude_code.lines import TITLES, Own, time_of
from workbench.formats.claude_code.read import read
from workbench.formats.format import no_progress
from workbench.formats.kit.mark import SPENT
from workbench.formats.kit.usage import anthropic_usage
from workbench.formats.kit.values import count_of
from workbench.session import Epoch, Message, Session

_USAGE = b'"usage":'
_USER = b'"type":"user"'
_FRONT = 600
"""Bytes of a line among which a person's or a tool's says its type; an answer may say it last. In a text a quotation
mark has a backslash before it."""

_TITLE, _COST = b'-title"', b'"cost-state"'
_BOUNDARY = b'_boundary"'
_DECIDES = (_BOUNDARY, b'"snipMetadata"', b'"content-replacement"', b'"type":"summary"')
"""What stands in a line of another type that must be read with all the others."""


@dataclass(slots=True)
class _Billed:
    """An API message, over all of its lines: `usage` is the last line's, `output` the largest of any, `line` the place
    of the first in the file."""

    id: str
    stamp: Any
    model: str | None
    side: bool
    line: int
    usage: Any = None
    output: int = 0
    final: bool = False


def skim(path: Path, data: bytes) -> Session | None:
    """The session with its first messages whole and, behind them, an answer without content for each bill; one epoch.
    None where that would not tell all. Raises BadInput as `read` does."""
    first = data.find(_USAGE)
    if data[:1] != b"{" or first < 0:
        return None
    stop = data.find(b"\n", first) + 1 or len(data)
    try:
        begun = read(path, data[:stop], no_progress)
    except BadInput:
        return None
    if not isinstance(begun.facts.own, Own) or begun.facts.own.rewritten:
        return None
    billed: dict[tuple[str, bool], _Billed] = {}
    told: dict[str, Any] = {}
    start = stop = 0
    lines = data.split(b"\n")
    for line in lines:
        start, stop = stop, stop + len(line) + 1
        if line.find(_USER, 0, _FRONT) >= 0:
            continue
        if _USAGE not in line:
            if any(mark in line for mark in _DECIDES):
                return None
            if _TITLE in line or _COST in line:
                told |= _told(line)
            continue
        try:
            value = orjson.loads(line)
        except ValueError:
            return None
        if SPENT in value:
            return None
        body = value.get("message")
        if value.get("type") != "assistant" or not isinstance(body, dict):
            continue
        id, uuid, side = body.get("id"), value.get("uuid"), value.get("isSidechain") is True
        if not id or not isinstance(id, str) or not isinstance(uuid, str) or "isCompactSummary" in value:
            return None
        model = body.get("model")
        if model == "<synthetic>" or value.get("isApiErrorMessage") is True:
            continue
        if body.get("context_management") and of_answer(body, None):
            return None
        one = billed.get((id, side))
        if one is None:
            known = model if isinstance(model, str) else None
            one = billed[id, side] = _Billed(uuid, value.get("timestamp"), known, side, start)
        if usage := body.get("usage"):
            one.usage, one.final = usage, one.final or body.get("stop_reason") is not None
            one.output = max(one.output, count_of(usage.get("output_tokens"))) if isinstance(usage, dict) else 0
    answers = [answer for one in billed.values() if (answer := _answer(one))]
    if any(one.line > answer.bill * CHARACTERS_PER_TOKEN for one, answer in answers):
        return None
    return _session(begun, answers, {**told, **_newest(lines)})


def _newest(lines: Sequence[bytes]) -> dict[str, str]:
    """The folder and the version of the newest lines of the session's own."""
    found: dict[str, str] = {}
    for line in reversed(lines):
        try:
            value = orjson.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict) and value.get("uuid") and value.get("isSidechain") is not True:
            known = {key: text for key in ("cwd", "version") if isinstance(text := value.get(key), str)}
            found = {**known, **found}
        if len(found) == 2:
            break
    return found


def _told(line: bytes) -> dict[str, Any]:
    """What a line tells of the whole session: its title, what it cost."""
    try:
        value = orjson.loads(line)
    except ValueError:
        return {}
    type = value.get("type") if isinstance(value, dict) else None
    if type == "cost-state":
        cost = value.get("totalCostUSD")
        return {"cost": float(cost)} if isinstance(cost, int | float) and not isinstance(cost, bool) else {}
    title = value.get(TITLES[type]) if type in ("custom-title", "ai-title") else None
    return {str(type): title} if isinstance(title, str) and title else {}


def _answer(one: _Billed) -> tuple[_Billed, Message] | None:
    """The answer with its bill and nothing else; None for one of nothing."""
    usage = anthropic_usage(one.usage, one.output, final=one.final)
    if usage is None:
        return None
    return one, Message(one.id, "assistant", (), time=time_of(one.stamp), usage=usage, model=one.model)


def _session(begun: Session, answers: list[tuple[_Billed, Message]], told: dict[str, Any]) -> Session | None:
    """What was begun up to its first answer, and all answers."""
    first = next((n for n, message in enumerate(begun.messages) if message.bill), None)
    if first is None or not answers:
        return None
    whole = replace(begun.messages[first], usage=answers[0][1].usage)
    messages = (*begun.messages[:first], whole, *(message for _, message in answers[1:]))
    models = [one.model for one, _ in answers if not one.side and one.model]
    return replace(
        begun,
        title=told.get("custom-title") or told.get("ai-title") or begun.title,
        messages=messages,
        branch=range(len(messages)),
        epochs=(Epoch(1, range(len(messages))),),
        model=models[-1] if models else begun.model,
        cwd=told.get("cwd", begun.cwd),
        facts=replace(
            begun.facts,
            version=told.get("version", begun.facts.version),
            cost=told.get("cost", begun.facts.cost),
        ),
    )
