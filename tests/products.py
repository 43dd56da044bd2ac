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


def samples_among(files: Mapping[str, Path]) -> set[str]:
    return {name for name, path in files.items() if path.is_relative_to(SAMPLES)}


LEAST = 16_000
"""Bytes of a session with several rounds."""


def one_for_each_folder(files: Mapping[str, Path]) -> set[str]:
    """The names of all samples, and of one file and one folder of real sessions for each folder, which holds those of
    one agent: the smallest of at least `LEAST` bytes, or the largest."""
    real = [name for name, path in files.items() if not path.is_relative_to(SAMPLES)]
    size = {name: files[name].stat().st_size for name in real}
    # The last one of a folder counts: large ones from the largest down, after the small ones in their order.
    order = sorted(real, key=lambda name: (size[name] >= LEAST, -size[name] if size[name] >= LEAST else size[name]))
    return (files.keys() - {*real}) | {*{(files[name].parent, files[name].is_dir()): name for name in order}.values()}
