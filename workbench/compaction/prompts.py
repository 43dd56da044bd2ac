"""Prompts and templates as text files: a short header, then the text.

A file begins with a header between two `---` lines: `id`, `language`, `placeholders` (comma separated, may be empty).
A user's file of the same name, in the folder of `own_folder`, stands before the one that comes with the program.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
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
    """A prompt by its file name: the user's own, else the one in `prompts/`.

    Raises BadInput when it is missing or has no header, and for a placeholder of the user's that nothing fills.
    """
    own, bundled = own_folder() / name, PROMPTS / name
    if not own.is_file():
        return read_prompt(bundled)
    prompt = read_prompt(own)
    _check_placeholders(own, read_prompt(bundled).placeholders if bundled.is_file() else prompt.placeholders)
    return prompt


def own_folder() -> Path:
    """Where the user's prompts lie; it need not exist."""
    from platformdirs import user_config_path

    return user_config_path("compaction-workbench", appauthor=False) / "prompts"


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


_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def _check_placeholders(path: Path, known: Collection[str]) -> None:
    """Raises BadInput with the line of a placeholder that is none of `known`."""
    lines = path.read_text("utf-8").split("\n")
    end = [line.strip() for line in lines].index("---", 1)
    text = "\n".join(lines[end + 1 :])
    used = _in_template(path, text, end + 1) if path.suffix == ".jinja" else _in_text(text)
    for line, name in used:
        if name not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise BadInput(f"{path}, line {line + end + 1}: nothing fills the placeholder {name!r}; {takes}.")


def _in_text(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), 1):
        for found in _PLACEHOLDER.finditer(line):
            yield number, found[1]


def _in_template(path: Path, text: str, above: int) -> Iterator[tuple[int, str]]:
    from jinja2 import TemplateSyntaxError, meta, nodes
    from jinja2.sandbox import SandboxedEnvironment

    try:
        tree = SandboxedEnvironment().parse(text)
    except TemplateSyntaxError as error:
        raise BadInput(f"{path}, line {error.lineno + above}: {error.message}; mend the template.") from None
    undeclared = meta.find_undeclared_variables(tree)
    for name in tree.find_all(nodes.Name):
        if name.name in undeclared:
            yield name.lineno, name.name
