import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from workbench.base import paths
from workbench.tokens.cache import CountCache, text_key


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "not yet" / "counts.sqlite"


def keys(n: int) -> list[bytes]:
    return [text_key(str(i), b"test/1") for i in range(n)]


def test_counts_come_back_in_another_run(path: Path) -> None:
    counts = {key: i for i, key in enumerate(keys(2_500))}
    CountCache(path).put(counts)
    again = CountCache(path)
    assert again.get([*counts, b"unknown"]) == counts
    assert again.get([]) == {}
    assert again.trouble == ""


def test_keys_differ_by_text_and_by_family() -> None:
    assert len({text_key("a", b"x"), text_key("b", b"x"), text_key("a", b"y")}) == 3
    assert len(text_key("lone \ud800", b"x")) == 16


@pytest.mark.parametrize("something", ["a diary", "another database"])
def test_a_file_of_something_else_is_left_alone(path: Path, something: str) -> None:
    path.parent.mkdir()
    if something == "a diary":
        path.write_bytes(b"this is my diary\n" * 100)
    else:
        with closing(sqlite3.connect(path)) as base:
            base.execute("CREATE TABLE counts (name TEXT)")
    before, cache = path.read_bytes(), CountCache(path)
    assert cache.get(keys(3)) == {}
    cache.put({keys(1)[0]: 5})
    assert str(path) in cache.trouble
    assert "not used" in cache.trouble
    assert path.read_bytes() == before


def test_a_locked_file_costs_a_recount_not_the_run(path: Path) -> None:
    CountCache(path).put({keys(1)[0]: 7})
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        cache = CountCache(path, lock_seconds=0)
        assert cache.get(keys(1)) == {}
        assert "locked" in cache.trouble
    assert CountCache(path).get(keys(1)) == {keys(1)[0]: 7}


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = CountCache(tmp_path / "file" / "counts.sqlite")
    cache.put({keys(1)[0]: 1})
    assert "counts.sqlite" in cache.trouble


def test_the_file_stays_bounded(path: Path) -> None:
    cache = CountCache(path, max_bytes=200_000)
    for start in range(0, 20_000, 2_000):
        cache.put(dict.fromkeys(keys(start + 2000)[start:], 1))
    assert cache.trouble == ""
    assert path.stat().st_size <= 300_000
    assert 1_000 <= len(cache.get(keys(20_000))) < 20_000


def test_the_oldest_go_first(path: Path) -> None:
    cache = CountCache(path, max_bytes=60_000)
    cache.put(dict.fromkeys(keys(1_000), 1))
    with closing(sqlite3.connect(path)) as base:
        base.execute("UPDATE counts SET day = 1")
        base.commit()
    fresh = keys(3_000)[1_000:]
    cache.put(dict.fromkeys(fresh, 2))
    assert cache.get(keys(1_000)) == {}
    assert len(cache.get(fresh)) >= 1_500


def test_the_default_lies_in_the_users_cache(own_home: Path) -> None:
    assert own_home in paths.token_counts().parents


@pytest.mark.parametrize("over", [-1, 0, 1])
def test_a_long_text_has_the_key_of_the_whole(over: int) -> None:
    """A copy of a text of hundreds of megabytes would take as much memory again."""
    text = "aé🦊" * ((1 << 20) // 3) + "\ud83d" * (1 + over)
    whole = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, person=b"f").digest()
    assert (len(text), text_key(text, b"f")) == ((1 << 20) + over, whole)
