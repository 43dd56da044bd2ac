import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.paths import ROOT
from workbench.tokens import Weight
from workbench.tokens.calibration import CLAUDE, CLAUDE_NEWER, OPENAI, UNKNOWN, Scale, calibrate


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
