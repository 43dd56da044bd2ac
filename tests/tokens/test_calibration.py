import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.paths import ROOT
from workbench.tokens import Weight, family_of
from workbench.tokens.calibration import CLAUDE, CLAUDE_NEWER, OPENAI, UNKNOWN, Family, Scale, calibrate


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("claude-3-5-sonnet-20241022", CLAUDE),
        ("claude-2.1", CLAUDE),
        ("claude-sonnet-4-20250514", CLAUDE),
        ("claude-sonnet-4-5@20250929", CLAUDE),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", CLAUDE),
        ("anthropic/claude-opus-4.6", CLAUDE),
        ("claude-haiku-4-5-20251001", CLAUDE),
        ("claude-opus-4-6[1m]", CLAUDE),
        ("claude-opus-4-7", CLAUDE_NEWER),
        ("anthropic/claude-opus-4.8:beta", CLAUDE_NEWER),
        ("claude-opus-4-10", CLAUDE_NEWER),
        ("claude-sonnet-5", CLAUDE_NEWER),
        ("claude-opus-5-5", CLAUDE_NEWER),
        ("claude-fable-5-1", CLAUDE_NEWER),
        ("claude-mythos-5", CLAUDE_NEWER),
        ("claude-mythos-preview", CLAUDE_NEWER),
        ("gpt-4o-2024-08-06", OPENAI),
        ("openai/gpt-5.1-codex", OPENAI),
        ("gpt-4.1-mini", OPENAI),
        ("o3", OPENAI),
        ("gpt-4", UNKNOWN),
        ("gpt-3.5-turbo", UNKNOWN),
        ("gemini-3-pro-preview", UNKNOWN),
        ("<synthetic>", UNKNOWN),
        ("", UNKNOWN),
        (None, UNKNOWN),
    ],
)
def test_families_by_name(model: str | None, family: Family) -> None:
    assert family_of(model) is family


def test_the_coefficients_are_those_of_the_table_in_docs() -> None:
    lines = (ROOT / "docs" / "tokens.md").read_text("utf-8").splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|")][2:]
    told = {name: [float(cell.split()[0].rstrip(",")) for cell in cells] for name, *cells in rows}
    known = (CLAUDE, CLAUDE_NEWER, OPENAI)
    assert told == {one.id: [one.other, one.assistant, one.signature, one.pair] for one in known}
    pair = (Weight(0, calls=1), Weight(0, results=1))
    assert CLAUDE.tokens("user", Weight(100)) == pytest.approx(110)
    assert CLAUDE.tokens("tool", Weight(100)) == pytest.approx(110)
    assert CLAUDE.tokens("assistant", Weight(100, signature=500)) == pytest.approx(118)
    assert CLAUDE.tokens("assistant", pair[0]) + CLAUDE.tokens("tool", pair[1]) == 84
    assert CLAUDE_NEWER.tokens("tool", Weight(100)) == pytest.approx(144)
    assert CLAUDE_NEWER.tokens("assistant", Weight(100, signature=500)) == pytest.approx(117 + 140)
    assert CLAUDE_NEWER.tokens("assistant", pair[0]) + CLAUDE_NEWER.tokens("tool", pair[1]) == 106
    assert OPENAI.tokens("assistant", Weight(100)) == 104
    assert UNKNOWN.tokens("user", Weight(100, media=7)) == 107


def test_without_bills_nothing_is_scaled() -> None:
    assert calibrate([]) == Scale(1.0, 0)
    assert calibrate([(0, 10.0), (5, 0.0)]) == Scale(1.0, 0)


def test_few_bills_move_the_scale_little_and_many_nearly_all_the_way() -> None:
    once = calibrate([(150, 100.0)])
    assert once.value == pytest.approx(1 + 0.5 / 11)
    assert once.calls == 1
    assert calibrate([(150, 100.0)] * 990).value == pytest.approx(1.495)


def test_outliers_do_not_bend_the_scale() -> None:
    assert calibrate([(100, 100.0)] * 9 + [(300, 100.0)] * 4).value == 1.0
    assert calibrate([(900, 100.0)] * 90).value == pytest.approx(1.9)
    assert calibrate([(1, 100.0)] * 90).value == pytest.approx(0.55)


@given(st.lists(st.tuples(st.integers(-10, 10**6), st.floats(0, 1e6)), max_size=30))
def test_the_scale_is_bounded(deltas: list[tuple[int, float]]) -> None:
    assert 0.5 <= calibrate(deltas).value <= 2
