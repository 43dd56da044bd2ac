"""The rollout that another one goes on from: since 0.156 a fork and a reverted turn begin a file of their own, which
says how much of which thread's file stands before it (`history_base`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.reading import read_file
from workbench.formats.kit import zstd
from workbench.formats.kit.document import render
from workbench.formats.kit.jsonl import object_of
from workbench.formats.kit.magic import ZSTD
from workbench.formats.kit.values import count_of, dict_of, text_of

_THREAD = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_DEEPEST = 20
"""Files in a row that are followed: each revert begins one."""


def with_base(path: Path, data: bytes, deepest: int = _DEEPEST) -> tuple[bytes, int, str]:
    """A rollout with what it goes on from in front, as one that stands alone, the bytes before its own lines, and a
    note of that; as it is where it goes on from nothing, or from what does not lie among the same sessions."""
    first, _, rest = data.partition(b"\n")
    meta = None if is_alone(first) else object_of(first)
    about = dict_of(dict_of(meta).get("payload"))
    base = dict_of(about.get("history_base"))
    if not meta or not base:
        return data, 0, ""
    stop, thread = count_of(base.get("end_ordinal_exclusive")), text_of(base.get("thread_id"))
    found = next(_cut(path, thread, stop, count_of(base.get("end_byte_offset"))), None) if deepest else None
    if found is None:
        return data, 0, f"continues {stop} records of the thread {thread[:40]}, which are not in the file"
    source, before = found
    before, _, _ = with_base(source, before, deepest - 1)
    alone = meta | {"payload": {key: value for key, value in about.items() if key != "history_base"}}
    if "ordinal" in alone:
        alone["ordinal"] = 0
    joined = b"\n".join([render(alone), before.partition(b"\n")[2] + rest])
    note = f"continues {source.name}, which is read as well; line numbers start there"
    return joined, len(joined) - len(rest), note


def is_alone(line: bytes) -> bool:
    """Whether a rollout with this first line goes on from nothing."""
    return b'"history_base"' not in line


def _cut(path: Path, thread: str, stop: int, offset: int) -> Iterator[tuple[Path, bytes]]:
    """Files of the thread whose first `offset` bytes end with the record before the ordinal `stop`, each cut there."""
    for other in _files_of(path, thread):
        try:
            whole = read_file(other)
            data = (zstd.unpack(other, whole) if whole.startswith(ZSTD) else whole)[:offset]
        except (OSError, BadInput):
            continue
        last: Any = object_of(data.rstrip(b"\n").rpartition(b"\n")[2])
        if len(data) == offset and dict_of(last).get("ordinal") == stop - 1:
            yield other, data


def _files_of(path: Path, thread: str) -> Iterator[Path]:
    """The thread's rollouts: beside this one, then in the folders of other days."""
    if not _THREAD.fullmatch(thread):
        return
    name = f"rollout-*-{thread}*.jsonl*"
    beside = sorted(path.parent.glob(name))
    day = len(path.parents) > 3 and all(folder.name.isdigit() for folder in list(path.parents)[:3])
    elsewhere = sorted(path.parents[3].glob(f"*/*/*/{name}")) if day else []
    yield from (other for other in dict.fromkeys([*beside, *elsewhere]) if other.name != path.name)
