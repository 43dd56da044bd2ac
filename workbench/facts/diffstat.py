"""Files changed by a session's own edits and writes, with the lines added and removed.

The files themselves are not read. Changes by shell commands do not count. Lines removed by a write count only if the
session wrote that file earlier.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from workbench.base.text import counted
from workbench.facts.calls import ToolCall
from workbench.facts.tools import ToolInput, input_of, normal_path, patch_texts

MAX_ALIGNED = 250_000
"""Limit for the product of two texts' line counts. Above it they are compared as multisets of lines, because aligning
them takes too long."""

Fragment = tuple[str, str]

_PATCH_FILE = re.compile(r"^\*\*\* (?:(Add|Update|Delete) File|Move to): ?(.+?)\s*$")
_SEARCH = re.compile(
    r"^(?:<{7} ?|-{7} ?)SEARCH[^\n]*\n(?::start_line:[^\n]*\n(?:-{7}\n)?)?(.*?)^={7}\n(.*?)^(?:>{7} ?|\+{7} ?)REPLACE",
    re.DOTALL | re.MULTILINE,
)
_OLD_NEW = (("old_string", "new_string"), ("oldString", "newString"), ("old_str", "new_str"), ("search", "replace"))
_LISTS = ("edits", "str_replace_entries", "insert_line_entries", "replacements")
_CONTENTS = ("content", "file_content", "file_text", "contents", "new_source", "code_edit")
_INSERTED = ("insert_text", "new_str", "text", "content")


class FileChange(Struct, frozen=True):
    """Lines added to and removed from `path` by `edits` calls."""

    path: str
    added: int
    removed: int
    edits: int = 1

    def __str__(self) -> str:
        return f"{self.path} +{self.added} −{self.removed}"


def file_changes(calls: Sequence[ToolCall]) -> tuple[tuple[int, FileChange], ...]:
    """Return each change by `calls` with the index of the calling message. Failed calls change nothing."""
    written: dict[str, str] = {}
    found: list[tuple[int, FileChange]] = []
    for called in calls:
        if called.ok is not False:
            found.extend((called.index, change) for change in _changes_of(called, written))
    return tuple(found)


def diffstat(changes: Iterable[FileChange]) -> tuple[FileChange, ...]:
    """Sum up changes per file, in the order in which the files were first changed."""
    total: dict[str, FileChange] = {}
    for one in changes:
        path, before = one.path, total.get(one.path)
        if before is not None:
            one = FileChange(path, before.added + one.added, before.removed + one.removed, before.edits + one.edits)
        total[path] = one
    return tuple(total.values())


def diffstat_text(stat: Sequence[FileChange]) -> str:
    """Format a statistic as one line: `3 files, +40 −12 lines`."""
    added, removed = sum(one.added for one in stat), sum(one.removed for one in stat)
    return f"{counted(len(stat), 'file')}, +{added} −{removed} lines"


class TextReplacement(Struct, frozen=True):
    """Replacement of the text `old` by `new` in `path`. For a patch these are the two sides of a hunk with its
    context."""

    path: str
    old: str
    new: str


def text_replacements(called: ToolCall) -> Iterator[TextReplacement]:
    """Yield the replacements that a call makes in files. A write replaces "" by the new content; a failed call replaces
    nothing."""
    if called.ok is False or not any(action.kind in ("created", "modified") for action in called.actions):
        return
    data = input_of(called.call)
    if patch := _patch_text(data):
        yield from _patch_replacements(patch)
        return
    fragments = _replacements(data)
    content = None if fragments else _first(data, _CONTENTS)
    for action in called.actions:
        if action.kind in ("created", "modified"):
            path = normal_path(action.target)
            yield from (TextReplacement(path, old, new) for old, new in fragments)
            if content is not None:
                yield TextReplacement(path, "", content)


def _patch_replacements(text: str) -> Iterator[TextReplacement]:
    """Yield the hunks of an `apply_patch` text."""
    for path, lines in _patched_files(text):
        for hunk in "\n".join(["", *lines]).split("\n@@"):
            signed = hunk.split("\n")[1:]
            old = [line[1:] for line in signed if line.startswith((" ", "-"))]
            new = [line[1:] for line in signed if line.startswith((" ", "+"))]
            if old or new:
                yield TextReplacement(path, "\n".join(old), "\n".join(new))


def _changes_of(called: ToolCall, written: dict[str, str]) -> Iterator[FileChange]:
    data = input_of(called.call)
    touched = [action for action in called.actions if action.kind in ("created", "modified", "deleted")]
    if touched and (patch := _patch_text(data)):
        for path, lines in _patched_files(patch):
            written.pop(path, None)
            yield FileChange(path, *(sum(line.startswith(sign) for line in lines) for sign in "+-"))
        return
    for action in touched:
        path = normal_path(action.target)
        before = written.get(path)
        if action.kind == "deleted":
            written.pop(path, None)
            yield FileChange(path, 0, len((before or "").splitlines()))
        elif fragments := _replacements(data):
            added, removed = map(sum, zip(*(_lines_changed(old, new) for old, new in fragments), strict=True))
            if before is not None:
                written[path] = _apply(before, fragments)
            yield FileChange(path, added, removed)
        elif (content := _first(data, _CONTENTS)) is not None:
            written[path] = content
            yield FileChange(path, *_lines_changed(before or "", content))
        else:
            yield FileChange(path, 0, 0)


def _replacements(data: ToolInput) -> list[Fragment]:
    """Return the (old, new) fragments of a call, under the keys of any known tool."""
    found: list[Fragment] = []
    for key in _LISTS:
        for item in data[key] if isinstance(data.get(key), list) else ():
            if isinstance(item, dict):
                found += _replacements(item)
    for old, new in _OLD_NEW:
        if isinstance(data.get(old), str):
            found.append((data[old], _text(data.get(new))))
    if found:
        return found
    numbered = [key for key in data if re.fullmatch(r"(?:old|new)_str_\d{1,4}", key)]
    for number in sorted({key.rsplit("_", 1)[1] for key in numbered}, key=int):
        found.append((_text(data.get(f"old_str_{number}")), _text(data.get(f"new_str_{number}"))))
    if not found and any(key.startswith("insert_line") for key in data):
        inserted = _first(data, _INSERTED)
        return [("", inserted)] if inserted is not None else []
    if not found and isinstance(data.get("diff"), str):
        return [(old, new) for old, new in _SEARCH.findall(data["diff"])]
    return found


def _apply(text: str, fragments: Sequence[Fragment]) -> str:
    for old, new in fragments:
        text = text.replace(old, new, 1) if old else text
    return text


def _lines_changed(before: str, after: str) -> tuple[int, int]:
    """Return the lines added and removed between two texts."""
    old, new = before.splitlines(), after.splitlines()
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if len(old) * len(new) > MAX_ALIGNED:
        return (Counter(new) - Counter(old)).total(), (Counter(old) - Counter(new)).total()
    same = sum(block.size for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks())
    return len(new) - same, len(old) - same


def _patch_text(data: ToolInput) -> str:
    found = next((text for text in patch_texts(data) if "*** Begin Patch" in text), "")
    return found.partition("*** Begin Patch")[2].partition("*** End Patch")[0]


def _patched_files(text: str) -> list[tuple[str, list[str]]]:
    """Return the files of an `apply_patch` text with their lines in it; a moved file counts at its new path."""
    found: list[tuple[str, list[str]]] = []
    for line in text.split("\n"):
        if header := _PATCH_FILE.match(line):
            moved = found.pop()[1] if header[1] is None and found else []
            found.append((normal_path(header[2]), moved))
        elif found:
            found[-1][1].append(line)
    return found


def _first(data: ToolInput, keys: Iterable[str]) -> str | None:
    return next((value for key in keys if isinstance(value := data.get(key), str)), None)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
