"""An audit of many files: each a row, only changed ones read again, the same on all cores."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.auditing.written import Written, long, put_all, quay
from workbench.auditing import cache as cached
from workbench.auditing import run, survey
from workbench.auditing.cache import RowCache
from workbench.auditing.rows import AuditFile, FileRows, SessionRow
from workbench.auditing.run import audit_files, candidates
from workbench.formats.machine import Machine
from workbench.formats.registry import places


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    put_all(folder, [("a/one.jsonl", quay()), ("a/two.jsonl", quay()), ("b/three.jsonl", long([900, 1_900]))])
    (folder / "b" / "torn.jsonl").write_bytes(b'{"type": "user", "mess')
    (folder / "b" / "notes.md").write_text("# Notes\n", "utf-8")
    (folder / "b" / "empty.jsonl").write_bytes(b"")
    return folder


@pytest.fixture
def rows_kept(tmp_path: Path) -> RowCache:
    return RowCache(tmp_path / "cache" / "audits.sqlite")


def done(folder: Path, kept: RowCache, **more: bool) -> dict[str, tuple[Sequence[SessionRow], bool]]:
    """The rows by file, and whether they were kept."""
    found = {}
    for one in audit_files(candidates([folder]), kept, **more):
        found[str(Path(one.rows[0].path).relative_to(folder))] = one.rows, one.cached
    return found


def kept_of(found: dict[str, tuple[Sequence[SessionRow], bool]]) -> list[str]:
    return sorted(name for name, (_, kept) in found.items() if kept)


FILES = ["a/one.jsonl", "a/two.jsonl", "b/empty.jsonl", "b/three.jsonl", "b/torn.jsonl"]


def test_a_file_whose_name_is_no_text_is_read_each_time(rows_kept: RowCache) -> None:
    with rows_kept.opened() as cache:
        cache.put("b\udcff", b"mark", 1, None, [SessionRow("b\udcff")])
        cache.put("b", b"mark", 1, None, [SessionRow("b")])
        assert (cache.get("b\udcff", b"mark"), cache.get("b", b"mark") is None, cache.trouble) == (None, False, "")


def test_every_file_is_there_and_what_cannot_be_read_says_why(corpus: Path, rows_kept: RowCache) -> None:
    found = done(corpus, rows_kept)
    assert sorted(found) == FILES
    assert {name: bool(rows[0].error) for name, (rows, _) in found.items()} == {
        name: name in ("b/empty.jsonl", "b/torn.jsonl") for name in FILES
    }


def test_a_second_run_reads_nothing(corpus: Path, rows_kept: RowCache, monkeypatch: pytest.MonkeyPatch) -> None:
    first = done(corpus, rows_kept)

    def read(work: object) -> FileRows:
        raise AssertionError(work)

    monkeypatch.setattr(run, "survey_file", read)
    again = done(corpus, rows_kept)
    assert kept_of(again) == FILES
    assert {name: rows for name, (rows, _) in again.items()} == {name: rows for name, (rows, _) in first.items()}


def test_where_all_rows_are_kept_nothing_is_loaded_that_reads(corpus: Path, own_home: Path) -> None:
    """Loading it takes longer than reading the rows of some thousand files."""
    script = (
        "import sys\nfrom workbench.cli import main\n"
        "try: main(['audit', sys.argv[1]])\n"
        "except SystemExit: pass\n"
        "print('workbench.auditing.survey' in sys.modules, 'workbench.analysis.replay' in sys.modules)"
    )
    command = [sys.executable, "-c", script, str(corpus)]
    ends = [
        subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1] for _ in range(2)
    ]
    assert ends == ["True True", "False False"]


def test_a_changed_file_is_read_again_and_no_other(corpus: Path, rows_kept: RowCache) -> None:
    done(corpus, rows_kept)
    quay().said("One more.").answered("Yes.", prompt=2_500).put(corpus / "a" / "two.jsonl")
    again = done(corpus, rows_kept)
    assert kept_of(again) == [name for name in FILES if name != "a/two.jsonl"]
    assert again["a/two.jsonl"][0][0].peak == 2_500


def test_a_file_that_only_looks_changed_is_not_parsed_again(
    corpus: Path, rows_kept: RowCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    done(corpus, rows_kept)
    os.utime(corpus / "a" / "one.jsonl", (1_000_000_000, 1_000_000_000))

    def parsed(*given: object) -> Iterator[SessionRow]:
        raise AssertionError(given)

    monkeypatch.setattr(survey, "_rows", parsed)
    again = done(corpus, rows_kept)
    assert kept_of(again) == FILES
    assert again["a/one.jsonl"][0][0].time == 1_000_000_000
    monkeypatch.undo()
    assert kept_of(done(corpus, rows_kept)) == FILES


def test_the_same_size_and_another_word_is_another_file(corpus: Path, rows_kept: RowCache) -> None:
    done(corpus, rows_kept)
    path = corpus / "a" / "one.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"preTokens": 1300', b'"preTokens": 1400'))
    os.utime(path, (1_000_000_000, 1_000_000_000))
    again = done(corpus, rows_kept)
    assert kept_of(again) == [name for name in FILES if name != "a/one.jsonl"]
    assert again["a/one.jsonl"][0][0].compactions[0].before == 1_400


def test_fresh_reads_all_again(corpus: Path, rows_kept: RowCache) -> None:
    done(corpus, rows_kept)
    assert kept_of(done(corpus, rows_kept, fresh=True)) == []


def test_another_table_of_models_makes_all_rows_anew(
    corpus: Path, rows_kept: RowCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done(corpus, rows_kept)
    table = tmp_path / "models.toml"
    table.write_text("", "utf-8")
    monkeypatch.setattr(cached.paths, "models", lambda: table)
    # They are as long as they were, with the same digest: what has changed is what they are told by.
    assert kept_of(done(corpus, RowCache(rows_kept.path))) == []


def test_a_broken_cache_is_left_alone(corpus: Path, tmp_path: Path) -> None:
    file = tmp_path / "audits.sqlite"
    file.write_bytes(b"this is no database, it is a note about the tides" * 100)
    broken = RowCache(file)
    assert sorted(done(corpus, broken)) == FILES
    assert "may be deleted" in broken.trouble
    assert file.read_bytes().startswith(b"this is no database")


def test_a_row_of_another_shape_is_made_anew(corpus: Path, rows_kept: RowCache) -> None:
    done(corpus, rows_kept)
    with sqlite3.connect(rows_kept.path) as base:
        base.execute("UPDATE files_1 SET rows = '[{\"path\": 1}]' WHERE path LIKE '%one.jsonl'")
        base.execute("UPDATE files_1 SET rows = 'nonsense' WHERE path LIKE '%two.jsonl'")
    assert kept_of(done(corpus, rows_kept)) == ["b/empty.jsonl", "b/three.jsonl", "b/torn.jsonl"]


def test_the_cache_is_bounded(corpus: Path, rows_kept: RowCache, monkeypatch: pytest.MonkeyPatch) -> None:
    done(corpus, rows_kept)
    monkeypatch.setattr(cached, "MAX_BYTES", 1)
    assert kept_of(done(corpus, rows_kept)) == FILES
    with sqlite3.connect(rows_kept.path) as base:
        assert base.execute("SELECT count(*) FROM files_1").fetchone() == (len(FILES) - len(FILES) // 2,)


@pytest.mark.usefixtures("two_cores")
def test_other_processes_give_the_same_rows(
    corpus: Path, rows_kept: RowCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = done(corpus, rows_kept)
    monkeypatch.setattr(run, "SINGLE_PROCESS_BYTES", 0)
    monkeypatch.setattr(run, "PIECE_FILES", 2)
    there = done(corpus, RowCache(tmp_path / "other.sqlite"))
    assert there == here


def test_a_folder_named_twice_counts_once(corpus: Path) -> None:
    several = [corpus, corpus / "a", corpus / "a" / "one.jsonl"]
    assert len(list(candidates(several))) == len(FILES)


def test_where_the_tools_keep_them(tmp_path: Path) -> None:
    home = tmp_path / "home"
    quay().put(home / ".claude" / "projects" / "-home-ada-quay" / "one.jsonl")
    Written().said("A task.").put(home / ".claude" / "projects" / "-home-ada-quay" / "agent-a1.jsonl")
    found = list(candidates([], places(Machine("linux", home, {}, tmp_path))))
    assert [(type(one).__name__, getattr(one, "tool", "")) for one in found] == [("AuditFile", "Claude Code")]


def test_a_run_that_is_left_keeps_what_was_done(corpus: Path, rows_kept: RowCache) -> None:
    for _ in audit_files(candidates([corpus]), rows_kept):
        break
    assert len(kept_of(done(corpus, rows_kept))) == 1


def test_a_dask_scheduler_gives_the_same_rows(
    corpus: Path, rows_kept: RowCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    here = done(corpus, rows_kept)
    monkeypatch.setattr(run, "PIECE_FILES", 2)
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, protocol="tcp://", host="127.0.0.1", dashboard_address=None
    )
    with cluster:
        there = {
            str(Path(one.rows[0].path).relative_to(corpus)): (one.rows, one.cached)
            for one in audit_files(candidates([corpus]), RowCache(tmp_path / "other.sqlite"), cluster.scheduler_address)
        }
    assert there == here


@pytest.mark.parametrize(("files", "played"), [(2 * run.MAX_REPLAYED - 1, 1.0), (4 * run.MAX_REPLAYED, 0.25)])
def test_of_many_files_some_are_replayed(
    tmp_path: Path, rows_kept: RowCache, monkeypatch: pytest.MonkeyPatch, files: int, played: float
) -> None:
    seen: list[bool] = []

    def surveyed(work: AuditFile) -> FileRows:
        seen.append(work.is_replayed)
        return FileRows(work.path, None, (SessionRow(work.path),))

    monkeypatch.setattr(run, "survey_file", surveyed)
    works = [AuditFile(str(tmp_path / f"{number}.jsonl"), 1, 0.0) for number in range(files)]
    assert len(list(audit_files(works, rows_kept))) == files
    assert sum(seen) / files == pytest.approx(played, abs=0.06)


@pytest.mark.parametrize(
    ("sizes", "pieces"),
    [
        ([100] * 64, [1] * 64),
        ([100] * 640, [10] * 64),
        ([100] * 641, [10] * 64 + [1]),
        ([run.PIECE_BYTES] * 65, [1] * 65),
        ([run.PIECE_BYTES // 2] * 256, [2] * 128),
        ([run.PIECE_BYTES // 2 + 1] * 256, [1] * 256),
        ([run.PIECE_BYTES * 64, *[10] * (run.PIECE_FILES + 1)], [1, run.PIECE_FILES, 1]),
        ([], []),
    ],
)
def test_pieces_are_as_large_as_their_number_allows(sizes: list[int], pieces: list[int]) -> None:
    """At least `PIECES` of files that are as large as each other, so that cores end together, and none too large."""
    works = [AuditFile(f"{number}.jsonl", size, 0.0) for number, size in enumerate(sizes)]
    made = run._pieces(works)
    assert [len(piece) for piece in made] == pieces
    assert sorted(work.path for piece in made for work in piece) == sorted(work.path for work in works)
