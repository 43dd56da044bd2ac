"""Tokens written to the cache again: number and cause at the limits of each, by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from workbench.analysis.session_cost import CauseTotal, Rewrite, Rewrites, rewrites
from workbench.conformance.building import user
from workbench.formats.files import load
from workbench.session import Epoch, Message, Records, Session, Text, Usage

OPUS = "claude-opus-4-5"
"""$5 in, $0.5 from the cache and $6.25 into it, a million tokens each: a token again costs $5.75 a million more."""


def call(id: str, read: int, written: int, *, at: float = 0.0, model: str = OPUS, **usage: int) -> Message:
    billed = Usage(0, 5, cache_read=read, cache_write=written, **usage)
    return Message(id, "assistant", (Text("x"),), time=at, usage=billed, model=model)


def session(*calls: Message, epochs: tuple[Epoch, ...] = ()) -> Session:
    """The calls behind a request of 4 000 characters: of the first prompt of 20 000, 18 778 are system and tools."""
    return Session("pi", None, (user("u", "x" * 4_000), *calls), Records(b""), epochs=epochs, model=OPUS)


def again(*calls: Message, epochs: tuple[Epoch, ...] = ()) -> list[tuple[str, str, int]]:
    found = rewrites(session(*calls, epochs=epochs))
    assert found is not None
    return [(one.message, one.cause, one.tokens) for one in found.again]


FIRST = call("a", 0, 20_000)


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        (call("b", 20_000, 5_000, at=10), []),  # all that stood before is read
        (call("b", 18_976, 6_024, at=10), []),  # 1 024 tokens less: rounding
        (call("b", 18_975, 6_025, at=10), [("b", "within", 1_025)]),
        (call("b", 9_389, 15_611, at=10), [("b", "within", 10_611)]),  # half of system prompt and tools
        (call("b", 9_388, 15_612, at=10), [("b", "start", 10_612)]),
        (call("b", 0, 25_000, at=10), [("b", "start", 20_000)]),  # what is new is not written again
        (call("b", 0, 25_000, at=300), [("b", "start", 20_000)]),
        (call("b", 0, 25_000, at=300.1), [("b", "expiry", 20_000)]),
        (call("b", 0, 25_000, at=300.1, model="claude-opus-4-6"), [("b", "model", 20_000)]),
        (call("b", 0, 8_000, at=10), [("b", "start", 8_000)]),  # a shorter prompt was written whole
        (call("b", 8_000, 0, at=10), []),  # one that was taken back is the beginning of the one before
    ],
)
def test_rewritten_tokens_by_cause(second: Message, expected: list[tuple[str, str, int]]) -> None:
    assert again(FIRST, second) == expected


def test_a_twentieth_of_a_large_prompt_is_rounding() -> None:
    first = call("a", 0, 100_000)
    assert again(first, call("b", 95_000, 6_000, at=10)) == []
    assert again(first, call("b", 94_999, 6_001, at=10)) == [("b", "within", 5_001)]


def test_the_first_call_after_a_compaction_writes_all_that_it_does_not_read() -> None:
    compacted = (Epoch(1, [0, 1]), Epoch(2, [2, 3]))
    assert again(FIRST, call("b", 5_000, 9_000, at=900), call("c", 14_000, 90, at=910), epochs=compacted) == [
        ("b", "compaction", 9_000)
    ]


def test_answers_of_two_epochs_count_once_and_copies_never() -> None:
    kept = (Epoch(1, [0, 1, 2]), Epoch(2, [2, 3, 4], copies=frozenset([3])))
    calls = (FIRST, call("b", 0, 20_000, at=10), call("c", 0, 9_000), call("d", 0, 12_000, at=20))
    assert again(*calls, epochs=kept) == [("b", "start", 20_000), ("d", "compaction", 12_000)]
    found = rewrites(session(*calls, epochs=kept))
    assert found is not None
    assert (found.calls, found.written) == (3, 52_000)


@pytest.mark.parametrize(("seconds", "cause"), [(3_600, "start"), (3_601, "expiry")])
def test_a_cache_lives_as_long_as_is_recorded_with_its_last_write(seconds: int, cause: str) -> None:
    first = call("a", 0, 20_000, cache_life=3_600)
    assert again(first, call("b", 0, 21_000, at=seconds)) == [("b", cause, 20_000)]


@pytest.mark.parametrize(("seconds", "cause"), [(900, "start"), (901, "expiry")])
def test_where_no_life_is_recorded_a_cache_that_outlived_a_pause_lives_as_long(seconds: int, cause: str) -> None:
    calls = (FIRST, call("b", 20_000, 100, at=900), call("c", 0, 20_200, at=900 + seconds))
    assert again(*calls) == [("c", cause, 20_100)]


def test_calls_that_a_fork_replays_are_the_parents() -> None:
    """They are no calls of this session, and what they sent is what the first own call would have read."""
    replayed = [call("a", 0, 20_000), call("b", 0, 21_000, at=10)]
    replayed = [replace(one, usage=replace(one.usage, replayed=True)) for one in replayed if one.usage]
    found = rewrites(session(*replayed, call("c", 0, 22_000, at=20)))
    assert found is not None
    assert (found.calls, found.written) == (1, 22_000)
    assert [(one.call, one.message, one.tokens) for one in found.again] == [(1, "c", 21_000)]


def test_totals_and_costs_by_cause() -> None:
    calls = (FIRST, call("b", 0, 21_000, at=400), call("c", 0, 22_000, at=800), call("d", 0, 23_000, at=810))
    found = rewrites(session(*calls))
    assert found is not None
    assert found.by_cause == (
        CauseTotal("expiry", 2, 41_000, pytest.approx(41_000 * 5.75e-6)),
        CauseTotal("start", 1, 22_000, pytest.approx(22_000 * 5.75e-6)),
    )
    assert found.again[0] == Rewrite(2, 1, "b", "expiry", 20_000, 400.0, pytest.approx(0.115))
    assert str(found) == "63 000 of 86 000 tokens in the whole session, $0.36 more than reading them"


def test_usage_without_cache_figures_has_no_rewrites() -> None:
    silent = replace(FIRST, usage=Usage(20_000, 5))
    assert rewrites(session(silent, silent)) is None
    assert rewrites(session()) is None


REAL = [
    ("sessions/claude-code/entire-cd95add-3compactions.jsonl", 225, 1_631_964, (3, 84_170), (11, 1_199_165), (0, 0)),
    ("sessions/claude-code/entire-432b48f-progress.jsonl", 258, 973_636, (2, 82_143), (1, 135_131), (6, 437_343)),
    ("sessions/claude-code/spotter-fa812bfe.jsonl", 157, 261_714, (1, 10_519), (0, 0), (1, 56_329)),
    ("sessions-more/claude-code/entire-dc55b3a-micro-and-full.jsonl", 131, 494_909, (3, 214_983), (0, 0), (1, 6_894)),
    ("sessions-more/claude-code/packmind-946606a-compact.jsonl", 101, 220_723, (1, 22_400), (0, 0), (0, 0)),
    ("sessions-more/claude-code/starcar-071b084-2.1.217.jsonl", 234, 1_930_150, (0, 0), (1, 240_903), (3, 1_046_846)),
    ("sessions/codex/agentv-a60726a-2compacted.jsonl", 217, 1_157_353, (2, 33_208), (1, 50_815), (12, 443_083)),
    ("sessions-more/codex/agentv-6eaddfe-3compacted.jsonl", 327, 1_705_365, (3, 50_878), (1, 50_815), (24, 702_885)),
    ("sessions/pi/pimono-before-compaction.jsonl", 465, 1_632_428, (2, 54_356), (1, 151_829), (9, 980_247)),
    ("sessions/opencode/sbridge-13dddd4-compaction.json", 68, 396_531, (1, 1_664), (2, 101_160), (8, 113_193)),
]
"""Worked out from the raw JSON by a script of its own: calls, tokens not read, then calls and tokens of compactions, of
expiry, and of all else."""


@pytest.mark.parametrize(("name", "calls", "written", "compaction", "expiry", "other"), REAL)
def test_real_sessions_as_their_raw_json_has_it(
    name: str,
    calls: int,
    written: int,
    compaction: tuple[int, int],
    expiry: tuple[int, int],
    other: tuple[int, int],
    shared: Path,
) -> None:
    found = rewrites(load(shared / name))
    assert found is not None
    assert (found.calls, found.written) == (calls, written)
    assert _sums(found, "compaction") == compaction
    assert _sums(found, "expiry") == expiry
    assert _sums(found, "model", "start", "within") == other


def _sums(found: Rewrites, *causes: str) -> tuple[int, int]:
    ones = [one for one in found.by_cause if one.cause in causes]
    return sum(one.calls for one in ones), sum(one.tokens for one in ones)
