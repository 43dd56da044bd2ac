"""What scripts/new_format.py and scripts/new_strategy.py write conforms as it stands, and its rows have a place."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from string import Template
from typing import Any

import pytest

import workbench.formats
from tests.paths import ROOT
from workbench.conformance import formats, strategies

WORDS = {"id": "toy-tool", "module": "toy_tool", "title": "Toy tool", "name": "ToyTool"}


def filled(path: str) -> str:
    return Template((ROOT / "scripts" / "stubs" / path).read_text("utf-8")).substitute(WORDS)


def run(path: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "toy_tool"}
    exec(compile(filled(path), path, "exec", dont_inherit=True), names)
    return names


@pytest.mark.parametrize("kind", ["format", "strategy"])
def test_every_file_has_a_template_and_every_row_a_place(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    new = importlib.import_module(f"new_{kind}")
    assert set(new.FILES) == {path.name for path in (ROOT / "scripts" / "stubs" / kind).iterdir()}
    for file, anchor, _ in new.ROWS:
        lines = (ROOT / file).read_text("utf-8").splitlines()
        assert [line for line in lines if line.strip().startswith(anchor)], (file, anchor)


def test_the_format_conforms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "toy_tool").mkdir()
    for name in ("__init__", "signature", "read", "write", "rules"):
        (tmp_path / "toy_tool" / f"{name}.py").write_text(filled(f"format/{name}.py.txt"), "utf-8")
    monkeypatch.setattr(workbench.formats, "__path__", [*workbench.formats.__path__, str(tmp_path)])
    format = importlib.import_module("workbench.formats.toy_tool").FORMAT
    sample = run("format/sample.py.txt")["toy_tool_session"]().encode()
    assert formats.faults(format, sample) == []
    for check in formats.CHECKS:
        check(format, [sample])


@pytest.mark.parametrize("check", strategies.CHECKS)
def test_the_strategy_conforms(check: Callable[[Any, Any], None]) -> None:
    made = run("strategy/strategy.py.txt")
    check(made["STRATEGY"], made["ToyToolPolicy"](newest_messages=6))
