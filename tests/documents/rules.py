"""The rules of `docs/documents.md`, and the mark of a test that holds one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import ModuleType
from typing import NamedTuple

import pytest

from tests.paths import ROOT

RULE = re.compile(r"\b00[0-4]-\d{3}\b")


class Row(NamedTuple):
    id: str
    text: str
    verdict: str


_ROW = re.compile(r"- (00\d-\d{3}) (.+?)(?: – \*(differs|does not apply)\*: (.+))?")


def rows() -> list[Row]:
    """The list items that begin with a rule's id, in order."""
    lines = (ROOT / "docs/documents.md").read_text("utf-8").splitlines()
    found = [match.groups() for match in map(_ROW.fullmatch, lines) if match]
    return [Row(id, text, f"{mark}: {reason}" if mark else "yes") for id, text, mark, reason in found]


def rule(*ids: str) -> pytest.MarkDecorator:
    """The test holds these rules: their ids are part of its own, so that `pytest -k 000-003` finds it.

    A case of a parametrized test bears its rule's id itself: `pytest.param(…, id="000-009")`.
    """
    return pytest.mark.parametrize((), [pytest.param(id=" ".join(ids))])


def held(module: ModuleType) -> Iterator[str]:
    """The ids that the tests of a module bear, by `rule` or by a case's own id."""
    for name, test in vars(module).items():
        if name.startswith("test_"):
            for mark in getattr(test, "pytestmark", ()):
                if mark.name == "parametrize":
                    cases = [case.id or "" for case in mark.args[1] if hasattr(case, "id")]
                    yield from RULE.findall(" ".join([*cases, *map(str, mark.kwargs.get("ids") or ())]))
