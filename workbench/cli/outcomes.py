"""What commands tell of an outcome: under which policy, how it ended, what its summary says without ground and lost."""

from __future__ import annotations

from collections import Counter
from typing import Any

from workbench.analysis.grounding import Grounding
from workbench.analysis.losses import Loss
from workbench.analysis.transcript import one_line
from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.bench import Bench
from workbench.cli.output import only, plain
from workbench.compaction.outcome import Outcome
from workbench.facts import FactKind

NAMED = 3
"""So many examples stand in a line; --json lists all."""

WORDS = 40
"""Characters of each example."""

_NOUNS: dict[FactKind, str] = {
    "instruction": "standing instruction",
    "error": "error message",
    "path": "path",
    "command": "command",
    "identifier": "identifier",
    "number": "number",
}


def policy_words(bench: Bench) -> str:
    return bench.strategy.id + (f", preset {bench.preset}" if bench.preset else "")


def status_words(outcome: Outcome) -> str:
    return f"{outcome.status.replace('_', ' ')}: {outcome.reason}"


@plain.register
def _(loss: Loss) -> dict[str, Any]:
    return {**only(loss, "kind", "text", "message"), "number": loss.index + 1, "why": loss.why}


def grounding_rows(found: Grounding) -> list[tuple[str, str]]:
    """`not in the head: 2 of 31 claims (…)` and `lost: 3 standing instructions, …`, one line each."""
    missing = f"{grouped(len(found.unfounded))} of {counted(found.claims, 'claim')}"
    examples = _examples([one.text for one in found.unfounded])
    kinds = Counter(loss.kind for loss in found.losses)
    lost = ", ".join(counted(kinds[kind], word) for kind, word in _NOUNS.items() if kinds[kind])
    gravest = _examples([loss.text for loss in found.losses])
    return [
        ("not in the head", missing + (f": {examples}" if examples else "")),
        ("lost", f"{lost}; first: {gravest}" if lost else "nothing that was looked for"),
    ]


def _examples(texts: list[str]) -> str:
    return ", ".join(f"“{one_line(text, WORDS)}”" for text in texts[:NAMED]) + (" …" if len(texts) > NAMED else "")
