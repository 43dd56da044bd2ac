"""Sessions that lie in several files: each as an archive of them, which can be damaged and kept like any input."""

from __future__ import annotations

import io
import json
import random
import shutil
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

from tests.formats import (
    test_claude_code_agents,
    test_cline_sdk,
    test_codex,
    test_kimi,
    test_opencode,
    test_opencode_store,
    test_openhands,
    test_roo_cline,
)
from tests.formats.claude_code_build import jsonl, small
from tests.formats.test_conformance import samples
from tests.paths import SAMPLES
from workbench.formats.export import export, save
from workbench.formats.files import load_bytes
from workbench.session import Message, Text
from workbench.session.session import ExportNote

Files = dict[str, bytes]

IN_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Where folders are laid out and saved: a disk would take most of the time, each save waits for it."""

OUT = "out"
"""In a folder that is laid out: where it is saved again. Nothing else is written there."""

# --- what is built, and the path in it that is opened ---------------------------------------------------------------


def openhands(at: Path) -> Path:
    bills = {"usage_to_metrics": {"agent": {"accumulated_cost": 0.5, "token_usages": [{"response_id": "r"}]}}}
    return test_openhands.folder(at / "c", test_openhands.TREE, leaf_event_id="m2", agent={}, stats=bills)


def openhands_v0(at: Path) -> Path:
    (at / "c" / "events").mkdir(parents=True)
    for event in test_openhands.v0_events():
        (at / "c" / "events" / f"{event['id']}.json").write_text(json.dumps(event))
    return at / "c"


def roo(at: Path) -> Path:
    items = [*test_roo_cline.NATIVE, *test_roo_cline.CONDENSED]
    chat = [test_roo_cline.request(1, 50), test_roo_cline.request(6, 90)]
    task = at / "tasks" / "c"
    task.mkdir(parents=True)
    test_roo_cline.folder_of(task, items, chat)
    told = {"id": "c", "task": "do it", "conversationHistoryDeletedRange": [2, 3], "workspace": "/w"}
    (task / "history_item.json").write_text(json.dumps(told))
    (task / "context_history.json").write_text(json.dumps([[1, [0, [[0, [[5, "text", ["shorter"], []]]]]]]]))
    (task / "system_prompt.txt").write_text("Be brief.")
    (at / "state").mkdir()
    (at / "state" / "taskHistory.json").write_text(json.dumps([told]))
    return task


def cline(at: Path) -> Path:
    folder = at / "1_a"
    folder.mkdir()
    test_cline_sdk.session_with_sidecar(folder, 4, "id:a2", test_cline_sdk.SUMMARY, test_cline_sdk.MESSAGES[3])
    (folder / "1_a.json").write_text(json.dumps({"cwd": "/w", "metadata": {"title": "T"}, "provider": "p"}))
    return folder


def opencode(at: Path) -> Path:
    test_opencode_store.storage(at / "storage", json.loads(test_opencode.export(*test_opencode.COMPACTED)))
    return at / "storage"


def claude_code(at: Path) -> Path:
    main, path = small(), at / "x.jsonl"
    path.write_bytes(jsonl(*main, *test_claude_code_agents.side(main[:4], "a1", named=True)))
    agents = at / "x" / "subagents"
    agents.mkdir(parents=True)
    for name in ("agent-b2", "agent-acompact-c3"):
        (agents / f"{name}.jsonl").write_bytes(jsonl(*test_claude_code_agents.side(main, name, named=True)))
    return path


def kimi(at: Path) -> Path:
    for number in (1, 2):
        (at / f"context_{number}.jsonl").write_bytes(test_kimi.lines(test_kimi.CONTEXT))
    (at / "context.jsonl").write_bytes(test_kimi.lines([*test_kimi.CONTEXT[:2], *test_kimi.COMPACTED]))
    return at / "context.jsonl"


def codex(at: Path) -> Path:
    thread, other = test_codex.THREADS[:2]
    said, item = test_codex.said, test_codex.item
    base = test_codex.ordered(thread, [item(**said("user", "one")), item(**said("assistant", "1")), test_codex.TURN])
    fork = test_codex.ordered(other, [item(**said("user", "two"))], (thread, 4, len(base)))
    (at / f"rollout-2026-11-22T13-29-19-{thread}.jsonl").write_bytes(base)
    path = at / f"rollout-2026-11-23T13-29-19-{other}.jsonl"
    path.write_bytes(fork)
    return path


def with_log(at: Path) -> Path:
    """A database of which the newest rows stand in the log beside it."""
    path = at / "opencode.db"
    path.write_bytes(next(data for data in samples("opencode") if data.startswith(b"SQLite")))
    with closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("UPDATE session SET title = 'from the log'")
        base.commit()
        files = {file.name: file.read_bytes() for file in at.iterdir()}
    for name, data in files.items():  # closing moved the log into the database
        (at / name).write_bytes(data)
    (at / "opencode.db-shm").unlink(missing_ok=True)
    return path


def with_note(at: Path) -> Path:
    """An export with the note beside it that says what its format has no place for."""
    source = load_bytes(Path("a.json"), (SAMPLES / "langchain-summary.json").read_bytes())
    made = Message("made", "user", (Text("in short"),), "summary")
    export_note = ExportNote("m", 1000, 7, 1.5)
    messages = (made, *source.context()[2:])
    return save(export(source, messages, "openai-chat", export_note=export_note), at / "out.json").where


KINDS: dict[str, Callable[[Path], Path]] = {
    "openhands-folder": openhands,
    "openhands-v0-folder": openhands_v0,
    "roo-cline-folder": roo,
    "cline-sdk-folder": cline,
    "opencode-folder": opencode,
    "claude-code-agents": claude_code,
    "kimi-contexts": kimi,
    "codex-fork": codex,
    "database-with-log": with_log,
    "export-with-note": with_note,
}


@cache
def built(kind: str) -> tuple[str, Files]:
    """What is opened, and the files by their paths."""
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        opened = KINDS[kind](at)
        files = {str(file.relative_to(at)): file.read_bytes() for file in sorted(at.rglob("*")) if file.is_file()}
        return str(opened.relative_to(at)), files


# --- as one input ---------------------------------------------------------------------------------------------------


def packed(files: Files) -> bytes:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return into.getvalue()


def unpacked(kind: str, data: bytes) -> Files:
    """Of the names none that the kind does not have: nothing is written elsewhere. What is as it was built is not
    unpacked again."""
    known, sums = built(kind)[1], _sums(kind)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {
            one.filename: known[one.filename] if sums[one.filename] == one.CRC else archive.read(one)
            for one in archive.infolist()
            if one.filename in known
        }


@cache
def _sums(kind: str) -> dict[str, int]:
    return {name: zlib.crc32(data) for name, data in built(kind)[1].items()}


_there: dict[str, tuple[tempfile.TemporaryDirectory[str], Files]] = {}
"""The folder that was laid out last, of each kind, and what lies in it."""


@contextmanager
def laid_out(kind: str, data: bytes) -> Iterator[tuple[Path, Path]]:
    """A folder of its own with the files in it, and what of them is opened. It stays for the next input, which mostly
    differs in a file or two: to write and delete all of them took as long as to read them."""
    files = unpacked(kind, data)
    folder, before = _there.pop(kind, (None, {}))
    if folder is None or before.keys() != files.keys():
        if folder is not None:
            folder.cleanup()
        folder, before = tempfile.TemporaryDirectory(dir=IN_MEMORY), {}
    home = Path(folder.name)
    for name, content in files.items():
        if before.get(name) != content:
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    _there[kind] = folder, files
    try:
        yield home, home / built(kind)[0]
    finally:
        shutil.rmtree(home / OUT, ignore_errors=True)


def changed(files: Files, dice: random.Random, damaged: Callable[[bytes], bytes]) -> Files:
    """With some of the files damaged, one gone, or two in each other's place."""
    made = dict(files)
    for name in dice.sample(sorted(made), k=min(len(made), dice.choice((1, 1, 2, 4)))):
        made[name] = damaged(made[name])
    match dice.randrange(12):
        case 0:
            del made[dice.choice(sorted(made))]
        case 1:
            made[dice.choice(sorted(made))] = made[dice.choice(sorted(made))]
        case 2:
            made[dice.choice(sorted(made))] = b""
        case _:
            pass
    return made
