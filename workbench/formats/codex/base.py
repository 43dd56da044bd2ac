"""Join a rollout with the one it continues. Since 0.156 a fork or a reverted turn starts a new file, whose
`history_base` names the thread and how much of its file comes first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.reading import read_file
from workbench.formats.kit.compressed import ZSTD, unpack_zstd
from workbench.formats.kit.document import render
from workbench.formats.kit.jsonl import object_of
from workbench.formats.kit.values import count_of, dict_of, text_of

_THREAD = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_DEEPEST = 20
"""Maximum length of a chain of files; each revert adds one."""


def with_base(path: Path, data: bytes, deepest: int = _DEEPEST) -> tuple[bytes, int, str]:
    """Prepend the rollout that this one continues. Return the joined data, the number of bytes before the rollout's own
    lines, and a note for the user. Return the data unchanged if it continues nothing or the base file is not found."""
    first, _, rest = data.partition(b"\n")
    meta = None if is_alone(first) else object_of(first)
    payload = dict_of(dict_of(meta).get("payload"))
    base = dict_of(payload.get("history_base"))
    if not meta or not base:
        return data, 0, ""
    stop, thread = count_of(base.get("end_ordinal_exclusive")), text_of(base.get("thread_id"))
    found = next(_cut(path, thread, stop, count_of(base.get("end_byte_offset"))), None) if deepest else None
    if found is None:
        return data, 0, f"continues {stop} records of the thread {thread[:40]}, which are not in the file"
    source, before = found
    before, _, _ = with_base(source, before, deepest - 1)
    header = meta | {"payload": {key: value for key, value in payload.items() if key != "history_base"}}
    if "ordinal" in header:
        header["ordinal"] = 0
    joined = b"\n".join([render(header), before.partition(b"\n")[2] + rest])
    note = f"continues {source.name}, which is read as well; line numbers start there"
    return joined, len(joined) - len(rest), note


def is_alone(line: bytes) -> bool:
    """Return True if a rollout with this first line continues no other one."""
    return b'"history_base"' not in line


def _cut(path: Path, thread: str, stop: int, offset: int) -> Iterator[tuple[Path, bytes]]:
    """Yield the thread's files whose first `offset` bytes end with the record before ordinal `stop`, each cut there."""
    for other in _files_of(path, thread):
        try:
            complete = read_file(other)
            data = (unpack_zstd(other, complete) if complete.startswith(ZSTD) else complete)[:offset]
        except (OSError, BadInput):
            continue
        last: Any = object_of(data.rstrip(b"\n").rpartition(b"\n")[2])
        if len(data) == offset and dict_of(last).get("ordinal") == stop - 1:
            yield other, data


def _files_of(path: Path, thread: str) -> Iterator[Path]:
    """Yield the thread's rollouts: first in the same folder, then in the folders of other days."""
    if not _THREAD.fullmatch(thread):
        return
    name = f"rollout-*-{thread}*.jsonl*"
    same_folder = sorted(path.parent.glob(name))
    day = len(path.parents) > 3 and all(folder.name.isdigit() for folder in list(path.parents)[:3])
    other_days = sorted(path.parents[3].glob(f"*/*/*/{name}")) if day else []
    yield from (other for other in dict.fromkeys([*same_folder, *other_days]) if other.name != path.name)
