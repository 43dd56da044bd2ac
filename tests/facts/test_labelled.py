"""How well facts are found in messages of real sessions that were labelled by hand."""

from __future__ import annotations

import pytest

from tests.facts.labelling import Score, scores

TUNED = ("entire-cli", "pi-mono", "agentv")
"""What the rules were made with."""

HELD_OUT = ("auth-go", "todo-app", "gemini-hook")
"""Labelled when the rules were done; a few slips that they showed were mended since."""


FLOORS: dict[tuple[str, ...], dict[str, tuple[float, float]]] = {
    TUNED: {
        "request": (0.85, 1.0), "instruction": (0.75, 0.6), "decision": (0.9, 0.8), "path": (0.98, 0.98),
        "command": (1.0, 1.0), "error": (0.95, 0.95), "identifier": (0.95, 0.75), "number": (0.95, 0.9),
        "url": (1.0, 1.0),
    },
    HELD_OUT: {
        "request": (1.0, 1.0), "decision": (0.9, 0.5), "path": (1.0, 1.0),
        "command": (1.0, 1.0), "error": (0.85, 0.85), "identifier": (0.9, 0.9), "number": (1.0, 1.0),
    },
}  # fmt: skip
"""Precision and recall of every kind, just under what was measured: losing two facts of a kind breaks one."""


def above(score: Score, precision: float, recall: float) -> bool:
    return score.precision >= precision and score.recall >= recall


@pytest.mark.parametrize(("files", "floors"), FLOORS.items(), ids=["tuned", "held out"])
def test_every_kind_is_found_with_precision_and_recall(
    files: tuple[str, ...], floors: dict[str, tuple[float, float]]
) -> None:
    found = scores(files)
    labelled = {kind for kind, score in found.items() if score.labelled}
    assert labelled == floors.keys()
    assert {kind: (found[kind], *floor) for kind, floor in floors.items() if not above(found[kind], *floor)} == {}
    # Nothing is taken for a fact of a kind that no message has.
    assert not any(score.right + len(score.wrong) for kind, score in found.items() if kind not in labelled)
