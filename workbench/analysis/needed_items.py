"""Items that an agent needed again after a compaction, and the share of them that an outcome keeps.

An item occurs in the head (the messages before the compaction). The agent uses it later, in a call or text of its own,
before a user message or tool result states it again. Six kinds:

    path      file by name or path, without the project's folder; its name in a listing states it
    command   shell command that the agent runs again identically: each part of `a && b; c`, up to the first pipe.
              Commands that only look (ls, cat, grep) do not count: the agent needs the path in them
    number    number with a unit, a fraction or four digits, and the same word near it in both places
    id        hash, uuid, ticket, `#12`, port or version; if shorter than 7 characters, with the same word near it
    decision  sentence of the agent or the user that decides ("let's go with", "instead of")
    stated    any sentence of the user

The agent uses a sentence if one sentence of its own has enough of its words (`USED`). Items of the system prompt and
the project's folder never count, because every call sends them. The newest epoch has no needed items. The patterns are
independent of `workbench.facts`, so that a measure of kept facts does not judge itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

from msgspec import Struct

from workbench.analysis.mentions import (
    LONG_VALUE,
    Mentions,
    commands,
    file_name,
    sentences,
    texts,
    words_of,
)
from workbench.analysis.recorded_compactions import following, recorded_outcome
from workbench.analysis.retention import is_unreadable, new_messages
from workbench.compaction.outcome import Outcome
from workbench.session import Message, Session, ToolResult

Kind = Literal["path", "command", "number", "id", "decision", "stated", "name"]

KINDS: tuple[Kind, ...] = get_args(Kind)[:-1]
"""Kinds of needed items. A name of code is only asked about (`used_after`): the agent finds it with one search."""

USED: dict[Kind, float] = {"decision": 0.35, "stated": 0.5}
"""Share of a sentence's words that one later sentence must have to use it, or to state it again."""

ENOUGH = 0.6
"""Share of a sentence's words that one sentence of a compacted context must have, so that it keeps the sentence."""

FEWEST_WORDS: dict[Kind, int] = {"decision": 3, "stated": 4}

LONGEST_SENTENCE = 300

_HEX = re.compile(r"[0-9a-f]{7,40}")

_DECIDED = re.compile(
    r"\b(?:decided?|decision|let'?s (?:go|use|keep|do|stick|call|make|try)|go(?:ing)? with|stick with"
    r"|switch(?:ed|ing)? to|we(?:'ll| will| should) (?:use|keep|go)|I(?:'ll| will) go with"
    r"|(?:we|I) cho(?:se|ose)|was chosen|prefer|agreed|settled on|opt(?:ed)? (?:for|to)|won'?t (?:use|do)"
    r"|entschieden|nehmen wir|lieber|stattdessen)\b|决定|改用|采用|选择|而不是"
    r"|\b(?:use|using|go|keep|put|make|store|write|queue|add|let'?s|we|I|will|should)\b[^.]*"
    r"\b(?:instead of|rather than)\b",
    re.IGNORECASE,
)

_ASKS = re.compile(
    r"\?\s*$|\b(?:let me know|would you (?:like|prefer)|do you (?:want|prefer)|please choose)\b", re.IGNORECASE
)
"""A sentence that only offers a choice decides nothing."""

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)

_COMMON_NAMES = (
    "package.json README.md readme.md Makefile CHANGELOG.md Dockerfile tsconfig.json pyproject.toml setup.py "
    "index.html index.ts index.js __init__.py Cargo.toml go.mod CLAUDE.md AGENTS.md SKILL.md main.py"
)

_EVERYWHERE = frozenset(_COMMON_NAMES.split())
"""File names of most projects. They are never needed items."""


class Item(Struct, frozen=True):
    """Needed item. `forms`: spellings of a path, command, number, id or name; () for a sentence. `words`: words of a
    sentence; empty for other kinds."""

    kind: Kind
    text: str
    forms: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()


def needed_items(
    head: Sequence[Message], later: Sequence[Message], cwd: str = "", system: str = "", *, looked_up: bool = False
) -> tuple[Item, ...]:
    """Return the items of `head` that the agent uses in `later` before a user message or tool result states them again,
    in order of first use. Items of the system prompt `system` are left out. `cwd`: the project's folder. `looked_up`:
    also items that only a tool result states again, because the agent looked them up."""
    if not later:  # reading the head is expensive
        return ()
    known, stated_again = Mentions(), Mentions()
    stated_again.add(system, cwd)
    for message in head:
        for text in texts(message):
            known.add(text, cwd)
        known.commands.update(commands(message))
    names = {file_name(path) for path in known.paths}
    stated_names = {file_name(path) for path in stated_again.paths} | _folders(cwd)
    found: dict[tuple[Kind, str], Item] = {}
    open_sentences = _OpenSentences(head)
    stated_texts: list[str] = []
    for message in later:
        if message.role != "assistant":
            stating = _without_results(message) if looked_up else message
            _read_message(stating, stated_again, stated_names, cwd)
            stated_texts += texts(stating)
            open_sentences.remove_stated(stating)
            continue
        used = Mentions()
        for text in texts(message, longest=LONG_VALUE):
            used.add(text, cwd)
        for path in sorted(used.paths):
            known_here = path in known.paths or path in names
            if known_here and path not in _EVERYWHERE and file_name(path) not in stated_names:
                found.setdefault(("path", path), Item("path", path, (path,)))
                stated_names.add(file_name(path))
        for command in sorted(commands(message) & known.commands):
            if any(command in text for text in stated_texts):
                continue
            found.setdefault(("command", command), Item("command", command, (command,)))
        for kind, uses, stated, again in (
            ("number", used.numbers, known.numbers, stated_again.numbers),
            ("id", used.ids, known.ids, stated_again.ids),
        ):
            for key in sorted(uses.keys() & stated.keys() - again.keys()):
                if uses[key] & stated[key] or (kind == "id" and len(key) >= 7):
                    forms = _spellings(key) if kind == "number" else (key,)
                    found.setdefault((kind, key), Item(kind, key, forms))  # type: ignore[arg-type]
        for item in open_sentences.take_used(message):
            found.setdefault((item.kind, item.text), item)
    return tuple(found.values())


class _OpenSentences:
    """Decisions and user sentences of a head that no later message has used or stated again so far."""

    def __init__(self, head: Sequence[Message]) -> None:
        often: Counter[str] = Counter()
        items: dict[tuple[Kind, str], Item] = {}
        for message in head:
            own_text = message.user_text if message.role != "assistant" else message.text
            often.update({word for text in texts(message) for word in words_of(text)})
            for sentence, words in sentences(_FENCE.sub(" ", own_text)):
                kinds: list[Kind] = ["decision"] if _DECIDED.search(sentence) and not _ASKS.search(sentence) else []
                kinds += ["stated"] if message.role != "assistant" else []
                for kind in kinds if len(sentence) <= LONGEST_SENTENCE else ():
                    if len(words) >= FEWEST_WORDS[kind]:
                        items.setdefault((kind, sentence), Item(kind, sentence, words=words))
        self._waiting = list(items.values())
        rare = max(3, len(head) // 20)
        self._telling = [frozenset(word for word in one.words if often[word] <= rare) for one in self._waiting]

    def remove_stated(self, message: Message) -> None:
        """Remove the sentences that a message states again."""
        word_sets = [words for text in texts(message) for _, words in sentences(text)]
        self._remove_matching(word_sets)

    def take_used(self, message: Message) -> list[Item]:
        """Remove and return the sentences that a message of the agent uses."""
        word_sets = [words for text in texts(message, longest=LONG_VALUE) for _, words in sentences(text)]
        return self._remove_matching(word_sets)

    def _remove_matching(self, word_sets: Sequence[frozenset[str]]) -> list[Item]:
        """Remove and return the sentences that match one of `word_sets`, each the words of one other sentence. A match
        has enough common words (`USED`), one of them rare in the head."""
        by_word: dict[str, list[int]] = {}
        for number, words in enumerate(word_sets):
            for word in words:
                by_word.setdefault(word, []).append(number)
        matched: list[int] = []
        for at, (item, rare) in enumerate(zip(self._waiting, self._telling, strict=True)):
            places = {number for word in rare for number in by_word.get(word, ())}
            least = max(FEWEST_WORDS[item.kind] - 1, USED[item.kind] * len(item.words))
            if any(len(item.words & word_sets[number]) >= least for number in places):
                matched.append(at)
        found = [self._waiting[at] for at in matched]
        for at in reversed(matched):
            del self._waiting[at], self._telling[at]
        return found


class ItemSearch:
    """Search for items in the texts of a compacted context."""

    def __init__(self, parts: Iterable[str], cwd: str = "") -> None:
        raw = "\n".join(parts)
        self._text = raw.replace(f"{cwd}/", "") if cwd else raw
        self._flat = " ".join(self._text.split())

    @cached_property
    def _by_word(self) -> dict[str, list[int]]:
        """Indexes of the sentences that have a word, by word."""
        found: dict[str, list[int]] = {}
        for number, (_, words) in enumerate(sentences(self._text)):
            for word in words:
                found.setdefault(word, []).append(number)
        return found

    def holds(self, item: Item) -> bool:
        """True if the texts keep an item: a form of it by itself, or enough of its words in one sentence (`ENOUGH`)."""
        if item.words:
            counts = Counter(number for word in item.words for number in self._by_word.get(word, ()))
            return any(count >= ENOUGH * len(item.words) for count in counts.values())
        if item.kind == "path" and self._is_in_folder_line(item.text):
            return True
        begins = item.kind == "number" or (item.kind == "id" and _HEX.fullmatch(item.text) is not None)
        return any(_contains(form, self._flat, begins) for form in item.forms)

    def _is_in_folder_line(self, path: str) -> bool:
        """True if one line names the file and its folder: `src/: a.py, b.py`."""
        folder, _, name = path.rpartition("/")
        lines = self._text.split("\n") if folder and name in self._text else ()
        return any(_contains(name, line) and folder in line for line in lines if name in line)


def _contains(form: str, text: str, begins: bool = False) -> bool:
    """True if a text has the form by itself, not within a longer word, number or name. `begins`: letters may follow a
    number (a unit), and anything may follow a hash."""
    at = text.find(form)
    while at >= 0:
        before, after = text[at - 1 : at] if at else "", text[at + len(form) : at + len(form) + 1]
        longer = after.isalnum() and form[-1].isalnum()
        if begins and form.replace(",", "").replace(".", "").isdigit():
            longer = after.isdigit()
        elif begins:
            longer = False
        if not (before.isalnum() and form[0].isalnum()) and not longer:
            return True
        at = text.find(form, at + 1)
    return False


def _without_results(message: Message) -> Message:
    """Return a message without tool results."""
    blocks = () if message.role == "tool" else (one for one in message.blocks if not isinstance(one, ToolResult))
    return replace(message, blocks=tuple(blocks))


def _folders(cwd: str) -> set[str]:
    return {part for part in cwd.split("/") if part}


def _read_message(message: Message, mentions: Mentions, names: set[str], cwd: str) -> None:
    for text in texts(message):
        before = len(mentions.paths)
        mentions.add(text, cwd)
        if len(mentions.paths) != before:
            names.update(map(file_name, mentions.paths))


def _spellings(number: str) -> tuple[str, ...]:
    whole, dot, fraction = number.partition(".")
    return tuple(dict.fromkeys([number, *(f"{int(whole):,}".replace(",", by) + dot + fraction for by in ",_ \u202f")]))


@dataclass(frozen=True)
class LaterUse:
    """Needed items in the order of first use, at least one, each with True if the outcome keeps it."""

    items: tuple[tuple[Item, bool], ...]

    @cached_property
    def kinds(self) -> dict[Kind, tuple[int, int]]:
        """Number of kept items and of all items, by kind. Kinds without an item are left out."""
        counts = {kind: [held for item, held in self.items if item.kind == kind] for kind in KINDS}
        return {kind: (sum(held), len(held)) for kind, held in counts.items() if held}

    @property
    def share(self) -> float:
        """Share of the items that the outcome keeps, 0 to 1."""
        return sum(held for _, held in self.items) / len(self.items)

    @property
    def lost(self) -> tuple[Item, ...]:
        """Items that the outcome does not keep."""
        return tuple(item for item, held in self.items if not held)


def needed_after(session: Session, epoch: int) -> tuple[Item, ...]:
    """Return the items of an epoch's context (from 1) that the session needed later; () for the newest epoch. Takes
    about 1 s per 10 MB of messages."""
    later = following(session, epoch)
    return needed_items(
        session.context(epoch), messages_after(session, epoch, later), project_folder(session), session.system
    )


def used_after(session: Session, epoch: int) -> tuple[Item, ...]:
    """Return the items of an epoch's context (from 1) that the agent used later: those of `needed_after`, then those
    that it looked up again first, then names of its code; () for the newest epoch."""
    later = messages_after(session, epoch, following(session, epoch))
    head, folder = session.context(epoch), project_folder(session)
    needed = needed_items(head, later, folder, session.system)
    looked_up = needed_items(head, later, folder, session.system, looked_up=True)
    return tuple(dict.fromkeys((*needed, *looked_up, *_used_names(head, later, session.system))))


def _used_names(head: Sequence[Message], later: Sequence[Message], system: str) -> Iterator[Item]:
    """Yield the names of code in `head` that the agent uses in `later` before a user message states them again, in the
    order of first use. Names in the system prompt are left out."""
    known = {name for message in head for text in texts(message) for name in _CODE_NAME.findall(text)} if later else {}
    seen = set(_CODE_NAME.findall(system))
    for message in later:
        from_agent = message.role == "assistant"
        named = [*texts(message, longest=LONG_VALUE)] if from_agent else texts(_without_results(message))
        for name in dict.fromkeys(one for text in named for one in _CODE_NAME.findall(text)):
            if from_agent and name in known and name not in seen:
                yield Item("name", name, (name,))
            seen.add(name)


_CODE_NAME = re.compile(r"\b(?:[a-z]\w*_\w{2,}|[a-z]+[a-z0-9]*[A-Z]\w+|[A-Z][a-z0-9]+[A-Z]\w+)\b")
"""A name of several words: `parse_line`, `parseLine`, `LineParser`."""


def messages_after(session: Session, epoch: int, later: Sequence[Message]) -> list[Message]:
    """Return the messages `later` than an epoch (from 1) without those that its recorded compaction added, because they
    belong to the outcome."""
    ended = epoch < len(session.epochs) and session.epochs[epoch - 1].ended_by is not None
    added = {message.id for message in new_messages(recorded_outcome(session, epoch))} if ended else set()
    return [message for message in later if message.id not in added]


def later_use(items: Sequence[Item], outcome: Outcome, folder: str) -> LaterUse | None:
    """Return the items and which of them an outcome keeps; None without items, or if its summary cannot be read.
    `folder`: the project's folder."""
    if not items or is_unreadable(outcome):
        return None
    holding = ItemSearch((text for message in outcome.messages for text in texts(message)), folder)
    return LaterUse(tuple((item, holding.holds(item)) for item in items))


def project_folder(session: Session) -> str:
    """Return the project's folder without a trailing slash, "" if unknown. Paths of items are relative to it."""
    return (session.cwd or "").rstrip("/")
