"""Entries of a ledger, and their order of importance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from workbench.compaction.language import Language
from workbench.facts.typed import is_note

EntryKind = Literal[
    "instruction",
    "user",
    "document",
    "decision",
    "agent",
    "error",
    "file",
    "command",
    "identifier",
    "number",
    "url",
]

KINDS: tuple[EntryKind, ...] = get_args(EntryKind)


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One fact that the ledger keeps. `source`: number of its message, counted from the session's first over all
    compactions.

        kind         text                      state                                     detail
        instruction  the sentence, verbatim    "" or "gone": superseded by a later one   the later message, as #n
        user         a sentence, verbatim, or  first or open (the request), gone, ""     the later message, as #n, or
                     the note on a paste                                                 the question it answers
        document     a sentence that the user  first or open (the request), ""           ""
                     pasted, verbatim
        decision     the sentence, verbatim    "" or "answer": the user's to a question  the question
        agent        a sentence, verbatim      ""                                        ""
        error        the line that names it    open, fixed                               its cause, and its fix
        file         the path                  viewed, created, modified, deleted, named ""
        command      the command line          ok, failed, ran                           the line with its result
        identifier   the name or id            ""                                        ""
        number       the number and its noun   ""                                        ""
        url          the address               ""                                        ""
    """

    kind: EntryKind
    text: str
    source: int
    state: str = ""
    detail: str = ""

    @property
    def rank(self) -> int:
        """Importance, 0 for the most important. Entries are collected in this order, and omitted ones counted in it;
        the room is given to entries by worth (`queue.py`)."""
        rank = _RANKS.get((self.kind, self.state))
        return _RANKS[(self.kind, "")] if rank is None else rank

    @property
    def is_sentence(self) -> bool:
        """True for a sentence, which shares an item with other sentences of its message."""
        return self.kind in ("user", "document", "agent")

    @property
    def is_from_user(self) -> bool:
        """True for a text of a message of the user, typed or pasted."""
        return self.kind in ("user", "document")

    @property
    def is_pasted(self) -> bool:
        """True for a sentence of a pasted document, and for the note on a paste."""
        return self.kind == "document" or (self.kind == "user" and is_note(self.text))

    @property
    def in_passing(self) -> bool:
        """True for a mere name, which shares a line with other names of its source."""
        is_name = self.kind in ("identifier", "number") and not self.detail
        return is_name or (self.kind, self.state) == ("file", "named")

    @property
    def shared_key(self) -> Hashable:
        """Key of successive entries that share an item or a line; None for an entry with a line of its own."""
        if self.is_sentence:
            return self.kind, self.source, self.state, self.detail
        return (self.kind, self.source) if self.in_passing else None


_GROUPS: tuple[tuple[tuple[tuple[EntryKind, str], ...], Mapping[Language, str]], ...] = (
    ((("instruction", ""),), {"en": "standing instructions", "zh": "长期指示"}),
    ((("user", "open"), ("document", "open")), {"en": "sentences of the open request", "zh": "未完成的请求"}),
    ((("user", "first"), ("document", "first")), {"en": "sentences of the first request", "zh": "最初的请求"}),
    ((("decision", "answer"),), {"en": "answers to questions", "zh": "对提问的回答"}),
    ((("user", ""),), {"en": "sentences of the user", "zh": "用户的话"}),
    ((("document", ""),), {"en": "sentences of pasted documents", "zh": "粘贴文档中的话"}),
    ((("error", "open"), ("error", "")), {"en": "open errors", "zh": "未修复的错误"}),
    ((("decision", ""),), {"en": "decisions", "zh": "决策"}),
    (
        (("file", "modified"), ("file", "created"), ("file", "deleted"), ("file", "")),
        {"en": "changed files", "zh": "改动的文件"},
    ),
    ((("command", "failed"),), {"en": "failed commands", "zh": "失败的命令"}),
    ((("command", "ok"), ("command", "ran"), ("command", "")), {"en": "commands", "zh": "命令"}),
    ((("identifier", ""),), {"en": "identifiers", "zh": "标识符"}),
    ((("number", ""),), {"en": "numbers", "zh": "数字"}),
    ((("error", "fixed"),), {"en": "mended errors", "zh": "已修复的错误"}),
    ((("file", "viewed"),), {"en": "viewed files", "zh": "查看的文件"}),
    ((("file", "named"),), {"en": "named files", "zh": "提到的文件"}),
    ((("agent", ""),), {"en": "sentences of the agent", "zh": "助手的话"}),
    ((("url", ""),), {"en": "addresses", "zh": "地址"}),
    ((("user", "gone"),), {"en": "superseded sentences", "zh": "已被取代的话"}),
    ((("instruction", "gone"),), {"en": "superseded instructions", "zh": "已被取代的指示"}),
)
"""Kinds and states by importance, the most important first, with the name of each group."""

_RANKS = {member: rank for rank, (members, _) in enumerate(_GROUPS) for member in members}


def counted_by_group(entries: Iterable[LedgerEntry], language: Language) -> tuple[tuple[str, int], ...]:
    """Number of entries by group, the least important group first."""
    counts = Counter(entry.rank for entry in entries)
    return tuple((_GROUPS[rank][1][language], counts[rank]) for rank in sorted(counts, reverse=True))
