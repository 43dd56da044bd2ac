"""opencode's database and its older folder of files: each is read as the export that opencode would write of it."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.paths import SAMPLES
from workbench.base.errors import BadInput
from workbench.formats.files import load
from workbench.formats.kit import limits
from workbench.formats.opencode import FORMAT
from workbench.formats.opencode.read import read_part, sessions_in
from workbench.formats.opencode.store import from_database
from workbench.formats.read_back import shape

EXPORT: dict[str, Any] = json.loads((SAMPLES / "opencode-pruned.json").read_bytes())
TABLES = """
CREATE TABLE `session` (`id` text PRIMARY KEY, `project_id` text NOT NULL, `parent_id` text, `directory` text,
  `title` text, `version` text, `revert` text, `time_created` integer, `time_updated` integer);
CREATE TABLE `message` (`id` text PRIMARY KEY, `session_id` text, `time_created` integer, `data` text NOT NULL);
CREATE TABLE `part` (`id` text PRIMARY KEY, `message_id` text, `session_id` text, `data` text NOT NULL);
CREATE INDEX `part_session_idx` ON `part` (`session_id`);
"""


def without(value: dict[str, Any], *keys: str) -> str:
    return json.dumps({key: inner for key, inner in value.items() if key not in keys})


def database(path: Path, *others: tuple[str, str | None, int]) -> Path:
    """A database with the sample's session, and `others` (id, parent, time) of one message each."""
    info = EXPORT["info"]
    base = sqlite3.connect(path)
    base.executescript(TABLES)
    row = "INSERT INTO session VALUES (?, 'p', ?, ?, ?, '1.4.3', NULL, 1, ?)"
    base.execute(row, (info["id"], None, info["directory"], info["title"], 5))
    for record in EXPORT["messages"]:
        about = record["info"]
        data = without(about, "id", "sessionID")
        message = (about["id"], info["id"], about["time"]["created"], data)
        base.execute("INSERT INTO message VALUES (?, ?, ?, ?)", message)
        for part in record["parts"]:
            data = without(part, "id", "sessionID", "messageID")
            base.execute("INSERT INTO part VALUES (?, ?, ?, ?)", (part["id"], about["id"], info["id"], data))
    for id, parent, time in others:
        base.execute(row, (id, parent, "/tea", "tea", time))
        said = json.dumps({"role": "user", "time": {"created": 1}})
        base.execute("INSERT INTO message VALUES (?, ?, 1, ?)", (f"msg_{id}", id, said))
        text = json.dumps({"type": "text", "text": "make tea"})
        base.execute("INSERT INTO part VALUES (?, ?, ?, ?)", (f"prt_{id}", f"msg_{id}", id, text))
    base.commit()
    base.close()
    return path


def test_a_session_of_the_database_is_its_export(tmp_path: Path) -> None:
    path = database(tmp_path / "opencode.db")
    before = path.read_bytes()
    session, export = load(path), load(SAMPLES / "opencode-pruned.json")
    for epoch in (1, 2):
        assert shape(session.context(epoch)) == shape(export.context(epoch))
    assert (session.format, session.id, session.title, session.cwd) == ("opencode", export.id, export.title, export.cwd)
    assert session.epochs[0].ended_by == export.epochs[0].ended_by
    assert [m.usage for m in session.messages] == [m.usage for m in export.messages]
    written = FORMAT.codec.write(session, session.context())
    assert FORMAT.codec.validate(written.data) == []
    assert (path.read_bytes(), list(tmp_path.iterdir())) == (before, [path])


def test_what_is_kept_of_a_database_is_the_document_that_was_read_of_it(tmp_path: Path) -> None:
    """It is written and read, not read once more; the ids of a part stand in front, and a column may hold no text."""
    path = database(tmp_path / "opencode.db")
    base = sqlite3.connect(path)
    base.execute("UPDATE part SET message_id = x'00ff' WHERE id = (SELECT MAX(id) FROM part)")
    base.execute("UPDATE session SET directory = x'00', time_created = 1e999")
    base.commit()
    base.close()
    made = from_database(path, path.read_bytes(), EXPORT["info"]["id"])
    assert made.document == json.loads(made.data)
    first = made.document["messages"][0]
    assert [*first["info"]][:2] == ["id", "sessionID"]
    assert [*first["parts"][0]][:3] == ["id", "sessionID", "messageID"]


def test_the_parts_of_a_message_come_by_their_ids(tmp_path: Path) -> None:
    path = database(tmp_path / "opencode.db")
    base = sqlite3.connect(path)
    rows = base.execute("SELECT * FROM part").fetchall()
    base.execute("DELETE FROM part")
    base.executemany("INSERT INTO part VALUES (?, ?, ?, ?)", reversed(rows))
    base.commit()
    base.close()
    assert shape(load(path).context()) == shape(load(SAMPLES / "opencode-pruned.json").context())


@pytest.mark.parametrize("column", ["message.id", "message.data", "part.id"])
def test_a_database_without_a_column_is_refused_in_a_sentence(tmp_path: Path, column: str) -> None:
    path, (table, name) = database(tmp_path / "opencode.db"), column.split(".")
    base = sqlite3.connect(path)
    names = [row[1] for row in base.execute(f"PRAGMA table_info({table})") if row[1] != name]
    base.execute(f"CREATE TABLE rest AS SELECT {', '.join(names)} FROM {table}")
    base.execute(f"DROP TABLE {table}")
    base.execute(f"ALTER TABLE rest RENAME TO {table}")
    base.close()
    with pytest.raises(BadInput, match=rf"opencode\.db: the database cannot be read \(no such column: {name}\)"):
        load(path)


def test_a_database_of_more_than_a_session_holds_is_refused_before_it_is_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = database(tmp_path / "opencode.db")
    monkeypatch.setattr(limits, "MOST_VALUES", 50)
    monkeypatch.setattr("workbench.formats.opencode.store.json_value", lambda _: pytest.fail("it was decoded"))
    with pytest.raises(BadInput, match=r"opencode\.db: its 0 MB of JSON hold more than 50 values"):
        load(path)


def test_of_several_sessions_the_newest_opens_and_each_can_be_chosen(tmp_path: Path) -> None:
    path = database(tmp_path / "opencode.db", ("ses_new", None, 9), ("ses_sub", "ses_new", 99))
    data = path.read_bytes()
    parts = sessions_in(path, data)
    assert [(part.id, part.messages) for part in parts] == [
        ("ses_new", 1),
        (EXPORT["info"]["id"], len(EXPORT["messages"])),
        ("ses_sub", 1),
    ]
    assert parts[2].title == "sub-agent: tea"
    session = load(path)
    assert session.id == "ses_new"
    assert "holds 3 sessions" in str(session.warnings[0])
    assert read_part(path, data, parts[1].id, lambda *_: None).id == EXPORT["info"]["id"]
    with pytest.raises(BadInput, match="no session 'ses_none'"):
        read_part(path, data, "ses_none", lambda *_: None)


@pytest.mark.parametrize("logged", [False, True])
def test_a_database_is_known_wherever_its_tables_are_said(tmp_path: Path, logged: bool) -> None:
    """Behind the first 64 KiB of the file, or in the log beside it alone."""
    path = tmp_path / "opencode.db"
    base = sqlite3.connect(path)
    if logged:
        base.execute("PRAGMA journal_mode = WAL")
    for n in range(60):
        base.execute(f"CREATE TABLE filler_{n} ({', '.join(f'column_{n}_{m} TEXT' for m in range(60))})")
    base.commit()
    database(path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert b"part_session_idx" not in before[path.name][: 64 * 1024]
    assert shape(load(path).context()) == shape(load(SAMPLES / "opencode-pruned.json").context())
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    base.close()


def test_a_log_beside_the_database_is_read_too(tmp_path: Path) -> None:
    path = database(tmp_path / "opencode.db")
    base = sqlite3.connect(path)
    base.execute("PRAGMA journal_mode = WAL")
    base.execute("UPDATE session SET title = 'from the log'")
    base.commit()
    assert load(path).title == "from the log"
    base.close()


def test_damaged_rows_are_told_and_other_databases_refused(tmp_path: Path) -> None:
    path = database(tmp_path / "opencode.db")
    base = sqlite3.connect(path)
    base.execute("UPDATE part SET data = '{' WHERE id = (SELECT MIN(id) FROM part)")
    base.execute("UPDATE message SET data = 'null' WHERE id = (SELECT MAX(id) FROM message)")
    base.commit()
    base.close()
    told = [str(warning) for warning in load(path).warnings]
    assert sum("is not a JSON object" in warning for warning in told) == 2
    other = tmp_path / "other.db"
    base = sqlite3.connect(other)
    base.execute("CREATE TABLE part (id TEXT)")
    base.close()
    with pytest.raises(BadInput, match="SQLite database with the table part"):
        load(other)
    torn = path.read_bytes()
    path.write_bytes(torn[: len(torn) // 2])
    with pytest.raises(BadInput, match="an SQLite database that is damaged"):
        load(path)


def storage(folder: Path, export: dict[str, Any] = EXPORT) -> Path:
    """A session, the sample's, as a storage folder; returns its own file."""
    info = export["info"]
    for kind in ("session", "message", "part"):
        (folder / kind).mkdir(parents=True)
    own = folder / "session" / "p" / f"{info['id']}.json"
    own.parent.mkdir()
    own.write_text(json.dumps(info))
    for record in export["messages"]:
        about = record["info"]
        place = folder / "message" / info["id"] / f"{about['id']}.json"
        place.parent.mkdir(exist_ok=True)
        place.write_text(json.dumps(about))
        for part in record["parts"]:
            place = folder / "part" / about["id"] / f"{part['id']}.json"
            place.parent.mkdir(exist_ok=True)
            place.write_text(json.dumps(part))
    return own


def test_a_storage_folder_and_a_file_in_it_are_the_export(tmp_path: Path) -> None:
    own = storage(tmp_path / "storage")
    export = load(SAMPLES / "opencode-pruned.json")
    for path in (own, tmp_path / "storage"):
        session = load(path)
        assert [shape(session.context(n)) for n in (1, 2)] == [shape(export.context(n)) for n in (1, 2)]
        assert (session.id, session.path, session.warnings) == (export.id, own, ())


def test_links_and_ids_never_lead_out_of_the_storage_folder(tmp_path: Path) -> None:
    own = storage(tmp_path / "storage")
    secret = tmp_path / "secret.json"
    secret.write_text(json.dumps({"type": "text", "text": "secret"}))
    messages = sorted((tmp_path / "storage" / "message").glob("*/*.json"))
    (tmp_path / "storage" / "part" / messages[0].stem / "prt_zz.json").symlink_to(secret)
    about = json.loads(messages[1].read_bytes())
    messages[1].write_text(json.dumps(about | {"id": "../../..", "sessionID": "../.."}))
    session = load(own)
    assert not any("secret" in message.text for message in session.messages)
    assert session.messages[1].id == load(SAMPLES / "opencode-pruned.json").messages[1].id


def test_a_session_file_alone_says_where_its_messages_should_be(tmp_path: Path) -> None:
    path = tmp_path / f"{EXPORT['info']['id']}.json"
    path.write_text(json.dumps(EXPORT["info"]))
    with pytest.raises(BadInput, match="messages are not in the folder message next to it"):
        load(path)
