"""The ledger on sessions that once lost their tail, or nearly all of a budget: what is there, and how full it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.products import mostly_full
from workbench.compaction.checks import check
from workbench.compaction.opening import context_at
from workbench.compaction.preset import default_preset
from workbench.compaction.strategies import strategy
from workbench.conformance.building import context_of, user
from workbench.formats.files import load
from workbench.summarizers.driver import drive
from workbench.summarizers.extractive import extractive
from workbench.tokens import Counter

PLACES = [
    ("sessions/mini-swe-agent/psf__requests-1142.traj.json", 1, 20),
    ("sessions/pi/pimono-before-compaction.jsonl", 3, None),
    ("sessions-more/opencode/sbridge-0ab22aa.json", 1, 20),
    ("sessions-more/opencode/sbridge-0ab22aa.json", 1, 10),
    ("sessions-more/claude-code/packmind-ee7e610-image-compact.jsonl", 1, None),
    ("sessions-more/claude-code/packmind-ee7e610-image-compact.jsonl", 1, 10),
]


@pytest.mark.parametrize(("name", "epoch", "percent"), PLACES)
def test_the_budget_is_used_and_the_newest_is_there(name: str, epoch: int, percent: int | None, shared: Path) -> None:
    session, counter = load(shared / name), Counter()
    context = context_at(session, epoch, counter)
    counter.count_all(context.messages, lambda done, total: None, lambda: False)
    context = context_at(session, epoch, counter)
    ledger, whole = strategy("ledger"), context.upto(len(context)).tokens
    fields = {} if percent is None else {"budget_tokens": whole * percent // 100}
    policy = default_preset("ledger").policy.with_(**ledger.offline_settings, **fields)
    assert ledger.budget is not None
    budget = ledger.budget(context, policy).most
    outcome = drive(ledger.run(context, policy), extractive).outcome
    assert [one.name for one in check(context, outcome, ledger, policy) if not one.passed and one.hard] == []
    taken = context.outcome_size(outcome).tokens - context.layout.sizes.overhead
    assert 0.9 * budget <= taken <= budget
    there = {message.id for message in outcome.messages}
    newest = next(one for one in reversed(context.messages) if one.role == "assistant" and one.kind == "normal")
    assert newest.id in there
    asked = next((one for one in reversed(context.messages) if one.starts_round), None)
    assert asked is None or asked.id in there


RULES = [f"Never touch the {a}{b} folder." for a in ("keel", "mast", "quay", "tide", "wharf") for b in "bdfghk"]


@pytest.mark.parametrize("percent", mostly_full([2, 5, 10], in_short=[2]))
def test_a1_rules_of_mid_session_outlive_a_huge_newest_request(percent: int, shared: Path) -> None:
    """The last message of the session has 51 332 characters. Taken as typed it left none of thirty rules."""
    shape = context_at(load(shared / "sessions/pi/pimono-before-compaction.jsonl"), 3, Counter()).shape
    *earlier, newest = shape.messages
    between = [cut for cut in range(1, len(earlier)) if not shape.open_across[cut]]
    said = {between[len(between) * n // len(RULES)]: user(f"rule{n}", rule) for n, rule in enumerate(RULES)}
    messages = [one for n, message in enumerate(earlier) for one in ([said[n], message] if n in said else [message])]
    context, ledger = context_of([*messages, replace(newest, kind="normal")]), strategy("ledger")
    budget = context.total.tokens * percent // 100
    policy = default_preset("ledger").policy.with_(**ledger.offline_settings, budget_tokens=budget)
    outcome = drive(ledger.run(context, policy), extractive).outcome
    told = outcome.messages[0].text
    assert len(said) == 30
    assert [rule for rule in RULES if f" {rule}\n" not in told] == []
    assert context.outcome_size(outcome).tokens <= budget
    assert outcome.messages[-1].id == newest.id
    assert [one.name for one in check(context, outcome, ledger, policy) if not one.passed and one.hard] == []
