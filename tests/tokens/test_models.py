import json
from pathlib import Path

import pytest

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.tokens import Prices, all_models, family_of
from workbench.tokens import find_model as find
from workbench.tokens.calibration import CLAUDE, CLAUDE_NEWER, OPENAI, UNKNOWN
from workbench.tokens.models import BUNDLED, read_table

NAMES = json.loads(Path(__file__).with_name("names.json").read_text("utf-8"))
"""Names as providers write them; the model of each, null where it is not in the table, and its family."""

FAMILIES = {family.id: family for family in (CLAUDE, CLAUDE_NEWER, OPENAI, UNKNOWN)}


@pytest.mark.parametrize(("name", "id"), [*NAMES["models"].items(), (None, None)])
def test_models_are_found_by_the_names_providers_use_and_never_guessed(name: str | None, id: str | None) -> None:
    found = find(name)
    assert (found and found.id) == id


@pytest.mark.parametrize(("name", "id"), [*NAMES["families"].items(), (None, UNKNOWN.id)])
def test_families_by_name(name: str | None, id: str) -> None:
    assert family_of(name) is FAMILIES[id]


def test_figures_of_the_table() -> None:
    opus = find("claude-opus-4-5")
    assert opus is not None
    assert (opus.window, opus.max_output) == (200_000, 64_000)
    assert opus.prices == Prices(5, 25, 0.5, 6.25)


def test_a_long_window_has_to_be_asked_for() -> None:
    short, long = find("claude-sonnet-4-5"), find("claude-sonnet-4-5[1m]")
    assert short is not None
    assert long is not None
    assert (short.window, long.window) == (200_000, 1_000_000)


def test_the_table_is_dated_and_consistent() -> None:
    assert "As of 20" in BUNDLED.read_text(encoding="utf-8").splitlines()[0]
    names = [name for info in all_models() for name in (info.id, *info.aliases)]
    assert len(names) == len(set(names)) > 40
    for info in all_models():
        assert find(info.id) == info
        assert info.window >= (info.max_output or 0)
        assert (info.long_window or info.window) >= info.window
        assert (info.long_from is None) == (info.long_prices is None)
        for prices in (info.prices, info.long_prices):
            if prices is not None:
                assert 0 < prices.input < prices.output
                assert (prices.cache_read or 0) < prices.input <= (prices.cache_write or prices.input)
        assert (family_of(info.id) is UNKNOWN) == info.id.startswith("gemini")


def write_user_table(text: str) -> Path:
    path = paths.models()
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_users_table_corrects_and_adds() -> None:
    write_user_table(
        '[[model]]\nid = "claude-opus-4-5"\nwindow = 180_000\n'
        '[[model]]\nid = "my-model"\nwindow = 32000\nprices = { input = 1, output = 2 }\n'
    )
    opus, mine = find("claude-opus-4-5-20251101"), find("local/my-model")
    assert opus is not None
    assert (opus.window, opus.max_output, opus.title) == (180_000, 64_000, "Claude Opus 4.5")
    assert mine is not None
    assert (mine.title, mine.window, mine.prices) == ("my-model", 32_000, Prices(1, 2))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[model", "cannot be read"),
        ('model = "x"', r"write each as \[\[model\]\]"),
        ("[[model]]\nwindow = 1", "number 1 has no id"),
        ('[[model]]\nid = "m"', "`window` is missing"),
        ('[[model]]\nid = "m"\nwindow = "big"', "'m': `window` must be a whole number"),
        ('[[model]]\nid = "m"\nwindow = 0', "`window` must be a whole number"),
        ('[[model]]\nid = "m"\nwindow = true', "`window` must be a whole number"),
        ('[[model]]\nid = "m"\nwindow = 5\nwindwo = 6', "`windwo` is not a field"),
        ('[[model]]\nid = "m"\nwindow = 5\ntitle = 6', "`title` must be a text"),
        ('[[model]]\nid = "m"\nwindow = 5\naliases = "n"', "`aliases` must be a list"),
        ('[[model]]\nid = "m"\nwindow = 5\nprices = { input = 1 }', "`prices` must be a table with at least"),
        ('[[model]]\nid = "m"\nwindow = 5\nprices = { input = 1, output = -2 }', "`prices.output` must be a number"),
        ('[[model]]\nid = "m"\nwindow = 5\nprices = { input = nan, output = 2 }', "`prices.input` must be a number"),
        (
            '[[model]]\nid = "m"\nwindow = 5\nprices = { input = 1, output = 2, tax = 3 }',
            "`prices.tax` is not a price; the prices are input, output, cache_read, cache_write",
        ),
    ],
)
def test_a_broken_users_table_is_named_with_its_field(text: str, says: str) -> None:
    path = write_user_table(text)
    with pytest.raises(BadInput, match=says) as refused:
        find("claude-opus-4-5")
    assert str(refused.value).startswith(f"{path}: ")


def test_a_table_that_is_not_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "models.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match=r"models\.toml: the table of models cannot be read"):
        read_table(tmp_path / "models.toml")
