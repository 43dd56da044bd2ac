"""`cwb rescue`: the newest session of a folder, found where tools keep theirs, compacted and put back beside it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.commands import cwb, document, session_lines, write_lines
from tests.formats.claude_code_build import assistant, boundary, call, result, summary, text, user
from tests.paths import SAMPLES
from workbench.bench import open_bench, with_window
from workbench.bench.rescue import without_model
from workbench.formats.files import load
from workbench.session import pairs_of
from workbench.tokens import Counter

AGO = 3600.0


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in which a person is."""
    folder = tmp_path / "harbour"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def put(path: Path, sample: str, cwd: str, folder: Path, age: float = AGO, first: int | None = None) -> Path:
    """The first lines of a sample where its tool keeps sessions, as one of `folder` that was changed `age` seconds
    ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (SAMPLES / sample).read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:first]).replace(cwd, str(folder)), "utf-8")
    changed = path.stat().st_mtime - age
    os.utime(path, (changed, changed))
    return path


def claude(home: Path, folder: Path, name: str = "7c41f0de", age: float = AGO, first: int | None = 400) -> Path:
    place = home / ".claude/projects" / re.sub("[^A-Za-z0-9]", "-", str(folder)) / f"{name}.jsonl"
    return put(place, "claude-code-overflow.jsonl", "/home/dana/harbour", folder, age, first)


def codex(home: Path, folder: Path, age: float = AGO) -> Path:
    place = home / ".codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-b86759d1.jsonl"
    return put(place, "codex-two-compactions.jsonl", "/home/ada/tidebook", folder, age)


def test_the_newest_session_of_the_folder_is_compacted_and_resumed(own_home: Path, here: Path) -> None:
    old = claude(own_home, here)
    elsewhere = codex(own_home, here.parent, age=AGO / 2)
    before = old.read_bytes(), elsewhere.read_bytes()
    done = cwb("rescue")
    (new,) = {*old.parent.iterdir()} - {old}
    assert (done.exit_code, done.stdout) == (0, f"cd {here} && claude --resume {new.stem}\n")
    told = re.sub(r"(?<=≈)\d+ \d{3}", "N", done.stderr)  # the length of this machine's paths is in these figures
    session = load(new)
    assert session.cwd == str(here)
    checks = [check["name"] for check in document("rescue", old, "-o", here)["checks"]]
    assert told == (
        f"Claude Code, {old}: {len(load(old).context())} messages, ≈N tokens → {len(session.context())} messages, "
        f"≈N tokens, by ledger; {len(checks)} checks, passed: {', '.join(checks)}; written to {new}.\n"
    )
    assert (old.read_bytes(), elsewhere.read_bytes()) == before


def test_a_watched_sentence_is_told_and_not_among_the_steps(own_home: Path, here: Path) -> None:
    old = claude(own_home, here)
    done = cwb("rescue", "--watch", "Never log the refresh token.")
    assert done.stderr.splitlines()[1:] == ["watched verbatim → verbatim: Never log the refresh token."]
    assert done.stdout.startswith(f"cd {here} && claude --resume ")
    assert document("rescue", old, "-o", here / "other", "--watch", "Sell the goat.")["watched"] == [
        {"sentence": "Sell the goat.", "state_before": "gone", "state_after": "gone"}
    ]


def test_whose_session_is_the_newest_does_not_matter(own_home: Path, here: Path) -> None:
    claude(own_home, here)
    newest = codex(own_home, here, age=AGO / 2)
    told = document("rescue", code=None)
    assert (told["file"], told["format"]) == (str(newest), "codex")


def test_the_steps_run(own_home: Path, here: Path) -> None:
    claude(own_home, here)
    lines = document("rescue", "-o", here)["resume_steps"]
    (written,) = here.iterdir()
    assert len(lines) == 3
    tool = here.parent / "claude"
    tool.write_text('#!/bin/sh\npwd\nprintf "%s " "$@"\n')
    tool.chmod(0o755)
    environment = {"HOME": str(own_home), "PATH": f"{here.parent}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-ec", "\n".join(lines)], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == f"{here}\n--resume {written.stem} "
    placed = next((own_home / ".claude").rglob(written.name))
    assert placed.read_bytes() == written.read_bytes()


def test_a_session_that_is_still_being_written_is_left_alone(own_home: Path, here: Path) -> None:
    path = claude(own_home, here, age=0.0)
    done = cwb("rescue")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "is still being written (changed 0 s ago); let its agent finish or exit" in done.stderr
    assert [*path.parent.iterdir()] == [path]
    assert cwb("rescue", path).exit_code == 0


def test_what_would_not_become_smaller_is_not_written(own_home: Path, here: Path) -> None:
    path = own_home / ".claude/projects/x/a.jsonl"
    path.parent.mkdir(parents=True)
    write_lines(path, session_lines(1))
    done = cwb("rescue", path)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == (
        f"Claude Code, {path}: unchanged: nothing to compact: everything fits the budget; nothing was "
        "written; `cwb rescue FILE` takes another session; `cwb compact` offers every strategy.\n"
    )
    assert [*path.parent.iterdir()] == [path]


def test_a_folder_without_sessions_and_one_of_a_tool_that_is_only_read(own_home: Path, here: Path) -> None:
    claude(own_home, here.parent)
    none = cwb("rescue")
    assert (none.exit_code, none.stdout) == (2, "")
    assert f"No session of {here} is in an agent's usual folder" in none.stderr
    droid = own_home / ".factory/sessions/x/a.jsonl"
    put(droid, "droid-anchor.jsonl", _cwd_of("droid-anchor.jsonl"), here)
    refused = cwb("rescue")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert f"is {droid}, and Droid is read-only here; name another file" in refused.stderr


def _cwd_of(sample: str) -> str:
    cwd = load(SAMPLES / sample).cwd
    assert cwd
    return cwd


def test_another_policy_is_chosen_by_name_and_the_tools_own_with_a_summarizer(own_home: Path, here: Path) -> None:
    path = claude(own_home, here)
    assert document("rescue", path)["preset"] == "ledger"
    assert document("rescue", path, "--preset", "trim")["preset"] == "trim"
    assert document("rescue", path, "--strategy", "clear-tool-results")["preset"] == "clear-tool-results"
    smaller = document("rescue", path, "--set", "budget_tokens=30000")
    assert (smaller["preset"], smaller["after"]["tokens"] < 50_000) == ("ledger", True)
    told = document("rescue", path, "--summarizer", "extractive")
    assert (told["preset"], told["status"]) == ("claude-code as of 2.1.36", "compacted")


def test_a_gemini_session_is_found_by_the_hash_of_its_folder(own_home: Path, here: Path) -> None:
    sign = hashlib.sha256(str(here).encode()).hexdigest()
    path = own_home / f".gemini/tmp/{sign}/chats/session-2026-01-02T03-04-aaaaaaaa.jsonl"
    lines = (SAMPLES / "gemini-rewind-and-compression.jsonl").read_text("utf-8").splitlines(keepends=True)
    head = json.loads(lines[0]) | {"projectHash": sign}
    path.parent.mkdir(parents=True)
    path.write_text("".join([json.dumps(head) + "\n", *lines[1:]]), "utf-8")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    told = document("rescue", code=None)
    assert told["file"] == str(path)


def test_the_tools_own_preset_is_taken_where_it_asks_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No tool's does by itself; one that is trimmed does, unless what is left is too long still."""
    monkeypatch.setattr("workbench.bench.rescue.agent_preset_id", lambda session: "trim")
    session = load(SAMPLES / "claude-code-overflow.jsonl")
    bench = open_bench(session, Counter())
    after = without_model(bench)
    assert (after.preset, after.plan.outcome.status) == ("trim", "compacted")
    size = after.plan.after.tokens
    assert without_model(with_window(bench, size + 1)).preset == "trim"
    assert without_model(with_window(bench, size)).preset == "ledger"


def test_a_conversation_of_openhands_is_put_back_as_a_folder(own_home: Path, here: Path) -> None:
    kept = own_home / ".openhands/conversations"
    kept.mkdir(parents=True)
    said = [{"id": f"00000000-{n}", "timestamp": "2026-01-01T00:00:00", **event} for n, event in enumerate(_events())]
    old = kept / "0123"
    (old / "events").mkdir(parents=True)
    state = {"id": "0123", "workspace": {"working_dir": str(here)}, "leaf_event_id": said[-1]["id"]}
    (old / "base_state.json").write_text(json.dumps(state))
    for number, event in enumerate(said):
        (old / f"events/event-{number:05d}-{event['id']}.json").write_text(json.dumps(event))
    for path in [*old.rglob("*"), old]:
        os.utime(path, (1_700_000_000, 1_700_000_000))
    done = cwb("rescue", "--set", "budget_tokens=600")
    assert done.exit_code == 0, done.output
    (new,) = {*kept.iterdir()} - {old}
    assert done.stdout == f"cd {here} && openhands --resume {new.name}\n"
    assert len(load(new).context()) < len(load(old).context())
    assert cwb("resume", new).stdout == done.stdout


def _events() -> list[dict[str, object]]:
    """Ten rounds of a V1 conversation."""
    found: list[dict[str, object]] = []
    for number in range(10):
        for source, role in (("user", "user"), ("agent", "assistant")):
            content = [{"type": "text", "text": f"{role} {number}: " + "mend the gate of the harbour. " * 12}]
            message = {"role": role, "content": content}
            found.append({"source": source, "kind": "MessageEvent", "llm_message": message})
    return found


def test_what_does_not_hold_is_not_written(own_home: Path, here: Path) -> None:
    """A blank reply is what no API would take: a hard check fails, and neither file nor steps are there."""
    old = claude(own_home, here, first=None)
    words = ("rescue", old, "--strategy", "exchange-summary", "--set", 'reply=" "')
    before = sorted(own_home.rglob("*.jsonl"))
    done = cwb(*words)
    assert (done.exit_code, done.stdout) == (3, "")
    assert re.search(r"; failed: .+\(.+\); nothing was written\.$", done.stderr.strip())
    found = document(*words, code=3)
    assert (found["output_file"], found["resume_steps"]) == (None, [])
    assert [check["name"] for check in found["checks"] if check["required"] and not check["passed"]] != []
    assert (sorted(own_home.rglob("*.jsonl")), [*here.iterdir()]) == (before, [])


def orphaned(folder: Path, more: str = "") -> Path:
    """A16: a session in which a result stands behind a compaction that took its call away; `more` is said before it."""
    file = folder / "damaged.jsonl"
    write_lines(
        file,
        [
            user("u1", None, "Why does the ferry wait?"),
            assistant("a1", "u1", "m1", call("c1")),
            boundary("b1", "a1"),
            summary("s1", "b1"),
            result("r1", "s1", "c1", "the tide is late"),
            assistant("a2", "r1", "m2", text("The tide is late.")),
            user("u2", "a2", more or "And now?"),
            assistant("a3", "u2", "m3", text("It goes.")),
        ],
    )
    return file


def test_a16_a_damaged_session_is_repaired_and_then_compacted(tmp_path: Path) -> None:
    file, new = orphaned(tmp_path, "five buoys lie before the harbour. " * 6_000), tmp_path / "new.jsonl"
    done = cwb("rescue", file, "--window", "20000", "-o", new)
    fix = "line 5: turned the result of c1 into text: its call is not in the context"
    assert (done.exit_code, done.stderr.splitlines()[0]) == (0, f"repaired first: {fix}")
    assert load(new).context()
    assert document("rescue", file, "--window", "20000", "-o", tmp_path / "two.jsonl")["repaired"] == [fix]


def test_a16_where_nothing_is_to_be_compacted_the_repaired_session_is_written(tmp_path: Path) -> None:
    file, new = orphaned(tmp_path), tmp_path / "new.jsonl"
    done = cwb("rescue", file, "-o", new)
    assert (done.exit_code, f"the repaired session was written to {new}" in done.stderr) == (0, True)
    assert not [pair for pair in pairs_of(load(new).context()) if pair.call is None]


def test_a16_doctor_names_the_number_that_drop_takes(tmp_path: Path) -> None:
    file = orphaned(tmp_path)
    (found,) = [one for one in document("inspect", "--health", file)["findings"] if one["topic"] == "orphan results"]
    assert found["text"] == "1 without a call: message 2 (line 5)"
    assert load(file).context()[1].results[0].call_id == "c1"
