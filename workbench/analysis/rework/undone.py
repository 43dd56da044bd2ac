"""Edits after a compaction that take earlier ones back, or make them once more.

What is taken out of one file and written into another, before or next, was moved; lists of imports follow the code, and
say nothing by themselves.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from msgspec import Struct

from workbench.analysis.needed_items import plain_path
from workbench.analysis.rework.taken import SAME, Taken
from workbench.facts.calls import ToolCall
from workbench.facts.diffstat import text_replacements
from workbench.facts.tools import normal_path

FEWEST = 20
"""An edit of fewer letters and digits is too small to say which one it undoes."""

_ASKED = re.compile(
    r"\b(?:revert|undo|roll(?:ed)? ?back|back to|restore|put (?:it|that|them) back|take (?:it|that) out|rückgängig|"
    r"zurück|annule[rz]?|reviens)\b|撤销|恢复|还原",
    re.IGNORECASE,
)
"""How a person asks for it: then it is no rework."""


class Remade(Struct, frozen=True):
    """An edit that undoes or redoes the one of call `before`."""

    kind: Literal["undone", "redone"]
    path: str
    before: ToolCall
    after: ToolCall
    epoch: int


@dataclass(frozen=True)
class _Edit:
    """What stood there before an edit and behind it, "" where it wrote a whole file. Its lines are looked at only where
    the same file was changed before a compaction: of most edits nobody asks."""

    called: ToolCall
    old: str
    new: str

    @cached_property
    def place(self) -> frozenset[str]:
        return _lines(self.old)

    @cached_property
    def removed(self) -> frozenset[str]:
        return self.place - _lines(self.new)

    @cached_property
    def added(self) -> frozenset[str]:
        return _lines(self.new) - self.place

    @property
    def weighs(self) -> int:
        return sum(map(str.isalnum, "".join(_telling(self.removed | self.added))))


_COMMITS = re.compile(r"\bgit\b.*\s(?:add|commit)\b")
"""What stands in a commit is not undone by taking the file from there."""

_LOSES = re.compile(r"\bgit\b.*\sstash (?:drop|clear)\b")
"""What was put aside and let go of is made again for that, not because anybody forgot it."""

_IMPORTS = re.compile(
    r"(?:import|from|use|using|require|include|export [*{].* from|#include)\b.*|(?:[\w.]+ )?[\"'][^\"']*[\"'][,;]?|\W*"
)


def _telling(lines: frozenset[str]) -> frozenset[str]:
    return frozenset(line for line in lines if not _IMPORTS.fullmatch(line))


def remade(calls: Sequence[ToolCall], taken: Taken, cwd: str, typed: Sequence[tuple[int, str]]) -> Iterator[Remade]:
    """Every such edit in order; `typed` is what the user typed, with the indexes of the messages."""
    made = [
        [(plain_path(one.path, cwd), _Edit(called, one.old, one.new)) for one in text_replacements(called)]
        for called in calls
    ]
    written = [pair for edits in made for pair in edits]
    done: dict[str, list[_Edit]] = {}
    committed: dict[str, int] = {}
    for called, edits in zip(calls, made, strict=True):
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
            if called.ok is not False and (found := _remade(undoes, called, "undone", path, taken, typed)):
                yield found
            done.pop(path, None)
        told: set[str] = set()
        for path, edit in edits:
            before = done.get(path)
            if not before or path in told or not taken.between(before[0].called.index, called.index):
                continue
            if edit.weighs >= FEWEST:
                for earlier in reversed(before):
                    kind = _kind(earlier, edit)
                    if kind is None:
                        continue
                    found = _remade(earlier, called, kind, path, taken, typed)
                    if found and not (kind == "undone" and _moved(path, earlier, edit, written, typed)):
                        told.add(path)
                        yield found
                    break
        for path, edit in edits:
            done.setdefault(path, []).append(edit)


def _moved(
    path: str, earlier: _Edit, edit: _Edit, written: Sequence[tuple[str, _Edit]], typed: Sequence[tuple[int, str]]
) -> bool:
    """Whether what an edit takes out was written into another file since it was written here, or is as what the agent
    was at goes on: until the user speaks again."""
    out, since, here = _telling(edit.removed), earlier.called.index, edit.called.index
    end = next((index for index, _ in typed if index > here), sys.maxsize)
    elsewhere = (one.added for other, one in written if other != path and since < one.called.index < end)
    return bool(out) and any(len(out & added) >= SAME * len(out) for added in elsewhere)


def _remade(
    earlier: _Edit,
    called: ToolCall,
    kind: Literal["undone", "redone"],
    path: str,
    taken: Taken,
    typed: Sequence[tuple[int, str]],
) -> Remade | None:
    before = earlier.called
    if not taken.between(before.index, called.index):
        return None
    if any(before.index < index < called.index and _ASKED.search(words) for index, words in typed):
        return None
    epoch = taken.by(before.index, earlier.removed | earlier.added, called.index)
    return None if epoch is None else Remade(kind, path, before, called, epoch)


def _lines(text: str) -> frozenset[str]:
    return frozenset(line.strip() for line in text.split("\n") if line.strip())


def _kind(earlier: _Edit, edit: _Edit) -> Literal["undone", "redone"] | None:
    """The same lines at another place are another edit."""
    if _alike(earlier.added, edit.removed) and _alike(earlier.removed, edit.added):
        return "undone"
    if earlier.place == edit.place and _alike(earlier.added, edit.added) and _alike(earlier.removed, edit.removed):
        return "redone"
    return None


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= SAME * len(one | other)
