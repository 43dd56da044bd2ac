"""Invariants of every ledger, checked on the project's samples and on real sessions if present."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import pytest

from tests.paths import SAMPLES
from tests.products import mostly_full
from workbench.base.errors import BadInput
from workbench.base.values import strings_in
from workbench.compaction.checks import check
from workbench.compaction.context import Context
from workbench.compaction.ledger.entries import LedgerEntry
from workbench.compaction.ledger.gather import numbering
from workbench.compaction.ledger.queue import LEVELS, WHOLE
from workbench.compaction.ledger.task import LedgerTask, in_tokens
from workbench.compaction.ledger.text import read_ledger
from workbench.compaction.opening import context_at
from workbench.compaction.outcome import Outcome
from workbench.compaction.preset import default_preset
from workbench.compaction.strategies import strategy
from workbench.compaction.summary_extras import original_of
from workbench.formats.files import load, parts_of
from workbench.session import Message, Text
from workbench.summarizers.driver import drive
from workbench.summarizers.extractive import extractive
from workbench.tokens import Counter
from workbench.tokens.sizes import visible_chars

LEDGER = strategy("ledger")
SHARES = (5, 10, 20, 40, 70)
"""Budgets, in per cent of the context."""
SMALLEST = 1_000
"""Tokens of a context below which nothing of this is asked: a ledger's frame alone takes a tenth of it."""
LEAST = 600
"""Tokens in which a ledger's frame and what is always there have room, unless the user wants much."""
REAL = (
    "sessions/codex/agentv-a60726a-2compacted.jsonl",
    "sessions/pi/authgo-7407a21.jsonl",
    "sessions-more/claude-code/entire-dc55b3a-micro-and-full.jsonl",
    "sessions-more/opencode/sbridge-0ab22aa.json",
    "sessions/cline-sdk/session.messages.json",
)
_CUT = re.compile(r"\n?\[… [^\[\]\n]* …\]\n?| \[… [^\[\]\n]* (?:more|of \w+)\]|(?:^|(?<=\n))…\n|…\Z")
"""Marks that say that text is omitted."""


def ledgers(path: Path, epochs: slice = slice(None)) -> Iterator[tuple[Context, dict[int, Outcome]]]:
    """The contexts of a file that are large enough, each with what a ledger of each size makes of it."""
    parts = [part.id for part in parts_of(path)]
    for part in parts if len(parts) > 1 else [""]:
        session, counter = load(path, part=part), Counter()
        for epoch in range(1, len(session.epochs) + 1)[epochs]:
            counter.count_all(session.context(epoch), lambda done, total: None, lambda: False)
            context = context_at(session, epoch, counter)
            whole = context.upto(len(context)).tokens
            if whole >= SMALLEST:
                made = {whole * share // 100: compacted(context, whole * share // 100) for share in SHARES}
                yield context, {budget: one for budget, one in made.items() if one.status == "compacted"}


def compacted(context: Context, budget: int) -> Outcome:
    policy = default_preset("ledger").policy.with_(**LEDGER.offline_settings, budget_tokens=budget)
    outcome = drive(LEDGER.run(context, policy), extractive).outcome
    failed = [one for one in check(context, outcome, LEDGER, policy) if one.hard and not one.passed]
    assert [one for one in failed if not one.name.startswith("within")] == []
    return outcome


def entries_of(outcome: Outcome) -> tuple[LedgerEntry, ...]:
    return next((ledger.entries for one in outcome.messages if (ledger := read_ledger(one.text))), ())


def said(message: Message) -> Iterator[str]:
    """Every text of a message; a command that is given in words, as one line, too."""
    for block in message.blocks:
        if isinstance(block, Text):
            yield block.text
    for call in message.calls:
        yield from strings_in(call.input)
        for given in call.input.values() if isinstance(call.input, Mapping) else ():
            if isinstance(given, list) and all(isinstance(word, str) for word in given):
                yield " ".join(given)
    for result in message.results:
        yield result.text


def quoted(entry: LedgerEntry) -> list[str]:
    """An entry's text without what says that something is not told."""
    return [part for part in _CUT.split(entry.text) if part.strip()]


def unquoted(context: Context, outcome: Outcome) -> list[LedgerEntry]:
    """Entries that are no exact part of the message they name. A file is told by its path, however a call writes it."""
    number = numbering(context.shape)
    by_number = {number(index): message for index, message in enumerate(context.messages)}
    earlier = {(one.kind, one.source) for one in number.before.entries}
    wrong = []
    for entry in entries_of(outcome):
        if entry.kind == "file" or (entry.kind, entry.source) in earlier:
            continue
        texts = [*said(by_number[entry.source])]
        if entry.is_sentence:
            texts = [" ".join(text.split()) for text in texts]
        if entry.state == "first" and (original := original_of(context)):
            texts.append(original.text)
        if not all(any(part in text for text in texts) for part in quoted(entry)):
            wrong.append(entry)
    return wrong


def less(smaller: Outcome, larger: Outcome) -> list[str]:
    """Texts in the smaller of two results that the larger lacks."""
    texts = [text for message in larger.messages for text in said(message)]
    texts += [text.replace("\n    ", "\n") for text in texts if text.startswith("<ledger ")]
    texts += [entry.text for entry in entries_of(larger)]
    texts += [" ".join(text.split()) for text in texts]
    lost = [
        f"{entry.kind} {part}"
        for entry in entries_of(smaller)
        for part in (quoted(entry) if entry.kind != "file" else ["/".join(entry.text.rsplit("/", 2)[-2:])])
        if not any(part in text for text in texts)
    ]
    sizes = {one.id: visible_chars(one) for one in larger.messages}
    kept = [one for one in smaller.messages if one.kind != "summary"]
    return lost + [one.id for one in kept if sizes.get(one.id, -1) < visible_chars(one)]


def assert_all_hold(context: Context, made: Mapping[int, Outcome]) -> None:
    """Nothing is quoted wrongly, the open request and what is not read are there, a budget is used but for less than
    one step, never exceeded but by what stays whatever it is, and a larger one holds what a smaller one does."""
    ground = LedgerTask(context, in_tokens(context), frozenset(), "en")
    queue = ground.queue
    least = {unit: WHOLE if queue.is_environment(unit) else LEVELS[0] for unit in range(len(queue.units))}
    step = 50 + max(ground.unit_cost(unit, chars) for unit, chars in least.items())
    sealed = any(one.kind == "summary" and not one.text for one in context.messages)
    newest = next((one for one in reversed(context.messages) if one.starts_round), None)
    unread = {context.messages[index].id for index in context.shape.unread}
    for budget, outcome in made.items():
        assert unquoted(context, outcome) == []
        there = {one.id for one in outcome.messages}
        assert unread <= there, budget
        asked = [one.text for one in entries_of(outcome) if (one.kind, one.state) == ("user", "open")]
        assert newest is None or newest.id in there or asked, budget
        takes = context.outcome_size(outcome).tokens - context.layout.sizes.overhead
        over = any("over the budget:" in line for line in outcome.trace)
        assert sealed or takes >= min(0.9 * budget, budget - step), (budget, takes)
        assert takes <= budget or (over and budget < 8 * LEAST), (budget, takes)
    for smaller, larger in pairwise(sorted(made)):
        assert less(made[smaller], made[larger]) == [], (smaller, larger)


def test_of_every_sample() -> None:
    seen = 0
    for path in sorted(SAMPLES.iterdir()):
        try:
            for context, made in ledgers(path):
                assert_all_hold(context, made)
                seen += len(made)
        except BadInput:
            continue
    assert seen >= 40


@pytest.mark.parametrize("name", mostly_full(REAL, in_short=REAL[2:]))
def test_of_real_sessions(name: str, shared: Path) -> None:
    for context, made in ledgers(shared / name, slice(-1, None)):
        assert_all_hold(context, made)
