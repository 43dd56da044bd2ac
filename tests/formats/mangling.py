"""Documents with some of their bytes or values replaced, to see that readers are ready for anything."""

from __future__ import annotations

import contextlib
import copy
import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from workbench.base.errors import BadInput
from workbench.formats import anthropic_messages
from workbench.formats.format import HEAD, Format, no_progress
from workbench.session import Message, Session, Text, pairs_of, rounds_of

_WORDS = ["", "user", "assistant", "tool", "text", "summary", "id"]
odd_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 10**20) | st.floats() | st.sampled_from(_WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "id"]), inner),
    max_leaves=5,
)
_BYTES = [b"", b"\x00", b"\xff", b"\n", b'"', b"{", b"]", b"null", b"NaN", b"1e999", b"\\ud800", b"\xed\xa0\x80", b"-"]


@st.composite
def changed(draw: st.DrawFn, *documents: bytes) -> bytes:
    """One of the documents with some of its JSON values replaced, or with bytes cut, doubled or replaced."""
    raw = draw(st.sampled_from(documents))
    values = _json_of(raw)
    if values is not None and draw(st.integers(0, 2)):
        whole, parsed = values
        value = draw(mangled(parsed))
        lines = value if not whole and isinstance(value, list) else [value]
        return b"\n".join(json.dumps(line).encode() for line in lines)
    data = bytearray(raw)
    for _ in range(draw(st.integers(1, 5))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        length = draw(st.sampled_from([0, 1, 2, 9, 400]))
        new = draw(st.sampled_from(_BYTES) | st.binary(max_size=4) | st.just(bytes(data[at : at + 400])))
        data[at : at + length] = new
    return bytes(data)


def _json_of(raw: bytes) -> tuple[bool, Any] | None:
    """The value that a file is, or those of its lines; None where it is neither."""
    if raw.lstrip()[:1] not in (b"{", b"["):
        return None
    with contextlib.suppress(ValueError):
        return True, json.loads(raw)
    with contextlib.suppress(ValueError):
        return False, [json.loads(line) for line in raw.splitlines() if line.strip()]
    return None


@st.composite
def mangled(draw: st.DrawFn, document: Any) -> Any:
    """A copy of a document with one to four of its values, at any depth, replaced by something else."""
    holder = root = [copy.deepcopy(document)]
    for _ in range(draw(st.integers(1, 4))):
        holder = root[0]
        for _ in range(draw(st.integers(0, 6))):
            inner = [key for key in _keys(holder) if isinstance(holder[key], dict | list) and holder[key]]
            if not inner:
                break
            holder = holder[draw(st.sampled_from(inner))]
        if isinstance(holder, dict | list) and holder:
            holder[draw(st.sampled_from(_keys(holder)))] = draw(odd_values)
    return root[0]


def _keys(holder: Any) -> list[Any]:
    if isinstance(holder, dict):
        return list(holder)
    return list(range(len(holder))) if isinstance(holder, list) else []


def read_all(format: Format, data: bytes, path: Path = Path("nowhere/session")) -> Session | None:
    """Recognise, judge, read and look at every epoch; None where one sentence refused it."""
    format.recognise(data[:HEAD])
    format.codec.validate(data)
    try:
        session = format.codec.read(path, data, no_progress)
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
    assert len({message.id for message in session.messages}) == len(session.messages)
    return session


def survives(format: Format, data: bytes) -> Session | None:
    """Read all of it and write what was read, whole, in parts, behind a summary, and in another format."""
    session = read_all(format, data)
    if session is None:
        return None
    context = session.context()
    summary = Message("made", "user", (Text("in short"),), "summary")
    for messages in (context, context[1:], context[:-1], context[::2], (summary, *context[2:])):
        for write in (format.codec.write, *(way.write for way in format.codec.ways)):
            format.codec.validate(write(session, messages).data)
    anthropic_messages.FORMAT.codec.validate(anthropic_messages.FORMAT.codec.write(session, session.messages).data)
    return session
