"""The folder name of a project, compared with folders that Claude Code 2.1.330 created."""

from __future__ import annotations

import pytest

from workbench.formats.claude_code.project import project_name

DEEP = "/tmp/cc/w/" + "/".join(["ab_cdé😀"] * 24)


@pytest.mark.parametrize(
    ("path", "made"),
    [
        ("/tmp/cc/w/x😀y", "-tmp-cc-w-x--y"),
        (DEEP, "-tmp-cc-w" + "-ab-cd---" * 21 + "-a" + "-xrklld"),
        ("/" + "n" * 198, "-" + "n" * 198),
        ("/" + "n" * 199, "-" + "n" * 199),
        ("/" + "n" * 200, "-" + "n" * 199 + "-rxbh2n"),
    ],
    ids=["beyond 16 bits", "deep", "199", "200", "201"],
)
def test_a_project_has_the_name_that_the_tool_gives_it(path: str, made: str) -> None:
    assert project_name(path) == made
