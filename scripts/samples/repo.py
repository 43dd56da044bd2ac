"""A repository that exists only in a story: the stories' reads, edits, searches and diffs are worked out on it."""

from __future__ import annotations

import difflib
import re
from pathlib import Path


class Repo:
    """Files by path. `commit()` marks a point that `diff()` compares with."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = dict(files)
        self._committed = dict(files)

    def replace(self, path: str, old: str, new: str, count: int = 1) -> None:
        """Replace `old`, which must occur exactly `count` times: a story that drifted from its files fails here."""
        text = self.files[path]
        if text.count(old) != count:
            raise ValueError(f"{path}: expected {count} times, found {text.count(old)}: {old[:80]!r}")
        self.files[path] = text.replace(old, new)

    def grep(self, pattern: str, under: str = "", suffix: str = "") -> list[tuple[str, int, str]]:
        wanted = re.compile(pattern)
        return [
            (path, number, line)
            for path in sorted(self.files)
            if path.startswith(under) and path.endswith(suffix)
            for number, line in enumerate(self.files[path].splitlines(), 1)
            if wanted.search(line)
        ]

    def diff(self, under: str = "") -> str:
        out: list[str] = []
        for path in self.changed(under):
            old, new = self._committed.get(path, ""), self.files[path]
            out.append(f"diff --git a/{path} b/{path}")
            if not old:
                out.append("new file mode 100644")
            source = f"a/{path}" if old else "/dev/null"
            out += difflib.unified_diff(old.splitlines(), new.splitlines(), source, f"b/{path}", lineterm="")
        return "\n".join(out)

    def diff_stat(self) -> str:
        lines, added, removed = [], 0, 0
        changed = self.changed()
        for path in changed:
            delta = list(difflib.ndiff(self._committed.get(path, "").splitlines(), self.files[path].splitlines()))
            plus, minus = sum(x[0] == "+" for x in delta), sum(x[0] == "-" for x in delta)
            bar = "+" * min(30, (plus + 2) // 3) + "-" * min(30, (minus + 2) // 3)
            lines.append(f" {path:<44} | {plus + minus:>4} {bar}")
            added, removed = added + plus, removed + minus
        return "\n".join(
            [*lines, f" {len(changed)} files changed, {added} insertions(+), {removed} deletions(-)"],
        )

    def changed(self, under: str = "") -> list[str]:
        return sorted(p for p, text in self.files.items() if p.startswith(under) and self._committed.get(p) != text)

    def commit(self) -> None:
        self._committed = dict(self.files)


def hunks(old: str, new: str) -> list[dict[str, object]]:
    """The structured patch that Claude Code records beside an edit."""
    a, b = old.splitlines(), new.splitlines()
    out: list[dict[str, object]] = []
    for group in difflib.SequenceMatcher(None, a, b, autojunk=False).get_grouped_opcodes(3):
        lines: list[str] = []
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += [" " + line for line in a[i1:i2]]
            else:
                lines += ["-" + line for line in a[i1:i2]] + ["+" + line for line in b[j1:j2]]
        first, last = group[0], group[-1]
        out.append(
            {
                "oldStart": first[1] + 1,
                "oldLines": last[2] - first[1],
                "newStart": first[3] + 1,
                "newLines": last[4] - first[3],
                "lines": lines,
            }
        )
    return out


def tree(folder: Path) -> dict[str, str]:
    """Files under `folder` by relative path; they are stored with `.txt` added so that no tool takes them for ours."""
    return {
        path.relative_to(folder).as_posix().removesuffix(".txt"): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*.txt"))
    }
