"""The column `samples`: each of `sample_sessions`, in every way, exported into a library's form, goes on once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import workbench
from interop.homes import Failed, Home
from interop.told import allowed_by
from interop.tool import Plan, Tool
from interop.trial import SAMPLES, Column, Verdict, compacted, verdicts
from workbench.base.errors import BadInput
from workbench.compaction.context import Context
from workbench.compaction.preset import agent_preset_id
from workbench.formats import export as exporting
from workbench.session import Session

_PROMPT = "Go on, please."
_SUMMARY = "<summary>All is well.</summary>"
"""Short, so that what is compacted is smaller."""
_PLANS = (
    Plan("exchange-summary", {"tail_size_to_exclude": 200}),
    Plan("exchange-summary", {"tail_size_to_exclude": 200}, pin=True),
    Plan("ledger", {"budget_tokens": 150}),
    Plan("ledger", {"budget_tokens": 300}, pin=True),
    Plan("clear-tool-results", {"keep_tool_uses": 1}),
    Plan("context-reset"),
    Plan("message-window", {"keep": 3}),
    Plan("user-messages"),
    Plan("trim", {"target_percent": 40}),
)
"""Small enough for samples."""
_AT_ONCE = 20
"""Files that one process goes on with."""


@dataclass(frozen=True, slots=True)
class _Promise:
    of: str
    session: Session
    context: Context


@dataclass(frozen=True, slots=True)
class _File:
    promise: _Promise
    made: exporting.Export
    where: Path


def every_sample(tool: Tool, home: Home) -> Column:
    if tool.each is None:
        return Column(not_tried="only of libraries")
    files: list[_File] = []
    found: list[Verdict] = []
    for number, promise in enumerate(_promises()):
        try:
            if written := _written(promise, tool, home.exports / "samples" / str(number)):
                files.append(written)
        except BadInput as refused:
            found.append(Verdict(promise.of, str(refused)))
    for start in range(0, len(files), _AT_ONCE):
        found += _gone_on(tool, home, files[start : start + _AT_ONCE])
    return Column(tuple(found))


@cache
def _promises() -> tuple[_Promise, ...]:
    return tuple(_every_promise())


def _every_promise() -> Iterator[_Promise]:
    for path in sorted(SAMPLES.iterdir()):
        with suppress(BadInput):  # what is no session
            session = workbench.load(path)
            yield _Promise(path.name, session, workbench.context(session))
            own = agent_preset_id(session)
            for plan in (*_PLANS, *([Plan(own)] if own else [])):
                with suppress(BadInput):  # a way in which there is nothing to do
                    yield _Promise(f"{path.name}, {plan}", session, compacted(session, plan, _SUMMARY))


def _written(promise: _Promise, tool: Tool, folder: Path) -> _File | None:
    """None where it is refused for what its tool would not take of the session as it is. Raises BadInput when it is
    refused for anything else."""
    context = promise.context
    made = exporting.export(promise.session, context.messages, tool.format, export_note=context.export_note)
    if made.problems and made.changed:
        validate = made.format.codec.validate
        if made.format.id == promise.session.format and validate:
            before = validate(promise.session.records.data)
            if all(problem in before for problem in made.problems):
                return None
        raise BadInput(f"its own rules refuse the export: {made.verdict}")
    folder.mkdir(parents=True)
    return _File(promise, made, exporting.save(made, folder).where)


def _gone_on(tool: Tool, home: Home, files: Sequence[_File]) -> Iterator[Verdict]:
    assert tool.each
    try:
        with home.server.mark() as requests:
            errors = tool.each(home, [file.where for file in files], _PROMPT)
    except Failed as failed:
        errors = {file.where: str(failed) for file in files}
    for number, file in enumerate(files):
        own = [request for request in requests if request.path.startswith(f"/{number}/")]
        data = (file.where.name, file.made.written.data)
        told = allowed_by(file.made)
        found = next(verdicts(tool, file.promise.of, data, own, file.promise.context.messages, (_PROMPT,), told))
        error = errors.get(file.where, "the script ended before it")
        yield replace(found, difference=f"it raises {error}") if error else found
