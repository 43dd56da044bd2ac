"""Prompts and templates as text files: a short header, then the text.

The header is between two `---` lines: `id`, `language`, `placeholders` (comma separated, may be empty). A user's file
of the same name, in their prompts folder, replaces the bundled one; edits take effect at once. Templates are rendered
by `workbench.compaction.templates`.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.files import make_folder, reason, write_atomically
from workbench.base.reading import read_file
from workbench.base.resources import PROMPTS

ENDINGS = (".md", ".jinja")


@dataclass(frozen=True, slots=True)
class LoadedPrompt:
    """Prompt with its header."""

    id: str
    language: str
    placeholders: tuple[str, ...]
    text: str
    above: int = 0
    """Number of lines in the file before the first line of the text."""


def load_prompt(name: str) -> LoadedPrompt:
    """Load a prompt by file name: the user's own, else the one in `prompts/`.

    Raises BadInput if it is missing or has no header, and if a user's prompt has an unknown placeholder or a forbidden
    template construct.
    """
    own = paths.prompts() / name
    try:
        found = own.stat()
    except (OSError, ValueError):
        return _load_bundled(name)
    return _load_own(own, found.st_mtime_ns, found.st_size) if stat.S_ISREG(found.st_mode) else _load_bundled(name)


@lru_cache(maxsize=64)
def _load_own(path: Path, changed: int, size: int) -> LoadedPrompt:
    """User's prompt, cached until the file's time or size changes."""
    return checked(path, _read(path))


@cache
def _load_bundled(name: str) -> LoadedPrompt:
    return read_prompt(PROMPTS / name)


def prompt_files() -> list[str]:
    """File names of all prompts, bundled and the user's."""
    folders = [folder for folder in (PROMPTS, paths.prompts()) if folder.is_dir()]
    return sorted({path.name for folder in folders for path in folder.iterdir() if path.suffix in ENDINGS})


def file_of(name: str) -> Path:
    """Path from which the prompt of this file name is read."""
    own = paths.prompts() / name
    return own if own.is_file() else PROMPTS / name


def content_of(name: str) -> str:
    """Content of a prompt file, header included, for editing. Raises BadInput if it cannot be read."""
    path = file_of(name)
    try:
        return read_file(path).decode("utf-8", "replace")
    except OSError as error:
        raise BadInput(f"{path} cannot be read any more: {reason(error)}; put it back or choose another.") from None


def read_prompt(path: Path) -> LoadedPrompt:
    """Prompt from any file. Raises BadInput with file and line."""
    return parsed(path, _read(path))


def write_own(name: str, content: str, *, overwrite: bool = True) -> Path:
    """Save a prompt, header included, as the user's own. It takes effect at once. An invalid prompt is not written.

    Raises BadInput with file and line as `load_prompt` does, and if the file cannot be written.
    """
    path = paths.prompts() / name
    if Path(name).name != name or path.suffix not in ENDINGS:
        raise BadInput(f"{name!r} is not a valid prompt name; use a name ending in .md or .jinja, without folders.")
    checked(path, content)
    make_folder(path.parent)
    write_atomically(path, content.encode("utf-8", "replace"), overwrite=overwrite)
    _load_own.cache_clear()
    return path


def adopted_name(preset: str) -> str:
    """File name of the agent's own prompt that a user adopted for a preset."""
    return f"{preset}.adopted.md"


def has_adopted(preset: str) -> bool:
    """True if a user adopted the agent's own prompt for a preset."""
    return (paths.prompts() / adopted_name(preset)).is_file()


def adopt(preset: str, text: str, language: str) -> Path:
    """Save the prompt of the preset's agent among the user's own, replacing an older one; the preset uses it from then
    on. Raises BadInput as `write_own`."""
    names = ", ".join(dict.fromkeys(name for _, name in _in_text(text)))
    header = f"---\nid: {preset}.adopted\nlanguage: {language}\nplaceholders: {names}\n---\n\n"
    return write_own(adopted_name(preset), f"{header}{text}\n")


def fill(template: str, values: Mapping[str, str]) -> str:
    """Replace each `{name}` by its value, in one pass: a placeholder inside a value stays unchanged."""
    names = "|".join(re.escape(name) for name in values)
    return re.sub(rf"\{{({names})\}}", lambda match: values[match[1]], template) if values else template


# --- reading --------------------------------------------------------------------------------------------------------


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read as a prompt ({error}); use a UTF-8 text file.") from None


def parsed(path: Path, content: str) -> LoadedPrompt:
    """Prompt from a file's content. Raises BadInput with file and line."""
    lines = content.split("\n")
    if lines[0].strip() != "---" or "---" not in [line.strip() for line in lines[1:]]:
        raise BadInput(f"{path}, line 1: the header between two '---' lines is missing; add one with an id.")
    end = _header_end(lines)
    header: dict[str, str] = {}
    for number, line in enumerate(lines[1:end], 2):
        key, colon, value = line.partition(":")
        if not colon:
            raise BadInput(f"{path}, line {number}: expected 'key: value' in the header, found {line!r}.")
        header[key.strip()] = value.strip()
    if not header.get("id"):
        raise BadInput(f"{path}, line 1: the header has no 'id'; add one.")
    names = tuple(name.strip() for name in header.get("placeholders", "").split(",") if name.strip())
    above = end + 1
    while above < len(lines) and not lines[above]:
        above += 1
    return LoadedPrompt(header["id"], header.get("language", "en"), names, "\n".join(lines[above:]).rstrip("\n"), above)


def _header_end(lines: list[str]) -> int:
    return [line.strip() for line in lines].index("---", 1)


# --- checking a user's own prompts ----------------------------------------------------------------------------------

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def checked(path: Path, content: str) -> LoadedPrompt:
    """User's prompt after checking it. Raises BadInput with the line at fault.

    A prompt with a bundled name may use the placeholders of the bundled one; any other those of its own header.
    """
    prompt = parsed(path, content)
    bundled = PROMPTS / path.name
    known = read_prompt(bundled).placeholders if bundled.is_file() else prompt.placeholders
    used = _in_template(path, prompt) if path.suffix == ".jinja" else _in_text(prompt.text)
    for line, name in used:
        if name not in known:
            takes = f"allowed: {', '.join(known)}" if known else "it allows none"
            raise BadInput(f"{path}, line {line + prompt.above}: unknown placeholder {name!r}; {takes}.")
    if path.suffix == ".jinja":
        _render_samples(path, prompt, known)
    return prompt


def _in_text(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), 1):
        for found in _PLACEHOLDER.finditer(line):
            yield number, found[1]


def _in_template(path: Path, prompt: LoadedPrompt) -> Iterator[tuple[int, str]]:
    from jinja2 import TemplateSyntaxError

    from workbench.compaction.templates import FAILURES, names_in

    try:
        yield from names_in(prompt.text)
    except TemplateSyntaxError as error:
        raise BadInput(f"{path}, line {error.lineno + prompt.above}: {error.message}; correct the template.") from None
    except FAILURES as error:
        raise BadInput(f"{path}: {' '.join(str(error).split())}; correct the template.") from None


def _render_samples(path: Path, prompt: LoadedPrompt, known: Collection[str]) -> None:
    """Render a template with filled and with empty values. Raises BadInput with the line at which that fails."""
    for sample in (["sample"], []):
        filled(path, prompt, dict.fromkeys(known, sample))


def filled(path: Path, prompt: LoadedPrompt, values: Mapping[str, Any]) -> str:
    """Render a template, read from `path`. Raises BadInput with the line at which it fails."""
    # Imported here because only plans need it.
    from workbench.compaction.templates import FAILURES, rendered

    try:
        return rendered(prompt.text, values)
    except FAILURES as error:
        line = _line_of(error)
        where = f", line {line + prompt.above}" if line else ""
        problem = " ".join(str(error).split()) or type(error).__name__
        raise BadInput(f"{path}{where}: {problem}; correct the template.") from None


def _line_of(error: BaseException) -> int:
    """Line of the template at which rendering failed, 0 if unknown."""
    line, frame = 0, error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == "<template>":
            line = frame.tb_lineno
        frame = frame.tb_next
    return line


_FORMAT = re.compile(
    r"<summary>|format|markdown|bullet|\bsections?\b|headings?|\btags?\b|\bjson\b|格式|标签|标题|开头", re.IGNORECASE
)
_TOPICS = (
    r"require|request|constraint|instruction|goal|intent|需求|要求|目标|意图|指示",
    r"action|file|command|change|edit|操作|文件|命令|修改",
    r"decision|rationale|why|决策|决定|理由",
    r"pending|task|todo|open question|next step|remain|待|任务|下一步",
    r"error|fix|problem|错误|修复|问题",
)
_FIRST_PERSON = re.compile(
    r"first person|['\"“”‘’]I['\"“”‘’]|\bI\b[^.\n]{0,20}\b(is|means|represents|refers)|agent ?\(you\)|you,? the agent"
    r"|第一人称|[“\"']我[”\"']",
    re.IGNORECASE,
)


def lint_summary_prompt(prompt: str) -> tuple[str, ...]:
    """One sentence per problem; none if the prompt states what to record, the format, and who "I" is."""
    found = list(lint_prompt(prompt))
    if not prompt.strip():
        return tuple(found)
    if sum(bool(re.search(topic, prompt, re.IGNORECASE)) for topic in _TOPICS) < 2:
        found.append("The prompt is too vague: list what to record (requirements, actions, decisions, pending tasks).")
    if not _FIRST_PERSON.search(prompt):
        found.append("The prompt does not define 'I': state that 'I' in the summary is the agent.")
    return tuple(found)


def lint_prompt(prompt: str) -> tuple[str, ...]:
    """Problems that any prompt may have: it is empty, or sets no output format."""
    if not prompt.strip():
        return ("The prompt is empty, which disables the summary: state what to record.",)
    if not _FORMAT.search(prompt):
        return ("The prompt sets no output format: ask for <summary></summary> tags or named sections.",)
    return ()
