"""A reader of what was exported gives exactly what was to be exported: for every writer, on every real file.

Where the real files are missing, the samples stand in for them.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import pytest

from tests.formats.conversations import shape
from tests.paths import SAMPLES, SHARED
from workbench.bench import open_bench, toggle_pin
from workbench.errors import BadInput
from workbench.formats import registry
from workbench.formats.export import export
from workbench.formats.files import load
from workbench.formats.format import no_progress
from workbench.formats.pi_append import WRAPPED
from workbench.session import Message, Session, Text, pairs_of
from workbench.tokens import Counter

_PARTS_ONLY = ("event-", "base_state", "task_metadata", "ui_messages", ".eventlog", "MANIFEST", "README")
HEAVY = 1_000_000
"""Bytes above which a file is written once, with a pin."""


def _sources() -> list[Path]:
    root = SHARED / "sessions" if SHARED else SAMPLES
    files = [path for path in root.rglob("*") if path.is_file() and not path.name.startswith(_PARTS_ONLY)]
    folders = [path for path in root.rglob("*") if path.is_dir() and _is_session(path)]
    return sorted([*files, *folders])


def _is_session(folder: Path) -> bool:
    return any(known.recognise_folder and known.recognise_folder(folder) for known in registry.FORMATS)


SOURCES = {str(path.relative_to(path.parents[1])): path for path in _sources()}


@cache
def opened(name: str) -> Session | None:
    """The session, None for a file that holds none (an answer of an API, a manifest)."""
    try:
        return load(SOURCES[name])
    except BadInput:
        return None


@cache
def outcomes(name: str) -> tuple[tuple[Message, ...], ...]:
    """The context compacted, plain and with pins; of a heavy file with pins alone."""
    session = opened(name)
    assert session is not None
    bench = open_bench(session, Counter(), preset="augment-example")
    pinned = bench
    for message in bench.messages[1 : len(bench.messages) // 2 : max(1, len(bench.messages) // 4)]:
        pinned = toggle_pin(pinned, message.id)
    benches = [pinned] if len(session.records.data) > HEAVY else [bench, pinned]
    return tuple(each.plan.outcome.messages for each in benches)


def digest(path: Path) -> str:
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files if file.is_file())).hexdigest()


@pytest.mark.parametrize("name", SOURCES)
def test_an_export_in_the_files_own_format_is_exact(name: str) -> None:
    session, path = opened(name), SOURCES[name]
    if session is None:
        pytest.skip("no session")
    before = digest(path)
    own = registry.by_id(session.format)
    if session.meta.get("web_export"):
        pytest.skip("a web export is written as a session of the command line")
    for target in (own.id, *(f"{own.id}:{way.id}" for way in own.ways)):
        for messages in (session.context(), *outcomes(name)):
            made = export(session, messages, target)
            again = own.read(Path("again"), made.written.data, no_progress)
            assert shape(again.context()) == shape(_as_written(target, messages, made.written.notes)), target
            if messages is not session.context():
                unanswered = any(pair.result is None or pair.call is None for pair in pairs_of(messages))
                assert not made.problems or unanswered, (target, made.problems)
    assert digest(path) == before


def _as_written(target: str, messages: tuple[Message, ...], notes: tuple[str, ...]) -> tuple[Message, ...]:
    """pi puts words of its own around the summary of a compaction, and says so."""
    if target != "pi:appended" or not any("puts its own words" in note for note in notes):
        return messages
    first = messages[0]
    if first.text.startswith(WRAPPED[:40]):
        return messages
    wrapped = Message(first.id, "user", (Text(WRAPPED.format(first.text)),), "summary")
    return (wrapped, *messages[1:])


SMALL = [name for name, path in SOURCES.items() if path.is_file() and path.stat().st_size < 100_000]


@pytest.mark.parametrize("name", SMALL)
def test_every_other_tool_would_take_the_export(name: str) -> None:
    session, path = opened(name), SOURCES[name]
    if session is None:
        pytest.skip("no session")
    before = digest(path)
    messages = outcomes(name)[-1]
    said = [message.text.strip()[:60] for message in messages if message.starts_round and not message.results]
    for target in registry.FORMATS:
        if target.id == session.format:
            continue
        made = export(session, messages, target.id)
        assert made.problems == (), target.id
        again = target.read(Path("again"), made.written.data, no_progress)
        told = "".join(message.text for message in again.messages)
        assert [words for words in said if words not in told] == [], target.id
    assert digest(path) == before
