"""The layers of the budget bar: they add up, whatever the strategy calls them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui.app import session_of, story
from workbench.base import paths
from workbench.bench import Bench, choose_preset, open_bench, toggle_pin
from workbench.compaction.layers import layers
from workbench.compaction.preset import load_preset, preset_names
from workbench.session import Message, Text
from workbench.tokens import CountCache, Counter


def bench(preset: str = "layered") -> Bench:
    system = Message("s", "system", (Text("You are a careful agent. " * 20),))
    summary = Message("old", "user", (Text("Earlier: the parser was mended. " * 10),), kind="summary")
    asked = Message("now", "user", (Text("And now the release notes, please."),))
    session = session_of([system, summary, *story(12).messages, asked])
    return open_bench(session, Counter(CountCache(paths.token_counts())), preset=preset)


@pytest.mark.parametrize("preset", preset_names())
def test_layers_add_up_to_the_context(preset: str) -> None:
    opened = choose_preset(bench(), load_preset(preset))
    found = layers(opened.context, opened.outcome)
    assert sum(layer.tokens for layer in found) == opened.context.total.tokens
    assert "summaries" in {layer.name for layer in found}


def test_a_strategy_that_builds_the_prompt_tells_its_own_layers() -> None:
    shown = toggle_pin(bench(), "m4")
    shown = replace(shown, opened=shown.opened.with_(rules="Never log a token. " * 30))
    found = {layer.name: layer for layer in shown.strategy.layers(shown.context, shown.outcome)}
    assert list(found) == [
        "L1 system+tools", "L2 rules", "L3 summaries", "L3 head", "L3 pins", "L3 tail", "current input",
    ]  # fmt: skip
    session = sum(layer.tokens for name, layer in found.items() if name not in ("L2 rules", "recap"))
    assert session == shown.context.total.tokens
    assert found["L2 rules"].tokens == shown.layout.sizes.meter.text_tokens(shown.context.rules)


def test_a_session_without_rules_has_no_such_layer() -> None:
    opened = bench()
    assert not {"L2 rules", "recap"} & {layer.name for layer in opened.strategy.layers(opened.context, opened.outcome)}
