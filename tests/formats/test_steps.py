"""The steps to resume an export are run here as a person runs them: by `sh`, with a stand-in for each tool."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.formats.claude_code_build import jsonl, small
from tests.paths import SAMPLES
from workbench.formats import registry
from workbench.formats.export import export, save
from workbench.formats.files import load
from workbench.formats.format import FILE, NAME, Written
from workbench.formats.steps import steps

TOOLS = ("aider", "adk", "auggie", "claude", "cline", "codex", "copilot", "gemini", "goose", "opencode", "pi", "tool")
FOUL = ("a b", "a'b", "$(touch x)", "`touch x`", "a;touch x", "a&&touch x", "~", "-", "*", '"', "!!", "\\", "#", "ä")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder with tools that tell where they were started and with which words, and an empty home."""
    (tmp_path / "home").mkdir()
    (tmp_path / "bin").mkdir()
    for tool in TOOLS:
        stub = tmp_path / "bin" / tool
        stub.write_text('#!/bin/sh\nprintf "%s\\n" "$PWD" "${0##*/}" "$@" ""\n')
        stub.chmod(0o755)
    return tmp_path


def run(machine: Path, lines: tuple[str, ...]) -> list[list[str]]:
    """What each started tool told: its folder, its name, its words."""
    environment = {"HOME": str(machine / "home"), "PATH": f"{machine / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-e", "-c", "\n".join(lines)],
        cwd=machine,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stderr == ""
    return [told.split("\n") for told in done.stdout.removesuffix("\n\n").split("\n\n") if told]


def test_an_export_is_put_where_its_tool_looks_and_resumed_in_its_folder(machine: Path) -> None:
    project = machine / "boats"
    project.mkdir()
    source = machine / "x.jsonl"
    source.write_bytes(jsonl(*small()))
    session = replace(load(source), cwd=str(project))
    made = export(session, session.context()[1:])
    saved = save(made, machine)
    id = made.written.id
    lines = steps(made.written, saved.where)
    home = made.written.home.removeprefix("~/")
    assert lines == (
        f"mkdir -p ~/{Path(home).parent}",
        f"test -e ~/{home} || cp {saved.where} ~/{home}",
        f"cd {project} && claude --resume {id}",
    )
    placed = machine / "home" / home
    assert run(machine, lines) == [[str(project), "claude", "--resume", id]]
    assert placed.read_bytes() == made.written.data
    placed.write_bytes(b"went on")
    assert run(machine, lines) == [[str(project), "claude", "--resume", id]]
    assert placed.read_bytes() == b"went on"


def test_what_lies_in_its_place_is_only_resumed(tmp_path: Path) -> None:
    there = tmp_path / "x.json"
    assert steps(Written(b"", "x.json", "a", str(there), commands=(("tool", "a"),)), there) == ("tool a",)


@pytest.mark.parametrize("foul", FOUL)
def test_no_folder_and_no_word_is_more_than_a_word(machine: Path, foul: str) -> None:
    project = machine / foul
    project.mkdir()
    source = project / foul
    source.write_bytes(b"what was said")
    written = Written(b"", "x", "a", f"~/{foul}/{foul}", str(project), (("tool", foul, FILE),))
    before = {*machine.rglob("*")}
    told = run(machine, steps(written, source))
    home = machine / "home" / foul
    assert told == [[str(project), "tool", foul, str(home / foul)]]
    assert {*machine.rglob("*")} - before == {home, home / foul}


@pytest.mark.parametrize("folder", ["a\nb", "/a\nb", "relative", "/gone"])
def test_a_folder_that_is_none_here_is_not_gone_to(folder: str) -> None:
    *said, last = steps(Written(b"", "x", "a", folder=folder, commands=(("tool", "a"),)), Path("/x"))
    assert last == "tool a"
    assert said == ["# /gone is not on this machine: change to the project folder"] * (folder == "/gone")


@pytest.mark.parametrize("letters", [255, 256, 5_000])
def test_names_longer_than_a_file_can_have_are_told_as_others_are(letters: int, tmp_path: Path) -> None:
    folder, home = f"/{'n' * letters}", f"~/s/{'n' * letters}"
    written = Written(b"", "x", "a", home, folder, (("tool", "a"),), sidecar=("m" * letters, b"{}"))
    lines = steps(written, tmp_path / "x")
    assert lines[-2:] == (f"# {folder} is not on this machine: change to the project folder", "tool a")
    assert lines[1] == f"test -e {home} || cp {tmp_path / 'x'} {home}"


def test_a_folder_is_put_where_its_tool_looks_with_all_that_is_in_it(machine: Path) -> None:
    (machine / "a/events").mkdir(parents=True)
    (machine / "a/events/0.json").write_bytes(b"{}")
    lines = steps(Written(b"", "a", "a", "~/all/b", commands=(("tool", "b"),)), machine / "a")
    for _ in range(2):
        assert run(machine, lines) == [[str(machine), "tool", "b"]]
        assert [*(machine / "home/all/b").rglob("*.json")] == [machine / "home/all/b/events/0.json"]


def test_a_session_that_is_kept_as_a_folder_goes_by_its_name(machine: Path) -> None:
    written = Written(b"", "x.json", session_folder="~/all", commands=(("tool", NAME),), by_hand="save it as a folder")
    for name in ("b7 x", "-b"):
        (machine / name).mkdir()
    (machine / "x.json").touch()
    assert run(machine, steps(written, machine / "b7 x")) == [[str(machine), "tool", "b7 x"]]
    assert [*(machine / "home/all").iterdir()] == [machine / "home/all/b7 x"]
    assert steps(written, machine / "home/all/b7 x")[-1] == "tool 'b7 x'"
    for other in ("x.json", "-b"):
        assert steps(written, machine / other)[-1] == "# save it as a folder"


def test_what_lies_beside_an_export_goes_with_it(machine: Path) -> None:
    written = Written(b"", "x", "a", "~/s/x", commands=(("tool", "a"),), sidecar=("m.json", b"{}"))
    (machine / "x").write_bytes(b"x")
    told = "# m.json, which the agent needs next to it, is written by an export to a file"
    assert steps(written, machine / "x")[2:] == (told, "tool a")
    (machine / "m.json").write_bytes(b"{}")
    run(machine, steps(written, machine / "x"))
    assert sorted(path.name for path in (machine / "home/s").iterdir()) == ["m.json", "x"]


def test_what_no_command_does_is_a_comment() -> None:
    assert steps(Written(b"", "x", by_hand="open\nit"), Path("/x")) == ("# open it",)
    (comment,) = steps(Written(b"", "x"), Path("/x"))
    assert comment.startswith("# no command resumes")


@pytest.mark.parametrize("target", [one.id for one in registry.targets()])
def test_the_steps_of_every_format_run(target: str, machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By tools that know nothing of the files: each is started once, or twice where it takes the export in first."""
    monkeypatch.chdir(machine)
    session = load(SAMPLES / "openai-chat-tools.json")
    made = export(session, session.context(), target)
    saved = save(made, machine)
    started = run(machine, steps(made.written, saved.where))
    assert len(started) == len(made.written.commands)
    assert all(folder == str(machine) for folder, *_ in started)
    if made.written.home:
        assert (machine / "home" / made.written.home.removeprefix("~/")).read_bytes() == made.written.data
