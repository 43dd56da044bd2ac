"""Task continuity: does the result of a compaction agree with the newest request of the user on what is to be done?

    newest request     it is in the result
    open tasks         the summary names no finished task as open, and no answered request instead of the newest one
    next step          the summary says what comes next if the newest request is unanswered
    running work       background tasks and the open items of the newest task list are in the result

A false alarm costs more than a missed one: where the wording leaves a doubt, nothing is reported. Titles and marks of
summaries are known in English and Chinese; a summary in another language is judged by its requests alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum

from msgspec import Struct

from workbench.analysis.fact_check import NEARLY_ALL, FactVerdict, SearchedText, fact_query
from workbench.analysis.head_index import stems, texts_of
from workbench.analysis.named_work import (
    LEAST_WORDS,
    NEAR,
    RUNNING_WORDS,
    NamingLines,
    is_mere_agreement,
    newest_request,
    typed_request,
)
from workbench.analysis.open_work import open_work
from workbench.analysis.retention import Retention, is_unreadable, new_messages, unchanged_marks
from workbench.base.text import clip_at_word
from workbench.compaction.outcome import Outcome
from workbench.compaction.shape import Shape
from workbench.compaction.shape_calls import calls_of
from workbench.compaction.shape_facts import facts_of
from workbench.compaction.summary_template import summary_inside
from workbench.facts.calls import is_check
from workbench.facts.fact import Fact
from workbench.facts.tasks import running_tasks, tasks_of
from workbench.facts.tools import CHANGES
from workbench.session.masked import searched_message

QUOTED = 90
"""Characters of a request or task that a finding quotes."""


class ContinuityKind(Enum):
    """Break of the task's continuity; the value is its sentence."""

    REQUEST_LOST = "the user's newest request is not in the result: “{0}”"
    REQUEST_UNKNOWN = "the summary cannot be read, and nothing else has the user's newest request: “{0}”"
    FINISHED_TASK = "the summary lists a finished task as open: “{0}”"
    STALE_REQUEST = "the summary lists an answered request as open, but not the newest one: “{0}”"
    NO_NEXT_STEP = "the summary names no open task or next step, but the newest request is unanswered: “{0}”"
    BACKGROUND_LOST = "a task that runs in the background is not in the result: “{0}”"
    OPEN_ITEM_LOST = "an open item of the task list is not in the result: “{0}”"


class ContinuityFinding(Struct, frozen=True):
    """One break. `subject` is the request, task or command; `message` is the id of the message that states it."""

    kind: ContinuityKind
    subject: str
    message: str

    @property
    def name(self) -> str:
        """Kind in lower case: "request_lost"."""
        return self.kind.name.lower()

    @property
    def text(self) -> str:
        """The sentence of its kind with the beginning of its subject."""
        return self.kind.value.format(clip_at_word(" ".join(self.subject.split()), QUOTED))


def continuity(shape: Shape, outcome: Outcome, retention: Retention) -> tuple[ContinuityFinding, ...]:
    """Return the breaks of continuity in an outcome. `shape` is that of its context, `retention` its retention."""
    if outcome.status == "unchanged":
        return ()
    result = _Result(shape, outcome)
    lost = lost_request(shape, retention)
    is_doubtful = lost is not None and not is_unreadable(outcome) and result.may_name(typed_request(lost.subject))
    found = [lost] if lost is not None and not is_doubtful else []
    if result.summary:
        found += _finished_tasks(shape, result)
        found += _next_step(shape, result)
    if not is_unreadable(outcome):
        found += _running_work(shape, result)
    return tuple(found)


def lost_request(shape: Shape, retention: Retention) -> ContinuityFinding | None:
    """Return the user's newest request if the fact check finds it lost or cannot tell; else None."""
    newest = newest_request(_requests(shape))
    known = (fact for fact in (*retention.facts, *retention.tail) if fact.kind == "request")
    state = next((fact.state for fact in known if newest and fact.index == newest.index), "")
    kind = {"none": ContinuityKind.REQUEST_LOST, "unknown": ContinuityKind.REQUEST_UNKNOWN}.get(state)
    return ContinuityFinding(kind, newest.text, newest.message) if newest and kind else None


def _requests(shape: Shape) -> list[Fact]:
    return [fact for fact in facts_of(shape) if fact.kind == "request"]


class _Result:
    """Texts of an outcome. `summary` is the text of its new summaries, "" for none, `open` the work that it names as
    open. `is_kept` marks the messages of the context that stay."""

    def __init__(self, shape: Shape, outcome: Outcome) -> None:
        new = [searched_message(message) for message in new_messages(outcome)]
        self.is_kept = unchanged_marks(outcome)
        self.texts = [text for message in new for text in texts_of(message)]
        self.summary = "\n".join(summary_inside(one.text) for one in new if one.kind == "summary" and one.text.strip())
        self.open = open_work(self.summary)
        self._lines = NamingLines(self.texts)
        self._kept_messages = [shape.masked_at(at) for at, kept in enumerate(self.is_kept) if kept]

    def may_name(self, text: str) -> bool:
        """True if a line of the new texts has enough of the words of `text`, in any order."""
        return self._lines.may_name(text)

    def has_name(self, name: str) -> bool:
        """True if a new text or a kept message has a name verbatim."""
        return any(name in text for text in self.texts) or any(
            name in text for message in self._kept_messages for text in texts_of(message)
        )


# --- open tasks of the summary ----------------------------------------------------------------------------------------

_SUBJECT = re.compile(r"[:.;(—–]|\s-\s")
"""End of the words that name an item's task."""

_DONE = re.compile(
    r"[✅☑✓✔]|\[x\]|~~|\b(?:done|complete[ds]?|finished|resolved|fixed|merged|landed|closed|passe[sd]|was|were|"
    r"verif\w+|confirm\w*|check\w*|again|re-?\w*run|if)\b|已|完成",
    re.IGNORECASE,
)
"""Mark of an item that is no longer open, or that is about the finished task: to check it, to do it again."""


def _next_step(shape: Shape, result: _Result) -> Iterator[ContinuityFinding]:
    """Yield the break between an unanswered newest request and what the summary names as open. There is none if the
    newest messages stay: they show the work at hand."""
    requests = _requests(shape)
    if not requests or requests[-1].ok or result.is_kept[-1] or result.is_kept[requests[-1].index]:
        return
    newest = requests[-1]
    if result.open.is_empty:
        yield ContinuityFinding(ContinuityKind.NO_NEXT_STEP, newest.text, newest.message)
    named = (*result.open.tasks, *result.open.current)
    wanted, query = stems(typed_request(newest.text)), fact_query("request", typed_request(newest.text))
    is_named = len(wanted & stems("\n".join(named))) >= NEAR * len(wanted)
    if is_mere_agreement(newest.text) or is_named or (query and SearchedText(named).judge(query).presence != "none"):
        return
    items = SearchedText(result.open.tasks)
    for older in reversed(requests[:-1]):
        query = (
            fact_query("request", typed_request(older.text)) if older.ok and not is_mere_agreement(older.text) else None
        )
        if query and items.judge(query) == FactVerdict("full", True):
            yield ContinuityFinding(ContinuityKind.STALE_REQUEST, older.text, older.message)
            return


def _finished_tasks(shape: Shape, result: _Result) -> Iterator[ContinuityFinding]:
    """Yield the completed items of the newest task list that the summary lists as open. A list that stays shows them as
    completed; a test or build is open again once a file has changed."""
    calls, requests = calls_of(shape), _requests(shape)
    tasks = tasks_of(calls)
    changed = max((one.index for one in calls if any(act.kind in CHANGES for act in one.actions)), default=-1)
    done = [
        (task, query)
        for task in tasks
        if task.status == "completed" and not result.is_kept[task.index] and len(stems(task.text)) > LEAST_WORDS
        if not (is_check(task.text.lower()) and task.index < changed)
        if (query := fact_query("stated", task.text))
    ]
    others = [stems(task.text) for task in tasks if task.status in ("pending", "in_progress")]
    others += [stems(typed_request(fact.text)) for fact in requests[-1:]]
    for item in result.open.items:
        subject = _SUBJECT.split(item.replace("*", "").replace("`", ""))[0]
        words = stems(subject)
        if _DONE.search(item) or any(_is_near(words, other) for other in others):
            continue
        searched = SearchedText([subject])
        for task, query in done:
            is_covered = len(words & stems(task.text)) >= NEARLY_ALL * len(words)
            if is_covered and searched.judge(query) == FactVerdict("full", True):
                yield ContinuityFinding(ContinuityKind.FINISHED_TASK, task.text, shape.messages[task.index].id)
                break


def _is_near(words: frozenset[str], other: frozenset[str]) -> bool:
    """True if a text may be about another one, by their meaningful words."""
    return len(words & other) >= NEAR * min(len(words), len(other)) > 0


# --- running work -----------------------------------------------------------------------------------------------------


def _running_work(shape: Shape, result: _Result) -> Iterator[ContinuityFinding]:
    """Yield the background tasks and open items that neither a new text nor a kept message has."""
    calls = calls_of(shape)
    for running in running_tasks(shape.masked, calls):
        is_there = result.has_name(running.id) or result.may_name(running.text)
        if not is_there and not RUNNING_WORDS.search("\n".join(result.texts)):
            yield ContinuityFinding(ContinuityKind.BACKGROUND_LOST, running.text, shape.messages[running.index].id)
    tasks = tasks_of(calls)
    written = max((task.index for task in tasks), default=-1)
    newest = max((fact.index for fact in _requests(shape)), default=-1)
    if written > newest and not result.is_kept[written]:
        for task in tasks:
            if task.status in ("pending", "in_progress") and not result.may_name(task.text):
                yield ContinuityFinding(ContinuityKind.OPEN_ITEM_LOST, task.text, shape.messages[task.index].id)
