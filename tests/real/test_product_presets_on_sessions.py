"""Every product's preset on real sessions, one of each agent or all that load: what always holds, holds there too."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.compaction.test_product_presets import PRODUCTS
from tests.paths import SHARED
from tests.products import mostly_full, one_for_each_folder
from workbench.base.errors import BadInput
from workbench.compaction.context import Context
from workbench.compaction.opening import api_of
from workbench.compaction.preset import load_preset
from workbench.compaction.strategies import strategy
from workbench.conformance.building import context_of
from workbench.conformance.strategies import assert_holds
from workbench.formats.files import load
from workbench.tokens.window import Window

FILES = {str(path): path for path in sorted((SHARED / "sessions").rglob("*")) if path.is_file()} if SHARED else {}
LARGEST = 6_000_000
"""Bytes: three larger files add time and nothing new."""
FEW = one_for_each_folder(FILES)


@cache
def contexts(path: Path) -> tuple[Context, ...]:
    """The contexts of all epochs, in a window that each fills all but 5 %: products compact then. None are in a file
    that is too large or no session."""
    if path.stat().st_size > LARGEST:
        return ()
    try:
        session = load(path)
    except BadInput:
        return ()
    found = [messages for epoch in session.epochs if (messages := session.context(epoch.number))]
    made = [context_of(messages, api=api_of(session)) for messages in found]
    return tuple(one.with_(limit=Window(one.total.tokens * 20 // 19, "given")) for one in made)


@pytest.mark.parametrize("every", mostly_full([False, True], in_short=[False]), ids=["one of each agent", "all"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_what_always_holds_on_real_sessions(shared: Path, name: str, every: bool) -> None:
    preset = load_preset(name)
    found = [context for file, path in FILES.items() if every or file in FEW for context in contexts(path)]
    assert len(found) >= 10
    said = "They worked on it, and it is not done yet."
    outcomes = [assert_holds(strategy(preset.strategy), context, preset.policy, said) for context in found]
    assert [one.status for one in outcomes].count("compacted") >= 3
