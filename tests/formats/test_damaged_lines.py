"""Files of lines that a crash left damaged: every format reads what is whole, and says on which line what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.paths import SAMPLES
from workbench.formats.files import load
from workbench.session import Session

FILES = sorted(SAMPLES.glob("*.jsonl"))


def _lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def _damaged(tmp_path: Path, lines: list[bytes]) -> Session:
    file = tmp_path / "damaged.jsonl"
    file.write_bytes(b"".join(lines))
    return load(file)


def _texts(session: Session) -> list[list[str]]:
    return [[message.text for message in session.context(number + 1)] for number in range(len(session.epochs))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a10_a_line_glued_behind_a_cut_one_is_read_in_every_format(path: Path, tmp_path: Path) -> None:
    lines, whole = _lines(path), load(path)
    if len(lines) < 3:
        pytest.skip("has no line between two others")
    at = len(lines) // 2
    cut = lines[at][: len(lines[at]) // 2]
    found = _damaged(tmp_path, [*lines[:at], cut + lines[at], *lines[at + 1 :]])
    assert _texts(found) == _texts(whole)
    odd = [warning for warning in found.warnings if warning.line == at + 1]
    assert [warning.text for warning in odd if warning not in whole.warnings] == [
        "is cut off, and another record follows on the same line; kept in the file, not shown",
        "a second record on the same line",
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a11_lines_of_nul_bytes_are_told_in_every_format(path: Path, tmp_path: Path) -> None:
    lines, whole = _lines(path), load(path)
    if len(lines) < 3:
        pytest.skip("has no line between two others")
    at = len(lines) // 2
    found = _damaged(tmp_path, [*lines[:at], b"\x00" * 412 + b"\n", *lines[at:]])
    assert _texts(found) == _texts(whole)
    told = [str(warning) for warning in found.warnings if warning not in whole.warnings]
    assert f"line {at + 1}: 412 NUL bytes left by a crash; ignored" in told


@pytest.mark.parametrize("sample", ["gemini", "pi", "copilot", "codex-two-compactions", "claude-code-overflow"])
def test_a25_the_warnings_of_any_format_are_capped(sample: str, tmp_path: Path) -> None:
    path = next(path for path in FILES if path.stem.startswith(sample))
    lines = _lines(path)
    found = _damaged(tmp_path, [*lines, *([b"{}\n"] * 1_500), *([b"[]\n"] * 1_500)])
    assert 1 <= len(found.warnings) <= 2_003
