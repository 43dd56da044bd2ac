"""An audit as CSV, HTML, JSON and Parquet: what sessions say stays data, and every line is there."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import re
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.auditing.written import Written, long, put_all, quay
from tests.commands import cwb
from workbench.api.sessions import audit
from workbench.auditing.columns import COMPACTIONS, SESSIONS, TABLES, About
from workbench.auditing.files import MAX_LINES, as_csv, as_html, as_parquet, save
from workbench.auditing.rows import SessionRow
from workbench.base.errors import BadInput
from workbench.base.tables import Column

EVIL = "<script>alert(1)</script>[bold]{{ 7 * 7 }}"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    put_all(folder, [("one.jsonl", quay()), ("evil.jsonl", Written(cwd=f"/home/{EVIL}").said(EVIL))])
    (folder / "torn.jsonl").write_bytes(b'{"type": "user", "mess')
    return folder


@pytest.mark.parametrize("suffix", [".csv", ".html", ".json", ".parquet"])
def test_homes_are_masked_in_a_file_when_they_are_to_be(
    suffix: str, tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was masked when the rows were made: they are kept, and are the same for who masks less or more."""
    parquet = pytest.importorskip("pyarrow.parquet") if suffix == ".parquet" else None
    folder, saved = tmp_path / "corpus", tmp_path / f"audit{suffix}"
    put_all(
        folder,
        [("one.jsonl", Written(cwd="/home/ada/quay").said("Mail it to ada@example.com.").answered("Yes.", prompt=9))],
    )

    def told() -> str:
        assert cwb("audit", str(folder), "--save", str(saved)).exit_code == 0
        text = str(parquet.read_table(saved).to_pylist()) if parquet else saved.read_text("utf-8")
        saved.unlink()
        return text

    monkeypatch.setenv("CWB_MASK", "home,mail")
    text = told()
    assert ("/ada" in text, "ada@" in text) == (False, False)
    assert ("[home]/quay" in text, "[mail]" in text) == (True, True)
    monkeypatch.delenv("CWB_MASK")
    text = told()
    assert ("/home/ada/quay" in text, "ada@example.com" in text) == (True, True)
    monkeypatch.setenv("CWB_MASK", "home")
    text = told()
    assert ("/home/ada" in text, "[home]/quay" in text, "ada@example.com" in text) == (False, True, True)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_saved_by_command(corpus: Path, tmp_path: Path, own_home: Path) -> None:
    saved = [tmp_path / f"audit{suffix}" for suffix in (".csv", ".html", ".json")]
    done = cwb("audit", str(corpus), *(word for path in saved for word in ("--save", str(path))))
    assert (done.exit_code, done.stdout) == (0, "")
    sheet, page, document = saved
    lines = list(csv.DictReader(io.StringIO(sheet.read_text("utf-8"))))
    assert list(lines[0]) == [one.key for one in SESSIONS]
    by_name = {Path(line["file"]).name: line for line in lines}
    assert sorted(by_name) == ["evil.jsonl", "one.jsonl"]
    assert (by_name["one.jsonl"]["compactions"], by_name["one.jsonl"]["lost_rules"]) == ("1", "1")
    assert by_name["evil.jsonl"]["title"] == EVIL
    told = json.loads(document.read_text("utf-8"))
    assert [Path(one["file"]).name for one in told["unreadable"]] == ["torn.jsonl"]
    assert sorted(Path(one["file"]).name for one in told["sessions"]) == ["evil.jsonl", "one.jsonl"]
    tags = _Tags()
    tags.feed(page.read_text("utf-8"))
    assert tags.tags == {"html", "head", "meta", "title", "style", "body", "h1", "h2", "table", "tr", "th", "td", "p"}
    assert EVIL in tags.text
    assert "torn.jsonl" in tags.text
    other = tmp_path / "other.csv"
    again = cwb("audit", str(corpus), "--save", str(other), "--save", str(sheet))
    assert again.exit_code == 2
    assert "audit.csv exists; choose another name." in again.stderr
    assert not other.exists()


def test_compactions_as_csv(corpus: Path, tmp_path: Path, own_home: Path) -> None:
    file = tmp_path / "made.csv"
    assert cwb("audit", str(corpus), "--list", "compactions", "--save", str(file)).exit_code == 0
    (line,) = csv.DictReader(io.StringIO(file.read_text("utf-8")))
    assert list(line) == [one.key for one in COMPACTIONS]
    assert (line["tokens_before"], line["tokens_after"], line["grew"], line["manual"]) == ("1300", "600", "no", "no")


@pytest.mark.parametrize("name", ["audit.txt", "audit"])
def test_another_ending_is_refused_before_anything_is_read(name: str, corpus: Path, tmp_path: Path) -> None:
    done = cwb("audit", str(corpus), "--save", str(tmp_path / name))
    assert done.exit_code == 2
    assert ".csv, .html, .json or .parquet" in done.stderr


@pytest.mark.parametrize(
    ("title", "told"),
    [("=1+1", "'=1+1"), ("@a", "'@a"), ("-1", "'-1"), ("a=1", "a=1"), ("", ""), ('a,"b"\nc', 'a,"b"\nc')],
)
def test_no_cell_is_a_formula(title: str, told: str) -> None:
    sheet = as_csv([SessionRow("one", title=title)], "sessions", ())
    (line,) = csv.DictReader(io.StringIO(sheet.decode()))
    assert line["title"] == told


@pytest.mark.parametrize("evil", ["\r=1+1", "\n=1+1", " =1+1", "\ufeff=1+1", "＝1+1", "\t@a", 'a"\r\n=1,"'])
def test_f5_what_a_session_says_begins_no_row_and_is_no_formula(evil: str) -> None:
    rows = [SessionRow(evil, part=evil, model=evil, project=evil, title=evil), SessionRow("two")]
    for about in TABLES:
        heads, *lines = csv.reader(io.StringIO(as_csv(rows, about, ()).decode(), newline=""))
        assert {len(line) for line in lines} <= {len(heads)}
        assert not [cell for line in lines for cell in line if cell == evil and not cell.startswith("a")]
    sheet = as_csv(rows, "sessions", ()).decode()
    assert len(list(csv.reader(io.StringIO(sheet, newline="")))) == 3


@pytest.mark.parametrize(("count", "more"), [(MAX_LINES - 1, ""), (MAX_LINES, ""), (MAX_LINES + 1, "and 1 more")])
def test_a_page_says_how_many_it_leaves_out(count: int, more: str) -> None:
    page = as_html([SessionRow(f"{n}.jsonl", tool="Quay") for n in range(count)], "sessions", ("tool",)).decode()
    assert ("more</p>" in page) == bool(more)
    assert more in page


def test_a_page_says_first_what_is_to_be_set_and_no_cost_where_none_is_known(own_home: Path, tmp_path: Path) -> None:
    long([20_000, 60_000, 120_000]).put(tmp_path / "long.jsonl")
    page = as_html([*audit(tmp_path).rows, SessionRow("two", tool="Quay")], "sessions", ("tool",)).decode()
    heads = re.findall(r"<h2>(.*?)</h2>", page)
    assert heads == ["What would have been cheapest", "Sums", "Sessions"]
    (quay,) = re.findall(r"<tr><td>Quay</td>(.*?)</tr>", page)
    assert "0.00" not in quay


def test_text_that_is_no_text_is_written(tmp_path: Path) -> None:
    row = SessionRow("one", title="lone \ud800 surrogate")
    assert b"lone" in as_csv([row], "sessions", ())
    assert b"lone" in as_html([row], "sessions", ())


@pytest.mark.skipif(importlib.util.find_spec("pyarrow") is not None, reason="pyarrow is installed")
def test_without_pyarrow_a_sentence_before_anything_is_written(corpus: Path, tmp_path: Path, own_home: Path) -> None:
    page = tmp_path / "audit.html"
    done = cwb("audit", str(corpus), "--save", str(page), "--save", str(tmp_path / "audit.parquet"))
    assert done.exit_code == 2
    assert "install 'compaction-workbench[parquet]'" in done.stderr
    assert not page.exists()
    with pytest.raises(BadInput, match=r"compaction-workbench\[parquet\]"):
        save(tmp_path / "audit.parquet", [], "sessions", ())


@pytest.mark.parametrize(("about", "columns"), [("sessions", SESSIONS), ("compactions", COMPACTIONS)])
def test_parquet_says_what_csv_says(
    about: About, columns: tuple[Column, ...], corpus: Path, tmp_path: Path, own_home: Path
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    sheet, table = tmp_path / "audit.csv", tmp_path / "audit.parquet"
    saved = cwb("audit", str(corpus), "--list", about, "--save", str(sheet), "--save", str(table))
    assert saved.exit_code == 0
    told = list(csv.DictReader(io.StringIO(sheet.read_text("utf-8"))))
    read = parquet.read_table(table)
    assert read.column_names == [one.key for one in columns] == list(told[0])
    assert len(told) == read.num_rows
    for line, row in zip(told, read.to_pylist(), strict=True):
        for one in columns:
            assert line[one.key] == _as_in_csv(row[one.key]), one.key


@pytest.mark.parametrize("time", [1e30, float("nan")])
def test_a_time_that_no_calendar_has_is_none(time: float) -> None:
    row = SessionRow("one", time=time)
    (line,) = csv.DictReader(io.StringIO(as_csv([row], "sessions", ()).decode()))
    assert line["changed"] == ""
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(pyarrow.BufferReader(as_parquet([row], "sessions", ())))
    assert table.to_pylist()[0]["changed"] is None


def _as_in_csv(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case datetime():
            return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        case _:
            return str(value)


def test_parquet_has_types(tmp_path: Path, corpus: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    row = SessionRow("one", title="lone \ud800", bytes=7, time=1_767_323_045.5, cost=0.25)
    table = parquet.read_table(pyarrow.BufferReader(as_parquet([row, SessionRow("two", error="torn")], "sessions", ())))
    assert table.num_rows == 1
    found = table.to_pylist()[0]
    assert (found["file"], found["bytes"], found["usd"], found["window_tokens"]) == ("one", 7, 0.25, None)
    assert found["changed"].timestamp() == 1_767_323_045.5
    assert str(table.schema.field("changed").type) == "timestamp[ms, tz=UTC]"
