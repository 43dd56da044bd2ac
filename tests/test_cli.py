"""The command line: exit codes, JSON, pipes, and one sentence for whatever is wrong."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.run import MARKS
from benchmarks.terminal import Terminal
from tests.commands import ROUNDS, cwb, document, program, session_lines, write_lines
from tests.formats.claude_code_build import assistant, text, user
from tests.paths import ROOT, SAMPLES
from workbench.base import paths
from workbench.cli.keys import KEYS

TAIL = "history_tail_size_chars_to_exclude"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "session.jsonl", session_lines())


class TestInspect:
    def test_epochs_are_listed_and_can_be_chosen(self, shared: Path) -> None:
        path = shared / "sessions" / "claude-code" / "entire-cd95add-3compactions.jsonl"
        last, first = document("inspect", path, "--epoch", "last"), document("inspect", path, "--epoch", 1)
        assert last["epochs"] == first["epochs"] == 4
        assert (last["epoch"], first["epoch"]) == (4, 1)
        assert document("inspect", path)["epoch"] == 3, "the newest that was compacted"
        assert [bool(epoch["ended_by"]) for epoch in last["epoch_list"]] == [True, True, True, False]
        assert first["context"]["messages"] == last["epoch_list"][0]["messages"] != last["context"]["messages"]

    def test_session_text_commands_no_terminal(self, tmp_path: Path) -> None:
        words = "\x1b[31mred\x1b]0;title\x07 \x9b2J \u202eback [/bold] \ud83d"
        path = write_lines(tmp_path / "odd.jsonl", [user("u", None, words), assistant("a", "u", "m", text(words))])
        whole = program("inspect", path, "--verbosity", "default").stdout
        short, said = (cwb("inspect", path, *options).stdout for options in ((), ("--health",)))
        for out in (whole, short, said):
            assert not set("\x1b\x07\x9b\u202e") & set(out)
        assert "[/bold]" in short
        assert document("inspect", path)["messages"] == 2
        raw = cwb("inspect", path, "--json", "--full").stdout
        assert not set("\x1b\x07\x7f\x9b\u202e") & set(raw)
        assert "\u202eback" in json.dumps(json.loads(raw), ensure_ascii=False)

    @pytest.mark.parametrize("number", ["Infinity", "-Infinity", "NaN"])
    def test_json_holds_no_number_that_json_has_not(self, tmp_path: Path, number: str) -> None:
        path = tmp_path / "s.json"
        odd = [{"type": "odd", "value": 0.25}, {"type": "text", "text": "go"}]
        body = {"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": odd}]}
        path.write_text(json.dumps(body).replace("0.25", number))
        out = cwb("inspect", path, "--json", "--full").stdout
        found = json.dumps(json.loads(out, parse_constant=lambda word: pytest.fail(word)))
        assert f'"{number}"' in found


class TestCompact:
    def test_the_export_opens_with_the_same_counts_and_the_source_is_untouched(
        self, session: Path, tmp_path: Path
    ) -> None:
        before = session.read_bytes()
        done = document("compact", session, "--strategy", "exchange-summary", "-o", tmp_path / "out.jsonl")
        again = document("inspect", tmp_path / "out.jsonl")
        assert session.read_bytes() == before
        assert again["warnings"] == []
        for key in ("messages", "chars"):
            assert again["context"][key] == done["after"][key]

    def test_nothing_is_written_without_out(self, session: Path) -> None:
        assert document("compact", session, "--strategy", "exchange-summary")["output_file"] is None
        assert [path.name for path in session.parent.iterdir()] == [session.name]

    def test_a_folder_takes_the_name_that_the_tool_expects(self, session: Path, tmp_path: Path) -> None:
        (tmp_path / "to").mkdir()
        found = document("compact", session, "--strategy", "exchange-summary", "-o", tmp_path / "to")
        assert [str(path) for path in (tmp_path / "to").iterdir()] == [found["output_file"]]
        assert Path(found["output_file"]).name == found["export"]["file_name"]

    def test_a_session_whose_name_has_a_byte_that_is_no_character(self, session: Path, tmp_path: Path) -> None:
        """Claude Code's summary tells the name of the transcript."""
        odd = tmp_path / os.fsdecode(b"caf\xe9.jsonl")
        try:
            session.rename(odd)
        except OSError:
            pytest.skip("no file can be called so here")
        out = tmp_path / "out.jsonl"
        assert document("compact", odd, "--preset", "claude-code", "-o", out)["written"]
        assert "caf\ufffd.jsonl" in out.read_text(encoding="utf-8")

    @pytest.mark.parametrize("name", ["u3", "13"])
    def test_a_pin_by_id_or_number(self, name: str, session: Path, tmp_path: Path) -> None:
        out = tmp_path / "out.jsonl"
        found = document("compact", session, "--strategy", "exchange-summary", "--pin", name, "-o", out)
        assert found["fates"]["pinned"] == 1
        assert out.read_text().count('"Please do step 3."') == 1

    def test_a_pinned_call_brings_its_result(self, session: Path) -> None:
        found = document("compact", session, "--strategy", "exchange-summary", "--pin", "14")
        assert found["fates"]["pinned"] == 2

    def test_a_dropped_call_takes_its_result_with_it_and_a_pin_wins(self, session: Path) -> None:
        found = document("compact", session, "--strategy", "exchange-summary", "--drop", "14", "--drop", "15")
        assert found["fates"]["dropped"] == 2
        assert "manual edits, messages 14–15 dropped" in found["reason"]
        found = document("compact", session, "--strategy", "exchange-summary", "--drop", "14", "--pin", "15")
        assert (found["fates"]["dropped"], found["fates"]["pinned"]) == (0, 2)

    def test_the_split_by_hand(self, session: Path) -> None:
        found = document("compact", session, "--strategy", "exchange-summary", "--split-at", "u5")
        assert found["fates"]["kept"] == 4 * (ROUNDS - 5)

    def test_fields_are_set(self, session: Path) -> None:
        few = document("compact", session, "--preset", "augment-example")
        more = document("compact", session, "--preset", "augment-example", "--set", f"{TAIL}=12000")
        assert more["fates"]["kept"] > few["fates"]["kept"]

    def test_a_field_of_a_group_is_set(self, session: Path) -> None:
        bare = document(
            "compact", session, "--preset", "augment-example", "--set", "abridged_history_params.total_chars_limit=0"
        )
        full = document("compact", session, "--preset", "augment-example")
        assert bare["after"]["chars"] < full["after"]["chars"]

    @pytest.mark.parametrize("how", ["--params={}", "--set=@{}"])
    def test_a_parameter_object_is_pasted(self, how: str, session: Path, tmp_path: Path) -> None:
        params = {"trigger_on_history_size_chars": 10, TAIL: 12000, "prompt": "Sum up."}
        (tmp_path / "params.json").write_text(json.dumps(params))
        found = document(
            "compact", session, "--strategy", "exchange-summary", how.format(tmp_path / "params.json"), "--if-triggered"
        )
        assert found["status"] == "compacted"
        same = document("compact", session, "--strategy", "exchange-summary", "--set", f"{TAIL}=12000")
        assert found["fates"]["kept"] == same["fates"]["kept"] > 8

    def test_a_typed_summary_stands_in_the_export(self, session: Path, tmp_path: Path) -> None:
        (tmp_path / "mine.txt").write_text("All that happened was step one.")
        out = tmp_path / "out.jsonl"
        document(
            "compact",
            session,
            "--strategy",
            "exchange-summary",
            "--summarizer",
            f"typed:{tmp_path}/mine.txt",
            "-o",
            out,
        )
        assert out.read_text().count("All that happened was step one.") == 1

    def test_not_triggered(self, session: Path, tmp_path: Path) -> None:
        args = ["--set", "trigger_on_history_size_chars=900000", "--if-triggered", "-o", tmp_path / "out.jsonl"]
        found = document("compact", session, "--strategy", "exchange-summary", *args, code=1)
        assert (found["status"], found["trigger"]["fired"], found["output_file"]) == ("unchanged", False, None)
        assert not (tmp_path / "out.jsonl").exists()

    def test_not_smaller(self, tmp_path: Path) -> None:
        path = write_lines(tmp_path / "tiny.jsonl", [user("u", None, "Hi"), assistant("a", "u", "m", text("Hello"))])
        lines = [*session_lines(1)[:1], assistant("x", "u0", "m", text("Yes")), user("u1", "x", "Go")]
        path = write_lines(path, [*lines, assistant("y", "u1", "m2", text("Gone"))])
        found = document(
            "compact", path, "--strategy", "exchange-summary", "--split-at", "3", "-o", tmp_path / "o", code=1
        )
        assert found["status"] == "not_smaller"
        assert found["after"]["tokens"] >= found["before"]["tokens"]
        assert not (tmp_path / "o").exists()

    def test_a_failed_hard_check_stops_the_export_unless_forced(self, session: Path, tmp_path: Path) -> None:
        out = tmp_path / "out.jsonl"
        args = ["--strategy", "exchange-summary", "--set", 'reply=" "', "-o", out]
        found = document("compact", session, *args, code=3)
        assert [check["name"] for check in found["checks"] if check["required"] and not check["passed"]]
        assert found["output_file"] is None
        assert not out.exists()
        assert document("compact", session, *args, "--force")["output_file"] == str(out)
        assert out.exists()

    def test_the_session_itself_is_never_written_over(self, session: Path) -> None:
        before = session.read_bytes()
        run = cwb("compact", session, "--strategy", "exchange-summary", "-o", session, "--force")
        assert run.exit_code == 2
        assert session.read_bytes() == before

    def test_an_existing_file_is_replaced_only_by_force(self, session: Path, tmp_path: Path) -> None:
        (tmp_path / "out.jsonl").write_text("precious")
        args = ["compact", session, "--strategy", "exchange-summary", "-o", tmp_path / "out.jsonl"]
        assert cwb(*args).exit_code == 2
        assert (tmp_path / "out.jsonl").read_text() == "precious"
        assert cwb(*args, "--force").exit_code == 0
        assert (tmp_path / "out.jsonl").read_text() != "precious"


BINARY = bytes(range(256)) * 8
BAD_FILES: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: None,
    "a directory": lambda path: path.mkdir(),
    "empty": lambda path: path.write_bytes(b""),
    "binary": lambda path: path.write_bytes(BINARY),
    "truncated JSON": lambda path: path.write_text('{"messages": [{"role": "user", "content": "He'),
    "another JSON": lambda path: path.write_text('{"name": "package", "version": "1.0"}'),
    "prose": lambda path: path.write_text("Dear diary,\n"),
}


class TestBadInput:
    @pytest.mark.parametrize("command", ["open", "inspect", "compact"])
    @pytest.mark.parametrize("kind", BAD_FILES)
    def test_a_bad_file_gives_one_sentence_that_names_it(self, kind: str, command: str, tmp_path: Path) -> None:
        path = tmp_path / "bad.jsonl"
        BAD_FILES[kind](path)
        run = cwb(command, path, *(["--strategy", "exchange-summary"] if command == "compact" else []))
        assert run.exit_code == 2
        assert run.stdout == ""
        assert run.stderr.startswith("Error: ")
        assert str(path) in run.stderr
        assert run.stderr.count("\n") == 1

    @pytest.mark.parametrize("command", [(), ("show", "x"), ("delete", "x")])
    def test_a_damaged_journal_is_one_sentence(self, command: tuple[str, ...]) -> None:
        paths.runs().parent.mkdir(parents=True)
        paths.runs().write_bytes(b"not a database, " * 500)
        run = cwb("list", "runs", *command)
        assert run.exit_code == 2
        assert "move it away" in run.stderr
        assert len(run.stderr.splitlines()) == 1


class TestAsAProgram:
    def test_the_session_goes_down_a_pipe_and_words_beside_it(self, session: Path, tmp_path: Path) -> None:
        run = program("compact", session, "--strategy", "exchange-summary", "-o", "-", stdin=subprocess.DEVNULL)
        (tmp_path / "piped.jsonl").write_text(run.stdout)
        assert run.returncode == 0
        assert "compacted" in run.stderr
        assert not {"\x1b", "\r"} & set(run.stdout + run.stderr)
        assert document("inspect", tmp_path / "piped.jsonl")["context"]["messages"] > 0

    def test_an_exit_code_without_colour_or_traceback(self, session: Path) -> None:
        run = program("inspect", f"{session}.missing", stdin=subprocess.DEVNULL)
        assert run.returncode == 2, run.stderr
        assert not {"\x1b", "\r"} & set(run.stdout + run.stderr)
        assert "Traceback" not in run.stderr

    def test_a_reader_that_goes_away_is_no_error(self, tmp_path: Path) -> None:
        path = write_lines(tmp_path / "long.jsonl", session_lines(200))
        command = f"'{sys.executable}' -m workbench inspect '{path}' --verbosity default | head -n 1"
        run = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, check=True)
        assert run.stdout.count("\n") == 1
        assert run.stderr == ""

    def test_a_file_opens_on_a_terminal_goes_to_the_background_and_is_left_when_that_vanishes(
        self, session: Path
    ) -> None:
        command = [sys.executable, "-m", "workbench", "open", str(session)]
        with Terminal(command, os.environ, patience=float("inf")) as terminal:
            for mark in MARKS.values():
                terminal.wait_for(mark)
            assert b"\x1b[?1049l" in terminal.stopped(b"\x1a"), "the shell has its screen again"
            terminal.goes_on()
            terminal.wait_for(MARKS["counted"])
            assert terminal.vanish() == 0

    def test_an_ascii_terminal_takes_the_output(self, session: Path) -> None:
        run = program("inspect", session, env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
        assert run.returncode == 0, run.stderr
        assert "o200k" in run.stdout


class TestOtherCommands:
    def test_why_says_how_a_watched_sentence_stands_where_no_compaction_is_recorded(self) -> None:
        told = cwb("why", SAMPLES / "claude-code-overflow.jsonl", "--watch", "Never log the refresh token.").stdout
        assert [line.split() for line in told.splitlines()[-3:]] == [
            ["Watched", "in", "the", "session,", "which", "records", "no", "compaction"],
            ["now", "sentence"],
            ["verbatim", "Never", "log", "the", "refresh", "token."],
        ]

    def test_health_says_why_and_what_is_odd(self, session: Path) -> None:
        session.write_text(session.read_text() + '{"type": "user", "uui')
        found = document("inspect", "--health", session)
        assert "line 1" in found["recognized_by"]
        assert [warning["line"] for warning in found["warnings"]] == [4 * ROUNDS + 1]


SMALL_SAMPLES = [path for path in sorted(SAMPLES.glob("*.json*")) if path.stat().st_size < 300_000]
SEEDS = [
    "".join(json.dumps(line) + "\n" for line in session_lines(3)).encode(),
    *(path.read_bytes() for path in SMALL_SAMPLES),
]
TOKENS = [*rb'null [] {} "" -1 1e999 true "\ud800" [[[[ } "type"'.split(), b"\x00", b"\xff", b"\n"]


@st.composite
def mangled(draw: st.DrawFn) -> bytes:
    """A session with a few bytes, values or lines cut out, put in, doubled or exchanged."""
    data = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 4))):
        start, stop = sorted(draw(st.tuples(st.integers(0, len(data)), st.integers(0, len(data)))))
        match draw(st.sampled_from(["cut off", "cut out", "put in", "value", "double", "bytes"])):
            case "cut off":
                data = data[:stop]
            case "cut out":
                data = data[:start] + data[min(stop, start + 60) :]
            case "put in":
                data = data[:start] + draw(st.sampled_from(TOKENS)) + data[start:]
            case "value":
                data = _other_value(data, start, draw(st.sampled_from(TOKENS)))
            case "double":
                data = data[:stop] + data[start:]
            case _:
                data = data[:start] + draw(st.binary(max_size=8)) + data[start + 4 :]
    return data


def _other_value(data: bytes, after: int, token: bytes) -> bytes:
    """Another JSON value in place of the first one that follows a colon."""
    colon = data.find(b":", after) + 1
    ends = [end for end in (data.find(mark, colon) for mark in b",}]\n") if end > 0]
    return data[:colon] + token + data[min(ends) :] if colon and ends else data


@given(data=mangled())
@settings(suppress_health_check=list(HealthCheck))
def test_no_mangled_session_gives_a_traceback(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / f"mangled-{os.getpid()}.jsonl"
    path.write_bytes(data)
    run = cwb("inspect", path, "--json")
    if run.exit_code == 0:
        assert json.loads(run.stdout)["context"]["tokens"] >= 0
    else:
        assert run.exit_code == 2
        assert run.stderr.startswith("Error: ")
        assert run.stderr.count("\n") == 1
        assert "mangled" in run.stderr


@pytest.mark.parametrize("path", KEYS)
def test_what_json_shows_of_a_type_is_there(path: str) -> None:
    module, _, name = path.rpartition(".")
    kind = getattr(importlib.import_module(f"workbench.{module}"), name)
    names = [key.rpartition("=")[2] for key in KEYS[path].split()]
    assert [name for name in names if not hasattr(kind, name) and name not in kind.__annotations__] == []


@pytest.mark.parametrize(
    ("command", "out"), [("report", "-o there.md"), ("demo", "--svg there.svg"), ("demo", "--cast there.cast")]
)
def test_that_a_file_is_there_is_said_before_the_session_is_read(
    command: str, out: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    option, name = out.split()
    Path(name).write_bytes(b"kept")
    run = cwb(command, "no-session.jsonl", option, name)
    assert (run.exit_code, run.stderr) == (
        2,
        f"Error: {name} exists; choose another name or allow replacing it.\n",
    )
    assert Path(name).read_bytes() == b"kept"
    assert "no-session.jsonl does not exist" in cwb(command, "no-session.jsonl", option, name, "--overwrite").stderr
