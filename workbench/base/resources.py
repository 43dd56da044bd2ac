"""Folders of the program's prompts and sample sessions, in a checkout and in an installed package."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def _folder(name: str) -> Path:
    installed = _PACKAGE / "_data" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


PROMPTS = _folder("prompts")
SAMPLES = _folder("sample_sessions")
