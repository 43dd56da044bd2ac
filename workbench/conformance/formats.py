"""Checks of a format. Any file is read, or refused in one sentence. What is written is read back as the same messages,
or a loss names what could not be carried.

Call each of `CHECKS` with the format and samples of its files. A read-only format skips the checks of writing; without
`validate`, the rules of the format are not checked.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.base.errors import BadInput
from workbench.bench import Bench, open_bench, split_at, toggle_pin
from workbench.conformance.building import session_of, user
from workbench.conformance.drawn import changed, dialogues
from workbench.formats.anthropic_messages import FORMAT as ANTHROPIC
from workbench.formats.format import Format, Writer, Written, no_progress
from workbench.formats.look import Look
from workbench.formats.loss import LossKind
from workbench.formats.machine import Machine
from workbench.formats.read_back import difference, shape, shapes_of_joined_results
from workbench.formats.steps import steps
from workbench.session import Message, Opaque, Session, Text, pairs_of, rounds_of
from workbench.tokens import Counter

SOMEWHERE = Path("nowhere/session")


def read(format: Format, data: bytes, path: Path = SOMEWHERE) -> Session:
    return format.codec.read(path, data, no_progress)


def write(format: Format, session: Session, messages: Sequence[Message]) -> Written:
    assert format.codec.write is not None
    return format.codec.write(session, messages)


def _kinds(written: Written) -> set[LossKind]:
    return {loss.kind for loss in written.losses}


def faults(format: Format, data: bytes) -> list[str]:
    """Return the faults that the format's rules find; none if it has no rules."""
    return format.codec.validate(data) if format.codec.validate is not None else []


def compacted(session: Session, epoch: int | None = None) -> Iterator[tuple[Message, ...]]:
    """Yield the messages that a compaction leaves of an epoch: with and without pins, and with the split at the last
    request. Outcomes with a server's own compaction item after the first message are left out: it would hide a summary
    before it."""
    found = _outcomes(open_bench(session, Counter(), epoch=epoch, preset="augment-example"))
    return (messages for messages in found if not any(_hides_what_is_before(session, m) for m in messages[1:]))


def _hides_what_is_before(session: Session, message: Message) -> bool:
    if session.format == ANTHROPIC.id and message.source:  # the text of the message is from the item
        return message.role == "assistant" and message.kind == "summary"
    return any(isinstance(block, Opaque) and block.type == "compaction" for block in message.blocks)


def _outcomes(bench: Bench) -> Iterator[tuple[Message, ...]]:
    context = bench.messages
    pinned = bench
    for message in context[1 : len(context) // 2 : max(1, len(context) // 6)]:
        pinned = toggle_pin(pinned, message.id)
    yield pinned.plan.outcome.messages
    yield bench.plan.outcome.messages
    requests = [message.id for message in context if message.starts_round]
    if requests:
        split = split_at(bench, requests[-1])
        yield split.plan.outcome.messages
        yield toggle_pin(split, context[0].id).plan.outcome.messages


def assert_exact(format: Format, session: Session, messages: Sequence[Message]) -> Written:
    """Write the messages, assert that exactly these are read back, and return what was written."""
    written = write(format, session, messages)
    assert faults(format, written.data) == []
    assert format.recognise(Look.of(written.data))
    again = read(format, written.data)
    assert shape(again.context()) == shape(messages)
    assert again.id == written.id
    return written


def read_all(format: Format, look: Look, path: Path = SOMEWHERE) -> Session | None:
    """Recognise, validate and read a file with all its epochs, and up to three of its sessions. None if it is refused.
    Asserts that faults and refusals are sentences, and that ids are unique."""
    format.recognise(look)
    data = look.data
    for fault in faults(format, data):
        assert re.fullmatch(r"[^a-z\n].*\.", fault), f"no whole sentence: {fault!r}"
    try:
        session = read(format, data, path)
        if format.codec.sessions_in is not None:
            for part in format.codec.sessions_in(path, data)[:3]:
                assert format.codec.read_part is not None
                with contextlib.suppress(BadInput):
                    format.codec.read_part(path, data, part.id, no_progress)
    except BadInput as refused:
        sentence = str(refused)
        assert str(path) in sentence
        assert "\n" not in sentence
        return None
    for epoch in session.epochs:
        context = session.context(epoch.number)
        pairs_of(context)
        rounds_of(context)
    assert len({message.id for message in session.messages}) == len(session.messages), "ids are unique"
    return session


def survives(format: Format, data: bytes) -> Session | None:
    """Read a file and write its messages: all, some, with a summary, and in another format. Asserts what `read_all`
    does, and that writing does not fail. None if the file is refused."""
    session = read_all(format, Look.of(data))
    if session is None:
        return None
    context = session.context()
    summary = Message("made", "user", (Text("in short"),), "summary")
    ways = [(form.write, form.validate or format.codec.validate) for form in format.codec.forms]
    if format.codec.write is not None:
        ways.append((format.codec.write, format.codec.validate))
    for messages in (context, context[1:], context[:-1], context[::2], (summary, *context[2:])):
        for given_to, judge in ways:
            data = given_to(session, messages).data
            if judge is not None:
                judge(data)
    faults(ANTHROPIC, write(ANTHROPIC, session, session.messages).data)
    return session


def _writes(format: Format) -> None:
    if format.codec.write is None:
        pytest.skip("the format is read only")


# --- the checks -----------------------------------------------------------------------------------------------------


def a_sample_is_known_by_its_content(format: Format, samples: Sequence[bytes]) -> None:
    assert re.fullmatch(r"[a-z0-9-]+", format.id)
    assert format.title
    for sample in samples:
        reason = format.recognise(Look.of(sample))
        assert reason
        assert "\n" not in reason
    for other in (b"", b"\n", bytes(200), b"Dear all,\nnothing is here.\n", b"{}", b"[]"):
        assert format.recognise(Look.of(other)) == "", other


def a_sample_is_read_whole(format: Format, samples: Sequence[bytes]) -> None:
    assert samples, "give at least one sample"
    for sample in samples:
        session = read_all(format, Look.of(sample))
        assert session is not None
        assert session.format == format.id
        assert session.messages


def what_is_kept_comes_back(format: Format, samples: Sequence[bytes]) -> None:
    """Write every epoch, as it is and compacted, with every writer: the same messages are read back, except for named
    losses. The rules find no fault, unless there is one in the sample or a call without a result."""
    _writes(format)
    writers: list[Writer] = [partial(write, format), *(form.write for form in format.codec.forms)]
    for sample in samples:
        session, sound = read(format, sample), not faults(format, sample)
        for epoch in session.epochs:
            contexts = (session.context(epoch.number), *compacted(session, epoch.number))
            for messages, writer in product(contexts, writers):
                written = writer(session, messages)
                assert format.recognise(Look.of(written.data))
                again = read(format, written.data, Path(written.name))
                assert difference(session, messages, again, written.losses) == ""
                assert again.id == written.id
                open_calls = any(pair.result is None or pair.call is None for pair in pairs_of(messages))
                assert open_calls or not sound or not faults(format, written.data)


def any_conversation_comes_through(format: Format, samples: Sequence[bytes]) -> None:
    """Write a conversation, read it and write it in another format: nothing is lost except what the losses name."""
    _writes(format)
    greeting = [user("made", "hello")]
    of_all = _kinds(write(format, session_of(greeting), greeting))

    @settings(max_examples=min(20, settings().max_examples), deadline=None)
    @given(dialogues(), st.sampled_from(["m", None]))
    def holds(messages: list[Message], model: str | None) -> None:
        session = session_of(messages, model=model, system="Be kind.")
        written = write(format, session, messages)
        assert format.recognise(Look.of(written.data))
        assert faults(format, written.data) == []
        again = read(format, written.data)
        own = [message for message in again.context() if message.text != session.system]
        through = write(ANTHROPIC, again, own).data
        assert faults(ANTHROPIC, through) == []
        assert difference(session, messages, again, written.losses) == ""
        if not _kinds(write(format, replace(session, system=""), messages)) - of_all:
            assert shapes_of_joined_results(own) == shapes_of_joined_results(messages)
            assert shape(read(ANTHROPIC, through).context()) == shape(messages)

    holds()


def a_changed_sample_is_read_or_refused(format: Format, samples: Sequence[bytes]) -> None:
    """A damaged sample gives a session that can be written, or is refused in one sentence. Written without changes, the
    session gives the same bytes, the same messages, or losses."""

    @settings(max_examples=min(25, settings().max_examples), deadline=None, suppress_health_check=list(HealthCheck))
    @given(changed(*samples))
    def holds(data: bytes) -> None:
        session = survives(format, data)
        if session is None or format.codec.write is None:
            return
        written = write(format, session, session.context())
        if written.data != data and not written.losses:
            assert shapes_of_joined_results(read(format, written.data).context()) == shapes_of_joined_results(
                session.context()
            )

    holds()


def odd_bytes() -> Iterator[bytes]:
    """Yield files with deep nesting, huge lines, NULs, invalid UTF-8, and archives without content."""
    deep = 60_000
    yield b"[" * deep
    yield b'{"messages":' * deep
    yield b"[" * deep + b"]" * deep
    yield bytes(200_000)
    yield b"x" * 300_000
    yield bytes(range(128, 256)) * 1000
    yield b'"' * 3_000
    yield b'{"messages": "' + b"\\" * 100_001
    yield b"," * 200_000
    yield b"{}\n" * 1_500
    yield b"{}" * 1_500
    yield b"[" + b"9" * 100_000 + b"]"
    yield b'{"messages":["\\ud83d'
    yield b"#### \n" * 1_500
    yield b"SQLite format 3\x00" + b"content_json working_dir part_session_idx" + bytes(4000)
    yield b"PK\x03\x04" + b"samples/a_epoch_1.json" * 100
    yield b"\x28\xb5\x2f\xfd" + bytes(100)


@cache
def _looks_at_odd_bytes() -> tuple[Look, ...]:
    """Return one `Look` for each of `odd_bytes`. All formats share it, as when a file is opened."""
    return tuple(Look.of(data) for data in odd_bytes())


def no_bytes_stop_the_reader(format: Format, samples: Sequence[bytes]) -> None:
    for look in _looks_at_odd_bytes():
        read_all(format, look)


def deep_nesting_huge_texts_and_nulls_inside_a_sample_stop_nothing(format: Format, samples: Sequence[bytes]) -> None:
    for sample in samples:
        if sample[:1] not in (b"{", b"["):
            continue
        for old, new in (
            (b'"text"', b'"x":' + b"[" * 5000 + b"]" * 5000 + b',"text"'),
            (b'"content"', b'"y":' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b',"content"'),
            (b"the", b"\\u0000\x00" + b"word " * 100_000),
            (b" a ", b" \xff\xfe\xed\xa0\x80 "),
        ):
            read_all(format, Look.of(sample.replace(old, new, 1)))


def no_export_has_a_name_that_leads_elsewhere(format: Format, samples: Sequence[bytes]) -> None:
    """Names, folders and commands of an export are harmless, even if id, title and folder of the session are
    hostile."""
    _writes(format)
    for sample in samples:
        session = read(format, sample, Path("a/../../session.json"))
        foul = replace(session, id="../../x; rm -rf ~", title="../../../y", cwd="/a/../../../etc\x00/$(rm x)")
        for messages in (session.context(), session.context()[1:]):
            for new in (write(format, foul, messages), *(form.write(foul, messages) for form in format.codec.forms)):
                assert Path(new.name).name == new.name, new.name
                assert "\x00" not in new.home
                assert ".." not in Path(new.home).parts, new.home
                for line in steps(new, Path("/a b") / new.name):
                    assert _is_harmless(line), line


def _is_harmless(line: str) -> bool:
    """True if a line for a shell is a comment, or only words, quoted texts, `&&` and `||`."""
    bare = re.sub(r"'[^']*'|\"'\"", "", line).replace(" && ", " ").replace(" || ", " ")
    return line.isprintable() and (line.startswith("# ") or not set(bare) & set("$;&`|<>()*?[]{}!#\"'\\"))


def its_places_are_folders_of_the_machine(format: Format, samples: Sequence[bytes]) -> None:
    """On every platform, without environment variables, each place is a folder in the user's home and names this
    format."""
    for system in ("linux", "darwin", "win32"):
        machine = Machine(system, Path("/home/ada"), {}, Path("/home/ada/project"))
        for place in format.places(machine) if format.places else ():
            assert place.format == format.id, place
            assert place.folder.is_relative_to(machine.home), place
            assert place.patterns, place
            assert all("" not in pattern.split("/") for pattern in place.patterns), place


CHECKS = (
    a_sample_is_known_by_its_content,
    a_sample_is_read_whole,
    what_is_kept_comes_back,
    any_conversation_comes_through,
    a_changed_sample_is_read_or_refused,
    no_bytes_stop_the_reader,
    deep_nesting_huge_texts_and_nulls_inside_a_sample_stop_nothing,
    no_export_has_a_name_that_leads_elsewhere,
    its_places_are_folders_of_the_machine,
)
