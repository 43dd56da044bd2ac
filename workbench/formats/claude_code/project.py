"""The name of the folder in which Claude Code stores a project's sessions."""

from __future__ import annotations

import re
from string import ascii_lowercase, digits

LONGEST = 200
"""Maximum UTF-16 units of a folder name; longer paths are cut and get a hash."""

_DIGITS = digits + ascii_lowercase


def project_name(path: str) -> str:
    """Return the folder name of a project's path: each UTF-16 unit that is no ASCII letter or digit becomes `-`. A name
    over LONGEST is cut there and ends with a hash of the path. Source: code and folders of Claude Code 2.1.330.
    """
    name = re.sub("[^A-Za-z0-9]", lambda found: "--" if found[0] > "\uffff" else "-", path)
    return name if len(name) <= LONGEST else f"{name[:LONGEST]}-{_base_36(abs(_hash(path)))}"


def _hash(text: str) -> int:
    """Return Java's string hash: signed 32 bits, 31 * hash + unit for each UTF-16 unit."""
    units, total = memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H"), 0
    for unit in units:
        total = (31 * total + unit) & 0xFFFFFFFF
    return total - (1 << 32) if total >> 31 else total


def _base_36(number: int) -> str:
    written = ""
    while number:
        number, digit = divmod(number, 36)
        written = _DIGITS[digit] + written
    return written or "0"
