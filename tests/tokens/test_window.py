"""Which window is in force: the one given, else the one recorded for the epoch, else the one that the table knows."""

from __future__ import annotations

import re
from array import array
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.analysis.sweep.cells import sweep_file
from workbench.analysis.sweep.plan import plan_of
from workbench.api import context, replay, why
from workbench.bench import Bench, at_epoch, open_bench, with_limit, with_window
from workbench.compaction.preset import load_preset
from workbench.conformance.building import agent, session_of, user
from workbench.formats.files import load
from workbench.formats.glance import SessionGlance
from workbench.formats.registry import formats
from workbench.session import Epoch, Session
from workbench.tokens import Counter
from workbench.tokens.models import find
from workbench.tokens.window import Allowance, Source, Window, allowances, fullness, known_window, still, window_of

OWN_LIST = "by Codex's own list of models (0.169.0, 2026-11-22)"
OPUS, SONNET_LONG = "claude-opus-4-5", "claude-sonnet-4-5[1m]"
OPUS_ANSWER = 64_000
"""Tokens of its longest answer."""
REAL = [
    ("sessions/codex/agentcmd-2025-09-25T15.jsonl", [272_000]),
    ("sessions/codex/agentv-a60726a-2compacted.jsonl", [258_400] * 3),
    ("sessions/codex/localpush-2026-02-23.jsonl", [258_400]),
    ("sessions-more/codex/agentcmd-2025-09-25T09.jsonl", [272_000]),
    ("sessions-more/codex/agentv-6eaddfe-3compacted.jsonl", [258_400] * 4),
    ("sessions/openai-chat/openhands-litellm-log.json", [200_000]),
    ("sessions/openhands/v1-conv-cd945624", [128_000]),
    # Copilot CLI 1.0.68 and 1.0.74 record no window.
    ("sessions/copilot-cli/agentv-6a6787e-short.jsonl", [None]),
    ("sessions/copilot-cli/starcar-84e7f6f-compaction.jsonl", [None] * 2),
    ("sessions-more/copilot-cli/starcar-a9fe109-compactions.jsonl", [None] * 2),
]


@pytest.mark.parametrize(
    ("given", "recorded", "agent", "model", "window"),
    [
        (100_000, 258_400, "pi", OPUS, "100 000 tokens, set for this session"),
        (None, 258_400, "pi", OPUS, "258 400 tokens, recorded by the session"),
        (None, 1, "pi", OPUS, "1 tokens, recorded by the session"),
        (None, None, "pi", OPUS, "200 000 tokens, by the table of models"),
        (None, None, "pi", SONNET_LONG, "1 000 000 tokens, by the table of models"),
        (None, 258_400, "pi", "unheard of", "258 400 tokens, recorded by the session"),
        (None, None, "pi", "unheard of", "None"),
        (None, None, "pi", None, "None"),
        (100_000, None, "codex", "gpt-5.5", "100 000 tokens, set for this session"),
        (None, 272_000, "codex", "gpt-5.5", "272 000 tokens, recorded by the session"),
        (None, None, "codex", "gpt-5.5", f"258 400 tokens, {OWN_LIST}"),
        (None, None, "codex", "openai/gpt-5-codex", f"258 400 tokens, {OWN_LIST}"),
        (None, None, "codex", "gpt-6.1-terra", f"475 000 tokens, {OWN_LIST}"),
        (None, None, "codex", "gpt-6.1-terrain", f"258 400 tokens, {OWN_LIST}"),
        (None, None, "codex", "gpt-50", "None"),
        (None, None, "codex", None, "None"),
        (None, None, "openai-responses", "gpt-5.5", "1 000 000 tokens, by the table of models"),
    ],
)
def test_who_says_more(given: int | None, recorded: int | None, agent: str, model: str | None, window: str) -> None:
    assert str(known_window(given, recorded, agent, model)) == window


@pytest.mark.parametrize("one", allowances(), ids=lambda one: f"{one.agent}-{one.models[0]}")
def test_what_an_agent_gives_is_less_than_the_api_takes_and_says_by_whom_and_when(one: Allowance) -> None:
    assert any(known.id == one.agent for known in formats())
    assert re.fullmatch(r"by .+ \(.*\d+\.\d+\.\d+.*, \d{4}-\d\d-\d\d\)", one.stated_by)
    known = [found.window for beginning in one.models if (found := find(beginning))]
    assert all(one.window < window for window in known)


GIVEN, RECORDED, SETTINGS = Window(1, "given"), Window(2, "recorded"), Window(3, "settings")


@pytest.mark.parametrize(
    ("old", "found", "then"),
    [
        (GIVEN, RECORDED, GIVEN),
        (GIVEN, None, GIVEN),
        (RECORDED, Window(9, "table"), Window(9, "table")),
        (RECORDED, None, None),
        (SETTINGS, None, SETTINGS),
        (SETTINGS, RECORDED, RECORDED),
        (None, RECORDED, RECORDED),
    ],
)
def test_only_what_a_person_said_goes_along(old: Window | None, found: Window | None, then: Window | None) -> None:
    assert still(old, found) == then


def changing() -> Session:
    """Three epochs: one of 258 400, one of 121 600, and one of another model that records none."""
    messages = (user("u1", "one"), agent("a1", "1"), user("u2", "two"), agent("a2", "2"), user("u3", "3"))
    messages = tuple(replace(one, model="gpt-5" if one.id == "a1" else OPUS) for one in messages)
    spans = (([0, 1], 258_400), ([0, 1, 2, 3], 121_600), ([4], None))
    epochs = tuple(Epoch(n, array("q", members), window=window) for n, (members, window) in enumerate(spans, 1))
    return session_of(messages, epochs=epochs, model=OPUS)


def bench_of(session: Session, epoch: int) -> Bench:
    return open_bench(session, Counter(), epoch=epoch)


def test_each_epoch_has_its_own_window_everywhere() -> None:
    session, windows = changing(), [258_400, 121_600, 200_000]
    assert [window_of(session, epoch) for epoch in (1, 2, 3)] == [
        Window(258_400, "recorded", answer=128_000),
        Window(121_600, "recorded", answer=OPUS_ANSWER),
        Window(200_000, "table", answer=OPUS_ANSWER),
    ]
    assert [context(session, epoch=epoch).window for epoch in (1, 2, 3)] == windows
    assert [bench_of(session, epoch).window for epoch in (1, 2, 3)] == windows
    assert [found.tokens for n in (1, 2, 3) if (found := why(session, epoch=n).window)] == windows
    assert [replay(session, presets="codex", epoch=epoch)[0].window for epoch in (1, 2, 3)] == windows


def test_an_earlier_epoch_without_a_record_has_the_window_of_the_model_that_answered_there() -> None:
    session = changing()
    plain = replace(session, epochs=tuple(replace(epoch, window=None) for epoch in session.epochs))
    gpt, opus = known_window(None, None, "made", "gpt-5"), known_window(None, None, "made", OPUS)
    assert gpt != opus
    assert [window_of(plain, epoch) for epoch in (1, 2, 3)] == [gpt, opus, opus]


def test_another_epoch_on_the_bench_brings_its_window_unless_one_was_given() -> None:
    first = bench_of(changing(), 1)
    assert at_epoch(first, 2, Counter()).original.limit == Window(121_600, "recorded", answer=OPUS_ANSWER)
    given = with_window(first, 50_000)
    assert (given.user_window, at_epoch(given, 2, Counter()).original.limit) == (
        50_000,
        Window(50_000, "given", answer=128_000),
    )
    assert with_window(given, None).original.limit == Window(258_400, "recorded", answer=128_000)
    assert with_limit(first, SETTINGS).user_window is None


@pytest.mark.parametrize(("name", "windows"), REAL)
def test_the_window_that_a_real_session_records(name: str, windows: list[int | None], shared: Path) -> None:
    session = load(shared / name)
    assert [epoch.window for epoch in session.epochs] == windows
    sources = [found.source for n in range(len(windows)) if (found := window_of(session, n + 1))]
    assert sources == ["recorded" if window else "agent" if "starcar" in name else "table" for window in windows]
    assert not [warning for warning in session.warnings if "context window" in warning.text]


@pytest.mark.parametrize(("window", "compactions"), [(None, 1), (272_000, 1), (400_000, 0)])
def test_a_sweep_plays_under_the_recorded_window(window: int | None, compactions: int, shared: Path) -> None:
    """10 % of 272 000 are reached, 10 % of the 400 000 that the table has are not."""
    plan = plan_of(load_preset("codex"), ["trigger_window_percent=10"], window, retained=False)
    (cell,) = sweep_file(str(shared / REAL[0][0]), plan, plan.settings)
    assert (cell.error, cell.compactions) == ("", compactions)


@pytest.mark.parametrize(
    ("agent", "model", "provider", "window", "answer"),
    [
        ("opencode", "claude-sonnet-4.6", "github-copilot", 128_000, 20_000),
        ("opencode", "claude-sonnet-4.6", "anthropic", 200_000, None),
        ("opencode", "claude-sonnet-4.6", "", 200_000, None),
        ("pi", "claude-sonnet-4.6", "github-copilot", 200_000, None),
        ("pi", "claude-3-haiku", "", 200_000, 4_096),
    ],
)
def test_a_providers_own_limit_and_the_room_for_an_answer(
    agent: str, model: str, provider: str, window: int, answer: int | None
) -> None:
    found = known_window(None, None, agent, model, provider)
    assert found is not None
    assert (found.tokens, found.answer) == (window, answer)


@pytest.mark.parametrize("source", ["table", "agent", "recorded"])
def test_c_a_window_that_nobody_gave_gives_way_to_a_newer_one(source: Source) -> None:
    old = Window(200_000, source)
    for newer in (Window(1_000_000, "table"), Window(1_000_000, "agent"), Window(1_000_000, "recorded")):
        assert still(old, newer) == newer
    assert still(old, None) is None


@pytest.mark.parametrize(
    ("tokens", "window", "share"),
    [(50_000, 200_000, 0.25), (250_000, 200_000, 1.25), (None, 200_000, None), (0, 200_000, None), (9, None, None)],
)
def test_the_share_of_the_window_that_a_session_fills(
    tokens: int | None, window: int | None, share: float | None
) -> None:
    one = SessionGlance(Path("s.jsonl"), 1, 0.0, "pi", "Pi", tokens=tokens, window=window)
    assert fullness(one) == share
