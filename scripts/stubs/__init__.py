"""Templates of what a new format or strategy begins as, and the rows that tell the rest of the repository of it."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from string import Template

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent


def named(what: str) -> dict[str, str]:
    """The words of the command line: id, module, title and class name of the new thing. Ends with a sentence for a name
    that cannot be one."""
    parser = argparse.ArgumentParser(description=f"Add a {what} that does something plain, to be filled in.")
    parser.add_argument("name", help="its id, as my-tool")
    parser.add_argument("--title", help="how people call it; made of the name by default")
    given = parser.parse_args()
    id = given.name
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", id):
        sys.exit(f"{id!r} is no id; use small letters, digits and single hyphens, as in my-tool.")
    title = given.title or id.replace("-", " ").capitalize()
    name = "".join(part.capitalize() for part in id.split("-"))
    return {"id": id, "module": id.replace("-", "_"), "title": title, "name": name}


def write_all(kind: str, words: dict[str, str], targets: dict[str, str]) -> list[Path]:
    """Each template under its target. Ends with a sentence where a target exists; then nothing is written."""
    paths = {template: ROOT / Template(target).substitute(words) for template, target in targets.items()}
    for path in paths.values():
        if path.exists():
            sys.exit(f"{path.relative_to(ROOT)} exists already; choose another name.")
    for template, path in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(Template((HERE / kind / template).read_text("utf-8")).substitute(words), "utf-8")
    return list(paths.values())


def add_row(words: dict[str, str], file: str, anchor: str, row: str) -> Path:
    """`row` in front of the first line of a file that begins with `anchor`, blanks aside."""
    path = ROOT / file
    lines = path.read_text("utf-8").splitlines(keepends=True)
    at = next((n for n, line in enumerate(lines) if line.strip().startswith(anchor)), None)
    if at is None:
        sys.exit(f"{file} has no line that begins with {anchor!r}; add there by hand: {row.strip()}")
    lines.insert(at, Template(row).substitute(words) + "\n")
    path.write_text("".join(lines), "utf-8")
    return path


def tell(paths: Sequence[Path]) -> None:
    for path in dict.fromkeys(paths):
        print(path.relative_to(ROOT))
