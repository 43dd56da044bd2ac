"""Words as they are compared."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from workbench.facts.terms import stem

WORDS = [f"{head}{end}" for head in ("abend", "bearbeit", "datei", "verhandl", "x") for end in ("", "en", "ungen")] * 40


@pytest.fixture
def threads_that_take_turns_often() -> Iterator[None]:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("threads_that_take_turns_often")
def test_several_threads_take_endings_off_at_once() -> None:
    bare = stem.__wrapped__  # each time anew: the cache would ask once for a word
    alone = [bare(word, "german") for word in WORDS]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda _: [bare(word, "german") for word in WORDS], range(6)))
    assert together == [alone] * 6
