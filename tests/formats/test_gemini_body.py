"""Bodies of requests to Gemini, which Gemini CLI sends through Code Assist."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.paths import SAMPLES
from workbench.base.errors import BadInput
from workbench.conformance.formats import read
from workbench.formats.format import no_progress
from workbench.formats.gemini_body import FORMAT
from workbench.formats.look import Look
from workbench.session import pairs_of


def test_a_body_becomes_a_session() -> None:
    data = (SAMPLES / "gemini-body-tide.json").read_bytes()
    for body in (data, json.dumps({"model": "gemini-x", "request": json.loads(data)}).encode()):
        assert FORMAT.recognise(Look.of(body))
        session = read(FORMAT, body)
        assert [message.role for message in session.messages] == [
            *("system", "user", "assistant", "tool", "assistant", "user")
        ]
        assert [(pair.call, pair.result) for pair in pairs_of(session.messages)] == [(2, 3)]
        assert [tool.name for tool in session.tools] == ["tide_table"]
        assert session.model == (None if body is data else "gemini-x")
    assert session.title == "When is high water at Leith today, in week 10?"


@pytest.mark.parametrize(
    "document", [{"contents": []}, {"contents": [{"parts": "x"}]}, {"contents": [{"role": "x", "parts": []}]}, [], {}]
)
def test_other_files_are_not_recognised(document: Any) -> None:
    data = json.dumps(document).encode()
    assert not FORMAT.recognise(Look.of(data))
    if document in ([], {}, {"contents": []}):
        with pytest.raises(BadInput, match="has no contents"):
            FORMAT.codec.read(Path("x"), data, no_progress)
