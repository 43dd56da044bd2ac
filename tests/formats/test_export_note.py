"""What an export says of itself: opened again it shows the tokens, the model and the window that were promised."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from functools import cache
from io import BytesIO
from pathlib import Path

import pytest

from tests.formats.written import WRITTEN
from tests.paths import SAMPLES
from tests.products import mostly_full
from workbench.base.errors import BadInput
from workbench.bench import open_bench
from workbench.compaction.context import Context
from workbench.compaction.opening import context_at
from workbench.conformance.building import agent, session_of, user
from workbench.formats import registry
from workbench.formats.export import export, read_back, save, write_to_stream
from workbench.formats.export_note import note_in, sidecar_of, with_note
from workbench.formats.files import load, load_bytes
from workbench.formats.format import Codec
from workbench.formats.kit.marks import EXPORT_NOTE, in_document, in_first_line, in_quoted_line
from workbench.formats.loss import Loss, LossKind
from workbench.session import ExportNote, Message, Session, Text, Usage
from workbench.tokens import Counter

CARRIES = ExportNote("claude-sonnet-4-5", 180_000, 21_000, 1.25)
PRESETS = ("claude-code", "ledger", "clear-tool-results", "trim")
BESIDE = (
    "anthropic-messages",
    "openai-chat",
)
"""Formats without a place for it, such as bodies of an API that refuses what it does not know: it is in a sidecar."""


@cache
def samples() -> tuple[Session, ...]:
    return tuple(load(path) for path in sorted(SAMPLES.iterdir()) if path.name != "README.md")


def sample_of(format_id: str) -> Session:
    """The smallest sample of a format with a bill in it, the smallest of all where none has one."""
    own = [session for session in samples() if session.format == format_id]
    return min(own, key=lambda one: (not any(m.bill for m in one.context()), len(one.messages)))


WAYS = [(preset, target.id) for target in registry.targets() for preset in PRESETS]
"""Every preset with every target; by default each target with one preset, and each preset with one target."""


@pytest.mark.parametrize(
    "way", mostly_full(WAYS, [way for way in WAYS if way[0] == "ledger" or way[1] == "claude-code"]), ids="-".join
)
def test_an_export_opened_again_shows_what_was_promised(way: tuple[str, str], tmp_path: Path) -> None:
    preset, target = way
    session = sample_of(target.partition(":")[0])
    counter = Counter()
    counter.count_all(session.messages, lambda done, total: None, lambda: False)
    bench = open_bench(session, counter, epoch=len(session.epochs), preset=preset, window=123_000)
    outcome = bench.offline.outcome
    left = bench.context.from_outcome(outcome)
    made = export(session, outcome.messages, target, outcome.memories, export_note=left.export_note)
    if made.written.data == session.records.data:
        pytest.skip("nothing was compacted: it is a copy")
    found = load(save(made, tmp_path / made.written.name).where)
    again = Counter()
    again.count_all(found.messages, lambda done, total: None, lambda: False)
    opened = context_at(found, None, again)
    promised = bench.context.outcome_size(outcome).tokens
    assert abs(opened.total.tokens - promised) <= promised * 0.02
    assert (opened.model, opened.window) == (bench.context.model, 123_000)


@pytest.mark.parametrize("target", [one.id for one in WRITTEN])
def test_a_session_goes_into_every_format_with_what_it_carries(target: str, tmp_path: Path) -> None:
    session = session_of([user("u", "Mend it."), agent("a", "Done."), user("v", "And now?")], model="gpt-5")
    made = export(session, session.messages, target, export_note=CARRIES)
    assert (Loss(LossKind.SIZES_BESIDE) in made.written.losses) == (target in BESIDE)
    assert made.problems == ()
    found = load(save(made, tmp_path / made.written.name).where)
    assert found.facts.export_note == CARRIES
    assert (found.model, found.epochs[-1].window) == (CARRIES.model, CARRIES.window)
    again = export(found, found.context()[1:], target, export_note=replace(CARRIES, prompt=7))
    then = load(save(again, tmp_path / f"again-{again.written.name}").where)
    assert then.facts.export_note == replace(CARRIES, prompt=7)
    assert (again.written.data + again.note).count(EXPORT_NOTE.encode()) == 1


def test_the_note_is_no_message_of_a_history_of_aider() -> None:
    session = session_of([user("u", "Mend it."), agent("a", "Done.")])
    made = export(session, session.messages, "aider", export_note=CARRIES)
    found = made.format.codec.read(Path("x"), made.written.data, lambda done, total: None)
    assert [message.text for message in found.messages] == ["Mend it.", "Done."]


@pytest.fixture
def body(tmp_path: Path) -> Path:
    """A body of the Chat API with its note beside it."""
    session = session_of([user("u", "Mend it."), agent("a", "Done.")])
    return save(export(session, session.messages, "openai-chat", export_note=CARRIES), tmp_path / "body.json").where


def test_what_has_no_room_for_a_note_has_it_beside_it(body: Path) -> None:
    assert sorted(path.name for path in body.parent.iterdir()) == ["body.json", "body.json.workbench"]
    assert EXPORT_NOTE.encode() not in body.read_bytes()
    assert load(body).facts.export_note == CARRIES
    assert stat.S_IMODE(sidecar_of(body).stat().st_mode) == 0o600


def test_a_note_of_other_bytes_is_not_believed(body: Path) -> None:
    data, note = body.read_bytes(), json.loads(sidecar_of(body).read_bytes())
    assert note["bytes"] == len(data)
    changes = {
        "longer": (data + b" ", note),
        "of the same length": (data.replace(b"Done.", b"Gone."), note),
        "another length told": (data, note | {"bytes": len(data) + 1}),
        "another sum told": (data, note | {"sha256": "0" * 64}),
        "no note": (data, note | {EXPORT_NOTE: 7}),
    }
    for name, (body_now, note_now) in changes.items():
        body.write_bytes(body_now)
        sidecar_of(body).write_text(json.dumps(note_now))
        assert load(body).facts.export_note is None, name
    body.write_bytes(data)
    for text in (b"", b"[", b"[]", b"\xff", json.dumps(note).encode() + b" " * 10_000):
        sidecar_of(body).write_bytes(text)
        assert load(body).facts.export_note is None, text[:20]
    sidecar_of(body).write_text(json.dumps(note))
    assert load(body).facts.export_note == CARRIES
    sidecar_of(body).unlink()
    assert load(body).facts.export_note is None
    sidecar_of(body).mkdir()
    assert load(body).facts.export_note is None


def test_a_note_is_written_anew_and_nothing_else_is_written_over(body: Path, tmp_path: Path) -> None:
    session = session_of([user("u", "Mend it.")])
    made = export(session, session.messages, "openai-chat", export_note=replace(CARRIES, prompt=7))
    save(made, body, overwrite=True)
    assert load(body).facts.export_note == replace(CARRIES, prompt=7)
    other = tmp_path / "other.json"
    sidecar_of(other).write_text("mine")
    with pytest.raises(BadInput, match=r"other.json.workbench exists, but the sidecar file of other.json needs"):
        save(made, other)
    assert (other.exists(), sidecar_of(other).read_text()) == (False, "mine")


def test_a_stream_has_nothing_beside_it() -> None:
    session, out = session_of([user("u", "Mend it.")]), BytesIO()
    made = export(session, session.messages, "openai-chat", export_note=CARRIES)
    write_to_stream(made, out, Path("-"))
    assert out.getvalue() == made.written.data
    assert made.written.losses == (Loss(LossKind.SIZES_BESIDE),)


def test_a_copy_of_a_folder_s_session_says_what_lay_around_it(tmp_path: Path) -> None:
    """Alone the file is the same bytes, but what the folder told of tokens is not in it."""
    folder = tmp_path / "task"
    folder.mkdir()
    sample = load(SAMPLES / "roo-window.json")
    (folder / "api_conversation_history.json").write_bytes(sample.records.data)
    session = load(folder)
    made = export(session, session.context(), export_note=CARRIES)
    assert load(save(made, tmp_path / "alone.json").where).facts.export_note == CARRIES


def test_a_copy_carries_nothing_new() -> None:
    session = sample_of("codex")
    made = export(session, session.context(), export_note=CARRIES)
    assert made.written.data == session.records.data
    assert made.export_note is None


def test_what_does_not_come_back_is_not_written(tmp_path: Path) -> None:
    session = session_of([user("u", "Mend it.")])
    made = export(session, session.messages, "pi", export_note=CARRIES)
    with pytest.raises(BadInput, match="its recorded size is lost"):
        save(read_back(replace(made, export_note=replace(CARRIES, prompt=0))), tmp_path / "out.jsonl")
    assert list(tmp_path.iterdir()) == []


# --- sizes by hand --------------------------------------------------------------------------------------------------


def _opened(messages: list[Message], prompt: int) -> Context:
    session = session_of(messages, model="gpt-5")
    counter = Counter()
    counter.count_all(session.messages, lambda done, total: None, lambda: False)
    export_note = ExportNote("gpt-5", None, prompt, 3.0)
    return context_at(replace(session, facts=replace(session.facts, export_note=export_note)), None, counter)


def test_the_scale_and_the_prompt_are_the_exports() -> None:
    """gpt-5: a message is its o200k tokens and 4 more. "one two three" has 3; (3 + 4) × 3 = 21."""
    context = _opened([user("u", "one two three")], 100)
    assert (list(context.layout.sizes.tokens), context.layout.sizes.overhead, context.total.tokens) == ([21], 100, 121)
    assert "3.00 from the session that was compacted" in context.layout.sizes.meter.method


def test_own_system_messages_are_part_of_the_prompt() -> None:
    """The first of 21 tokens is within the 100, so that 79 are not seen; never less than nothing."""
    rules = Message("s", "system", (Text("one two three"),))
    for prompt, hidden in ((100, 79), (21, 0), (20, 0)):
        sizes = _opened([rules, user("u", "one two three")], prompt).layout.sizes
        assert (list(sizes.tokens), sizes.overhead) == ([21, 21], hidden)


def test_a_bill_weighs_more_than_what_is_carried() -> None:
    billed = replace(agent("a", "one two three"), usage=Usage(input=500), source=(0,))
    context = _opened([user("u", "one"), billed], 100)
    assert context.layout.sizes.overhead == 500 - 5
    assert "compacted" not in context.layout.sizes.meter.method


def test_a_tool_that_went_on_says_itself_which_model_and_window() -> None:
    codec = Codec(lambda path, data, progress: session_of([]), note=in_document(EXPORT_NOTE, ()))
    data = b'{"workbench_carried":{"model":"export_note","window":1000,"prompt":5,"scale":1.5}}'
    billed = replace(agent("a", "ok"), usage=Usage(input=50))

    def seen(messages: list[Message], model: str | None, window: int | None) -> tuple[str | None, int | None]:
        session = session_of(messages, model=model)
        epochs = (replace(session.epochs[0], window=window),)
        found = with_note(replace(session, epochs=epochs), note_in(codec, data))
        assert found.facts.export_note == ExportNote("export_note", 1000, 5, 1.5)
        return found.model, found.epochs[-1].window

    assert seen([user("u", "hi")], "own", 2000) == ("export_note", 1000)
    assert seen([user("u", "hi"), billed], "own", 2000) == ("own", 2000)
    assert seen([user("u", "hi"), billed], None, None) == ("export_note", 1000)


@pytest.mark.parametrize(
    "note",
    [
        "7",
        "[]",
        '{"model":7,"window":null,"prompt":0,"scale":1}',
        '{"model":"","window":null,"prompt":0,"scale":1}',
        '{"model":"m","window":0,"prompt":0,"scale":1}',
        '{"model":"m","window":true,"prompt":0,"scale":1}',
        '{"model":"m","window":9007199254740992,"prompt":0,"scale":1}',
        '{"model":"m","window":1,"prompt":-1,"scale":1}',
        '{"model":"m","window":1,"prompt":1.5,"scale":1}',
        '{"model":"m","window":1,"prompt":0,"scale":0}',
        '{"model":"m","window":1,"prompt":0,"scale":true}',
        '{"model":"m","window":1,"prompt":0,"scale":1e400}',
        '{"model":"m","window":1,"prompt":0}',
    ],
)
def test_a_note_that_nobody_would_write_is_no_note(note: str) -> None:
    line = json.dumps({"type": "user", "message": {"role": "user", "content": "hi"}, "uuid": "u", "sessionId": "s"})
    data = (line[:-1] + f', "{EXPORT_NOTE}": {note}}}\n').encode()
    assert load_bytes(Path("s.jsonl"), data).facts.export_note is None


# --- places ---------------------------------------------------------------------------------------------------------

NOTE = b'{"a":1}'


def test_a_place_in_a_document() -> None:
    root, deep, text = (
        in_document("k", ()),
        in_document("k", ("absent", 0, "x"), ("list", 1, "x")),
        in_document("k", ("meta",), as_text=True),
    )
    assert root.put(b'\xef\xbb\xbf{ "b" : 2 }', NOTE) == b'\xef\xbb\xbf{ "b" : 2 ,"k":{"a":1}}'
    assert root.put(b'{"k": 7, "b": 2}', NOTE) == b'{"k": {"a":1}, "b": 2}'
    assert deep.put(b'{"list": [0, {"y": 1}]}', NOTE) == b'{"list": [0, {"y": 1,"x":{"k":{"a":1}}}]}'
    assert deep.put(b'{"list": [0, {"x": null}]}', NOTE) == b'{"list": [0, {"x": {"k":{"a":1}}}]}'
    assert text.put(b"{}", NOTE) == b'{"meta":{"k":"{\\"a\\":1}"}}'
    for place, data in ((root, b"[]"), (deep, b'{"list": [0]}'), (deep, b'{"list": [0, 1]}'), (root, b"{")):
        assert place.put(data, NOTE) is None
    for place, data in ((root, b'{"b": 2}'), (deep, b'{"list": [0, {}]}'), (text, b"{}")):
        made = place.put(data, NOTE)
        assert made is not None
        assert place.found(made) == {"a": 1}
        assert place.found(data) is None


def test_a_place_in_the_first_line() -> None:
    place = in_first_line("k", "payload")
    assert place.put(b'{"payload":{}}\n{"b":2}\n', NOTE) == b'{"payload":{"k":{"a":1}}}\n{"b":2}\n'
    assert place.found(b'{"payload":{"k":{"a":1}}}\n') == {"a": 1}
    assert place.found(b'{"payload":{}}\n{"payload":{"k":{"a":1}}}\n') is None
    assert place.put(b"7\n", NOTE) is None


def test_a_place_in_a_quoted_line() -> None:
    place = in_quoted_line("k")
    made = b'# heading\n> k: {"a":1}\n\n#### hi  \n'
    assert place.put(b"# heading\n\n#### hi  \n", NOTE) == made
    assert place.put(made, NOTE) == made
    assert place.found(made) == {"a": 1}
    assert place.found(b"# heading\n") is None


def test_bills_of_the_context_before_are_forgotten() -> None:
    """Two messages were kept with their bills; the third was billed after the export."""
    codec = Codec(lambda path, data, progress: session_of([]), note=in_document(EXPORT_NOTE, ()))
    billed = [replace(agent(f"a{n}", "ok"), usage=Usage(input=n)) for n in (900, 901, 50)]

    def bills(spent: int, messages: list[Message]) -> list[int]:
        note = {"model": None, "window": None, "prompt": 5, "scale": 1.5, "spent": spent}
        told = note_in(codec, json.dumps({EXPORT_NOTE: note}).encode())
        return [message.bill for message in with_note(session_of(messages), told).context()]

    asked = user("u", "hi")
    assert bills(2, [asked, *billed]) == [0, 0, 0, 50]
    assert bills(2, [asked, *billed[:2]]) == [0, 0, 0]
    assert bills(2, [asked, billed[2]]) == [0, 50]  # the tool compacted again
    assert bills(0, [asked, *billed]) == [0, 900, 901, 50]


def test_a_kept_bill_is_told_in_the_export(tmp_path: Path) -> None:
    session = sample_of("adk")
    billed = sum(message.bill > 0 for message in session.context()[2:])
    assert billed
    made = export(session, session.context()[2:], export_note=CARRIES)
    assert made.export_note == replace(CARRIES, spent=billed)
    assert not any(message.bill for message in load(save(made, tmp_path / "x.json").where).context())
