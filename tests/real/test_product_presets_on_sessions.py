"""Every product's preset on every real session that loads: what always holds, holds there too."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.compaction.test_product_presets import PRODUCTS
from tests.paths import SHARED
from workbench.base.errors import BadInput
from workbench.compaction.context import Context
from workbench.compaction.opening import api_of
from workbench.compaction.preset import load_preset
from workbench.compaction.strategies import strategy
from workbench.conformance.building import context_of
from workbench.conformance.strategies import assert_holds
from workbench.formats.files import load
from workbench.tokens.window import Window

FILES = sorted(p for p in (SHARED / "sessions").rglob("*") if p.is_file()) if SHARED else []
LARGEST = 6_000_000
"""Bytes: three larger files add time and nothing new."""


@cache
def loaded() -> tuple[tuple[str, Context], ...]:
    found = []
    for path in FILES:
        if path.stat().st_size > LARGEST:
            continue
        try:
            session = load(path)
        except BadInput:
            continue
        for epoch in session.epochs:
            if messages := session.context(epoch.number):
                context = context_of(messages, api=api_of(session))
                # All but full, which is when products compact.
                found.append((path.name, context.with_(limit=Window(context.total.tokens * 20 // 19, "given"))))
    return tuple(found)


@pytest.mark.parametrize("name", PRODUCTS)
def test_what_always_holds_on_real_sessions(shared: Path, name: str) -> None:
    preset = load_preset(name)
    chosen = strategy(preset.strategy)
    assert len(loaded()) >= 10
    compacted = 0
    for _, context in loaded():
        outcome = assert_holds(chosen, context, preset.policy, "They worked on it, and it is not done yet.")
        compacted += outcome.status == "compacted"
    assert compacted >= 3
