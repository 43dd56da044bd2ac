"""What the package of models says, and how it lies under the tables."""

from __future__ import annotations

import json
import sys
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from workbench.tokens import Prices
from workbench.tokens import find_model as find
from workbench.tokens.models import BUNDLED, read_table, sources
from workbench.tokens.packaged import Packaged, _entry, packaged, packaged_by


def test_a_model_that_no_table_names_is_known_by_the_package() -> None:
    found = find("glm-5")
    assert found is not None
    assert (found.source, found.window > 100_000, found.prices is not None) == ("genai-prices", True, True)


def test_the_bundled_table_has_only_what_the_package_lacks() -> None:
    """An output limit, other names, what is unknown there: never a price or a window that it has just so."""
    said = packaged().models
    for info in read_table(BUNDLED, package=packaged()):
        if info.id in said:
            assert (info.source, info.prices is not None) == ("genai-prices", True), info.id


def test_the_packages_fields_lie_under_the_tables(tmp_path: Path) -> None:
    package = Packaged(
        "1", {"model-9.1-latest": {"title": "Nine", "window": 9_000, "prices": {"input": 1, "output": 2}}}
    )
    table, own = tmp_path / "a.toml", tmp_path / "b.toml"
    table.write_text('[[model]]\nid = "model-9-1"\nmax_output = 500\n')
    own.write_text('[[model]]\nid = "model-9-1"\nwindow = 7_000\n')
    (found,) = read_table(table, own, package=package)
    assert (found.title, found.window, found.max_output) == ("Nine", 7_000, 500)
    assert (found.prices, found.source) == (Prices(1, 2), "genai-prices")
    own.write_text('[[model]]\nid = "model-9-1"\nprices = { input = 3, output = 4 }\n')
    (found,) = read_table(table, own, package=package)
    assert (found.window, found.prices, found.source) == (9_000, Prices(3, 4), "your table of models")


def test_it_is_asked_once_for_each_of_its_versions(tmp_path: Path) -> None:
    kept = tmp_path / "cache" / "models.json"
    first = packaged_by(kept)
    document = json.loads(kept.read_text())
    assert (document["version"], document["models"]) == (first.version, dict(first.models))
    kept.write_text(json.dumps({**document, "models": {"a": {"title": "A"}}}))
    assert packaged_by(kept) == Packaged(first.version, {"a": {"title": "A"}})
    for damaged in (json.dumps({**document, "stamp": "other", "models": {}}), "[]", "{", "{}"):
        kept.write_text(damaged)
        assert packaged_by(kept) == first
        assert json.loads(kept.read_text()) == document


def test_it_never_renews_itself_over_the_network(tmp_path: Path) -> None:
    from genai_prices.data_snapshot import get_snapshot

    packaged_by(tmp_path / "models.json")
    assert find("gpt-5.5") is not None
    assert not get_snapshot().from_auto_update


def priced(prices: Any) -> Any:
    return SimpleNamespace(id="m", name="M", context_window=10, prices=prices)


def price(input: int, **more: Any) -> Any:
    return SimpleNamespace(input_mtok=Decimal(input), output_mtok=Decimal(2), **more)


def test_the_prices_of_today_are_taken() -> None:
    today = datetime.now(UTC).date()

    def since(day: date) -> Any:
        return SimpleNamespace(start_date=day)

    hours = SimpleNamespace(constraint=SimpleNamespace(start_time=1), prices=price(7))
    old, new, next_year = (
        SimpleNamespace(constraint=since(day), prices=price(cost))
        for day, cost in ((date(2025, 1, 1), 3), (today, 4), (today.replace(year=today.year + 1, day=1), 5))
    )
    usual = SimpleNamespace(constraint=None, prices=price(1))
    for given, expected in (
        ([usual], 1), ([usual, old], 3), ([usual, old, new, next_year], 4), ([usual, hours], 1), ([hours], 7),
    ):  # fmt: skip
        assert _entry(priced(given))["prices"]["input"] == expected


def test_tiers_are_the_prices_of_long_prompts() -> None:
    tiers = SimpleNamespace(base=Decimal(1), tiers=[SimpleNamespace(start=200, price=Decimal(3))])
    found = _entry(priced(SimpleNamespace(input_mtok=tiers, output_mtok=Decimal(5), cache_read_mtok=None)))
    assert found == {
        "title": "M",
        "window": 10,
        "prices": {"input": 1.0, "output": 5.0},
        "long_from": 200,
        "long_prices": {"input": 3.0, "output": 5.0},
    }
    assert _entry(priced([])) == {"title": "M", "window": 10}


def test_who_says_it_is_told_with_version_and_date() -> None:
    package, _, table = sources().partition(", and a table of ")
    assert package == f"genai-prices {packaged().version}"
    assert datetime.strptime(table[:10], "%Y-%m-%d").replace(tzinfo=UTC).year >= 2026


@pytest.mark.parametrize("name", ["genai_prices", "httpx2"])
def test_it_is_not_imported_with_the_room(name: str) -> None:
    import subprocess

    code = f"import sys, workbench.tokens.models; print({name!r} in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_an_entry_has_the_figures_that_the_package_has_under_an_alias(tmp_path: Path) -> None:
    file = tmp_path / "models.toml"
    file.write_text('[[model]]\nid = "mine"\naliases = ["theirs"]\n', encoding="utf-8")
    package = Packaged("1", {"theirs": {"window": 7, "prices": {"input": 1, "output": 2}}})
    (found,) = read_table(file, package=package)
    assert (found.id, found.window, found.prices) == ("mine", 7, Prices(1, 2))
