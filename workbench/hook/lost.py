"""The part of a snapshot that a compaction lost, judged as every outcome is.

Rules are judged by `workbench.analysis.rule_text`, requests and tasks by `workbench.analysis.named_work`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from workbench.analysis.fact_check import SearchedText, fact_query
from workbench.analysis.named_work import RUNNING_WORDS, NamingLines, newest_request, typed_request
from workbench.analysis.rule_text import judge_text, on_one_line
from workbench.base.reading import open_file
from workbench.facts.fact import Fact
from workbench.facts.standing import standing_rules
from workbench.hook.snapshot import NamedText, Snapshot
from workbench.session import Message, Text


class LostWork(Struct, frozen=True):
    """Work in force that the new context lacks, with secrets masked as in the snapshot. `rules` are oldest first,
    `files` by their last change."""

    rules: tuple[str, ...] = ()
    request: str = ""
    running: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return self == LostWork()


def lost_work(snapshot: Snapshot, context: Sequence[str]) -> LostWork:
    """Return the work that no text of the new context has. Its texts are the summary, the kept messages, and the rule
    files that the agent sends again."""
    texts = [text for text in context if text.strip()]
    lines, everything = NamingLines(texts), "\n".join(texts)
    return LostWork(
        tuple(rule for rule in rules_in_force(snapshot.texts) if not _is_stated(rule, texts)),
        _lost_request(snapshot, texts, lines),
        tuple(_lost_running(snapshot.running, everything, lines)),
        tuple(task for task in snapshot.tasks if not lines.may_name(task)),
        tuple(file.text for file in snapshot.files if not _is_named(file.name, everything)),
    )


def rules_in_force(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the rules in texts of the user that no later one superseded."""
    messages = [Message(str(number), "user", (Text(text),)) for number, text in enumerate(texts)]
    return tuple(rule.fact.text for rule in standing_rules(messages) if rule.superseded_by is None)


def _is_stated(rule: str, texts: Sequence[str]) -> bool:
    """Return whether a text states a rule: verbatim, which is looked for first, or in other words."""
    flat = on_one_line(rule)
    quoting = [text for text in texts if flat in on_one_line(text)]
    return any(judge_text(rule, text) in _STATED for text in (*quoting, *texts))


_STATED = ("verbatim", "paraphrased")


def _lost_request(snapshot: Snapshot, texts: Sequence[str], lines: NamingLines) -> str:
    """Return the newest request if it is unanswered and no text has it, else ""."""
    found = newest_request([Fact("request", text, "", at, ok=ok) for at, (text, ok) in enumerate(snapshot.requests)])
    if found is None or found.ok or lines.may_name(typed_request(found.text)):
        return ""
    form = fact_query("request", typed_request(found.text))
    return "" if form and SearchedText(texts).judge(form).presence != "none" else found.text


def _lost_running(running: Iterable[NamedText], everything: str, lines: NamingLines) -> Iterator[str]:
    if not RUNNING_WORDS.search(everything):
        yield from (f"{one.name}: {one.text}" for one in running if not _names_task(one, everything, lines))


def _names_task(one: NamedText, everything: str, lines: NamingLines) -> bool:
    return one.name in everything or lines.may_name(one.text)


def _is_named(path: str, everything: str) -> bool:
    """Return whether a text has a path or its last part."""
    return path in everything or Path(path).name in everything


# --- rule files -------------------------------------------------------------------------------------------------------

MOST_BYTES = 200_000
"""Most bytes of a rule file that are read."""


def rule_file_texts(names: Sequence[str], home: Path, cwd: str) -> Iterator[str]:
    """Yield the rule files that an agent sends with every call: by name in the project's folder, those above it, and
    the agent's folder `home`. Unreadable ones are left out."""
    folder = Path(cwd) if cwd else None
    for one in (*((folder, *folder.parents) if folder else ()), home):
        for name in names:
            try:
                with open_file(one / name) as file:
                    yield file.read(MOST_BYTES).decode("utf-8", "replace")
            except (OSError, ValueError):
                continue
