"""A reader of what was exported gives exactly what was to be exported: for every writer.

Held on every sample and every real file there is, in every epoch, plain, with pins and with the split by hand.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from itertools import islice
from pathlib import Path

import pytest

from tests.formats.written import WRITTEN
from tests.paths import SAMPLES, SHARED
from tests.products import mostly_full, one_for_each_folder, samples_among
from workbench.base.errors import BadInput
from workbench.conformance.building import agent, session_of, user
from workbench.conformance.formats import compacted
from workbench.formats import registry
from workbench.formats.export import export
from workbench.formats.files import load
from workbench.formats.format import Format, Written, no_progress
from workbench.formats.look import Look
from workbench.formats.loss import LossKind
from workbench.formats.pi.append import WRAPPED
from workbench.formats.read_back import shape
from workbench.session import Message, Session, Text, pairs_of

_PARTS_ONLY = ("event-", "base_state", "task_metadata", "ui_messages", ".eventlog", "MANIFEST", "README")
HEAVY = 1_000_000
"""Bytes above which a file is written as it is and with pins alone."""
RENEWED = ("claude-code", "cline-sdk", "opencode")
"""Formats in which every export gets ids of its own; the others give back the bytes of what nobody changed."""


FORMATS = Path(registry.__file__).parent


def _writers() -> list[Path]:
    """The modules that write: none of them reads the loaded file, which is at hand."""
    return [
        path
        for name in ("write", "append", "folder")
        for path in FORMATS.glob(f"*/{name}.py")
        if path.parent.name != "kit"
    ]


def _sources() -> list[Path]:
    found = [path for root in (SAMPLES, SHARED and SHARED / "sessions") if root for path in root.rglob("*")]
    files = [path for path in found if path.is_file() and not path.name.startswith(_PARTS_ONLY)]
    folders = [path for path in found if path.is_dir() and _is_session(path)]
    return sorted([*files, *folders])


def _is_session(folder: Path) -> bool:
    return any(known.recognise_folder and known.recognise_folder(folder) for known in registry.formats())


SOURCES = {str(path.relative_to(path.parents[1])): path for path in _sources()}
SHORT = one_for_each_folder(SOURCES)


@cache
def opened(name: str) -> Session | None:
    """The session, None for a file that holds none (an answer of an API, a manifest)."""
    try:
        return load(SOURCES[name])
    except BadInput:
        return None


def contexts(session: Session) -> list[tuple[Message, ...]]:
    return [context for epoch in session.epochs if (context := session.context(epoch.number))]


def outcomes(session: Session) -> list[tuple[Message, ...]]:
    """Every epoch compacted; of a heavy file the newest one, with pins."""
    if len(session.records.data) > HEAVY:
        return list(islice(compacted(session), 1))
    return [outcome for epoch in session.epochs for outcome in compacted(session, epoch.number)]


def digest(path: Path) -> str:
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files if file.is_file())).hexdigest()


@pytest.mark.parametrize("name", mostly_full(SOURCES, SHORT))
def test_an_export_in_the_files_own_format_is_exact(name: str) -> None:
    session, path = opened(name), SOURCES[name]
    if session is None:
        pytest.skip("no session")
    before = digest(path)
    own = registry.by_id(session.format)
    if getattr(session.facts.own, "rewritten", False):
        pytest.skip("a web export is written as a session of the command line")
    if own.codec.write is None:
        pytest.skip("its format is read only")
    document = own.id == "gemini" and not len(session.records)  # its tool takes lines alone twice
    if own.id not in RENEWED and not document:
        assert own.codec.write(session, session.context()).data == session.records.data
    compactions = outcomes(session)
    for target in (own.id, *(f"{own.id}:{form.id}" for form in own.codec.forms)):
        for messages in (*contexts(session), *compactions):
            made = export(session, messages, target)
            assert own.recognise(Look.of(made.written.data)), target
            again = own.codec.read(Path(made.written.name), made.written.data, no_progress)
            assert shape(again.context()) == shape(_as_written(target, messages, made.written)), target
            assert again.id == made.written.id, target
            unanswered = any(pair.result is None or pair.call is None for pair in pairs_of(messages))
            assert not made.problems or unanswered, (target, made.problems)
    assert digest(path) == before


def _as_written(target: str, messages: tuple[Message, ...], written: Written) -> tuple[Message, ...]:
    """pi puts words of its own around the summary of a compaction, and says so."""
    if target != "pi:appended" or all(loss.kind is not LossKind.SUMMARY_WRAPPED for loss in written.losses):
        return messages
    first = messages[0]
    if first.text.startswith(WRAPPED[:40]):
        return messages
    wrapped = Message(first.id, "user", (Text(WRAPPED.format(first.text)),), "summary")
    return (wrapped, *messages[1:])


SMALL = {name: path for name, path in SOURCES.items() if path.is_file() and path.stat().st_size < 100_000}


def words(text: str) -> str:
    """A text without its breaks: some put a message's texts on lines of their own."""
    return " ".join(text.split())


@pytest.mark.parametrize("name", mostly_full(SMALL, samples_among(SMALL)))
def test_every_other_tool_would_take_the_export(name: str) -> None:
    session, path = opened(name), SOURCES[name]
    if session is None:
        pytest.skip("no session")
    before = digest(path)
    messages = next(compacted(session), session.context())
    said = [words(message.text)[:60] for message in messages if message.starts_round and not message.results]
    begins = next(message.role for message in messages if message.role != "system")
    for target in WRITTEN:
        if target.id == session.format:
            continue
        made = export(session, messages, target.id)
        assert made.problems == () or begins == "assistant", target.id
        again = target.codec.read(Path("again"), made.written.data, no_progress)
        told = words("\n".join(message.text for message in again.messages))
        assert [one for one in said if one not in told] == [], target.id
    assert digest(path) == before


@pytest.mark.parametrize("target", [one.id for one in registry.targets()])
def test_a_system_message_of_several_texts_is_told_once(target: str) -> None:
    rules = Message("s", "system", (Text("Never push."), Text("Ask first.")))
    session = session_of([user("u", "Go"), agent("a", "Ok"), rules, user("v", "Now")])
    made = export(session, session.context(), target)
    found = made.format.codec.read(Path(made.written.name), made.written.data, no_progress)
    told = " ".join(message.text for message in found.context())
    assert [told.count(words) for words in ("Never push.", "Ask first.")] == [1, 1]


@pytest.mark.parametrize("format", WRITTEN, ids=lambda format: format.id)
def test_no_session_is_held_in_the_root(format: Format, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that does not say where it was held goes on where the person is, and is looked for there by its tool."""
    monkeypatch.chdir(tmp_path)
    session = session_of([Message("u", "user", (Text("hi"),))])
    written = format.codec.write(session, session.context())
    again = format.codec.read(tmp_path / written.name, written.data, no_progress)
    assert again.cwd in (None, "", str(tmp_path))
    assert "/-/" not in written.home


ASKS = {
    "cwd",
    "environ",
    "exists",
    "expanduser",
    "getcwd",
    "getenv",
    "is_dir",
    "iterdir",
    "os",
    "read_bytes",
    "read_text",
}


@pytest.mark.parametrize("name", sorted(path.parent.name + "/" + path.name for path in _writers()))
def test_what_a_writer_needs_of_the_machine_is_asked_in_one_place(name: str) -> None:
    """`kit/folder.py`: where the person is, where a tool was told to keep its files, what its own files say."""
    asked: set[str] = set()
    for node in ast.walk(ast.parse((FORMATS / name).read_text("utf-8"))):
        match node:
            case ast.Attribute(_, attr) if attr in ASKS:
                asked.add(attr)
            case ast.Name(id) if id in ("open", "os"):
                asked.add(id)
            case _:
                pass
    assert asked == set()
