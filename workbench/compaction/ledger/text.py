"""A ledger as text, and back: the next compaction reads the entries that this one wrote.

    <ledger upto="214" pinned="12 57">
    …what its entries are…

    ## Standing instructions
    - #12 Never log the token.
    - #30 [gone] Answer in French.
      → superseded by #95

    ## Narrative
    free text
    </ledger>

An entry is `- #source [state] text`. Further lines of its text are indented by four spaces, its detail by two and an
arrow, so that any text can be written unchanged and read back. Sentences of one message and state share an item. Files
of one folder and state share a line, `- [modified] src/gates/: #31 weir.py, #40 sluice.py`; a file without a number has
the number of the file before it.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from workbench.base.figures import whole_number
from workbench.compaction.language import Language
from workbench.compaction.ledger.entries import KINDS, EntryKind, LedgerEntry
from workbench.facts.typed import is_note
from workbench.facts.wording import TextLine, sentence_spans
from workbench.session import Message


@dataclass(frozen=True, slots=True)
class LedgerWords:
    """Fixed words of a ledger: what its entries are, that its instructions are in force, the title of each kind, and
    marks for omitted entries, cut texts and cut commands. They are short because they take most of a small ledger."""

    about: str
    holds: str
    titles: Mapping[EntryKind, str]
    narrative: str
    left_out: str
    entries: str
    shortened: str
    more: str


_TITLES: Mapping[EntryKind, Mapping[Language, str]] = {
    "instruction": {"en": "Standing instructions", "zh": "长期指示"},
    "user": {"en": "Said by the user", "zh": "用户的话"},
    "document": {"en": "Pasted by the user", "zh": "用户粘贴的文档"},
    "decision": {"en": "Decisions", "zh": "决策"},
    "agent": {"en": "Said by the agent", "zh": "助手的话"},
    "error": {"en": "Errors", "zh": "错误"},
    "file": {"en": "Files", "zh": "文件"},
    "command": {"en": "Commands", "zh": "命令"},
    "identifier": {"en": "Identifiers", "zh": "标识符"},
    "number": {"en": "Numbers", "zh": "数字"},
    "url": {"en": "Addresses", "zh": "地址"},
}
WORDS: Mapping[Language, LedgerWords] = {
    "en": LedgerWords(
        "Verbatim from earlier messages, by number.",
        " Instructions hold unless marked gone.",
        {kind: titles["en"] for kind, titles in _TITLES.items()},
        "## Narrative",
        "Left out: ",
        "entries",
        "[… {count} characters cut …]",
        "[… {count} more]",
    ),
    "zh": LedgerWords(
        "逐字取自较早的消息，按编号。",
        "指示除标为 gone 的以外仍然有效。",
        {kind: titles["zh"] for kind, titles in _TITLES.items()},
        "## 叙述",
        "略去：",
        "条",
        "[…… 略去 {count} 个字符 ……]",
        "[…… 另有 {count} 个字符]",
    ),
}
_ZH = (WORDS["zh"].about, WORDS["zh"].left_out, WORDS["zh"].narrative)
_EARLIER_TITLES: Mapping[str, EntryKind] = dict.fromkeys(
    ("Requests of the user", "Stated by the user", "用户的请求", "用户的陈述"), "user"
)
"""Titles in ledgers of earlier versions."""
_KIND_OF: Mapping[str, EntryKind] = {
    **_EARLIER_TITLES,
    **{title: kind for words in WORDS.values() for kind, title in words.titles.items()},
}
_OPENING = re.compile(r'\A<ledger upto="(\d{1,12})"(?: pinned="(\d{1,12}(?: \d{1,12}){0,19999})")?>(?=\n)')
_CLOSING = "\n</ledger>"
_ENTRY = re.compile(r"- #(\d{1,12}) (?:\[(\w{0,20})\] )?")
_MORE, _DETAIL = "    ", "  → "


@dataclass(frozen=True, slots=True)
class Ledger:
    """Ledger that replaces the messages up to number `upto`, except the messages `pinned`, which follow it
    unchanged."""

    upto: int
    pinned: tuple[int, ...]
    entries: tuple[LedgerEntry, ...]
    narrative: str = ""
    left_out: tuple[tuple[str, int], ...] = ()
    """Number of omitted entries by group, the least important group first."""
    language: Language = "en"

    @property
    def first_request(self) -> LedgerEntry | None:
        """The user's first request of the session, with one sentence per line: the entries of state `first`; without
        one, the user's entries, if all come from one message and no instruction from an earlier one. Else None."""
        said = [one for one in self.entries if one.is_from_user]
        first = [one for one in said if one.state == "first"]
        if not first and len({one.source for one in said}) == 1:
            rules = (one.source for one in self.entries if one.kind == "instruction")
            first = said if said[0].source <= min(rules, default=said[0].source) else []
        return replace(first[0], text="\n".join(one.text for one in first)) if first else None


def is_ledger(message: Message) -> bool:
    """True if the text of a message is a ledger: some formats do not record that a message is a summary."""
    return message.role == "user" and message.text.startswith("<ledger upto=") and read_ledger(message.text) is not None


def written(ledger: Ledger) -> str:
    """Text of a ledger."""
    words = WORDS[ledger.language]
    pinned = f' pinned="{" ".join(map(str, ledger.pinned))}"' if ledger.pinned else ""
    holds = words.holds if any(one.kind == "instruction" for one in ledger.entries) else ""
    about = f"\n{words.about}{holds}" if ledger.entries else ""
    parts = [f'<ledger upto="{ledger.upto}"{pinned}>{about}']
    for kind in KINDS:
        lines = [*_lines(one for one in ledger.entries if one.kind == kind)]
        if lines:
            parts.append(f"## {words.titles[kind]}\n" + "\n".join(lines))
    if ledger.left_out:
        parts.append(omitted_line(ledger.left_out, ledger.language))
    if ledger.narrative:
        parts.append(f"{words.narrative}\n{ledger.narrative}")
    return "\n\n".join(parts) + _CLOSING


def omitted_line(left_out: Iterable[tuple[str, int]], language: Language) -> str:
    """Line that counts the omitted entries."""
    return WORDS[language].left_out + ", ".join(f"{count} {group}" for group, count in left_out)


def _lines(entries: Iterable[LedgerEntry]) -> Iterator[str]:
    """Lines of entries. Files of one folder share the line of the first of them; successive sentences of one message,
    or mere names, share a line."""
    groups: dict[Hashable, list[LedgerEntry]] = {}
    runs = groupby(entries, key=lambda one: folder_of(one) or one.shared_key or object())
    for number, (key, run) in enumerate(runs):
        groups.setdefault(key if isinstance(key, SharedFolder) else number, []).extend(run)
    for folder, group in groups.items():
        if len(group) == 1:
            yield line_of(group[0])
        elif isinstance(folder, SharedFolder):
            yield folder.opening + NAMES_BETWEEN.join(_items(folder, group))
        elif group[0].is_sentence:
            yield line_of(_joined(group))
        else:
            yield line_of(replace(group[0], text=NAMES_BETWEEN.join(one.text for one in group)))


def _joined(item: Sequence[LedgerEntry]) -> LedgerEntry:
    """One entry with the sentences of an item: on one line where reading divides them again, else on several."""
    text = item[0].text
    for before, one in pairwise(item):
        pair = f"{before.text} {one.text}"
        text += " " if _divided(pair) == [before.text, one.text] else "\n"
        text += one.text
    return replace(item[0], text=text)


def _divided(line: str) -> list[str]:
    """Sentences of a line. The note on a paste (`workbench.facts.typed`) is one, whatever it quotes."""
    if is_note(line):
        return [line]
    spans = sentence_spans(line, TextLine(0, len(line), bullet=False, heading=False))
    return [line[start:stop].strip() for start, stop in spans]


def _items(folder: SharedFolder, files: Iterable[LedgerEntry]) -> Iterator[str]:
    source = 0
    for one in files:
        yield folder.item(one) if one.source != source else one.text.removeprefix(folder.path)
        source = one.source


@dataclass(frozen=True, slots=True)
class SharedFolder:
    """State and folder of files that may share a line; `path` is "" for mere names."""

    state: str
    path: str

    @property
    def opening(self) -> str:
        """Beginning of the line."""
        return f"- [{self.state}] {self.path}: " if self.path else f"- [{self.state}] "

    def item(self, file: LedgerEntry) -> str:
        """A file in the line, with its source."""
        return f"#{file.source} {file.text.removeprefix(self.path)}"


def folder_of(entry: LedgerEntry) -> SharedFolder | None:
    """Folder whose line a file may share; None for other kinds and states, for an entry with a detail, and for a path
    that could not be parsed from such a line."""
    if entry.kind != "file" or entry.detail or entry.state not in _FILE_STATES or not _PLAIN_FILE.fullmatch(entry.text):
        return None
    return SharedFolder(entry.state, entry.text[: entry.text.rfind("/") + 1])


_FILE_STATES = ("viewed", "created", "modified", "deleted", "named")
_PLAIN_FILE = re.compile(r"[^\s,#]*[^\s,#/]")
_FOLDER = re.compile(rf"- \[({'|'.join(_FILE_STATES)})\] (?:([^\s,#]*/): )?(#\d{{1,12}} [^\s,#].*)")
_ITEM = re.compile(r"(?:#(\d{1,12}) )?(.+)")


NAMES_BETWEEN = ", "
"""Separator of names in a line; no name contains it."""


def line_of(entry: LedgerEntry) -> str:
    """One entry as a line."""
    state = f"[{entry.state}] " if entry.state or entry.text.startswith("[") else ""
    detail = f"\n{_DETAIL}{' '.join(entry.detail.split())}" if entry.detail else ""
    return f"- #{entry.source} {state}" + entry.text.replace("\n", f"\n{_MORE}") + detail


def read_ledger(text: str) -> Ledger | None:
    """Ledger parsed from `text`, None if it is not one. Inverse of `written`."""
    opening = _OPENING.match(text)
    if opening is None or not text.rstrip().endswith(_CLOSING):
        return None
    body = text.rstrip()[opening.end() : -len(_CLOSING)]
    language: Language = "zh" if body.lstrip().startswith(_ZH) else "en"
    words = WORDS[language]
    body, _, narrative = body.partition(f"\n\n{words.narrative}\n")
    entries: list[LedgerEntry] = []
    left_out: tuple[tuple[str, int], ...] = ()
    # No line of an entry is empty.
    for part in (part.split("\n") for part in re.split(r"\n{2,}", body.strip("\n"))):
        if part[0].startswith(words.left_out):
            left_out = tuple(_counted(part[0].removeprefix(words.left_out)))
        elif (kind := _KIND_OF.get(part[0].removeprefix("## "))) is not None:
            entries.extend(_read_entries(kind, part[1:]))
    pinned = tuple(int(number) for number in (opening[2] or "").split())
    return Ledger(int(opening[1]), pinned, tuple(entries), narrative, left_out, language)


def _read_entries(kind: EntryKind, lines: Iterable[str]) -> Iterable[LedgerEntry]:
    whole: list[list[str]] = []
    for line in lines:
        if _ENTRY.match(line) or _FOLDER.fullmatch(line):
            whole.append([line])
        elif whole:
            whole[-1].append(line)
    for first, *more in whole:
        detail = more.pop().removeprefix(_DETAIL) if more and more[-1].startswith(_DETAIL) else ""
        start = _ENTRY.match(first)
        if start is None and (shared := _FOLDER.fullmatch(first)):
            source = 0
            for item in filter(None, map(_ITEM.fullmatch, shared[3].split(NAMES_BETWEEN))):
                source = int(item[1] or source)
                yield LedgerEntry(kind, f"{shared[2] or ''}{item[2]}", source, shared[1])
        elif start is not None:
            text = "\n".join([first[start.end() :], *(line.removeprefix(_MORE) for line in more)])
            entry = LedgerEntry(kind, text, int(start[1]), start[2] or "", detail)
            if entry.is_sentence:
                yield from (replace(entry, text=one) for line in text.split("\n") for one in _divided(line))
            elif entry.in_passing:
                yield from (replace(entry, text=one) for one in text.split(NAMES_BETWEEN))
            else:
                yield entry


def _counted(text: str) -> Iterable[tuple[str, int]]:
    for one in text.split(", "):
        figure, _, group = one.partition(" ")
        if (count := whole_number(figure)) is not None:
            yield group, count
