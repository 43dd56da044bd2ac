"""Products of formats, strategies and sessions: `make test` runs a value for each path, `make test-all` every value."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.paths import SAMPLES


def mostly_full(values: Iterable[Any], in_short: Collection[Any]) -> list[Any]:
    """Values to parametrize with, of which those `in_short` run in `make test`, too."""
    return [one if one in in_short else pytest.param(one, marks=pytest.mark.full) for one in values]


def one_for_each_folder(files: Mapping[str, Path]) -> set[str]:
    """The names of all samples and of one real session of each folder, which holds those of one agent."""
    return {name for name, path in files.items() if path.is_relative_to(SAMPLES)}.union(
        {path.parent: name for name, path in files.items()}.values()
    )
