"""Sessions to choose from: entries of files before they are read, then tables, sums and advice. No widgets."""

from __future__ import annotations

import contextlib
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from workbench.auditing.advice import advise, loss_sentences
from workbench.auditing.columns import SESSIONS, TABLES, About, Record
from workbench.auditing.groups import KEYS, SessionGroup, group_sessions
from workbench.auditing.rows import SessionRow
from workbench.base.figures import dollars
from workbench.base.resources import SAMPLES
from workbench.base.tables import Column, columns
from workbench.finding.discover import is_session_folder
from workbench.finding.glances import Unreadable, glance
from workbench.formats.format import Part
from workbench.formats.glance import SessionGlance
from workbench.tokens.window import fullness, glanced_window
from workbench.tui.plain import figure, fit, one_line, percent, several
from workbench.tui.settings import Recent
from workbench.tui.widgets.text_view import TextPart

_ROW = re.compile(r"^\|\s*`(?P<file>[^`]+)`\s*\|(?P<rest>.*)\|\s*$", re.MULTILINE)
_MARKS = re.compile(r"[*`]")


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """Session to choose. `kind` is given, recent, sample, found or part. `about` is longer text for the preview;
    `bytes` and `time` (seconds since 1970) are None if unknown.

    `part` is the session's id in a file of several. `found` is the result of a glance at its file, `tool` the agent of
    a sample.
    """

    kind: str
    path: Path
    words: str
    about: str = ""
    bytes: int | None = None
    time: float | None = None
    part: str = ""
    found: SessionGlance | None = None
    tool: str = ""

    @property
    def haystack(self) -> str:
        return f"{self.kind} {self.tool} {self.words} {self.path} {self.part} {self.about}".casefold()

    @property
    def label(self) -> str:
        """Agent in a word or two; "" before a glance."""
        return self.tool or (self.found.tool if self.found else "")


def argument_entries(paths: Iterable[Path]) -> list[SessionEntry]:
    return [SessionEntry("given", path, path.name) for path in paths]


def recent_entries(recents: Iterable[Recent]) -> list[SessionEntry]:
    """Recent files that still exist, with the time they were opened."""
    there = [one for one in recents if Path(one.path).exists()]
    titles = Counter(one.title for one in there)

    def words(one: Recent) -> str:
        """Title, with the file's name if two have the same."""
        name = Path(one.path).name
        return f"{one.title} · {name}" if titles[one.title] > 1 and one.title else one.title or name

    return [SessionEntry("recent", Path(one.path), words(one), time=one.time) for one in there]


def with_glance(entry: SessionEntry) -> SessionEntry:
    """Entry of a file with the result of a glance: agent, size, share of the window. Reads the file."""
    found = glance(entry.path)
    return entry if isinstance(found, Unreadable) else replace(entry, bytes=found.bytes, found=found)


def sample_entries(folder: Path = SAMPLES) -> list[SessionEntry]:
    """Sample sessions with their lessons, from the table in their README."""
    try:
        table = (folder / "README.md").read_text("utf-8")
    except OSError:
        table = ""
    found = []
    for row in _ROW.finditer(table):
        cells = [_MARKS.sub("", cell).strip() for cell in row["rest"].split("|")]
        path = folder / row["file"]
        if path.is_file() and len(cells) >= 2:
            lesson = cells[1]
            about = "\n\n".join((lesson, cells[-1]))
            words, tool = lesson.split(". ")[0].rstrip(".:"), _agent_of(cells[0])
            found.append(SessionEntry("sample", path, words, about, path.stat().st_size, tool=tool))
    return found


def _agent_of(format: str) -> str:
    """Agent's name: the leading words of its format that fit on a line."""
    words = format.split(",")[0].split()
    most = max((n for n in range(1, len(words)) if len(" ".join(words[:n])) <= LABEL), default=1)
    return " ".join(words[:most])


def found_entry(found: SessionGlance) -> SessionEntry:
    words = found.title or found.request or found.path.stem
    about = "\n".join((found.request, found.folder, found.tool, found.model))
    return SessionEntry("found", found.path, words, about, found.bytes, found.time, found.part, found)


def part_entries(path: Path, parts: Iterable[Part]) -> list[SessionEntry]:
    """Sessions of one file, each with its number of messages."""
    return [SessionEntry("part", path, part.title or part.id, figure(part.messages), part=part.id) for part in parts]


def typed_path(query: str) -> Path | None:
    """Path of an existing file or session folder that the query names, else None."""
    for text in (query, *_as_dropped(query)):
        if text.startswith(("/", "~", "./", "../")):
            with contextlib.suppress(OSError, ValueError, RuntimeError):
                path = Path(text).expanduser()
                if path.is_file() or (path.is_dir() and is_session_folder(path)):
                    return path
    return None


def _as_dropped(text: str) -> Iterator[str]:
    """Yield `text` unquoted: terminals and file managers write a dropped path with quotation marks or escapes, or as an
    address."""
    try:
        (word,) = shlex.split(text)
    except ValueError:  # several words, none, or a quotation mark by itself
        return
    yield word
    if word.startswith("file://"):
        yield unquote(urlsplit(word).path)


def matching(entries: Sequence[SessionEntry], query: str) -> list[SessionEntry]:
    """Entries in which every word of `query` occurs."""
    words = query.casefold().split()
    return [entry for entry in entries if all(word in entry.haystack for word in words)] if words else list(entries)


LABEL = 11
"""Cells of a sample's agent."""

PART_COLUMNS = columns("messages:count title part")
"""Columns of the sessions of one file; nothing else is known before one is read."""


def part_record(entry: SessionEntry) -> Record:
    return {"file": str(entry.path), "part": entry.part, "title": entry.words, "messages": entry.about}


def record_of(entry: SessionEntry) -> Record:
    """Table row of a file that is not read yet. Samples have no time, so they come last."""
    found = entry.found
    known: Record = {"file": str(entry.path.absolute()), "part": entry.part, "agent": entry.label}
    known |= {"title": f"Sample: {entry.words}" if entry.kind == "sample" else entry.words, "bytes": entry.bytes}
    if entry.kind != "sample":
        known["changed"] = found.time if found else entry.time
    if found:
        known |= {"tokens": found.tokens, "window_share": fullness(found)}
        known |= {"model": found.model, "project": found.folder}
        known["compactions"] = found.compactions if found.complete else None
    return {one.key: known.get(one.key) for one in SESSIONS}


def preview(entry: SessionEntry) -> list[tuple[str, str]]:
    """Names and values for the preview of an entry, from a glance at its file; a name of "" marks a paragraph."""
    if entry.kind == "part":
        return [
            ("file", str(entry.path)),
            ("part", entry.part),
            ("title", one_line(entry.words)),
            ("messages", entry.about),
        ]
    found = entry.found if entry.found and entry.part else glance(entry.path)
    if isinstance(found, Unreadable):
        return [("file", str(entry.path)), ("", f"✘ {one_line(found.reason)}")]
    facts = [("file", str(entry.path)), ("part", found.part), ("agent", (entry.found or found).tool)]
    facts += [
        ("format", found.format),
        ("size", f"{figure(found.bytes)} bytes"),
        ("title", found.title),
        ("folder", found.folder),
    ]
    facts += [("model", found.model), ("tokens", _tokens_words(found)), ("compacted", _compactions_words(found))]
    if found.whole is not None:
        session = found.whole
        rounds = sum(message.starts_round for message in session.context())
        facts.append(
            (
                "holds",
                f"{several(len(session.messages), 'message')}, {several(rounds, 'round')} now",
            )
        )
        facts.append(("epochs", figure(len(session.epochs))))
    texts = [entry.about if entry.kind == "sample" else "", found.request and f"› {found.request}"]
    return [(name, one_line(value, 1_000)) for name, value in facts if value] + [
        ("", "\n\n".join(one_line(part, 2_000) for part in text.split("\n\n"))) for text in texts if text
    ]


def _tokens_words(found: SessionGlance) -> str:
    """Tokens of the last recorded call, and their share of the window."""
    if not found.tokens:
        return ""
    share, window = fullness(found), glanced_window(found)
    full = f", {percent(share)} of {figure(window.tokens)}" if share is not None and window else ""
    return f"{figure(found.tokens)} at the last call{full}"


def _compactions_words(found: SessionGlance) -> str:
    if not found.compactions:
        return ""
    seen = "" if found.complete else " at least: the middle of the file was not read"
    return f"{several(found.compactions, 'time')}{seen}"


# --- tables of sessions that were read --------------------------------------------------------------------------------

GROUPS_SHOWN = 12
SHOWN: dict[About, str] = {
    "sessions": "changed agent title tokens window_share compactions lost_rules next_step rework grown_compactions "
    "removed_messages usd unrecorded_overhead_tokens calls peak_tokens copies model version project file",
    "compactions": "agent model project kind tokens_before tokens_after grew seconds usd removed_messages rework "
    "lost_rules resumed_calls time version file",
    "unreadable": "file error bytes",
}
FIRST: dict[About, str] = {"sessions": "changed", "compactions": "tokens_before", "unreadable": "file"}
"""Column that sorts each table at first."""

HEADINGS = {"changed": "when", "window_share": "window"}
"""Headings that differ from those of the command line's tables, by column key."""


EMPTY: dict[About, str] = {
    "compactions": "No session here records a compaction. c: what could not be read.",
    "unreadable": "Every file could be read. c: the sessions.",
}
"""Text of an empty table, which names the key to press."""


def table_columns(about: About) -> list[Column]:
    """Columns of a table on the screen, in their order."""
    known = {one.key: one for one in TABLES[about]}
    shown = (known[key] for key in SHOWN[about].split())
    return [replace(one, heading=HEADINGS.get(one.key, one.heading)) for one in shown]


def rows_words(number: int, about: About) -> str:
    """Number of rows in words: `1 session`, `12 compactions`, `3 unreadable`."""
    return f"{figure(number)} unreadable" if about == "unreadable" else several(number, about.removesuffix("s"))


def advice_lines(rows: Sequence[SessionRow]) -> list[str]:
    """Losses of the compactions and advice, a sentence each."""
    lines = [*loss_sentences(rows), *map(str, advise(rows))]
    return [one_line(line, 2_000) for line in lines]


def sum_parts(rows: Sequence[SessionRow], key: int) -> list[TextPart]:
    """Sums of the rows by one of `KEYS`."""
    parts: list[TextPart] = []
    for number, one in enumerate(group_sessions(rows, (KEYS[key],))):
        if number == GROUPS_SHOWN:
            return [*parts, TextPart("…", "dim")]
        name = fit(one_line(one.key[0]) or "–", 24)
        parts.append(TextPart(f"{name} {_sum_words(one)}", "title", then=((len(name), ""),)))
    return parts


def _sum_words(one: SessionGroup) -> str:
    parts = [several(one.sessions, "session"), several(one.compactions, "compaction")]
    if one.copies:
        parts.append(f"{several(one.copies, 'copy')} not counted")
    if one.larger:
        parts.append(f"{figure(one.larger)} made it larger")
    if one.before and one.after:
        parts.append(f"{figure(one.before)} → {figure(one.after)} tokens")
    if one.seconds is not None:
        parts.append(f"{one.seconds:g} s")
    if one.compacting:
        parts.append(dollars(one.compacting))
    if one.rework:
        parts.append(f"{figure(one.rework)} × rework")
    if one.instructions:
        parts.append(f"{figure(one.lost)} of {several(one.instructions, 'rule')} lost")
    if one.overhead:
        parts.append(f"{figure(one.overhead)} overhead")
    return " · ".join(parts)


def fact_parts(facts: list[tuple[str, str]]) -> list[TextPart]:
    """Facts of a session (name and value) as lines of text; texts without a name come first."""
    texts = [TextPart(value) for name, value in facts if not name]
    return [*texts, *(TextPart(f"{name:<10}{value}", "dim", then=((10, ""),)) for name, value in facts if name)]
