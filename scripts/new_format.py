"""Add a format: its package, a sample, a test, and the rows that tell of it.

    python scripts/new_format.py NAME [--title TITLE]

What is written reads and writes a flat JSON list of messages and passes the tests as it stands. Fill in what is true of
the tool; CONTRIBUTING.md says in which order.
"""

from __future__ import annotations

import subprocess
import sys

from stubs import ROOT, add_row, named, tell, write_all

FILES = {
    "__init__.py.txt": "workbench/formats/$module/__init__.py",
    "read.py.txt": "workbench/formats/$module/read.py",
    "write.py.txt": "workbench/formats/$module/write.py",
    "rules.py.txt": "workbench/formats/$module/rules.py",
    "sample.py.txt": "scripts/samples/$module.py",
    "test.py.txt": "tests/formats/test_$module.py",
}
ROWS = (
    ("workbench/formats/registry.py", '"openai-responses"', '    "$id": "$module",'),
    ("docs/formats.md", "| OpenAI Responses |", "| $title | `$id` | a list of messages | no | no | a list | no |"),
    ("scripts/make_samples.py", "from samples.openai_chat", "from samples.$module import ${module}_session"),
    ("scripts/make_samples.py", '"anthropic-cut-pair.json"', '    "$id-lamp.json": ${module}_session,'),
    (
        "sample_sessions/README.md",
        "| `anthropic-cut-pair.json`",
        "| `$id-lamp.json` | $title, 6 messages | The last request asks for what the first forbids. | 0 | Pin it. |",
    ),
    (
        "tests/formats/recognised.json",
        '"atif-handover.json"',
        ' "$id-lamp.json": [["$id", "a list of messages with the role under `$id`"]],',
    ),
    ("tests/formats/test_export_note.py", '"openai-chat",', '    "$id",'),
    (
        "tests/formats/adopted.json",
        '"claude-code"',
        ' "$id": {"roles": "system user assistant tool user/meta assistant system/summary", "errors": [true, false], '
        '"losses": {"media": 1}},',
    ),
)
"""File, beginning of the line before which it goes, row."""


def main() -> None:
    words = named("format")
    made = write_all("format", words, FILES)
    made += [add_row(words, *row) for row in ROWS]
    subprocess.run([sys.executable, ROOT / "scripts" / "make_samples.py"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([sys.executable, "-m", "ruff", "check", "-q", "--fix", "--select", "I", ROOT], check=True)
    subprocess.run([sys.executable, "-m", "ruff", "format", "-q", ROOT], check=True)
    tell([*made, ROOT / "sample_sessions" / f"{words['id']}-lamp.json"])


if __name__ == "__main__":
    main()
