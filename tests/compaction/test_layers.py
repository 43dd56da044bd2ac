"""Layers of the budget bar add up, whatever the strategy calls them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui.app import session_of, story
from workbench.base import paths
from workbench.bench import Bench, choose_preset, open_bench, toggle_pin
from workbench.compaction.context import Layout
from workbench.compaction.layers import Layer, by_fate, layers, layers_after
from workbench.compaction.outcome import Fate, FateSpan, KeptSpan, Outcome
from workbench.compaction.preset import load_preset, preset_names
from workbench.conformance import building
from workbench.session import Message, Text, Tool
from workbench.tokens import CountCache, Counter
from workbench.tokens.sizes import Basis


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


def test_every_layer_has_its_own_tokens() -> None:
    """A quarter of the characters, and one for each message. 20 tokens were billed before the messages."""
    said = [Message("s", "system", (Text("x" * 4),)), building.summary("old", "x" * 8)]
    said += [building.user(f"u{n}", "x" * 4 * 2**n) for n in range(1, 7)]
    plain = building.context_of(said, system="x" * 40, tools=(Tool("Bash", "x" * 20),), pins=frozenset({"u3"}))
    sizes = plain.layout.sizes
    context = plain.with_(layout=Layout(plain.shape, replace(sizes, overhead=20, overhead_basis=Basis.EXACT)))
    fates = (Fate.KEPT, Fate.SUMMARIZED, Fate.SUMMARIZED, Fate.ABRIDGED, Fate.PINNED, Fate.DROPPED, Fate.COMPRESSED)
    spans = [FateSpan(at, at + 1, fate) for at, fate in enumerate((*fates, Fate.KEPT))]
    outcome = Outcome("compacted", "", tuple(said), (KeptSpan(0, 8),), tuple(spans))

    def told(*found: Layer) -> list[str]:
        return [f"{layer.glyph} {layer.name} {layer.basis.value}{layer.tokens}" for layer in found]

    before = ["▒ system 10", "▒ tools 5", "▒ system + tools (not recorded) 5", "◆ summaries ≈3"]
    # Messages of 2, 3, 3, 5, 9, 17, 33 and 65 tokens.
    assert told(*layers(context)) == [*before, "█ history ≈134"]
    assert told(*layers(context, outcome)) == [*before, "█ head ≈25", "● pins ≈9", "▓ tail ≈100"]
    for start, stop, head, pins, tail in ((0, 1, 0, 0, 2), (1, 2, 0, 0, 0), (2, 4, 8, 0, 0), (4, 8, 17, 9, 98)):
        assert [layer.tokens for layer in by_fate(context, outcome, start, stop)] == [head, pins, tail]
    more = context.with_(system="x" * 72)
    assert told(*layers(more))[:3] == ["▒ system 18", "▒ tools 2", "◆ summaries ≈3"]


def test_a_strategy_that_builds_the_prompt_tells_its_own_layers() -> None:
    shown = toggle_pin(bench(), "m4")
    shown = replace(shown, original=shown.original.with_(rules="Never log a token. " * 30))
    found = {layer.name: layer for layer in shown.strategy.view.layers(shown.context, shown.outcome)}
    assert list(found) == [
        "L1 system+tools", "L2 rules", "L3 summaries", "L3 head", "L3 pins", "L3 tail", "current input",
    ]  # fmt: skip
    session = sum(layer.tokens for name, layer in found.items() if name not in ("L2 rules", "recap"))
    assert session == shown.context.total.tokens
    assert found["L2 rules"].tokens == shown.layout.sizes.meter.text_tokens(shown.context.rules)


def test_a_session_without_rules_has_no_such_layer() -> None:
    opened = bench()
    assert not {"L2 rules", "recap"} & {
        layer.name for layer in opened.strategy.view.layers(opened.context, opened.outcome)
    }


@pytest.mark.parametrize("preset", preset_names())
def test_what_a_compaction_leaves_adds_up(preset: str) -> None:
    bench = toggle_pin(choose_preset(open_bench(story(8), Counter()), load_preset(preset)), "m3")
    context, outcome = bench.context, bench.offline.outcome
    after = layers_after(context, outcome)
    assert sum(layer.tokens for layer in after) == context.outcome_size(outcome).tokens
    made = [message for message in outcome.messages if message.kind == "summary"]
    if outcome.status == "compacted" and made:
        told = {layer.name: layer.tokens for layer in after}
        assert told["summaries"] >= context.measure(made).tokens
        assert all(tokens > 0 for tokens in told.values())


def test_a_context_without_a_message_has_an_empty_history() -> None:
    assert [(layer.name, layer.tokens) for layer in layers(building.context_of([]))] == [("history", 0)]
