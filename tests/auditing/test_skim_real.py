"""Every real session that can be skimmed has the same row when it is read whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.auditing.rows import SessionRow
from workbench.auditing.survey import row_of, row_of_skimmed
from workbench.base.errors import BadInput
from workbench.formats import registry
from workbench.formats.files import bytes_of, load_bytes
from workbench.formats.look import Look

BARE = SessionRow("one")


def same(path: Path) -> bool:
    """Whether the file is skimmed, after its row was held against that of the whole."""
    try:
        data = bytes_of(path)
        codec = registry.detect(Look.of(data, path))[0].codec
    except BadInput:
        return False
    skimmed = codec.skim(path, data) if codec.skim else None
    if skimmed is not None:
        assert row_of_skimmed(skimmed, BARE) == row_of(load_bytes(path, data), BARE, is_replayed=False), path
    return skimmed is not None


def test_real_sessions(shared: Path) -> None:
    files = (path for name in ("sessions", "sessions-more", "agents") for path in sorted((shared / name).rglob("*")))
    told = [path for path in files if path.suffix == ".jsonl" and path.is_file() and same(path)]
    assert len(told) >= 8
    assert {path.parent.name for path in told} >= {"claude-code", "codex"}


@pytest.mark.parametrize("stop", [10, 40, 80, 120])
def test_a_real_rollout_up_to_any_line(shared: Path, tmp_path: Path, stop: int) -> None:
    """As it is while its session goes on."""
    for path in sorted((shared / "sessions" / "codex").glob("*.jsonl")):
        lines = path.read_bytes().splitlines(keepends=True)
        cut = tmp_path / path.name
        cut.write_bytes(b"".join(lines[:stop]))
        same(cut)
