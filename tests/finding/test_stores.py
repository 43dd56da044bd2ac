"""Databases and folders with many sessions are listed where they stand, and each is the one that opens."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.finding.test_discover import here
from tests.formats import test_goose as goose
from tests.formats import test_opencode_store as opencode
from workbench.finding.discover import discover
from workbench.finding.glances import Unreadable, glances
from workbench.formats.files import load, parts_of
from workbench.formats.glance import SessionGlance
from workbench.formats.kit import database
from workbench.formats.registry import places

MESSAGES = (
    goose.message_of("user", goose.text("Plan the menu")),
    goose.message_of("assistant", goose.text("Soup")),
)


def listed(home: Path) -> list[SessionGlance]:
    results = list(discover(places(here(home))))
    assert all(isinstance(one, SessionGlance) for one in results), results
    return [one for one in results if isinstance(one, SessionGlance)]


def test_gooses_sessions_are_listed_each_with_its_tokens(tmp_path: Path) -> None:
    folder = tmp_path / ".local/share/goose/sessions"
    folder.mkdir(parents=True)
    path = goose.database(folder, *MESSAGES, more=1)
    before = path.read_bytes()
    found = listed(tmp_path)
    assert [one.part for one in found] == [part.id for part in parts_of(path)]
    assert found[0].time > found[1].time
    first = found[0]
    assert (first.tool, first.title, first.request, first.folder, first.tokens) == (
        "goose",
        "A name",
        "Plan the menu",
        "/w",
        4242,
    )
    session = load(path, part=first.part)
    assert (session.id, session.facts.part) == (first.part, first.part)
    assert (path.read_bytes(), list(folder.iterdir())) == (before, [path])


@pytest.mark.parametrize("copied", [True, False])
def test_what_is_in_the_log_is_seen_in_a_copy_unless_that_is_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copied: bool
) -> None:
    path = goose.database(tmp_path, *MESSAGES, wal=True)
    if not copied:
        monkeypatch.setattr(database, "COPIED", 0)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert [one.title for one in glances(path) if isinstance(one, SessionGlance)] == ["A name"] * copied
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_opencodes_sessions_are_listed_without_those_of_sub_agents(tmp_path: Path) -> None:
    folder = tmp_path / ".local/share/opencode"
    folder.mkdir(parents=True)
    path = opencode.database(folder / "opencode.db", ("ses_new", None, 9), ("ses_sub", "ses_new", 99))
    base = sqlite3.connect(path)
    base.execute("INSERT INTO message VALUES ('msg_zzz', 'ses_new', 2, '{ damaged')")
    base.commit()
    base.close()
    found = listed(tmp_path)
    info = opencode.EXPORT["info"]
    assert [one.part for one in found] == ["ses_new", info["id"]]
    whole = next(one for one in found if one.part == info["id"])
    usage = next(m.usage for m in reversed(load(path, part=whole.part).messages) if m.usage and m.usage.context)
    assert (whole.title, whole.folder, whole.tokens) == (info["title"], info["directory"], usage.context + usage.output)


def test_opencodes_storage_folder_is_listed_by_the_files_of_its_sessions(tmp_path: Path) -> None:
    storage = tmp_path / ".local/share/opencode/storage"
    info = opencode.EXPORT["info"]

    def put(name: str, value: object) -> None:
        path = storage / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))

    put(f"session/p/{info['id']}.json", info)
    for record in opencode.EXPORT["messages"]:
        put(f"message/{info['id']}/{record['info']['id']}.json", record["info"])
        for part in record["parts"]:
            put(f"part/{record['info']['id']}/{part['id']}.json", part)
    (found,) = listed(tmp_path)
    session = load(found.path)
    assert (found.title, found.folder, found.model) == (session.title, session.cwd, session.model)
    assert found.tokens
    shutil.rmtree(storage / "message")
    assert not [one for one in discover(places(here(tmp_path))) if isinstance(one, SessionGlance) and one.tokens]


def test_a_database_of_no_tool_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE other (id)")
    base.close()
    for data, why in ((path.read_bytes(), "with the table other"), (path.read_bytes()[:2_000], "damaged or empty")):
        path.write_bytes(data)
        (found,) = glances(path)
        assert isinstance(found, Unreadable)
        assert why in found.reason
