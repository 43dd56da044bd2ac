"""Shell commands with which the user resumes an export in its agent.

Ids and folders come from session files, which anyone may have written. Each is quoted as one word; a value that could
act as an option, a relative folder or several lines is not used.
"""

from __future__ import annotations

import os
import re
from filecmp import cmp
from pathlib import Path, PurePosixPath
from shlex import quote

from workbench.formats.format import FILE, NAME, Written

_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NO_COMMAND = "no command resumes this file: load it in the program that wrote it"


def steps(written: Written, where: Path) -> tuple[str, ...]:
    """Return the lines to run in one `sh` to resume an export saved as `where`.

    The first lines copy it, and its sidecar file, to the agent's place, or have the agent import it; existing files are
    kept, so that the steps may be repeated. The last line alone opens the session, now or later. `~` is the home of the
    user who runs them. A step without a command is a comment.
    """
    where = where.absolute()
    home = written.home_of(where)
    if _UNSEEN.search(f"{where}{home}"):
        return ("# the path has control characters: move the file by hand",)
    return (*_place_lines(written, where, home), *_resume_lines(written, where, home))


def _place_lines(written: Written, where: Path, home: str) -> list[str]:
    if not home or where == Path(home).expanduser().absolute():
        return []
    folder = str(PurePosixPath(home).parent)
    lines = [f"mkdir -p {_path(folder)}", *_copy_lines(where, home)]
    if written.sidecar:
        name = written.sidecar[0]
        other = where.with_name(name)
        if os.path.isfile(other):
            lines += _copy_lines(other, f"{folder}/{name}")
        else:
            lines.append(f"# {name}, which the agent needs next to it, is written by an export to a file")
    return lines


def _copy_lines(source: Path, target: str) -> list[str]:
    existing = Path(target).expanduser()
    is_other = os.path.isfile(existing) and os.path.isfile(source) and not cmp(source, existing, shallow=False)
    notice = [f"# {target} exists with other content and is kept"] if is_other else []
    copy = "cp -R" if os.path.isdir(source) else "cp"
    return [*notice, f"test -e {_path(target)} || {copy} {quote(str(source))} {_path(target)}"]


def _resume_lines(written: Written, where: Path, home: str) -> list[str]:
    is_named = os.path.isdir(where) and where.name[:1].isalnum()
    if not written.commands or (written.session_folder and not is_named):
        return [f"# {_UNSEEN.sub(' ', written.by_hand) or _NO_COMMAND}"]
    words_for = {FILE: _path(home or str(where)), NAME: quote(where.name)}
    commands = [" ".join(words_for.get(word, quote(word)) for word in words) for words in written.commands]
    folder = written.folder
    if not folder.startswith("/") or _UNSEEN.search(folder):
        return commands
    if not os.path.isdir(folder):
        return [f"# {folder} is not on this machine: change to the project folder", *commands]
    return [f"cd {quote(folder)} && {command}" for command in commands]


def _path(path: str) -> str:
    """Return a path as one word; the shell expands an unquoted `~`."""
    return f"~/{quote(path[2:])}" if path.startswith("~/") and path != "~/" else quote(path)
