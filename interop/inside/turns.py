"""What every script of this folder does, inside the environment of the package that it drives:

    python SCRIPT FILE PROMPT …           the session in FILE, a new one where there is none, goes on with each prompt
    python SCRIPT --each PROMPT FILE …    each of these sessions goes on with the prompt

as the package itself would: it loads the session, asks its model at $SERVER, and the session that it has then is
written in the place of the old one. With `--each` the model of file number N, from 0, is asked at $SERVER/N, and a
line of JSON tells the error, "" where there was none. Where $COMPACT is set, the package's own compaction is on.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

COMPACTS = "COMPACT" in os.environ


def read_file(path: str) -> str:
    """Reads a file.

    Args:
        path: The file's name.
    """
    return Path(path).read_text(encoding="utf-8")


Turns = Callable[[str, Path, Sequence[str]], None]
"""(the server's URL, the session's file, the prompts)"""


def main(turns: Turns) -> None:
    first, second, *rest = sys.argv[1:]
    server = os.environ["SERVER"]
    if first != "--each":
        turns(server, Path(first), [second, *rest])
        return
    for number, file in enumerate(rest):
        try:
            turns(f"{server}/{number}", Path(file), [second])
            error = ""
        except Exception as failure:  # whatever a package raises is what is asked for
            error = f"{type(failure).__name__}: {' '.join(str(failure).split())[:400]}"
        print(json.dumps({"file": file, "error": error}), flush=True)
