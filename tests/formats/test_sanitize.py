"""Values that no API and no agent takes: every validator objects to them, and no export carries them on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.formats.written import WRITTEN
from tests.paths import SAMPLES, SHARED
from workbench.conformance.building import agent, session_of, user
from workbench.formats import registry
from workbench.formats.export import export
from workbench.formats.files import load, read_bytes
from workbench.formats.format import Format
from workbench.formats.loss import LossKind
from workbench.formats.sanitize import sanitize

JSON = [known for known in WRITTEN if known.id != "aider"]
COUNT = re.compile(rb'("(?:input|output|(?!max)[a-zA-Z_]*[tT]oken(?:s|Count)|tokens[A-Z]\w*)"\s*:\s*)[1-9]\d*')
HALF = "half a character (lone surrogate), which the API rejects."


def _validated(format: Format, data: bytes) -> list[str]:
    assert format.codec.validate is not None
    return format.codec.validate(data)


@pytest.mark.parametrize("format", JSON, ids=lambda known: known.id)
def test_a8_every_validator_objects_to_half_a_character_and_no_export_has_it(format: Format) -> None:
    session = session_of([user("1", "Say MARKED."), agent("2", "No."), user("3", "Why?"), agent("4", "Because.")])
    clean = export(session, session.messages, format.id).written.data
    assert not any(HALF in fault for fault in _validated(format, clean))
    damaged = clean.replace(b"MARKED", rb"\ud83d")
    line = damaged.count(b"\n", 0, damaged.index(rb"\ud83d")) + 1
    assert f"Line {line} holds {HALF}" in _validated(format, damaged)
    loaded = read_bytes(Path("damaged"), damaged)
    for messages in (loaded.context(), loaded.context()[:2]):
        made = export(loaded, messages)
        assert rb"\ud83d" not in made.written.data
        assert not isinstance(made.found, str)
        assert [message.text for message in made.found.context()] == [message.text for message in messages]
        assert LossKind.HALF_CHARACTERS in {loss.kind for loss in made.written.losses}


@pytest.mark.parametrize("path", sorted(one for one in SAMPLES.iterdir() if COUNT.search(one.read_bytes())), ids=str)
def test_a8_every_validator_objects_to_a_negative_count_and_no_export_has_it(path: Path) -> None:
    format = registry.by_id(load(path).format)
    if format not in JSON:
        pytest.skip("is read only")
    data = path.read_bytes()
    found = COUNT.search(data)
    assert found is not None
    damaged = data[: found.start()] + found[1] + b"-2098" + data[found.end() :]
    key = found[1].split(b'"')[1].decode()
    faults = [fault for fault in _validated(format, damaged) if "-2098" in fault]
    assert [fault.split(" is ")[0].rpartition(".")[2].rpartition(" ")[2] for fault in faults[:1]] == [key]
    if path.suffix == ".jsonl":
        assert faults[0].startswith(f"Line {len(data[: found.start()].splitlines())}: ")
    loaded = read_bytes(path, damaged)
    for messages in (loaded.context(), loaded.context()[:-1]):
        made = export(loaded, messages)
        assert b"-2098" not in made.written.data
        assert not isinstance(made.found, str)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'{"usage":{"input":-1,"a":{"b":-7}},"x":-3}', b'{"usage":{"input":0,"a":{"b":0}},"x":-3}'),
        (b'{"tokensRemoved":-2098,"messagesRemoved" : -1}\n', b'{"tokensRemoved":0,"messagesRemoved" : 0}\n'),
        (b'{"max_tokens":-1,"tokens":0}', b'{"max_tokens":-1,"tokens":0}'),
        (b'{"input":{"tokens":-1},"t":"\\"tokens\\": -1"}', b'{"input":{"tokens":-1},"t":"\\"tokens\\": -1"}'),
        (b'[\n {"output_tokens":\n 1000000000000000}]', b'[\n {"output_tokens":\n 0}]'),
        (b'{"output_tokens":999999999999999}', b'{"output_tokens":999999999999999}'),
        (b'{"output_tokens":1e400}', b'{"output_tokens":0}'),
        (b'{"a":1}\n\x00\x00\n{"b\x00":2}\x00\n', b'{"a":1}\n{"b":2}\n'),
        (rb'{"a":"\\ud83d \ud83d\ude00 \ude00"}', rb'{"a":"\\ud83d \ud83d\ude00 \ufffd"}'),
        (b"# aider \\ud83d\x00 'tokens': -1", b"# aider \\ud83d\x00 'tokens': -1"),
    ],
)  # fmt: skip
def test_a8_such_values_alone_are_written_otherwise(before: bytes, after: bytes) -> None:
    written, losses = sanitize(before)
    assert (written, bool(losses)) == (after, before != after)


@pytest.mark.skipif(SHARED is None, reason="the real sessions are not here")
@pytest.mark.parametrize(
    ("name", "lines"), [("04-lone-surrogate.jsonl", [16]), ("18-copilot-negative-removed.jsonl", [23, 34, 45, 56])]
)
def test_a8_of_the_cases(name: str, lines: list[int]) -> None:
    assert SHARED is not None
    session = load(SHARED / "cases" / name)
    format = registry.by_id(session.format)
    faults = _validated(format, session.records.data)
    assert [int(fault.split()[1].rstrip(":")) for fault in faults] == lines
    assert _validated(format, export(session, session.context()[:-2]).written.data) == []
