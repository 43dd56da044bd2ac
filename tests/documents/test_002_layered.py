"""The rules of document 002: `layered`."""

from __future__ import annotations

from tests.documents.rules import rule
from workbench.compaction.assembled.mentions import mentioned


@rule("002-062")
def test_only_latin_paths_without_spaces_are_found() -> None:
    assert mentioned('@中文.py and @"a b.py"') == ()
