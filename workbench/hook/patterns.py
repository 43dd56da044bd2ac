"""Compiled regular expressions of the hook's modules, kept on disk: to compile them takes most of an event's time.

`re` cannot keep what it compiles, but its compiler's output can be kept, and Python checks it when it makes a pattern
of it. A store holds the patterns of a run on invented texts, so that nothing of a user's session is in it. Without a
store, or with another Python or version, everything is compiled as usual.

`python -m workbench.hook.patterns` writes the stores.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from array import array
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.msgpack import decode, encode

from workbench.base import paths
from workbench.base.version import __version__

BEFORE, AFTER = "before", "after"
"""Stores: for events before a compaction and for those after it."""

MOST_PATTERNS = 4_096
"""Patterns that the cache of `re` may hold. Its own limit is lower than the number of ours."""


class Compiled(Struct, frozen=True, array_like=True):
    """Output of Python's compiler for a pattern. `code` are numbers of 32 bits; `names` are the groups with names."""

    pattern: str
    flags: int
    all_flags: int
    code: bytes
    groups: int
    names: dict[str, int]


def store_of(name: str) -> Path:
    """Return the file of a store, for this Python and this version."""
    python = f"{sys.implementation.cache_tag}-{import_module('_sre').MAGIC}-{sys.byteorder}"
    return paths.cache() / "hooks" / f"{name}-{python}-{__version__}.patterns"


def load(name: str) -> bool:
    """Put the patterns of a store into the cache of `re`. Return False if there is no usable store."""
    try:
        several = decode(store_of(name).read_bytes(), type=list[Compiled])
        made = {(str, one.pattern, one.flags): _pattern_of(one) for one in several}
        cache: dict[Any, Any] = re._cache  # type: ignore[attr-defined]
        re._MAXCACHE = MOST_PATTERNS  # type: ignore[attr-defined]
    except Exception:
        return False
    cache.update(made)
    return True


def _pattern_of(one: Compiled) -> re.Pattern[str]:
    """Return a pattern. Raises RuntimeError or another error for invalid code."""
    code = array("I")
    code.frombytes(one.code)
    named: list[str | None] = [None] * (one.groups + 1)
    for name, number in one.names.items():
        named[number] = name
    make: Any = import_module("_sre").compile
    pattern: re.Pattern[str] = make(one.pattern, one.all_flags, code.tolist(), one.groups, one.names, tuple(named))
    return pattern


@contextmanager
def _recorded() -> Iterator[Mapping[tuple[str, int], Compiled]]:
    """Collect every pattern that is compiled in the context."""
    compiler: Any = import_module("re._compiler")
    usual, found = compiler.compile, dict[tuple[str, int], Compiled]()

    def compile_and_record(pattern: Any, flags: int = 0) -> re.Pattern[Any]:
        made: re.Pattern[Any] = usual(pattern, flags)
        if isinstance(pattern, str):
            parsed = compiler._parser.parse(pattern, flags)
            code = array("I", map(int, compiler._code(parsed, flags)))
            names = dict(made.groupindex)
            found[pattern, int(flags)] = Compiled(pattern, int(flags), made.flags, code.tobytes(), made.groups, names)
        return made

    compiler.compile = compile_and_record
    try:
        yield found
    finally:
        compiler.compile = usual


def build() -> None:
    """Write both stores, in a process that has imported none of the modules."""
    from workbench.hook.store import save

    if array("I").itemsize != 4 or import_module("_sre").CODESIZE != 4:
        return
    with _recorded() as found:
        from workbench.base.resources import SAMPLES
        from workbench.base.secrets import without_secrets
        from workbench.hook.snapshot import Snapshot, read_session, take_snapshot

        take_snapshot(read_session("claude_code.read:read", SAMPLES / SAMPLE))
        without_secrets(SUMMARY)
        save(store_of(BEFORE), encode(list(found.values())))
        from workbench.hook.injection import injection
        from workbench.hook.lost import lost_work

        injection(lost_work(Snapshot(TEXTS, requests=tuple((text, False) for text in TEXTS)), [SUMMARY]))
        save(store_of(AFTER), encode(list(found.values())))


SAMPLE = "claude-code-overflow.jsonl"
TEXTS = (
    "Review the mill. Never push to main. Always answer in at most 5 sentences, because I am on a train.",
    "Sure?",
    "Actually, from now on use 4 spaces instead of 2. Don't touch weir.cfg, and ask me before every commit.",
    "Push to main from now on. Forget the limit of 5 sentences. No, wait: use 3, the rest is taken.",
)
SUMMARY = "The mill was reviewed, and main is never pushed to. Its password and API token are set in the file weir.cfg."
"""Invented texts that need every pattern of English, and for "Sure?" those of other languages."""


def build_in_background() -> None:
    """Have another process write the stores, with low priority, unless they are there."""
    if store_of(AFTER).exists():
        return
    low: dict[str, Any] = {"start_new_session": True} if os.name != "nt" else {}
    quiet = subprocess.DEVNULL
    subprocess.Popen([sys.executable, "-m", __name__], stdin=quiet, stdout=quiet, stderr=quiet, **low)


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(10)
    build()
