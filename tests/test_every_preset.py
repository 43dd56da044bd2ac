"""What must hold for every strategy and preset, on generated sessions and on every real one that loads."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.paths import SHARED
from tests.products import mostly_full
from workbench.base.errors import BadInput
from workbench.compaction.context import Context
from workbench.compaction.opening import api_of
from workbench.compaction.preset import load_preset, preset_names
from workbench.compaction.strategies import all_strategies, strategy
from workbench.conformance.building import chat, context_of
from workbench.conformance.drawn import contexts
from workbench.conformance.strategies import assert_holds, run
from workbench.formats.files import load
from workbench.session import Message

EVERY = preset_names()
LARGEST = 1_000_000
"""Bytes: larger files add time and nothing new."""
LONG = 150
"""Messages of a context whose first generation says as much as all three of it would."""
OF_A_STRATEGY = {load_preset(name).strategy: name for name in reversed(EVERY)}.values()
"""A preset of each strategy."""
SOME = {name: slice(number % 9, None, 9) for number, name in enumerate(EVERY)}
"""Every ninth context: presets that follow each other take others."""


@cache
def real_contexts() -> tuple[Context, ...]:
    """One context for each epoch of each real session that loads, for the API that it goes to."""
    if SHARED is None:
        return ()
    found = []
    for path in sorted(p for p in (SHARED / "sessions").rglob("*") if p.is_file() and p.stat().st_size <= LARGEST):
        try:
            session = load(path)
        except BadInput:
            continue
        views = (session.context(epoch.number) for epoch in session.epochs)
        found += [context_of(messages, api=api_of(session)) for messages in views if messages]
    return tuple(found)


def test_every_strategy_has_a_preset_of_its_own() -> None:
    assert {load_preset(name).strategy for name in EVERY} == {one.id for one in all_strategies()}


@pytest.mark.parametrize("name", mostly_full(EVERY, OF_A_STRATEGY))
@given(st.data())
def test_generated_sessions(name: str, data: st.DataObject) -> None:
    preset = load_preset(name)
    context = data.draw(contexts())
    outcome = assert_holds(strategy(preset.strategy), context, preset.policy)
    smaller = context.outcome_size(outcome).tokens < context.total.tokens
    assert outcome.status != "compacted" or smaller or outcome.memories is not None


@pytest.mark.parametrize("name", EVERY)
def test_nothing_happens_where_nothing_fires(name: str) -> None:
    preset = load_preset(name)
    one = strategy(preset.strategy)
    context = context_of(chat(2), manual=False, window=1_000_000)
    assert not any(trigger.fires for trigger in one.read_triggers(context, preset.policy))
    outcome, requests = run(one, context, preset.policy)
    assert (outcome.status, requests) == ("unchanged", [])
    assert all(a is b for a, b in zip(outcome.messages, context.messages, strict=True))


@pytest.mark.parametrize("chosen", mostly_full(["some", "all"], ["some"]))
@pytest.mark.parametrize("name", mostly_full(EVERY, OF_A_STRATEGY))
def test_real_sessions_for_three_generations(name: str, chosen: str, shared: object) -> None:
    """Each outcome goes on with the session's own newest round after it, and is compacted again; a long one once."""
    preset = load_preset(name)
    one = strategy(preset.strategy)
    assert len(real_contexts()) >= 30
    for context in real_contexts()[SOME[name] if chosen == "some" else slice(None)]:
        for generation in range(3 if len(context.messages) <= LONG else 1):
            before = context.total.tokens
            outcome = assert_holds(one, context, preset.policy, f"What happened, for the {generation}. time.")
            after = context.outcome_size(outcome).tokens
            assert outcome.status != "compacted" or after < before or outcome.memories is not None
            context = context_of((*outcome.messages, *_again(context, generation)))


def _again(context: Context, generation: int) -> tuple[Message, ...]:
    """The newest round of a context once more, under new ids."""
    rounds = context.shape.rounds.rounds
    newest = context.messages[rounds[-1].start : rounds[-1].stop] if rounds else ()
    return tuple(replace(message, id=f"{message.id}+{generation}") for message in newest)
