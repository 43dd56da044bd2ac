"""Edits after a compaction that undo or repeat earlier ones.

Lines that are removed from one file and written into another count as moved, not as undone. Import lists follow the
code and do not count.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from msgspec import Struct

from workbench.analysis.mentions import plain_path
from workbench.analysis.rework.removed import SAME, RemovedText
from workbench.facts.calls import ToolCall
from workbench.facts.diffstat import text_replacements
from workbench.facts.tools import normal_path

FEWEST = 20
"""Fewest letters and digits of an edit that can be identified."""

_ASKED = re.compile(
    r"\b(?:revert|undo|roll(?:ed)? ?back|back to|restore|put (?:it|that|them) back|take (?:it|that) out|rückgängig|"
    r"zurück|annule[rz]?|reviens)\b|撤销|恢复|还原",
    re.IGNORECASE,
)
"""Requests of the user to undo something; edits that follow them are no rework."""


class RepeatedEdit(Struct, frozen=True):
    """Edit of call `after` that undoes or repeats the edit of call `before`."""

    kind: Literal["undone", "redone"]
    path: str
    before: ToolCall
    after: ToolCall
    epoch: int


@dataclass(frozen=True)
class _Edit:
    """Text before and after an edit; `old` is "" for a whole file. Lines are computed on first use, because most edits
    are never compared."""

    called: ToolCall
    old: str
    new: str

    @cached_property
    def place(self) -> frozenset[str]:
        """Lines before the edit, which identify its place in the file."""
        return _lines(self.old)

    @cached_property
    def removed(self) -> frozenset[str]:
        """Lines that it removed."""
        return self.place - _lines(self.new)

    @cached_property
    def added(self) -> frozenset[str]:
        """Lines that it added."""
        return _lines(self.new) - self.place

    @property
    def changed_chars(self) -> int:
        """Number of letters and digits in the changed lines, without imports."""
        return sum(map(str.isalnum, "".join(_without_imports(self.removed | self.added))))


_COMMITS = re.compile(r"\bgit\b.*\s(?:add|commit)\b")
"""Commits: restoring the file afterwards does not undo the edit."""

_LOSES = re.compile(r"\bgit\b.*\sstash (?:drop|clear)\b")
"""Dropped stashes: edits are repeated because of them, not because of a compaction."""

_IMPORTS = re.compile(
    r"(?:import|from|use|using|require|include|export [*{].* from|#include)\b.*|(?:[\w.]+ )?[\"'][^\"']*[\"'][,;]?|\W*"
)


def _without_imports(lines: frozenset[str]) -> frozenset[str]:
    return frozenset(line for line in lines if not _IMPORTS.fullmatch(line))


def repeated_edits(
    calls: Sequence[ToolCall], removed: RemovedText, cwd: str, typed: Sequence[tuple[int, str]]
) -> Iterator[RepeatedEdit]:
    """Yield repeated edits in order; `typed` has the user's texts with message indexes."""
    edits_of_calls = [
        [(plain_path(one.path, cwd), _Edit(called, one.old, one.new)) for one in text_replacements(called)]
        for called in calls
    ]
    written = [pair for edits in edits_of_calls for pair in edits]
    done: dict[str, list[_Edit]] = {}
    committed: dict[str, int] = {}
    for called, edits in zip(calls, edits_of_calls, strict=True):
        if not called.actions:
            continue
        for line in (one.target for one in called.actions if one.kind == "command"):
            if _COMMITS.search(line):
                committed |= {path: called.index for path in done if path.rpartition("/")[2] in line}
            if _LOSES.search(line):
                done.clear()
        for path in [plain_path(normal_path(one.target), cwd) for one in called.actions if one.kind == "reverted"]:
            undoes = next(reversed(done.get(path, ())), None)
            if undoes is None or committed.get(path, -1) > undoes.called.index:
                done.pop(path, None)
                continue
            if called.ok is not False and (found := _repeated_edit(undoes, called, "undone", path, removed, typed)):
                yield found
            done.pop(path, None)
        reported: set[str] = set()
        for path, edit in edits:
            before = done.get(path)
            if not before or path in reported or not removed.between(before[0].called.index, called.index):
                continue
            if edit.changed_chars >= FEWEST:
                for earlier in reversed(before):
                    kind = _kind(earlier, edit)
                    if kind is None:
                        continue
                    found = _repeated_edit(earlier, called, kind, path, removed, typed)
                    if found and not (kind == "undone" and _is_moved(path, earlier, edit, written, typed)):
                        reported.add(path)
                        yield found
                    break
        for path, edit in edits:
            done.setdefault(path, []).append(edit)


def _is_moved(
    path: str, earlier: _Edit, edit: _Edit, written: Sequence[tuple[str, _Edit]], typed: Sequence[tuple[int, str]]
) -> bool:
    """True if the removed lines were written into another file after the earlier edit, at the latest before the user's
    next message."""
    out, since, here = _without_imports(edit.removed), earlier.called.index, edit.called.index
    end = next((index for index, _ in typed if index > here), sys.maxsize)
    elsewhere = (one.added for other, one in written if other != path and since < one.called.index < end)
    return bool(out) and any(len(out & added) >= SAME * len(out) for added in elsewhere)


def _repeated_edit(
    earlier: _Edit,
    called: ToolCall,
    kind: Literal["undone", "redone"],
    path: str,
    removed: RemovedText,
    typed: Sequence[tuple[int, str]],
) -> RepeatedEdit | None:
    before = earlier.called
    if not removed.between(before.index, called.index):
        return None
    if any(before.index < index < called.index and _ASKED.search(words) for index, words in typed):
        return None
    epoch = removed.by(before.index, earlier.removed | earlier.added, called.index)
    return None if epoch is None else RepeatedEdit(kind, path, before, called, epoch)


def _lines(text: str) -> frozenset[str]:
    return frozenset(line.strip() for line in text.split("\n") if line.strip())


def _kind(earlier: _Edit, edit: _Edit) -> Literal["undone", "redone"] | None:
    """Return "undone" or "redone" if an edit undoes or repeats an earlier one, else None. The same lines at another
    place are no repetition."""
    if _alike(earlier.added, edit.removed) and _alike(earlier.removed, edit.added):
        return "undone"
    if earlier.place == edit.place and _alike(earlier.added, edit.added) and _alike(earlier.removed, edit.removed):
        return "redone"
    return None


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= SAME * len(one | other)
