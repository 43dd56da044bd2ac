"""Hypothesis strategies: conversations, contexts, policies and damaged files."""

from __future__ import annotations

import contextlib
import copy
import json
from typing import Any

from hypothesis import strategies as st
from pydantic import ValidationError

from workbench.compaction.context import Context
from workbench.compaction.policy import Policy
from workbench.compaction.settings import settings_of
from workbench.conformance.building import agent, call, context_of, result, summary, user
from workbench.formats.roles import KNOWN
from workbench.session import Block, Media, Message, Role, Text, Thinking, ToolResult, ToolUse

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=60)


@st.composite
def conversations(draw: st.DrawFn, max_rounds: int = 6) -> tuple[Message, ...]:
    """Conversations in which every call has a result: rounds with tool loops, parallel calls, thinking and media. Some
    have an earlier summary, with or without a reply that makes a call, and some a current input at the end."""
    out: list[Message] = []
    number = 0

    def next_id() -> str:
        nonlocal number
        number += 1
        return f"m{number}"

    if draw(st.booleans()):
        out.append(Message(next_id(), "system", (Text(draw(TEXTS)),)))
    if draw(st.booleans()):
        out.append(summary(next_id(), draw(TEXTS)))
        if draw(st.booleans()):  # the agent's reply to it, with its next call in the same message
            joined = call(f"c{number}", command=draw(TEXTS))
            out.append(Message(next_id(), "assistant", (Text(draw(TEXTS)), joined), kind="summary"))
            out.append(result(next_id(), (joined.id, draw(TEXTS))))
    for _ in range(draw(st.integers(0, max_rounds))):
        out.append(user(next_id(), draw(TEXTS)))
        for _ in range(draw(st.integers(0, 4))):
            calls = [call(f"c{number}-{n}", command=draw(TEXTS)) for n in range(draw(st.integers(1, 3)))]
            thought = (Thinking(draw(TEXTS), "sig"),) if draw(st.booleans()) else ()
            out.append(Message(next_id(), "assistant", (*thought, *calls)))
            if draw(st.booleans()):
                out.extend(result(next_id(), (one.id, draw(TEXTS))) for one in calls)
            else:
                out.append(result(next_id(), *((one.id, draw(TEXTS)) for one in calls)))
        if draw(st.integers(0, 9)):
            out.append(agent(next_id(), draw(TEXTS)))
        elif draw(st.booleans()):
            out.append(Message(next_id(), "assistant", (Media("image/png", 4_000), Text(draw(TEXTS)))))
    if draw(st.booleans()):
        out.append(user(next_id(), draw(TEXTS)))
    return tuple(out)


def later(messages: tuple[Message, ...], index: int) -> tuple[Message, ...]:
    """Move the message at `index` after the next answer, as a result that arrives late. Unchanged if no answer
    follows."""
    message = messages[index]
    rest = (*messages[:index], *messages[index + 1 :])
    answer = next((i for i in range(index, len(rest)) if rest[i].role == "assistant"), None)
    return messages if answer is None else (*rest[: answer + 1], message, *rest[answer + 1 :])


@st.composite
def contexts(draw: st.DrawFn, /, **wishes: Any) -> Context:
    """Contexts for any API, with any pins, with or without a split and a window, run manually or not. Some have a
    system message in the middle, or a result that arrives late. `wishes` are fields of `Context` with a fixed value."""
    messages = draw(conversations())
    results = [index for index, message in enumerate(messages) if message.role == "tool"]
    if bool(results) and draw(st.booleans()):
        messages = later(messages, draw(st.sampled_from(results)))
    if bool(messages) and draw(st.booleans()):
        at = draw(st.integers(0, len(messages)))
        messages = (*messages[:at], Message("own", "system", (Text("a rule"),)), *messages[at:])
    ids = [message.id for message in messages]
    pins = draw(st.sets(st.sampled_from(ids), max_size=5)) if ids else set()
    split = draw(st.none() | st.sampled_from(ids)) if ids else None
    window = draw(st.none() | st.integers(1, 2_000))
    options = {"pins": frozenset(pins), "split_at": split, "window": window, "manual": draw(st.booleans())}
    options |= {"api": draw(st.sampled_from([*KNOWN])), **wishes}
    return context_of(messages, **options)


@st.composite
def policies(draw: st.DrawFn, base: Policy) -> Policy:
    """Policies like `base` with some fields changed, numbers to values that a short conversation can reach. Only
    numbers, choices, switches and texts without a default change."""
    drawn = {name: draw(one) for name, one in _changes(type(base)).items() if draw(st.booleans())}
    try:
        return base.with_(**drawn)
    except ValidationError:  # the policy rejects this combination of numbers
        return base


def _changes(policy: type[Policy]) -> dict[str, st.SearchStrategy[Any]]:
    found: dict[str, st.SearchStrategy[Any]] = {}
    for one in settings_of(policy):
        if len(one.path) > 1 or one.optional:
            continue
        match one.kind:
            case "choice":
                found[one.key] = st.sampled_from(one.choices)
            case "switch":
                found[one.key] = st.booleans()
            case "text" | "lines" if not one.default:
                found[one.key] = st.sampled_from(["", "Ok."])
            case "whole" | "real":
                number = int if one.kind == "whole" else float
                low, high = one.range.low or one.range.above or 0, one.range.high or 10**6
                near = {number(low + more) for more in (0, 1, 3, 12, 40, 250)} | {number(high / 2), one.default}
                found[one.key] = st.sampled_from(sorted(n for n in near if low <= n <= high and n != one.range.above))
    return found


_words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).map(lambda text: f"say {text}")
_json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | st.text(max_size=8), st.lists, max_leaves=3
)
_inputs = st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), _json_values, max_size=3)


@st.composite
def dialogues(draw: st.DrawFn) -> list[Message]:
    """Conversations that any API accepts: rounds of a request, batches of calls with all results, an answer. In some,
    the requests and results contain images."""
    messages: list[Message] = []
    calls = 0
    images = [Media("image/png", 4_000)] if draw(st.integers(0, 3)) == 0 else []

    def add(role: Role, *blocks: Block) -> None:
        messages.append(Message(f"made-{len(messages)}", role, blocks))

    for _ in range(draw(st.integers(1, 4))):
        add("user", Text(draw(_words)), *images)
        for _ in range(draw(st.integers(0, 3))):
            batch = [
                ToolUse(f"call_{calls + n}", draw(st.sampled_from(["read", "bash"])), draw(_inputs))
                for n in range(draw(st.integers(1, 3)))
            ]
            calls += len(batch)
            texts = [Text(draw(_words))] if draw(st.booleans()) else []
            add("assistant", *texts, *batch)
            add("tool", *(ToolResult(call.id, (Text(draw(_words)), *images)) for call in batch))
        add("assistant", Text(draw(_words)))
    return messages


_WORDS = ["", "user", "assistant", "tool", "text", "summary", "id"]
odd_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 10**20) | st.floats() | st.sampled_from(_WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "id"]), inner),
    max_leaves=5,
)
_BYTES = [b"", b"\x00", b"\xff", b"\n", b'"', b"{", b"]", b"null", b"NaN", b"1e999", b"\\ud800", b"\xed\xa0\x80", b"-"]


@st.composite
def changed(draw: st.DrawFn, *documents: bytes) -> bytes:
    """One of the documents, damaged: some JSON values replaced, or some bytes removed, repeated or replaced."""
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
    """Return (True, the JSON value of a file), (False, the JSON values of its lines), or None if it is neither."""
    if raw.lstrip()[:1] not in (b"{", b"["):
        return None
    with contextlib.suppress(ValueError):
        return True, json.loads(raw)
    with contextlib.suppress(ValueError):
        return False, [json.loads(line) for line in raw.splitlines() if line.strip()]
    return None


@st.composite
def mangled(draw: st.DrawFn, document: Any) -> Any:
    """Copies of a document in which one to four values, at any depth, are replaced."""
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
