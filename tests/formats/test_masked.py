"""An export with `--mask` holds no secret of its session, and everything else byte for byte."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from tests.base.shapes import leaks, shapes
from tests.commands import cwb, session_lines, write_lines
from tests.paths import SAMPLES
from tests.summarizers.fake_api import MODEL, answer, fake_api
from tests.summarizers.live_calls import client_talks_to
from tests.test_cli_probe import PROBES
from workbench.analysis.probes import write_probes
from workbench.base.errors import BadInput
from workbench.base.secrets import MASK, masked
from workbench.formats import registry
from workbench.formats.export import export, save
from workbench.formats.files import load
from workbench.formats.masked import load_masked, masked_export, without_secrets

FOUND = [
    shape for shape in shapes("secret") if masked(shape.text) != shape.text and not leaks(shape, masked(shape.text))
]


def test_only_secrets_are_taken_out_of_a_file() -> None:
    for sample in ("cline-sdk-summary.messages.json", "copilot-background-compaction.jsonl", "aider-two-days.md"):
        data = (SAMPLES / sample).read_bytes()
        assert without_secrets(data) == data
    assert without_secrets(b"# chat\n\npassword=abc123def \xff\n") == b"# chat\n\npassword=[masked] \xff\n"
    odd = rb'{"a" : "\u00e9\/x", "api_key":  "abcdef123456", "b": 1e5, "a":"\ud83d", "password": ["abcdef123456"] }'
    assert without_secrets(odd) == odd.replace(b"abcdef123456", MASK.encode(), 1)


KEY = b"sk-ant-api03-abcdefgh12345678"


@pytest.mark.parametrize(
    "data",
    [
        b'{"a": "cut off\n{"b": "x KEY", "c": "KEY"}\n',
        b'{"a": "cut KEY\n{"b": "KEY"}\n{"b": "KEY',
        b'{"a": "cut off\\\n{"b": "KEY"}\n{"b": "KEY\\',
        b'{"a": "over\nlines KEY and\nKEY", "b": "KEY"}',
        b'{"KEY": {"KEY" : "KEY"}}',
        b'{"a": 1}\nKEY\n{"b": "KEY"}\nKEY',
    ],
)
def test_no_secret_stays_for_its_place_or_for_a_damaged_string_before_it(data: bytes) -> None:
    assert without_secrets(data.replace(b"KEY", KEY)) == data.replace(b"KEY", MASK.encode())


def test_no_secret_of_the_list_is_left_in_a_file() -> None:
    file = json.dumps([{"text": shape.text} for shape in FOUND])
    left = json.loads(without_secrets(file.encode()))
    assert [one.about for one, kept in zip(FOUND, left, strict=True) if kept["text"] != masked(one.text)] == []


@pytest.mark.parametrize("begins", ["[notes](x.md)\n\n", "[[home]] ", "[1] ", '["Keys"] ', "{draft} "])
def test_a_text_that_begins_with_a_bracket_is_a_text(begins: str) -> None:
    texts = [begins + shape.text for shape in FOUND]
    assert [text for text in texts if without_secrets(text.encode()).decode() != masked(text)] == []


@pytest.mark.parametrize("begins", ["\ufeff", " \n", "[", "[ [\n", "[{},"])
def test_json_is_told_by_how_it_begins(begins: str) -> None:
    """The key is spelled with an escape, which a text does not have."""
    file = begins + '{"pass\\u0077ord": "hunter2-x9"}'
    assert without_secrets(file.encode()).decode() == begins + '{"pass\\u0077ord": "[masked]"}'


def test_no_secret_of_a_session_reaches_a_masked_export(tmp_path: Path) -> None:
    """In requests, calls, results and answers, kept and summarised."""
    messages: list[dict[str, object]] = []
    for number in range(0, 32, 4):
        ask, call, result, answer = ("\n".join(one.text for one in FOUND[number : number + 4]),) * 4
        use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": call}}
        messages += [
            {"role": "user", "content": ask},
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{number}", "content": result}]},
            {"role": "assistant", "content": answer},
        ]
    file, out = tmp_path / "s.json", tmp_path / "o.json"
    file.write_text(json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": messages}))
    before = file.read_bytes()
    assert cwb("compact", file, "--strategy", "message-window", "--mask", "--force", "-o", out).exit_code == 0
    assert file.read_bytes() == before
    assert load(out).messages
    written = out.read_text("utf-8")
    assert MASK in written
    assert [shape.about for shape in FOUND if any(one in written for one in shape.secrets if len(one) > 8)] == []


SECRET = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


@pytest.mark.parametrize("format", [one.id for one in registry.targets()])
def test_an_export_is_masked_as_it_is_made(format: str, tmp_path: Path) -> None:
    """In every form: judged again, read again, of the same messages; a database is refused."""
    told = f"The token is {SECRET}, it stands in src/part1.py."
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": f"curl -H 'Authorization: {SECRET}'"}}
    messages = [
        {"role": "user", "content": told},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": told}]},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": "It is done."},
    ]
    file = tmp_path / "s.json"
    file.write_text(json.dumps({"model": "claude-sonnet-5-5", "max_tokens": 9, "messages": messages}))
    made = export(session := load(file), session.context(), format)
    if made.written.data.startswith(b"SQLite"):
        with pytest.raises(BadInput, match="so its secrets cannot be masked"):
            masked_export(made)
        return
    once = masked_export(made)
    assert SECRET.encode() in made.written.data
    assert SECRET.encode() not in once.written.data
    assert once.problems == made.problems
    assert not isinstance(once.found, str)
    assert [message.role for message in once.found.context()] == [message.role for message in made.found.context()]  # type: ignore[union-attr]
    assert save(once, tmp_path / "out").where.read_bytes() == once.written.data
    assert masked_export(once) == once


def test_without_secrets_it_must_hold_as_much(tmp_path: Path) -> None:
    """What the masker would take for a secret may be what a file is made of: then nothing is written."""
    file = tmp_path / "s.json"
    file.write_text(json.dumps({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": SECRET}]}))
    made = export(session := load(file), session.context())
    found = made.found
    assert not isinstance(found, str)
    fewer = replace(made, found=replace(found, messages=(), epochs=()))
    with pytest.raises(BadInput, match="changes the conversation"):
        save(masked_export(fewer), tmp_path / "out")


async def test_no_door_sends_a_secret_that_is_to_be_masked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = session_lines()
    lines[0]["message"]["content"] = f"The token is {SECRET}."
    file = write_lines(tmp_path / "s.jsonl", lines)
    write_probes(tmp_path / "s.probes.toml", PROBES)
    model, ours = f"anthropic:{MODEL}", ("--strategy", "exchange-summary")
    for door in (
        ("compact", "--summarizer", model, *ours),
        ("compare", "--summarizer", model, "--strategies", "exchange-summary"),
        ("compare", "--summarizer", model, "--summarizer", "extractive", *ours),
        ("retention", "--ask", "--model", MODEL, *ours),
        ("rescue", "--summarizer", model, "-o", tmp_path / "rescued.jsonl", *ours),
        ("inspect", "--exact", MODEL),
    ):
        command, *rest = door
        async with fake_api(*[answer("It was done.")] * 9) as api:
            client_talks_to(api, monkeypatch)
            run = await asyncio.to_thread(cwb, command, file, *rest, "--mask")
            assert api.received, run.output
            sent = json.dumps([one.body for one in api.received])
        assert (SECRET in sent, MASK in sent) == (False, True), command


def test_without_being_asked_an_export_is_true_to_its_session(tmp_path: Path) -> None:
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "password=abc123def"}]}
    (file := tmp_path / "s.json").write_text(json.dumps(body))
    assert load(file).messages[0].text == "password=abc123def"
    assert load_masked(file).messages[0].text == "password=[masked]"


def test_what_is_no_text_cannot_be_masked(tmp_path: Path) -> None:
    with sqlite3.connect(file := tmp_path / "s.db") as base:
        base.execute("CREATE TABLE a (b)")
    for place in (file, tmp_path):
        with pytest.raises(BadInput, match="so its secrets cannot be masked"):
            load_masked(place)
