"""The repair of the session on the bench, without a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.claude_code_build import jsonl
from tests.formats.test_claude_code_branches import broken
from tests.tui.bench.desk import Desk
from workbench.formats.files import load
from workbench.tui.screens.repair import RepairScreen


@pytest.mark.parametrize("branch", ["resumed", "joined", "line-3"])
def test_the_repair_of_a_branch_links_the_branches_of_its_file(branch: str, tmp_path: Path) -> None:
    """Written as a new session it would have left the other branches out."""
    (file := tmp_path / "broken.jsonl").write_bytes(jsonl(*broken(6)))
    desk = Desk(load(file, part=branch))
    desk.do("repair")
    desk.rest()
    ((screen, _),) = desk.asked
    assert isinstance(screen, RepairScreen)
    assert [(fix.fault, fix.line) for fix in screen.repair.fixes] == [("dangling-parent", 5)]
    assert [message.id for message in screen.repair.session.context()] == ["u1", "a1", "u2", "a2"]  # type: ignore[union-attr]
