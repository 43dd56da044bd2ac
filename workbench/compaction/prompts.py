"""Prompts and templates as text files: a short header, then the text.

A file begins with a header between two `---` lines: `id`, `language`, `placeholders` (comma separated, may be empty).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from workbench.errors import BadInput
from workbench.resources import PROMPTS


@dataclass(frozen=True, slots=True)
class Prompt:
    id: str
    language: str
    placeholders: tuple[str, ...]
    text: str


@cache
def load_prompt(name: str) -> Prompt:
    """A prompt of this program by its file name in `prompts/`. Raises BadInput when it is missing or has no header."""
    return read_prompt(PROMPTS / name)


def read_prompt(path: Path) -> Prompt:
    """A prompt from any file. Raises BadInput with file and line."""
    try:
        lines = path.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read as a prompt ({error}); give a UTF-8 text file.") from None
    if lines[0].strip() != "---" or "---" not in [line.strip() for line in lines[1:]]:
        raise BadInput(f"{path}, line 1: a prompt begins with a header between two '---' lines; add one with an id.")
    end = next(i for i, line in enumerate(lines[1:], 1) if line.strip() == "---")
    header: dict[str, str] = {}
    for number, line in enumerate(lines[1:end], 2):
        key, colon, value = line.partition(":")
        if not colon:
            raise BadInput(f"{path}, line {number}: expected 'key: value' in the header, found {line!r}.")
        header[key.strip()] = value.strip()
    if not header.get("id"):
        raise BadInput(f"{path}, line 1: the header has no 'id'; add one.")
    names = tuple(name.strip() for name in header.get("placeholders", "").split(",") if name.strip())
    return Prompt(header["id"], header.get("language", "en"), names, "\n".join(lines[end + 1 :]).strip("\n"))


def fill(template: str, values: Mapping[str, str]) -> str:
    """Replace `{name}` literally, in one pass: a placeholder inside a value stays as it is."""
    names = "|".join(re.escape(name) for name in values)
    return re.sub(rf"\{{({names})\}}", lambda match: values[match[1]], template) if values else template
