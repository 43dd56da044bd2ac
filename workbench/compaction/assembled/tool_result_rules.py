"""Rules for compressing tool results in `layered`: one for each kind of tool.

A rule has two steps. The first parses plain text into the fields that the design's envelope has for such a tool
(`entries`, `paths`, `matches`, `content`, `stdout`); the second cuts these fields. Other data (flags, counts) stays.
Applying a rule twice has the same result as once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from workbench.base.text import clip_middle, plural
from workbench.base.values import json_text
from workbench.compaction.assembled.notes import recap
from workbench.facts.calls import ToolCall, exit_code
from workbench.facts.tasks import tasks_of
from workbench.facts.tools import actions_of
from workbench.session import ToolUse

ToolKind = Literal["ls", "glob", "grep", "read", "edit", "write", "bash", "todo", "other"]
Data = dict[str, Any]
Rule = Callable[["CallFacts", Any], Any]


class ResultLimits(BaseModel):
    """Limits of a compressed result: the design's numbers, or the workbench's own for limits that the design does not
    set."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ls_entries: int = Field(20, ge=0, description="Entries of a directory listing (our number, the design has none).")
    glob_paths: int = Field(10, ge=0, description="Paths of a file search.")
    grep_lines: int = Field(5, ge=0, description="Lines of a text search, with file and line number.")
    read_lines: int = Field(500, ge=0, description="Lines of a file that was read.")
    fragment_lines: int = Field(50, ge=0, description="Lines up to which the fragment of an edit or write stays whole.")
    long_fragment_lines: int = Field(20, ge=0, description="Lines kept of a longer write; a longer edit keeps none.")
    stderr_lines: int = Field(20, ge=0, description="Last lines of stderr.")
    stdout_lines: int = Field(10, ge=0, description="First and last lines of stdout (our number).")
    other_chars: int = Field(
        2_000, ge=1, description="Characters of any other result; longer ones lose the middle (our number)."
    )
    line_chars: int = Field(
        2_000, ge=1, description="Characters of one line: a line of a minified file may be megabytes (our number)."
    )


@dataclass(frozen=True, slots=True)
class CallFacts:
    """Facts about the call that a rule uses."""

    call: ToolUse | None
    arguments: Data
    failed: bool
    limits: ResultLimits

    def argument(self, *names: str) -> str:
        """First string argument of the call under one of these names, "" without one."""
        return next((self.arguments[name] for name in names if isinstance(self.arguments.get(name), str)), "")

    @property
    def files(self) -> str:
        """Files that the call touches, separated by commas."""
        actions = actions_of(self.call) if self.call is not None else ()
        return ", ".join(dict.fromkeys(action.target for action in actions if action.kind != "command"))


def _nonblank(lines: list[str]) -> list[str]:
    return [line.rstrip() for line in lines if line.strip()]


def _ls_rule(use: CallFacts, data: Any) -> Any:
    """LS: directory, counts, first entries."""
    if isinstance(data, str):
        lines = [line for line in _nonblank(data.split("\n")) if not line.startswith("NOTE:")]
        data = {"entries": [re.sub(r"^\s*[-*•│├└─ ]+\s*", "", line) for line in lines]}
    if not isinstance(data, dict) or not isinstance(data.get("entries"), list):
        return _other_rule(use, data)
    folders = sum(
        one.get("type") in ("dir", "directory") if isinstance(one, dict) else str(one).endswith("/")
        for one in data["entries"]
    )
    counts = {"directories": folders, "files": len(data["entries"]) - folders}
    where = use.argument("path", "directory", "dir_path", "target_directory", "relative_workspace_path")
    head = {"directory": where} if where else {}
    return _first_items(use, {**head, **counts, **data}, "entries", use.limits.ls_entries)


_NOTE = re.compile(
    r"^\((?:results?|output)\b.{0,200}\)$|^found \d+ .{0,200}|^no (?:files|matches) found", re.IGNORECASE
)


def _glob_rule(use: CallFacts, data: Any) -> Any:
    """Glob: pattern, hit count, first hits."""
    if isinstance(data, str):
        paths = [line for line in _nonblank(data.split("\n")) if not _NOTE.match(line)]
        data = {"count": len(paths), "paths": paths}
    if not isinstance(data, dict) or not isinstance(data.get("paths"), list):
        return _other_rule(use, data)
    pattern = use.argument("pattern", "glob", "glob_pattern", "query")
    head = {"pattern": pattern} if pattern else {}
    return _first_items(use, {**head, "count": len(data["paths"]), **data}, "paths", use.limits.glob_paths)


_MATCH = re.compile(r"^(?:(?P<file>(?:[A-Za-z]:)?[^:\n]{1,1000}):)?(?P<line>\d+):(?P<text>.*)$", re.DOTALL)


def _grep_rule(use: CallFacts, data: Any) -> Any:
    """Grep: summary, and the first lines with file and line number."""
    if isinstance(data, str):
        data = _grep_text(use, data)
    if not isinstance(data, dict) or not isinstance(data.get("matches"), list):
        return _other_rule(use, data)
    pattern = use.argument("pattern", "query", "regex", "search_term")
    head = {"pattern": pattern} if pattern else {}
    counted = {"count": len(data["matches"]), "summary": _count_matches(map(_file_of, data["matches"]))}
    return _first_items(use, {**head, **counted, **data}, "matches", use.limits.grep_lines)


def _file_of(match: Any) -> str:
    """File of a match: `file:line:text`, or a field of the tool."""
    if isinstance(match, dict):
        return next((match[key] for key in ("file", "path", "file_path") if isinstance(match.get(key), str)), "")
    found = _MATCH.match(match) if isinstance(match, str) else None
    return (found["file"] or "") if found else ""


def _count_matches(files: Iterable[str]) -> str:
    """Summary of matches from the file of each match ("" if unknown): number of matches and of files."""
    each = list(files)
    known = len(set(each) - {""})
    words = f"{len(each)} matching {plural(len(each), 'line')}"
    return words + (f" in {known} {plural(known, 'file')}" if known else "")


def _grep_text(use: CallFacts, text: str) -> Data:
    """Parse the output of a search: `file:line:text`, `line:text` for one file, or names only."""
    lines = [line for line in _nonblank(text.split("\n")) if line != "--"]
    notes = [line for line in lines[:1] if _NOTE.match(line)]
    numbered = [found for line in lines if (found := _MATCH.match(line))]
    if not numbered:
        rest = lines[len(notes) :]
        return {"summary": notes[0] if notes else f"{len(rest)} lines", "matches": rest}
    searched = use.argument("path", "file_path", "file")
    matches = [f"{found['file'] or searched}:{found['line']}:{found['text']}".lstrip(":") for found in numbered]
    words = _count_matches(found["file"] or searched for found in numbered)
    return {"summary": notes[0] if notes else words, "matches": matches}


_NUMBERED = re.compile(r"^\s*(\d{1,9})(?:→|\t|\| ?|: )")


def _read_rule(use: CallFacts, data: Any) -> Any:
    """Read: the lines read, with their numbers."""
    if isinstance(data, str):
        data = {"content": data}
    if not isinstance(data, dict) or not isinstance(data.get("content"), str):
        return _other_rule(use, data)
    lines = data["content"].removesuffix("\n").split("\n")
    shown = lines[: use.limits.read_lines]
    if not any(_NUMBERED.match(line) for line in lines[:4]):
        first = next((use.arguments[key] for key in ("offset", "start_line", "line_start") if _is_line(use, key)), 1)
        shown = [f"{number:>6}→{line}" for number, line in enumerate(shown, first)]
    kept = [_narrow_numbered(use, line) for line in shown]
    out = {**data, "content": "\n".join(kept)}
    if len(lines) > len(kept) or kept != shown:
        out = {"lines": len(lines), **out, "truncated": True}
    return out


def _narrow_numbered(use: CallFacts, line: str) -> str:
    """Cut a line to its limit, not counting its line number, which stays: a line without it would be numbered again."""
    number = found[0] if (found := _NUMBERED.match(line)) else ""
    return number + clip_middle(line.removeprefix(number), use.limits.line_chars)


def _is_line(use: CallFacts, key: str) -> bool:
    value = use.arguments.get(key)
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_FRAGMENTS = ("fragment", "diff_preview", "diff", "patch", "snippet", "content", "preview")


def _edit_rule(use: CallFacts, data: Any) -> Any:
    """Edit and MultiEdit: file, range, key fragment; only a summary of a large diff."""
    return _change_rule(use, data, _diff_summary)


def _write_rule(use: CallFacts, data: Any) -> Any:
    """Write: file, new or overwritten, first lines."""
    if isinstance(data, str):
        low = data[:400].lower()
        old = any(word in low for word in ("overwr", "updated", "replaced", "modified"))
        new = not old and any(word in low for word in ("created", "new file"))
        operation = "overwritten" if old else "new" if new else ""
        fields = _change_text(use, data)
        data = {"file": fields.pop("file"), "operation": operation, **fields} if operation else fields
    return _change_rule(use, data, lambda use, lines: "\n".join(lines[: use.limits.long_fragment_lines]))


def _change_rule(use: CallFacts, data: Any, shortened: Callable[[CallFacts, list[str]], str]) -> Any:
    if isinstance(data, str):
        data = _change_text(use, data)
    if not isinstance(data, dict):
        return _other_rule(use, data)
    out = {**_file_and_range(use, data), **data}
    for key in _FRAGMENTS:
        value = out.get(key)
        if not isinstance(value, str):
            continue
        lines = value.removesuffix("\n").split("\n")
        long = len(lines) > use.limits.fragment_lines
        out[key] = shortened(use, lines) if long else "\n".join(_cut_lines(use, lines))
        if long or out[key] != value.removesuffix("\n"):
            out["truncated"] = True
    rest = {key: value for key, value in out.items() if key not in _FRAGMENTS}
    return {**_compress_other_fields(use, rest), **{key: out[key] for key in _FRAGMENTS if key in out}}


def _change_text(use: CallFacts, text: str) -> Data:
    lines = text.removesuffix("\n").split("\n")
    summary, rest = lines[0], lines[1:]
    data: Data = {"file": use.files, "summary": clip_middle(summary, 300)}
    if where := _range(rest):
        data["range"] = where
    if any(line.strip() for line in rest):
        data["fragment"] = "\n".join(rest)
    return data


def _file_and_range(use: CallFacts, data: Data) -> Data:
    """Return the file and range of a change, each unless the envelope has it."""
    found: Data = {}
    if use.files and not any(key in data for key in ("file", "path", "file_path")):
        found["file"] = use.files
    texts = (data[key] for key in _FRAGMENTS if isinstance(data.get(key), str))
    if where := next(filter(None, (_range(text.split("\n")) for text in texts)), ""):
        found["range"] = where
    return found


def _range(lines: Sequence[str]) -> str:
    """First and last changed line, from numbered lines or the hunks of a diff; "" if neither shows them."""
    numbers = [int(found[1]) for line in lines if (found := _NUMBERED.match(line))]
    if numbers:
        return f"{numbers[0]}-{numbers[-1]}"
    spans = [
        (int(hunk[1]), int(hunk[1]) + max(int(hunk[2] or 1), 1) - 1) for line in lines if (hunk := _HUNK.match(line))
    ]
    return f"{spans[0][0]}-{spans[-1][1]}" if spans else ""


_DIFF_SUMMARY = re.compile(r"\(\d+ lines(?:, \+\d+ −\d+)?, left out\)")


def _diff_summary(use: CallFacts, lines: list[str]) -> str:
    """Summary of a diff. A summary of an earlier compaction stays unchanged."""
    if len(lines) == 1 and _DIFF_SUMMARY.fullmatch(lines[0]):
        return lines[0]
    added = sum(line.startswith("+") and not line.startswith("+++") for line in lines)
    removed = sum(line.startswith("-") and not line.startswith("---") for line in lines)
    return f"({len(lines)} lines" + (f", +{added} −{removed}" if added or removed else "") + ", left out)"


_TAGGED = re.compile(r"<(stdout|stderr)>\n?(.*?)\n?</\1>", re.DOTALL)
_BEGINNINGS = ("Command:", "Stdout:", "Output:", "Exit Code:")
_LABELLED = re.compile(r"^(Stdout|Output|Stderr|Error|Exit Code|Signal|Command|Directory): ?", re.MULTILINE)
_EXIT_LINE = re.compile(r"\A\W{0,3}exit code:? ?-?\d{1,5}\n?", re.IGNORECASE)


def _bash_rule(use: CallFacts, data: Any) -> Any:
    """Bash: the first and last lines of stdout, the last lines of stderr. Output without a known stream counts as
    stderr if the command failed, else as stdout."""
    if isinstance(data, str):
        data = _shell_text(use, data)
    if not isinstance(data, dict):
        return _other_rule(use, data)
    out = _compress_other_fields(use, {key: value for key, value in data.items() if key not in ("stdout", "stderr")})
    for key, chosen, limit in (
        ("stdout", _first_and_last, use.limits.stdout_lines),
        ("stderr", _last, use.limits.stderr_lines),
    ):
        value = data.get(key)
        if not isinstance(value, str) or not value.strip():
            continue
        lines = value.strip("\n").split("\n")
        kept = _cut_lines(use, chosen(lines, limit) if len(lines) > limit else lines)
        out[key] = "\n".join(kept)
        if kept != lines:
            out = {**out, f"{key}_lines": out.get(f"{key}_lines", len(lines)), "truncated": True}
    return out


def _shell_text(use: CallFacts, text: str) -> Data:
    head = text[:300].rstrip("0123456789") if text[300:301].isdigit() else text[:300]  # never cut a number in two
    code = exit_code(head + "\n" + text[-300:])
    found: Data = {} if code is None else {"exit_code": code}
    if "<std" in text and (tagged := _TAGGED.findall(text)):
        return {**found, **dict(tagged)}
    marks = list(_LABELLED.finditer(text)) if text.startswith(_BEGINNINGS) else []
    if {"Exit Code", "Command"} & {mark[1] for mark in marks}:
        bounds = [mark.start() for mark in marks[1:]] + [len(text)]
        parts = {mark[1]: text[mark.end() : stop].strip("\n") for mark, stop in zip(marks, bounds, strict=True)}
        parts = {name: part for name, part in parts.items() if part not in ("(empty)", "(none)")}
        stdout, stderr = parts.get("Stdout", parts.get("Output", "")), parts.get("Stderr", parts.get("Error", ""))
        return {**found, "stdout": stdout, "stderr": stderr}
    return {**found, "stderr" if use.failed else "stdout": _EXIT_LINE.sub("", text)}


def _first_and_last(lines: list[str], limit: int) -> list[str]:
    """At most `limit` lines: the first third, a mark, and the rest from the end, where a command reports its result."""
    if limit < 3:
        return _last(lines, limit)
    head = (limit - 1) // 3
    return [*lines[:head], "…", *lines[len(lines) - (limit - 1 - head) :]]


def _last(lines: list[str], limit: int) -> list[str]:
    return lines[-limit:] if limit else []


def _todo_rule(use: CallFacts, data: Any) -> Any:
    """TodoWrite: the recap only."""
    if isinstance(data, dict) and isinstance(data.get("recap"), str):
        return {"recap": data["recap"]}
    words = recap(tasks_of((ToolCall(0, use.call, ()),))) if use.call is not None else ""
    return {"recap": words} if words else _other_rule(use, data)


def _other_rule(use: CallFacts, data: Any) -> Any:
    """Any other tool: cut in the middle, with a flag. Only this rule writes `excerpt`, so a second compression leaves
    it unchanged."""
    limit = use.limits.other_chars
    if isinstance(data, str):
        return data if len(data) <= limit else {"excerpt": clip_middle(data, limit), "truncated": True}
    if isinstance(data, dict) and data.keys() == {"excerpt", "truncated"} and len(str(data["excerpt"])) <= limit:
        return data
    text = json_text(data)
    return data if len(text) <= limit else {"excerpt": clip_middle(text, limit), "truncated": True}


def _first_items(use: CallFacts, data: Data, key: str, limit: int) -> Data:
    """Keep the first `limit` items of the list `key`, and all other data: flags and counts."""
    items = data[key]
    kept = [clip_middle(one, use.limits.line_chars) if isinstance(one, str) else one for one in items[:limit]]
    out = {**_compress_other_fields(use, {name: value for name, value in data.items() if name != key}), key: kept}
    return {**out, "truncated": True} if kept != items else out


def _compress_other_fields(use: CallFacts, data: Data) -> Data:
    """Compress the fields that no rule names: flags and counts stay, long values are cut by the generic rule."""
    return {key: _other_rule(use, value) for key, value in data.items()}


def _cut_lines(use: CallFacts, lines: list[str]) -> list[str]:
    limit = use.limits.line_chars
    if max(map(len, lines), default=0) <= limit:
        return lines
    return [clip_middle(line, limit) for line in lines]


RULES: dict[ToolKind, Rule] = {
    "ls": _ls_rule,
    "glob": _glob_rule,
    "grep": _grep_rule,
    "read": _read_rule,
    "edit": _edit_rule,
    "write": _write_rule,
    "bash": _bash_rule,
    "todo": _todo_rule,
    "other": _other_rule,
}
