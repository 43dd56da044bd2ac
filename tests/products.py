"""Products of formats, strategies and sessions: `make test` runs a value for each path, `make test-all` every value."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def mostly_full(values: Iterable[Any], in_short: Collection[Any]) -> list[Any]:
    """Values to parametrize with, of which those `in_short` run in `make test`, too."""
    return [one if one in in_short else pytest.param(one, marks=pytest.mark.full) for one in values]
