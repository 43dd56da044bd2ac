"""Mask personal data on request: names of home folders and mail addresses."""

from __future__ import annotations

import re
from collections.abc import Collection

HOME, MAIL = "[home]", "[mail]"

_HOME = re.compile(
    r"(?<![\w.~-])(?:/(?:home|Users|var/home|export/home)/|/[a-z]/Users/|/mnt/[a-z]/Users/|[A-Za-z]:\\{1,4}Users\\{1,4})"
    r"(?!(?:Shared|Public|runner|user|linuxbrew)\b)[^\s/\\\"'`:;,<>|)\]}*?]+"
    r"|(?<![\w-])-(?:home|Users)-[A-Za-z0-9_]+"  # a folder named after a path, as agents do for their projects
)
_MAIL = re.compile(r"(?<![\w.+-])(?!git@|no-?reply@)[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,5}[A-Za-z]{2,24}\b")


def impersonal(text: str, of: Collection[str]) -> str:
    """Return `text` with home folders (`/home/bob/x` → `[home]/x`) replaced if `of` has "home", and mail addresses if
    it has "mail"."""
    if "home" in of:
        text = _HOME.sub(HOME, text)
    return _MAIL.sub(MAIL, text) if "mail" in of and "@" in text else text
