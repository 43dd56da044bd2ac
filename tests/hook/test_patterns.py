"""Compiled patterns that are kept for the next event."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.msgpack import encode

from workbench.hook import patterns
from workbench.hook.patterns import Compiled

SEVERAL = (
    (r"(?<!\w)(?P<verb>push|pull)(?:ed)? (?:to|from) (?P<name>[\w/-]{2,40})(?!\w)", re.IGNORECASE),
    (r"^\s*[-*] (.+)$", re.MULTILINE),
    (r"[\u3400-\u9fff]{2}|Ä(?i:b)", 0),
)
TEXT = "Pushed to main, never pull from x/y.\n- 漢字 Äb item\nrepush to z"


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch) -> dict[object, re.Pattern[str]]:
    """The cache of `re`, empty and undone at the end."""
    empty: dict[object, re.Pattern[str]] = {}
    monkeypatch.setattr(re, "_cache", empty)
    monkeypatch.setattr(re, "_MAXCACHE", re._MAXCACHE)  # type: ignore[attr-defined]
    return empty


def _store() -> Path:
    with patterns._recorded() as found:
        made = [re.compile(pattern, flags) for pattern, flags in SEVERAL]
    assert [one.pattern for one in made] == [pattern for pattern, _ in found]
    place = patterns.store_of(patterns.BEFORE)
    place.parent.mkdir(parents=True)
    place.write_bytes(encode(list(found.values())))
    return place


def test_a_loaded_pattern_is_the_compiled_one(cache: dict[object, re.Pattern[str]]) -> None:
    _store()
    cache.clear()
    assert patterns.load(patterns.BEFORE)
    assert len(cache) == len(SEVERAL)
    for pattern, flags in SEVERAL:
        loaded = re.compile(pattern, flags)
        assert loaded is cache[str, pattern, int(flags)]
        cache.clear()
        compiled = re.compile(pattern, flags)
        assert compiled is not loaded
        assert (loaded.pattern, loaded.flags, loaded.groups) == (compiled.pattern, compiled.flags, compiled.groups)
        assert loaded.groupindex == compiled.groupindex
        found = [
            [(one.span(), one.groups(), one.lastgroup) for one in each.finditer(TEXT)] for each in (loaded, compiled)
        ]
        assert found[0] == found[1] != []
        patterns.load(patterns.BEFORE)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no msgpack",
        encode([1]),
        encode([Compiled("a", 0, 32, b"\xff" * 400, 0, {})]),
        encode([Compiled("a", 0, 32, b"odd", 0, {})]),
        encode([Compiled("(?P<b>a)", 0, 32, b"\x01\x00\x00\x00", 0, {"b": 7})]),
    ],
)
def test_a_damaged_store_changes_nothing(cache: dict[object, re.Pattern[str]], data: bytes) -> None:
    place = _store()
    cache.clear()
    place.write_bytes(data)
    assert not patterns.load(patterns.BEFORE)
    assert cache == {}
    assert re.fullmatch("a", "a")


def test_there_is_no_store_at_first(cache: dict[object, re.Pattern[str]]) -> None:
    assert not patterns.load(patterns.AFTER)
