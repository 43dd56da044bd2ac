"""Digest of messages: the lines of a summary by topic, each with the messages it comes from."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from msgspec import Struct

from workbench.base.text import clip_at_word
from workbench.facts.all_facts import find_facts
from workbench.facts.calls import calls_in, is_check
from workbench.facts.commands_and_paths import core_command
from workbench.facts.distinct import distinct_facts
from workbench.facts.fact import Fact
from workbench.facts.tasks import Task, tasks_of
from workbench.facts.wording import prose
from workbench.session import Message
from workbench.summarizers.fitting import SummaryLine
from workbench.summarizers.labels import SummaryLabels, Topic

USER, AGENT = 1000.0, 0.0
"""Ranks of lines from the user and from the agent. The recency of a line, 0 to 1, is added, so that newer lines of a
topic come first."""

_READ_ONLY = (
    "ls", "cat", "cd", "pwd", "echo", "grep", "rg", "find", "head", "tail", "sed -n", "wc", "which", "tree", "sleep",
    "git status", "git diff", "git log", "git show", "git branch", "less", "file ", "stat ", "type ", "get-content",
)  # fmt: skip
"""Read-only commands, which rank below others."""


@dataclass(frozen=True, slots=True)
class Digest:
    """Lines by topic, and per topic the number that an earlier summary already omitted."""

    lines: dict[Topic, list[SummaryLine]] = field(default_factory=dict)
    omitted: Counter[Topic] = field(default_factory=Counter)

    def add(self, topic: Topic, lines: Iterable[SummaryLine]) -> None:
        self.lines.setdefault(topic, []).extend(lines)

    def of(self, topic: Topic) -> tuple[SummaryLine, ...]:
        return tuple(self.lines.get(topic, ()))

    @property
    def is_empty(self) -> bool:
        return not any(self.lines.values())


def digest(messages: Sequence[Message], labels: SummaryLabels) -> Digest:
    """Return the complete digest of `messages`; `fitting.fit_lines` cuts it to size."""
    facts = find_facts(messages)
    by_kind: dict[str, list[Fact]] = {}
    for fact in facts:
        by_kind.setdefault(fact.kind, []).append(fact)
    facts_of: Callable[[str], list[Fact]] = lambda kind: by_kind.get(kind, [])
    tasks = tasks_of(calls_in(messages))
    recency = _Recency(len(messages))
    result = Digest()
    requests = facts_of("request")
    result.add("goal", (_bullet(clip_at_word(fact.text, 1200), [fact], USER) for fact in requests[:1]))
    result.add("instructions", _sentences(facts_of("instruction"), recency, 500))
    result.add("requests", _requests(messages, requests, labels, recency))
    result.add("decisions", _decisions(facts_of("decision"), labels, recency))
    result.add("done", (_task(messages, task, labels, recency) for task in tasks if task.status == "completed"))
    result.add("done", _commits(facts_of("command"), labels, recency))
    result.add("done", _notes(messages, labels, recency))
    base = common_folder(fact.text for fact in facts_of("path") if fact.detail != "mentioned")
    result.add("files", _files(facts_of("path"), base, labels, recency))
    result.add("commands", _commands(facts_of("command"), labels, recency))
    result.add("errors", _errors(facts_of("error"), base, labels, recency))
    result.add("named", _references(facts_of("identifier"), facts_of("url"), facts_of("number"), recency))
    result.add("stack", _stack(facts_of("path"), facts_of("command"), labels))
    result.add("last", _last_words(messages, labels))
    result.add("open", _open_work(messages, requests, tasks, labels, recency))
    return result


class _Recency(Struct, frozen=True):
    """Recency of a message, from 0 (the first) to just under 1."""

    messages: int

    def __call__(self, index: int) -> float:
        return index / (self.messages or 1)


def _bullet(text: str, facts: Sequence[Fact], rank: float) -> SummaryLine:
    return SummaryLine(f"- {text}", _origins(facts), rank)


def _origins(facts: Iterable[Fact]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(fact.message for fact in facts))


def _quotation(text: str, limit: int) -> str:
    return f"“{clip_at_word(text, limit)}”"


def _sentences(facts: Sequence[Fact], recency: _Recency, limit: int) -> list[SummaryLine]:
    """Return each sentence once, at its last place."""
    selected: dict[str, list[Fact]] = {}
    for fact in facts:
        selected.setdefault(fact.text, []).append(fact)
    found = sorted(selected.values(), key=lambda same: same[-1].index)
    return [_bullet(clip_at_word(same[0].text, limit), same, recency(same[-1].index)) for same in found]


def _decisions(facts: Sequence[Fact], labels: SummaryLabels, recency: _Recency) -> list[SummaryLine]:
    """Return the decisions. The user's answers with their questions rank highest."""
    answers = [fact for fact in facts if fact.detail]
    lines = _sentences([fact for fact in facts if not fact.detail], recency, 400)
    for one in distinct_facts(answers):
        text = clip_at_word(one.text, 400)
        words = labels.chosen.format(text=text, question=clip_at_word(one.last.detail, 60))
        lines.append(_bullet(words, one.mentions, USER + recency(one.last.index)))
    return lines


def _requests(
    messages: Sequence[Message], requests: Sequence[Fact], labels: SummaryLabels, recency: _Recency
) -> list[SummaryLine]:
    """Return the requests after the first, each followed by the beginning of its answer, and the first one's answer."""
    lines: list[SummaryLine] = []
    for number, fact in enumerate(requests):
        stop = requests[number + 1].index if number + 1 < len(requests) else len(messages)
        if number:
            line = _bullet(_quotation(fact.text, 400), [fact], USER + recency(fact.index))
            lines.append(replace(line, done=bool(fact.ok)))
        answer = _answer(messages, fact.index + 1, stop) if fact.ok else None
        if answer is not None:
            text = labels.answered.format(text=clip_at_word(first_sentences(prose(answer.text)) or answer.text, 260))
            lines.append(
                SummaryLine(("  - " if number else "- ") + text, (answer.id,), AGENT + recency(fact.index), not number)
            )
        elif number and number + 1 < len(requests):
            lines.append(SummaryLine(f"  - {labels.unanswered}", (fact.message,), AGENT + recency(fact.index) - 1))
    return lines


def _answer(messages: Sequence[Message], start: int, stop: int) -> Message | None:
    """Return the agent's last text message in a range, or None."""
    for index in range(stop - 1, start - 1, -1):
        message = messages[index]
        if message.role == "assistant" and message.kind == "normal" and message.text.strip():
            return message
    return None


def first_sentences(words: str) -> str:
    """Return the beginning of an answer, about two sentences, without headings, tables and horizontal lines."""
    selected: list[str] = []
    for paragraph in words.split("\n"):
        line = paragraph.strip()
        if not line or line.startswith(("#", "|", "---", "★")) or set(line) <= set("`─-*= "):
            continue
        selected.append(line)
        if sum(map(len, selected)) > 200:
            break
    return " ".join(selected)


def _task(messages: Sequence[Message], task: Task, labels: SummaryLabels, recency: _Recency) -> SummaryLine:
    sign = {"completed": "[x]", "in_progress": "[~]"}.get(task.status, "[ ]")
    text = f"- {sign} {clip_at_word(task.text, 240)}"
    if task.status == "in_progress":
        text += f" ({labels.task[task.status]})"
    rank = USER + (1 if task.status == "in_progress" else 0) + recency(task.index)
    return SummaryLine(text, (messages[task.index].id,), rank, task.status == "completed")


def _commits(facts: Sequence[Fact], labels: SummaryLabels, recency: _Recency) -> list[SummaryLine]:
    """Return the subjects of successful commits."""
    lines: list[SummaryLine] = []
    for fact in facts:
        subject = _COMMIT.search(fact.text) if fact.ok else None
        if subject:
            text = clip_at_word(next(part for part in subject.groups() if part), 160)
            lines.append(
                replace(_bullet(labels.committed.format(text=text), [fact], USER + recency(fact.index)), done=True)
            )
    return lines


_COMMIT = re.compile(
    r"\bgit commit\b[^\n\"']{0,80}-\w{0,3}m[ =]?"
    r"(?:\"\$\(cat <<'?\"?\w{1,12}'?\"?\s{1,4}([^\n]{3,300})|\"([^\"$\n]{3,300})|'([^'\n]{3,300}))"
)


def _notes(messages: Sequence[Message], labels: SummaryLabels, recency: _Recency) -> list[SummaryLine]:
    """Return the beginnings of the agent's explanations: longer texts next to its tool calls."""
    lines: list[SummaryLine] = []
    for index, message in enumerate(messages):
        if message.role == "assistant" and message.kind == "normal" and message.calls:
            words = prose(message.text)
            if len(words) >= NOTE and _REASON.search(words):
                text = labels.noted.format(text=clip_at_word(first_sentences(words), 240))
                lines.append(SummaryLine(f"- {text}", (message.id,), AGENT + recency(index)))
    return lines


NOTE = 160
"""Length from which a text next to a call may be an explanation, in characters."""

_REASON = re.compile(
    r"\b(?:because|since|issue|bug|problem|cause|turns out|actually|instead|however|but|already|missing|failing|wrong|"
    r"isn't|doesn't|didn't|not|note|need|found)\b|因为|问题|原因|其实|发现|由于|需要|但",
    re.IGNORECASE,
)


def _files(facts: Sequence[Fact], base: str, labels: SummaryLabels, recency: _Recency) -> list[SummaryLine]:
    """Return a line per changed file with the count of each action, then the files that were only read, six per
    line."""
    touched: dict[str, list[Fact]] = {}
    for fact in facts:
        if fact.detail != "mentioned" and fact.ok is not False:
            touched.setdefault(fact.text, []).append(fact)
    changed = {path: done for path, done in touched.items() if any(fact.detail != "viewed" for fact in done)}
    lines: list[SummaryLine] = []
    if base:
        first = [done[0] for path, done in touched.items() if path.startswith(base)]
        lines.append(_bullet(labels.under.format(path=base), first[:1], 2 * USER))
    for path, done in sorted(changed.items(), key=lambda item: item[1][-1].index):
        counts = Counter(fact.detail for fact in done if fact.detail != "viewed")
        what = ", ".join(labels.counts[kind] + (f" ×{n}" if n > 1 else "") for kind, n in counts.items())
        acts = [fact for fact in done if fact.detail != "viewed"]
        lines.append(_bullet(f"`{_relative_path(path, base)}`: {what}", acts, USER + recency(done[-1].index)))
    read = sorted((item for item in touched.items() if item[0] not in changed), key=lambda item: -item[1][-1].index)
    for start in range(0, len(read), 6):
        part = read[start : start + 6]
        paths = ", ".join(f"`{_relative_path(path, base)}`" for path, _ in part)
        seen = [fact for _, done in part for fact in done]
        lines.append(_bullet(labels.read.format(paths=paths), seen, recency(part[0][1][-1].index)))
    return lines


def common_folder(paths: Iterable[str]) -> str:
    """Return the folder, at least three levels deep, that shortens these absolute paths most; "" if none holds
    three."""
    folders: Counter[str] = Counter()
    for path in dict.fromkeys(paths):
        if path.startswith("/") or path[1:3] == ":/":
            folder = posixpath.dirname(path)
            while folder.count("/") >= 3:
                folders[folder] += 1
                folder = posixpath.dirname(folder)
    enough = (folder for folder, count in folders.items() if count >= 3)
    return max(enough, key=lambda folder: (folders[folder] * len(folder), folder), default="")


def _relative_path(path: str, base: str) -> str:
    return path.removeprefix(base + "/") if base else path


def _commands(facts: Sequence[Fact], labels: SummaryLabels, recency: _Recency) -> list[SummaryLine]:
    """Return each command once, with the number of runs and the last result."""
    runs: dict[str, list[Fact]] = {}
    for fact in facts:
        runs.setdefault(core_command(fact.text), []).append(fact)
    lines: list[SummaryLine] = []
    for command, same in sorted(runs.items(), key=lambda item: item[1][-1].index):
        last = same[-1]
        ending = {True: labels.ok, False: labels.failed, None: labels.unknown}[last.ok]
        times = labels.times.format(n=len(same)) if len(same) > 1 else ""
        looking = command.lower().startswith(_READ_ONLY)
        result = f": {clip_at_word(last.detail, 140)}" if last.detail and not (looking and last.ok) else ""
        rank = recency(last.index) + (0 if looking else USER) + (1 if last.ok is False or is_check(command) else 0)
        line = _bullet(f"`{clip_at_word(command, 150)}` → {times}{ending}{result}", same, rank)
        lines.append(replace(line, done=last.ok is True and not looking))
    return lines


def _errors(facts: Sequence[Fact], base: str, labels: SummaryLabels, recency: _Recency) -> list[SummaryLine]:
    """Return the errors by text and state; open ones rank highest. Resolved errors of tools other than the shell are
    omitted."""
    by_text: dict[tuple[str, str], list[Fact]] = {}
    for fact in facts:
        if not (fact.state == "resolved" and "`" not in fact.detail):
            by_text.setdefault((fact.text, fact.state), []).append(fact)
    lines: list[SummaryLine] = []
    for (text, state), same in sorted(by_text.items(), key=lambda item: item[1][-1].index):
        origin, fix = (
            (selected.replace(base + "/", "") if base else selected) for selected in (same[-1].detail, same[-1].by)
        )
        ending = {"resolved": f" → {labels.fixed}: {fix}", "open": f" → {labels.unfixed}"}.get(state, "")
        rank = {"resolved": 0.0, "open": USER}.get(state, USER / 2)
        lines.append(_bullet(f"{text} ({origin}){ending}", same, rank + recency(same[-1].index)))
    return lines


def _references(
    identifiers: Sequence[Fact], urls: Sequence[Fact], numbers: Sequence[Fact], recency: _Recency
) -> list[SummaryLine]:
    """Return identifiers in one line per kind (ticket, hash), then URLs, then numbers with their context."""
    kinds: dict[str, list[Fact]] = {}
    for fact in identifiers:
        kinds.setdefault(fact.detail.split(" ")[0], []).append(fact)
    lines: list[SummaryLine] = []
    for kind in ("ticket", "hash", "uuid", "variable", "function", "name"):
        used = sorted(kinds.get(kind, ()), key=lambda fact: -int(fact.detail.rsplit("×", 1)[1]))[:12]
        if used:
            names = ", ".join(f"`{fact.text}`" for fact in used)
            lines.append(_bullet(f"{kind}: {names}", used, USER))
    addresses = (one.first for one in distinct_facts(urls))
    lines.extend(_bullet(clip_at_word(fact.text, 200), [fact], USER / 2 + recency(fact.index)) for fact in addresses)
    newest = {fact.text: fact for fact in numbers}.values()
    numbers_by_context = {
        fact.detail: fact for fact in newest if fact.text[0] not in "01" or len(fact.text.split()[0]) > 1
    }.values()
    lines.extend(_bullet(_quotation(fact.detail, 160), [fact], recency(fact.index)) for fact in numbers_by_context)
    return lines


def _stack(paths: Sequence[Fact], commands: Sequence[Fact], labels: SummaryLabels) -> list[SummaryLine]:
    """Return file types and programs, the only facts about a stack that need no understanding."""
    touched = {fact.text: fact for fact in paths if fact.detail != "mentioned"}
    types = Counter(ext for path in touched if (ext := posixpath.splitext(path)[1]))
    programs: dict[str, list[Fact]] = {}
    for fact in commands:
        program = core_command(fact.text).split(" ", 1)[0]
        if program.isascii() and program.replace("-", "").replace("_", "").isalnum():
            programs.setdefault(program, []).append(fact)
    lines: list[SummaryLine] = []
    if types:
        items = ", ".join(f"{ext} ×{n}" for ext, n in types.most_common(8))
        lines.append(_bullet(labels.languages.format(items=items), list(touched.values())[:8], USER))
    common = sorted(programs.items(), key=lambda item: -len(item[1]))[:10]
    if common:
        items = ", ".join(f"{program} ×{len(runs)}" for program, runs in common)
        lines.append(_bullet(labels.programs.format(items=items), [runs[0] for _, runs in common], USER))
    return lines


def _last_words(messages: Sequence[Message], labels: SummaryLabels) -> list[SummaryLine]:
    selected = _answer(messages, 0, len(messages))
    if selected is None:
        return []
    return [
        SummaryLine(
            "- " + labels.last_words.format(text=clip_at_word(prose(selected.text) or selected.text, 700)),
            (selected.id,),
            USER,
        )
    ]


def _open_work(
    messages: Sequence[Message],
    requests: Sequence[Fact],
    tasks: Sequence[Task],
    labels: SummaryLabels,
    recency: _Recency,
) -> list[SummaryLine]:
    lines: list[SummaryLine] = []
    done = sum(task.status == "completed" for task in tasks)
    left = [task for task in tasks if task.status in ("pending", "in_progress")]
    if tasks:
        newest = max(task.index for task in tasks)
        text = labels.tasks_done.format(done=done, all=done + len(left))
        lines.append(SummaryLine(f"- {text}", (messages[newest].id,), USER + 3))
    lines.extend(_task(messages, task, labels, recency) for task in left)
    if requests and not requests[-1].ok:
        text = labels.last_request.format(text=_quotation(requests[-1].text, 500))
        lines.append(_bullet(text, requests[-1:], 2 * USER))
    return lines
