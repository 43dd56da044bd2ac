"""Reports on the run history: the facts of a run, the differences between two, and the cost of several."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import fsum
from pathlib import PurePath
from typing import Any, Literal

from workbench.base.figures import grouped
from workbench.base.printable import printable
from workbench.base.stamps import shown
from workbench.base.text import clip
from workbench.compaction.outcome import verdict
from workbench.summarizers.run_history import RunRow
from workbench.summarizers.run_records import CallRecord, RunRecord
from workbench.summarizers.server_endpoints import ServerSummary
from workbench.tokens.cost import money, usage_words


def run_facts(run: RunRecord) -> list[tuple[str, str]]:
    """Return the main facts of a run as (name, words)."""
    usage = run.usage
    failed = [check for check in run.checks if not check.passed]
    return [
        ("run", run.id),
        ("began", f"{shown(run.began)}, {run.seconds:.1f} s"),
        ("ended", f"{run.end}; {verdict(run.status, run.reason)}" if run.status else run.end),
        ("session", f"{run.file} ({run.session[:12]})" if run.session else run.file),
        ("strategy", run.strategy + (f", preset {run.preset}" if run.preset else "")),
        ("policy", ", ".join(f"{name}={short_value(value)}" for name, value in run.policy.items())),
        ("summarizer", run.summarizer),
        ("tokens", f"{grouped(run.before)} → {grouped(run.after)}" if run.after else f"{grouped(run.before)} before"),
        ("billed", f"{usage_words(usage)}, {money(run.dollars)}"),
        ("checks", "\n".join([f"{len(run.checks) - len(failed)} passed", *(f"{c.name}: {c.detail}" for c in failed)])),
    ]


def call_facts(call: CallRecord) -> list[tuple[str, str]]:
    """Return the facts of one call of a run as (name, words)."""
    failure = f"{call.failure}: {call.detail}" if call.failure else ""
    answer = call.answer
    block = answer.block_note if isinstance(answer, ServerSummary) else ""
    return [("failed", failure), ("model", call.model), ("block", block), ("notes", "\n".join(call.notes))]


def differing_fields(a: RunRecord, b: RunRecord) -> list[tuple[str, Any, Any]]:
    """Return the fields in which two runs differ, policy fields by their own names, as (name, old, new). Requests
    compare by their keys."""
    return [(name, old, new) for name, old, new in _fields(a, b) if old != new]


def _fields(a: RunRecord, b: RunRecord) -> Iterator[tuple[str, Any, Any]]:
    for name in ("file", "session", "strategy", "preset", "summarizer", "end", "status", "before", "after", "dollars"):
        yield name, getattr(a, name), getattr(b, name)
    for name in dict.fromkeys((*a.policy, *b.policy)):
        yield f"policy.{name}", a.policy.get(name), b.policy.get(name)
    yield "calls", len(a.calls), len(b.calls)
    yield "input", a.usage.context, b.usage.context
    yield "output", a.usage.output, b.usage.output
    yield "requests", [call.key for call in a.calls], [call.key for call in b.calls]


def answer_diffs(a: RunRecord, b: RunRecord) -> list[list[str]]:
    """Return a unified diff of the answers for every call; [] if they are equal."""
    most = max(len(a.calls), len(b.calls))
    return [
        list(difflib.unified_diff(_lines(a, number), _lines(b, number), a.id, b.id, lineterm=""))
        for number in range(most)
    ]


def _lines(run: RunRecord, number: int) -> list[str]:
    if number >= len(run.calls):
        return []
    call = run.calls[number]
    return ([f"[{call.failure}: {call.detail}]"] if call.failure else []) + call.text.splitlines()


def short_value(value: Any) -> str:
    """Return a value on one line, clipped."""
    return clip(printable(" ".join(str(value).split())), 60)


By = Literal["day", "model", "session"]


@dataclass(frozen=True, slots=True)
class SpendingTotal:
    """Sum over runs that used a model. `dollars` covers the runs with known price, `unknown` counts the others. For a
    session, `name` is its digest and `file` its path."""

    name: str
    runs: int
    calls: int
    input: int
    output: int
    dollars: float
    unknown: int
    file: str = ""

    @property
    def title(self) -> str:
        """File name, name, or "no file"."""
        return PurePath(self.file).name or self.name or "no file"


_KEYS: dict[By, Callable[[RunRow], str]] = {
    "day": lambda entry: shown(entry.began, "%Y-%m-%d"),
    "model": lambda entry: entry.summarizer.partition(":")[0] + "/" + entry.model,
    "session": lambda entry: entry.session or entry.file,
}
"""Grouping keys. Days are UTC, as in the run history; a model includes its connection."""


def spending(entries: Sequence[RunRow], by: By) -> tuple[SpendingTotal, ...]:
    """Return totals: days newest first, models and sessions by cost, highest first."""
    key = _KEYS[by]
    groups: dict[str, list[RunRow]] = {}
    for entry in entries:
        if entry.model:
            groups.setdefault(key(entry), []).append(entry)
    rows = [_sum(name, several, several[0].file if by == "session" else "") for name, several in groups.items()]
    if by == "day":
        return tuple(sorted(rows, key=lambda row: row.name, reverse=True))
    return tuple(sorted(rows, key=lambda row: (-row.dollars, -row.unknown, row.name)))


def total_spending(entries: Iterable[RunRow]) -> SpendingTotal:
    """Return the total of all runs."""
    return _sum("all", [entry for entry in entries if entry.model])


def _sum(name: str, entries: Sequence[RunRow], file: str = "") -> SpendingTotal:
    return SpendingTotal(
        name,
        len(entries),
        sum(entry.calls for entry in entries),
        sum(entry.input for entry in entries),
        sum(entry.output for entry in entries),
        fsum(entry.dollars for entry in entries if entry.dollars is not None),
        sum(entry.dollars is None for entry in entries),
        file,
    )
