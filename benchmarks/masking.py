"""How fast secrets are masked: a megabyte of text and of code, and how the time grows with hostile text eight times as
long.

    python -m benchmarks.masking

Each figure is of processor time, the least of three, beside one plain search with a regular expression in the same
text. Linear is a growth of 8, quadratic one of 64; 16 and more ends with exit code 1. Over so long a way other work on
the machine, which may double a time, makes no growth that is not there.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable

from tests.base.test_secrets import PIECES
from tests.paths import ROOT, SAMPLES
from workbench.base.secrets import masked

MEGABYTE = 1_000_000
SIZE, TIMES = 30_000, 8
MOST = 2.0 * TIMES


def main() -> int:
    words = re.compile(r"\bpassword\b")
    for name, files in (("a session", SAMPLES.glob("claude-code*.jsonl")), ("code", ROOT.glob("workbench/**/*.py"))):
        text = "".join(file.read_text("utf-8") for file in files)
        text = (text * (MEGABYTE // len(text) + 1))[:MEGABYTE]
        bare, whole = _seconds(lambda text=text: words.search(text)), _seconds(lambda text=text: masked(text))
        print(f"{name:10} {1_000 * whole:6.0f} ms a megabyte, {1 / whole:.1f} MB/s, {whole / bare:.0f} × one search")
    growths = {piece: _growth(piece.replace("_", " ").replace("¶", "\n")) for piece in PIECES.split()}
    for piece, growth in sorted(growths.items(), key=lambda one: -one[1])[:5]:
        print(f"{growth:5.1f} × for {TIMES} times as much of {piece!r}")
    return int(max(growths.values()) >= MOST)


def _growth(piece: str) -> float:
    short, long = (piece * (size // len(piece)) for size in (SIZE, TIMES * SIZE))
    return _seconds(lambda: masked(long)) / max(_seconds(lambda: masked(short)), 0.001)


def _seconds(do: Callable[[], object]) -> float:
    def one() -> float:
        began = time.process_time()
        do()
        return time.process_time() - began

    return min(one() for _ in range(3))


if __name__ == "__main__":
    sys.exit(main())
