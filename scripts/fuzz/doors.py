"""What is done with an input: every door that the bytes of a session can come in by, and every way out."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import workbench
from scripts.fuzz import folders
from workbench.base.errors import BadInput
from workbench.bench import open_bench
from workbench.compaction.exporting import export_compacted
from workbench.compaction.preset import preset_names
from workbench.finding.glances import glance
from workbench.formats import registry
from workbench.formats.claude_code.agents import agent_files, compaction_calls
from workbench.formats.export import export, save
from workbench.formats.files import load, load_bytes
from workbench.formats.format import Codec, ReadLines, no_progress
from workbench.formats.kit.jsonl import lines_in, object_of
from workbench.session import Message, Session, Text, pairs_of, rounds_of
from workbench.tokens import Counter

LIBRARY = "library"
"""What is tried beside the formats: lists of messages as an agent has them, given to the calls."""

PLACE = Path("some") / "session"

BLOCK = 1_000
"""Bytes of a file that are read at once, where it is read so: an input has many."""


def readers() -> tuple[str, ...]:
    return (*(known.id for known in registry.formats()), *folders.KINDS, LIBRARY)


def read(reader: str, data: bytes, wholly: bool = True) -> Session | None:
    """Judge and read it, every epoch of it, and where `wholly` all else that is asked of a file; None where one
    sentence refused it."""
    if reader in folders.KINDS:
        return _read_folder(reader, data, wholly)
    codec = registry.by_id(reader).codec
    if codec.validate is not None:
        codec.validate(data)
    try:
        session = codec.read(PLACE, data, no_progress)
    except BadInput:
        session = None
    if wholly:
        _ask_further(codec, data, session)
    if session is not None:
        _show(session)
    return session


def _ask_further(codec: Codec, data: bytes, session: Session | None) -> None:
    """The last of its parts, what it bills, its newest epochs alone, the same by blocks, the requests that it
    records."""
    with suppress(BadInput):
        if codec.sessions_in is not None and codec.read_part is not None:
            for part in codec.sessions_in(PLACE, data)[-1:]:
                codec.read_part(PLACE, data, part.id, no_progress)
    with suppress(BadInput):
        if codec.skim is not None:
            codec.skim(PLACE, data)
    with suppress(BadInput):
        if codec.newest is not None:
            codec.newest(PLACE, data)
    if codec.by_line is not None and object_of(first := data.partition(b"\n")[0]) is not None:
        _read_by_blocks(codec.by_line(first), data, session)
    if codec.requests is not None and session is not None:
        for _ in codec.requests(session):
            pass


def _read_by_blocks(read: ReadLines | None, data: bytes, whole: Session | None) -> None:
    """Raises AssertionError where a file that is read a block at a time is another session, or is refused otherwise."""
    if read is None:
        return
    try:
        apart = read(PLACE, lines_in(io.BytesIO(data), len(data), lambda block: None, BLOCK), no_progress)
    except BadInput:
        apart = None
    assert (apart is None) == (whole is None), "refused one way only"
    if apart and whole:
        assert replace(apart, records=whole.records) == whole, "another session by blocks"
        assert list(apart.records) == list(whole.records), "other records by blocks"


def _read_folder(kind: str, data: bytes, wholly: bool) -> Session | None:
    """Open it; where `wholly` glance at it, open its sub-agents and the calls that wrote its summaries, and save it as
    a folder again."""
    with folders.laid_out(kind, data) as (home, path):
        if wholly:
            glance(path)
        try:
            session = load(path)
        except BadInput:
            return None
        _show(session)
        if not wholly:
            return session
        for agent in agent_files(path)[:3]:
            with suppress(BadInput):
                load(path, part=agent.id)
        if session.format == "claude-code":
            compaction_calls(session)
        out = home / folders.OUT
        out.mkdir()
        with suppress(BadInput):
            save(export(session, session.context()), out)
        return session


def _show(session: Session) -> None:
    for epoch in session.epochs:
        context = session.context(epoch.number)
        pairs_of(context)
        rounds_of(context)


def opened(data: bytes) -> Session | None:
    """Recognise it among all formats first, as when a file is opened."""
    with suppress(BadInput):
        return load_bytes(PLACE, data)
    return None


def export_to(session: Session, target: str, preset: str) -> None:
    """Compact and export it; "" for a preset exports what stands there."""
    with suppress(BadInput):
        if preset:
            bench = open_bench(session, Counter(), preset=preset)
            outcome = bench.plan.outcome
            export_compacted(session, bench.context.from_outcome(outcome), outcome.messages, target)
        else:
            summary = Message("made", "user", (Text("in short"),), "summary")
            export(session, (summary, *session.context()[2:]), target)


def ask_library(data: bytes, which: int) -> bool:
    """One of the calls with the value that the bytes are, False where it was refused. Raises AssertionError where what
    was given is another afterwards."""
    try:
        given = json.loads(data)
    except (ValueError, RecursionError):
        return False
    calls: Sequence[Callable[[Any], object]] = (
        lambda it: workbench.compact(it, budget_tokens=200),
        lambda it: workbench.compact(it, preset="claude-code", summarize=lambda prompt: "in short \ud83d"),
        lambda it: workbench.compact(it, "trim", pins=("m1",), window=500),
        lambda it: workbench.should_compact(it, window=500),
        lambda it: workbench.summary(it, 200),
        lambda it: workbench.context(it, tools=[{"name": "x"}], system=[{"type": "text", "text": "\ud83d"}]),
    )
    try:
        calls[which % len(calls)](given)
    except BadInput:
        return False
    finally:
        assert json.dumps(given) == json.dumps(json.loads(data)), "what was given is changed"
    return True


@cache
def targets() -> tuple[str, ...]:
    return tuple(one.id for one in registry.targets())


@cache
def presets() -> tuple[str, ...]:
    return ("", *preset_names())


def everything(reader: str, data: bytes) -> None:
    """All that is done with an input, to every target. What the tests do with each of those that once failed."""
    if reader == LIBRARY:
        for which in range(6):
            ask_library(data, which)
        return
    if reader not in folders.KINDS:
        opened(data)
    session = read(reader, data)
    for number, target in enumerate(targets() if session else ()):
        assert session is not None
        export_to(session, target, "")
        export_to(session, target, presets()[number % len(presets())])
