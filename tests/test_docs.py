"""What code, presets and docs cite is in the repository."""

from __future__ import annotations

import re

from tests.documents.rules import rows
from tests.paths import ROOT

_CITED = re.compile(r"\b(docs/[\w-]+\.md|00\d-\d{3}|(?<=[Dd]ocument )00\d)\b|§|\bspec/\w+\.md")


def test_only_what_is_here_is_cited() -> None:
    rules = {row.id for row in rows()}
    told = rules | {id[:3] for id in rules}
    files = [path for folder in ("workbench", "docs", "prompts") for path in (ROOT / folder).rglob("*")]
    missing = {
        str(path.relative_to(ROOT)): found[0]
        for path in files
        if path.suffix in (".py", ".toml", ".md")
        for found in _CITED.finditer(path.read_text("utf-8"))
        if not (found[1] and (found[1] in told or (ROOT / found[1]).is_file()))
    }
    assert missing == {}
