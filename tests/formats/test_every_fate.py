"""Whatever becomes of a message, every writer writes it: valid, and read back as it was promised.

Every fate × every way of a file's own format × every sample (and small real files, where they lie beside the checkout);
and every fate × every format × a session that has one of each kind of block.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.paths import SAMPLES, SHARED
from tests.products import mostly_full, samples_among
from workbench.base.errors import BadInput
from workbench.bench import Bench, open_bench, set_policy, toggle_dropped, toggle_pin, toggle_shortened
from workbench.compaction.edits import shortened_message
from workbench.compaction.outcome import Fate, Outcome
from workbench.conformance.building import agent, call, result, session_of, user
from workbench.formats import registry
from workbench.formats.export import export, save
from workbench.formats.files import load
from workbench.session import Message, Opaque, Session, Text, Thinking, pairs_of
from workbench.tokens import Counter

SMALL = 60_000
"""Bytes up to which a real file is taken."""


def _bench(session: Session, preset: str) -> Bench:
    return open_bench(session, Counter(), epoch=len(session.epochs), preset=preset)


def _others(bench: Bench) -> list[Message]:
    return [message for message in bench.messages if not message.is_own_system]


def _kept(session: Session) -> Outcome:
    return _bench(session, "trim").outcome


def _summarized(session: Session) -> Outcome:
    return _bench(session, "roo").outcome


def _abridged(session: Session) -> Outcome:
    bench = _bench(session, "ledger")
    return set_policy(bench, bench.policy.model_copy(update={"budget_tokens": 1000, "narrative_percent": 0.0})).outcome


def _pinned(session: Session) -> Outcome:
    bench = _bench(session, "claude-code")
    others = _others(bench)
    for message in others[1 : len(others) : max(1, len(others) // 5)]:
        bench = toggle_pin(bench, message.id)
    return bench.outcome


def _dropped(session: Session) -> Outcome:
    bench = _bench(session, "trim")
    ids = [message.id for message in _others(bench)[1::3]]
    return toggle_dropped(bench, ids).outcome if ids else bench.outcome


def _shortened(session: Session) -> Outcome:
    bench = _bench(session, "trim")
    ids = [message.id for message in _others(bench) if shortened_message(message) is not message]
    return toggle_shortened(bench, ids).outcome if ids else bench.outcome


def _cleared(session: Session) -> Outcome:
    bench = _bench(session, "clear-tool-results")
    return set_policy(bench, bench.policy.model_copy(update={"keep_tool_uses": 0})).outcome


BECOMES: dict[str, tuple[Fate, Callable[[Session], Outcome]]] = {
    "kept": (Fate.KEPT, _kept),
    "pinned": (Fate.PINNED, _pinned),
    "cleared": (Fate.COMPRESSED, _cleared),
    "shortened": (Fate.COMPRESSED, _shortened),
    "summarized": (Fate.SUMMARIZED, _summarized),
    "abridged": (Fate.ABRIDGED, _abridged),
    "dropped": (Fate.DROPPED, _dropped),
}


def _sources() -> dict[str, Path]:
    found = [path for path in SAMPLES.iterdir() if path.name != "README.md"]
    real = [path for name in ("sessions", "sessions-more") for path in ((SHARED or SAMPLES) / name).rglob("*")]
    small = [path for path in real if path.is_file() and path.stat().st_size < SMALL]
    return {str(path.relative_to(path.parents[1])): path for path in sorted([*found, *small])}


SOURCES = _sources()


@cache
def opened(name: str) -> Session | None:
    """The session; None for a file that holds none, or nothing that is sent."""
    try:
        session = load(SOURCES[name])
    except BadInput:
        return None
    return session if any(not message.is_own_system for message in session.context()) else None


def _holds(session: Session, outcome: Outcome, target: str, folder: Path) -> None:
    made = export(session, outcome.messages, target)
    open_calls = any(pair.result is None or pair.call is None for pair in pairs_of(outcome.messages))
    assert open_calls or not made.problems, (target, made.problems)
    save(made, folder / f"{target.replace(':', '-')}-{made.written.name}")


@pytest.mark.parametrize("name", mostly_full(SOURCES, samples_among(SOURCES)))
def test_in_its_own_format(name: str, tmp_path: Path) -> None:
    session = opened(name)
    if session is None:
        pytest.skip("no session")
    own = registry.by_id(session.format).codec
    if own.write is None:
        pytest.skip("its format is read only")
    if own.validate and own.validate(session.records.data):
        pytest.skip("the file itself is not valid")
    for becomes, (_, compacted) in BECOMES.items():
        (folder := tmp_path / becomes).mkdir()
        outcome = compacted(session)
        for way in ("", *(f":{form.id}" for form in own.forms)):
            _holds(session, outcome, session.format + way, folder)


LONG = "word " * 400
TALK = session_of(
    [
        Message("s", "system", (Text("Be kind."),)),
        user("u1", f"Mend the hinge. {LONG}"),
        Message("a1", "assistant", (Thinking("hm", "sig"), Text("So."), call("x", path="a"), call("y", path="b"))),
        result("r1", ("x", LONG), ("y", "")),
        agent("a2", "It is mended."),
        user("u2", "And the lock?"),
        agent("a3", "", call("z", command="ls")),
        result("r3", ("z", f"no such file {LONG}"), error=True),
        Message("o", "assistant", (Text(f"Gone. {LONG}"), Opaque("odd", {"type": "odd"}))),
        user("u3", "Make one."),
        agent("a4", "", call("w", command="make")),
        result("r4", ("w", "made")),
        agent("a5", "Done."),
    ],
    model="claude-sonnet-4-5",
    system="Be brief.",
)


@pytest.mark.parametrize("becomes", BECOMES)
def test_in_another_format(becomes: str, tmp_path: Path) -> None:
    fate, compacted = BECOMES[becomes]
    outcome = compacted(TALK)
    assert outcome.fate_counts[fate] > 0
    for target in registry.targets():
        _holds(TALK, outcome, target.id, tmp_path)
