"""State of the rules of rule files (`workbench.facts.rule_files`) after recorded compactions.

A rule is *in force* if a record of its file stays in the context, or another text there says the same; *injected
again* if the agent sent the file again in the next epoch; *read again* if the agent had to read it; *gone* otherwise.

Some agents send certain files with every call and record them nowhere (`_SENT_UNRECORDED`). A compaction does not reach
those: their rules are in force, whatever happens to a result that shows them.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Literal, get_args

from msgspec import Struct

from workbench.analysis.mentions import plain_path
from workbench.analysis.recorded_compactions import recorded_outcome
from workbench.analysis.retention import is_unreadable
from workbench.analysis.watched_rules import KEPT_STATES, is_hidden, judge_messages, judge_prompt
from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.base.files import reason
from workbench.base.reading import read_text
from workbench.base.text import counted
from workbench.compaction.context import prompted
from workbench.facts.rule_files import RuleFile, files_in_text, is_rule_file, rule_files, rules_of
from workbench.facts.tools import normal_path
from workbench.session import Session

FileRuleState = Literal["in force", "injected again", "read again", "gone", "unknown"]
"""`unknown`: the rule is in no readable message, and the summary cannot be read."""

_SENT_UNRECORDED = {
    "claude-code": ("CLAUDE.md", "CLAUDE.local.md"),
    "gemini": ("GEMINI.md",),
    "opencode": ("AGENTS.md", "CLAUDE.md"),
    "pi": ("AGENTS.md", "CLAUDE.md"),
    "qwen-code": ("QWEN.md", "AGENTS.md"),
}
"""Names of the files that an agent sends with every call, from the project's folder and the folders above it, without
recording them, by format."""


class FileRule(Struct, frozen=True):
    """Rule of a file. `message` is the id of the message in which it came back; `gone_since` the epoch whose compaction
    removed it; None without one."""

    text: str
    state: FileRuleState
    message: str | None = None
    gone_since: int | None = None


class RuleFileState(Struct, frozen=True):
    """Rule file with its rules, in the order of the file. `path` is relative to the project's folder where it is in it;
    `message` is the id of the newest message with a record of it, None: the system prompt. `sent`: the agent sent it
    unasked; `sent_with_calls`: it does so with every call, recorded or not; `in_project`: it applies to the project,
    and not to another folder.
    """

    path: str
    message: str | None
    sent: bool
    sent_with_calls: bool
    in_project: bool
    rules: tuple[FileRule, ...]

    @property
    def gone(self) -> tuple[FileRule, ...]:
        """The rules that are gone."""
        return tuple(rule for rule in self.rules if rule.state == "gone")

    def __str__(self) -> str:
        states = Counter(rule.state for rule in self.rules)
        parts = ", ".join(f"{grouped(states[state])} {state}" for state in get_args(FileRuleState) if states[state])
        return f"{self.path}: {counted(len(self.rules), 'rule')}, {parts}"


def rule_file_states(session: Session, epoch: int) -> tuple[RuleFileState, ...]:
    """Return the rule files that the first `epoch` epochs record, and the state of their rules after the compaction
    that ended the last of these; if the session ends with it, their state now. Rules of a file that was read in parts
    add up; a file that the agent sends replaces its older version. Files without a rule are left out."""
    return next(islice(_states_by_epoch(session), epoch - 1, None))


def lost_file_rules(session: Session) -> dict[int, int]:
    """Return the number of rules of the project's rule files that each recorded compaction removed, by its epoch. A
    rule that came back in the next epoch does not count."""
    return {
        number: sum(rule.gone_since == number for file in files if file.in_project for rule in file.rules)
        for number, files in enumerate(_states_by_epoch(session), 1)
    }


def _states_by_epoch(session: Session) -> Iterator[tuple[RuleFileState, ...]]:
    in_prompt = list(files_in_text(prompted(session.system, session.memories)))
    newest: dict[str, RuleFile] = {}
    places: dict[str, str | None] = {}
    known: dict[str, dict[str, FileRule]] = {}
    for number, epoch in enumerate(session.epochs, 1):
        messages = session.context(number)
        for one in (*in_prompt, *rule_files(messages)):
            path = project_path(one.path, session)
            older = known.get(path, {})
            stated = {rule: older.get(rule) or FileRule(rule, "in force") for rule in one.rules}
            known[path] = stated if one.sent else {**older, **stated}
            newest[path], places[path] = one, None if one.index is None else messages[one.index].id
        if epoch.ended_by is not None and number < len(session.epochs) and known:
            known = _after(session, number, known)
        sent = {path: one.index is None or is_sent_unrecorded(session, one.path) for path, one in newest.items()}
        yield tuple(
            RuleFileState(
                path,
                places[path],
                one.sent,
                sent[path],
                one.sent or _is_in_project(path),
                tuple(known[path].values()),
            )
            for path, one in newest.items()
            if known[path]
        )


def _after(session: Session, number: int, known: Mapping[str, dict[str, FileRule]]) -> dict[str, dict[str, FileRule]]:
    """Return the states after the compaction that ended epoch `number`; `known` are those before it."""
    outcome, following = recorded_outcome(session, number), session.context(number + 1)
    prompt = prompted(session.system, session.memories)
    # Rules of the prompt are compared by themselves as well: words before one may look like its negation.
    prompt_rules = {rule for one in files_in_text(prompt) for rule in one.rules}
    before = {message.id for message in outcome.source}
    copies = session.epochs[number].copies
    old = before.union(session.messages[member].id for member in copies)
    records = [(following[one.index], one) for one in rule_files(following) if one.index is not None]
    hidden = is_unreadable(outcome) or any(map(is_hidden, outcome.messages))

    def state_of(path: str, rule: FileRule) -> FileRule:
        text = rule.text
        if text in prompt_rules or is_sent_unrecorded(session, path):
            return FileRule(text, "in force")
        places = [(message, one.sent) for message, one in records if text in one.rules]
        if any(message.id in old for message, _ in places):
            return FileRule(text, "in force")
        if KEPT_STATES & {judge_prompt(text, prompt), judge_messages(text, outcome.messages)}:
            stated = next((one for one in places if one[0] in outcome.messages), None)
            return FileRule(text, "injected again", stated[0].id) if stated else FileRule(text, "in force")
        if places:
            message, is_sent = places[0]
            return FileRule(text, "injected again" if is_sent else "read again", message.id)
        if hidden:
            return FileRule(text, "unknown")
        return FileRule(text, "gone", gone_since=rule.gone_since or number)

    return {path: {text: state_of(path, rule) for text, rule in rules.items()} for path, rules in known.items()}


def project_path(path: str, session: Session) -> str:
    """Return a path relative to the project's folder if it is in it."""
    return plain_path(normal_path(path), normal_path(session.cwd or ""))


def _is_in_project(plain: str) -> bool:
    return not (plain.startswith("../") or posixpath.isabs(plain) or _DRIVE.match(plain))


def is_sent_unrecorded(session: Session, path: str) -> bool:
    """Return whether the agent sends the file with every call and does not record it. Files in the project's other
    folders are sent only when the agent enters these."""
    name = posixpath.basename(normal_path(path))
    return name in _SENT_UNRECORDED.get(session.format, ()) and covers_project(path, session)


def covers_project(path: str, session: Session) -> bool:
    """Return whether a file is in the project's folder itself or in one above it; True if the folder is unknown."""
    folder, plain = normal_path(session.cwd or ""), project_path(path, session)
    above = posixpath.dirname(plain)
    if posixpath.isabs(plain) or _DRIVE.match(plain):
        return not folder or folder.startswith(above.rstrip("/") + "/")
    return above == "" or set(above.split("/")) == {".."}


_DRIVE = re.compile(r"[A-Za-z]:/")


def sentences_to_watch(named: Iterable[str], session: Session) -> tuple[str, ...]:
    """Return the named sentences, each once. The path of a rule file, or the end of the path, is replaced by the file's
    rules: those that the session records, or if there are none, those on disk. Raises BadInput for a file without
    rules."""
    several = (_rules_of(one, session) if _is_path(one) else (one,) for one in named)
    return tuple(dict.fromkeys(rule for rules in several for rule in rules))


def _is_path(text: str) -> bool:
    """Return whether an argument is a rule file's path. With white space it is a sentence that ends with one."""
    return is_rule_file(text) and not any(map(str.isspace, text))


def _rules_of(path: str, session: Session) -> tuple[str, ...]:
    wanted = project_path(path, session)
    recorded = tuple(
        rule.text
        for one in rule_file_states(session, len(session.epochs))
        if one.path == wanted or one.path.endswith(f"/{wanted}")
        for rule in one.rules
    )
    found = recorded or tuple(rule for place in _on_disk(path, session) for rule in rules_of(_text(place)))
    if not found:
        raise BadInput(f"Neither the session nor the disk has rules of {path}; name another file, or a sentence.")
    return found


def _on_disk(named: str, session: Session) -> Iterator[Path]:
    """Yield the file at this path, relative to the current folder, else to the project's folder."""
    places = (Path(named), Path(session.cwd or ".") / named)
    yield from [path for path in places if path.is_file()][:1]


def _text(path: Path) -> str:
    try:
        return read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {reason(error)}; name another rule file.") from None
