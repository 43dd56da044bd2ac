"""What every format keeps: whatever stands in a file, it is read or refused in a sentence; whatever is written comes
back, or a loss says what could not be carried.

`CHECKS` are called with a format and samples of its files. A format that is read only, or that nobody has judged, skips
what is about writing and about its rules.
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
    """What the format's rules find; nothing where nobody has written them down."""
    return format.codec.validate(data) if format.codec.validate is not None else []


def compacted(session: Session, epoch: int | None = None) -> Iterator[tuple[Message, ...]]:
    """What a compaction leaves of an epoch: with pins, as it is, and with the split at the last request. Left out are
    those in which a server's own compaction item would stand behind a summary and hide it."""
    found = _outcomes(open_bench(session, Counter(), epoch=epoch, preset="augment-example"))
    return (messages for messages in found if not any(_hides_what_is_before(session, m) for m in messages[1:]))


def _hides_what_is_before(session: Session, message: Message) -> bool:
    if session.format == ANTHROPIC.id and message.source:  # its words were read out of the item
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
    """Write the messages, and read back exactly them."""
    written = write(format, session, messages)
    assert faults(format, written.data) == []
    assert format.recognise(Look.of(written.data))
    again = read(format, written.data)
    assert shape(again.context()) == shape(messages)
    assert again.id == written.id
    return written


def read_all(format: Format, look: Look, path: Path = SOMEWHERE) -> Session | None:
    """Recognise, judge, read and look at every epoch and part; None where one sentence refused it."""
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
        said = str(refused)
        assert str(path) in said
        assert "\n" not in said
        return None
    for epoch in session.epochs:
        context = session.context(epoch.number)
        pairs_of(context)
        rounds_of(context)
    assert len({message.id for message in session.messages}) == len(session.messages), "ids are unique"
    return session


def survives(format: Format, data: bytes) -> Session | None:
    """Read all of it and write what was read, whole, in parts, behind a summary, and in another format."""
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
    """Every epoch as it is, and compacted with pins, without and with the split by hand, read again from what was
    written in every way: just these messages; and no fault in it where the sample has none and every call was
    answered."""
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
    """Through the format and on to another one, with nothing lost, or with the losses of what cannot be carried."""
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
    """With values replaced and bytes cut, doubled or replaced: a session, which can be written, or one sentence. What
    nobody changed in it comes back byte for byte, or as the same messages, or with losses."""

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
    """Nesting without end, huge lines, NULs, bytes that are no UTF-8, archives of nothing."""
    deep = 60_000
    yield b"[" * deep
    yield b'{"messages":' * deep
    yield b"[" * deep + b"]" * deep
    yield bytes(200_000)
    yield b"x" * 3_000_000
    yield bytes(range(128, 256)) * 1000
    yield b'"' * 30_000
    yield b'{"messages": "' + b"\\" * 100_001
    yield b"," * 200_000
    yield b"{}\n" * 8_000
    yield b"{}" * 8_000
    yield b"[" + b"9" * 100_000 + b"]"
    yield b'{"messages":["\\ud83d'
    yield b"#### \n" * 5_000
    yield b"SQLite format 3\x00" + b"content_json working_dir part_session_idx" + bytes(4000)
    yield b"PK\x03\x04" + b"samples/a_epoch_1.json" * 100
    yield b"\x28\xb5\x2f\xfd" + bytes(100)


@cache
def _looks_at_odd_bytes() -> tuple[Look, ...]:
    """What a look found once it shows every format, as when a file is opened."""
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
    """Names and places are made of what a session says: ids, titles, folders."""
    _writes(format)
    for sample in samples:
        session = read(format, sample, Path("a/../../session.json"))
        foul = replace(session, id="../../x; rm -rf ~", title="../../../y", cwd="/a/../../../etc\x00/$(rm x)")
        for messages in (session.context(), session.context()[1:]):
            for made in (write(format, foul, messages), *(form.write(foul, messages) for form in format.codec.forms)):
                assert Path(made.name).name == made.name, made.name
                assert "\x00" not in made.home
                assert ".." not in Path(made.home).parts, made.home
                for line in steps(made, Path("/a b") / made.name):
                    assert _is_harmless(line), line


def _is_harmless(line: str) -> bool:
    """Whether a line is a comment, or words alone with what joins commands."""
    bare = re.sub(r"'[^']*'|\"'\"", "", line).replace(" && ", " ").replace(" || ", " ")
    return line.isprintable() and (line.startswith("# ") or not set(bare) & set("$;&`|<>()*?[]{}!#\"'\\"))


def its_places_are_folders_of_the_machine(format: Format, samples: Sequence[bytes]) -> None:
    """On every platform, and with no variable set, a place is an absolute folder and names the format itself."""
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
