"""What a person set, and what the screen remembers of itself."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.base.errors import BadInput
from workbench.tui.keys import FORMER, known_key_ids, now_at
from workbench.tui.settings import (
    RECENT,
    Home,
    Recent,
    Settings,
    read_home,
    read_settings,
    unknown_keys,
    with_recent,
    write_home,
)


def written(folder: Path, text: str) -> Path:
    path = folder / "config.toml"
    path.write_text(text)
    return path


def test_no_file_no_settings(tmp_path: Path) -> None:
    assert read_settings(tmp_path / "config.toml") == Settings()


def test_keys_theme_and_window_are_read(tmp_path: Path) -> None:
    path = written(tmp_path, 'theme = "contrast"\nwindow = 300000\n[keys]\n"bench.pin" = "space"\nbench.run = "f5"\n')
    found = read_settings(path)
    assert (found.theme, found.window) == ("workbench-contrast", 300_000)
    assert found.keys == {"bench.pin": "space", "bench.run": "f5"}
    assert found.keymap == {"pin": "space", "run": "f5"}, "as in former versions"
    assert unknown_keys(found, known_key_ids(), now_at) == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("theme = ", "is not valid TOML"),
        ("colour = 1", "there is no key 'colour'"),
        ("theme = 3", "theme = 3"),
        ("window = 0", "window = 0"),
        ("window = true", "window = True"),
        ("keys = 1", "keys = 1"),
        ('[keys]\n"bench.pin" = 1', 'keys."bench.pin" = 1'),
        ('[keys]\n"bench.pin" = " "', "is no key"),
    ],
)
def test_a_wrong_setting_is_one_sentence_with_file_and_key(tmp_path: Path, text: str, said: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(BadInput) as refused:
        read_settings(path)
    assert said in str(refused.value)
    assert str(path) in str(refused.value)


@pytest.mark.parametrize(("make", "why"), [(os.mkfifo, "it is a pipe"), (os.mkdir, "Is a directory")])
def test_settings_that_are_no_file_are_refused_and_not_waited_for(
    tmp_path: Path, make: Callable[[Path], None], why: str
) -> None:
    make(path := tmp_path / "config.toml")
    with pytest.raises(BadInput) as refused:
        read_settings(path)
    assert str(refused.value) == f"{path} cannot be read: {why}; make it a readable file."


def test_each_former_id_of_a_key_is_refused_with_what_does_its_job_now() -> None:
    former = FORMER | {"why.help": "help", "bench.verbosity": FORMER["verbosity"]}
    known = known_key_ids()
    assert len(FORMER) > 200
    for id, now in former.items():
        said = unknown_keys(Settings(keys={id: "x"}), known, now_at)
        assert said.endswith(f'keys."{id}" no longer exists; use {now}.'), id


def test_home_comes_back_as_it_was_written(tmp_path: Path) -> None:
    home = with_recent(Home("workbench-light"), tmp_path / "a.jsonl", "the title")
    write_home(tmp_path / "new", lambda _: home)
    assert read_home(tmp_path / "new") == home


def test_what_another_program_remembered_meanwhile_stays(tmp_path: Path) -> None:
    """Both have read the home before either changed it, and only one at a time is between reading and writing."""

    def told(home: Home) -> Home:
        with pytest.raises(BlockingIOError):
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return replace(home, theme="workbench-light")

    folder = os.open(tmp_path, os.O_RDONLY)
    write_home(tmp_path, lambda home: with_recent(home, tmp_path / "a.jsonl", "of one"))
    write_home(tmp_path, lambda home: with_recent(home, tmp_path / "b.jsonl", "of another"))
    write_home(tmp_path, told)
    os.close(folder)
    home = read_home(tmp_path)
    assert ([Path(one.path).name for one in home.recents], home.theme) == (["b.jsonl", "a.jsonl"], "workbench-light")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"theme": "x", "recents": [{}]}', "\xff"])
def test_a_damaged_home_is_an_empty_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "home.json").write_text(text, "latin-1")
    assert read_home(tmp_path) == Home()


def test_a_file_opened_again_comes_first_and_stands_there_once(tmp_path: Path) -> None:
    home = Home(recents=tuple(Recent(f"/s/{n}", "", 0.0) for n in range(RECENT)))
    home = with_recent(home, Path("/s/7"), "seven")
    assert [one.path for one in home.recents][:3] == ["/s/7", "/s/0", "/s/1"]
    assert len(home.recents) == RECENT
    assert len(with_recent(home, Path("/s/new"), "").recents) == RECENT
