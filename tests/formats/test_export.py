"""Exports: what they may be written as, and a session's file that is still being written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.formats.claude_code_build import jsonl, small
from tests.paths import SAMPLES
from workbench.base import in_use
from workbench.base.errors import BadInput
from workbench.base.in_use import RECENT_S, still_written
from workbench.cli import commands
from workbench.formats import registry
from workbench.formats.export import export
from workbench.formats.files import load
from workbench.formats.format import Written

HOUR = 3600.0


@pytest.fixture
def quiet(tmp_path: Path) -> Path:
    """A session's file that was changed an hour ago."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(jsonl(*small()))
    then = path.stat().st_mtime - HOUR
    os.utime(path, (then, then))
    return path


def test_a_file_that_was_just_changed_is_pointed_out_in_the_export(quiet: Path) -> None:
    assert still_written(quiet) == ""
    session = load(quiet)
    assert export(session, session.context()).written.losses == ()
    changed = quiet.stat().st_mtime
    assert still_written(quiet, now=changed + 3) == "changed 3 s ago"
    assert still_written(quiet, now=changed + RECENT_S + 1) == ""
    os.utime(quiet)
    assert export(session, session.context()).written.notes[-1].startswith("x.jsonl is still being written (changed 0")


@pytest.mark.parametrize("name", ["x.jsonl.lock", ".x.jsonl.lock", "x.jsonl-shm"])
def test_a_lock_beside_the_file_is_pointed_out(quiet: Path, name: str) -> None:
    quiet.with_name(name).touch()
    assert still_written(quiet) == f"{name} exists next to it"


@pytest.mark.skipif(not Path("/proc/self/fdinfo").is_dir(), reason="the system lists no open files")
@pytest.mark.parametrize(("mode", "is_seen"), [("a", True), ("r", False)])
def test_a_process_that_has_it_open_for_writing_is_pointed_out(
    quiet: Path, mode: str, is_seen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_use, "_DAY_S", 2 * HOUR)
    script = f"file = open({str(quiet)!r}, {mode!r}); print('open', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        said = still_written(quiet)
        holder.communicate(b"\n")
    assert (said == f"process {holder.pid} has it open for writing") is is_seen


def test_a_missing_file_and_a_folder_are_no_trouble(tmp_path: Path) -> None:
    assert still_written(tmp_path / "none") == ""
    assert "changed" in still_written(tmp_path)


def test_a_target_is_a_format_or_one_of_its_ways() -> None:
    assert [registry.target(id).id for id in ("codex", "codex:appended")] == ["codex", "codex:appended"]
    with pytest.raises(BadInput, match="choose codex or codex:appended"):
        registry.target("codex:sideways")
    with pytest.raises(BadInput, match="There is no format"):
        registry.target("nobody:appended")
    ids = [one.id for one in registry.targets()]
    assert len(set(ids)) == len(ids) == len({one.title for one in registry.targets()})


@pytest.mark.parametrize("target", [one.id for one in registry.targets() if ":" in one.id])
def test_a_way_takes_sessions_of_other_formats_too(target: str) -> None:
    session = load(SAMPLES / "openai-chat-tools.json")
    made = export(session, session.context(), target)
    assert made.problems == ()
    plain = export(session, session.context(), target.partition(":")[0])
    read = registry.target(target).format.codec.read
    contexts = [read(Path("x"), each.written.data, lambda *_: None).context() for each in (made, plain)]
    assert [m.blocks for m in contexts[0]] == [m.blocks for m in contexts[1]]


def test_appended_exports_keep_every_loaded_record() -> None:
    session = load(SAMPLES / "codex-two-compactions.jsonl")
    made = export(session, session.context(1), "codex:appended").written.data.split(b"\n")
    lines = (SAMPLES / "codex-two-compactions.jsonl").read_bytes().split(b"\n")
    assert made[1 : len(lines) - 1] == lines[1:-1]
    assert b'"type":"compacted"' in made[len(lines) - 1]


@pytest.mark.parametrize(
    ("name", "id", "home", "expected"),
    [
        ("../../x.json", "a", "", ("____x.json", "", True)),
        ("x\n.json", "a;b", "", ("x_.json", "", False)),
        ("x", "-a", "", ("x", "", False)),
        ("", "", "~/a/../../b\x00", ("session", "~/a/_/_/b_", True)),
        (".hidden", "", "", ("hidden", "", True)),
    ],
)
def test_names_places_and_commands_are_harmless(name: str, id: str, home: str, expected: tuple[str, str, bool]) -> None:
    written = Written(b"", name, id, home, commands=(("run", id),))
    assert (written.name, written.home, bool(written.commands)) == expected


@pytest.mark.parametrize("options", [(), ("--health",)])
def test_f10_a_document_that_cannot_be_copied_is_refused_in_a_sentence(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    """The reader of its values goes deeper than the one that finds where they lie."""
    path = tmp_path / "deep.json"
    deep = "[" * 900 + "]" * 900
    path.write_text(f'{{"model":"gpt-4o","x":{deep},"messages":[{{"role":"user","content":"Hi"}}]}}')
    done = CliRunner().invoke(commands, ["inspect", str(path), *options])
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert "Traceback" not in done.output
