"""A prompt that is too long is cut by the stated rule, and is a new prompt each time."""

from hypothesis import given
from hypothesis import strategies as st

from workbench.summarizers.wire import LEAST, MARGIN, STEP, cut_middle


def test_the_middle_goes_and_what_is_asked_stays() -> None:
    text = "Sum up.\n" + "a" * 10_000 + "b" * 10_000
    got = cut_middle(text, "Sum up.")
    assert got is not None
    assert got.startswith("Sum up.\naaa")
    assert got.endswith("bbb")
    assert abs(len(got) - 7 - STEP * 20_001) <= 1
    assert f"{len(text) - len(got):,}"[:2] in got


def test_the_servers_figures_cut_deeper() -> None:
    text = "x" * 100_000
    got = cut_middle(text, "", room=0.4)
    assert got is not None
    assert abs(len(got) - 100_000 * 0.4 * MARGIN) <= 1


def test_a_little_text_is_not_cut() -> None:
    assert cut_middle("x" * LEAST, "") is None
    assert cut_middle("prompt " * 1_000 + "x" * 100, "prompt " * 1_000) is None
    assert cut_middle("x" * 100_000, "", room=0.001) is None


@given(st.integers(0, 50_000), st.integers(0, 2_000), st.none() | st.floats(0, 1.5))
def test_every_cut_is_shorter_and_ends(size: int, asked: int, room: float | None) -> None:
    prompt = "p" * asked
    text: str | None = prompt + "m" * size
    steps = 0
    while text is not None:
        smaller = cut_middle(text, prompt, room)
        assert smaller is None or (len(smaller) < len(text) and smaller.startswith(prompt))
        text = smaller
        steps += 1
    assert steps < 40
