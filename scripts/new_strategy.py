"""Add a strategy: its module, a preset, a test, and the rows that tell of it.

    python scripts/new_strategy.py NAME [--title TITLE]

What is written keeps the newest messages and passes the tests as it stands. Fill in what the strategy does;
CONTRIBUTING.md says in which order.
"""

from __future__ import annotations

import subprocess
import sys

from stubs import ROOT, add_row, named, tell, write_all

FILES = {
    "strategy.py.txt": "workbench/compaction/strategies/$module.py",
    "preset.toml.txt": "workbench/compaction/presets/$id.toml",
    "test.py.txt": "tests/compaction/test_$module.py",
}
SECTION = """## $id

    before   system  a b c d │ e f g
    after    system          │ e f g

The newest `newest_messages` stay. Loses everything older.
"""
ROWS = (
    ("workbench/compaction/strategies/__init__.py", '"ledger": "ledger"', '    "$id": "$module",'),
    ("docs/strategies.md", "| [ledger](#ledger)", "| [$id](#$id) | none | the newest messages | messages | yes |"),
    ("docs/strategies.md", "## ledger", SECTION),
    ("docs/reference.md", "| `ledger` |", "| `$id` | keeps the newest messages; no model |"),
    ("tests/compaction/test_conformance.py", '"ledger": {"budget', '    "$id": {"newest_messages": 6},'),
    ("tests/borders/test_limits.py", '"trim.target_messages"', '    "$id.newest_messages": Row(left, 4, (3, 4, 5)),'),
)
"""File, beginning of the line before which it goes, row."""


def main() -> None:
    words = named("strategy")
    made = write_all("strategy", words, FILES)
    made += [add_row(words, *row) for row in ROWS]
    told = ["tests/compaction/test_whole_outcomes.py", "--golden-update", "-k", words["id"]]
    subprocess.run([sys.executable, "-m", "pytest", "-q", *told], cwd=ROOT, check=False, stdout=subprocess.DEVNULL)
    tell([*made, ROOT / "tests" / "compaction" / "whole_outcomes" / f"{words['id']}.txt"])


if __name__ == "__main__":
    main()
