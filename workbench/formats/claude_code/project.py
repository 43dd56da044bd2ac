"""What Claude Code calls the folder that it keeps a project's sessions in."""

from __future__ import annotations

import re
from string import ascii_lowercase, digits

LONGEST = 200
"""UTF-16 units of a project's path up to which its name tells all of it."""

_DIGITS = digits + ascii_lowercase


def project_name(path: str) -> str:
    """A project's path as one name: what is no ASCII letter or digit becomes `-`, two of them where UTF-16 has two
    units. Of a longer one the first LONGEST stand, and a sum of the path. Read in Claude Code 2.1.330, and seen there.
    """
    name = re.sub("[^A-Za-z0-9]", lambda unseen: "--" if unseen[0] > "\uffff" else "-", path)
    return name if len(name) <= LONGEST else f"{name[:LONGEST]}-{_in_36(abs(_sum(path)))}"


def _sum(text: str) -> int:
    """Of its UTF-16 units, each time 31 times what came before; 32 bits with a sign."""
    units, total = memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H"), 0
    for unit in units:
        total = (31 * total + unit) & 0xFFFFFFFF
    return total - (1 << 32) if total >> 31 else total


def _in_36(number: int) -> str:
    written = ""
    while number:
        number, digit = divmod(number, 36)
        written = _DIGITS[digit] + written
    return written or "0"
