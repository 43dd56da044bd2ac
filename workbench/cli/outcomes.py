"""Texts about an outcome, shared by commands: policy, unsupported claims, lost facts, states of watched sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from workbench.analysis.grounding import Grounding
from workbench.analysis.retention import TrackedFact
from workbench.analysis.watched_rules import RuleTrail, StateChange
from workbench.base.figures import grouped
from workbench.base.printable import one_line, printable
from workbench.base.tables import Column, Row, Table, columns
from workbench.base.text import counted
from workbench.bench import Bench, RuleState
from workbench.cli.output import only, plain, write_tables
from workbench.facts.fact import FactKind

NAMED = 3
"""Examples per line; --json lists all."""

EXAMPLE_CHARS = 40
"""Characters of each example."""

_NOUNS: dict[FactKind, str] = {
    "instruction": "standing instruction", "stated": "statement", "error": "error message", "url": "link",
}  # fmt: skip
"""Nouns for kinds of facts whose name is no noun."""


def policy_words(bench: Bench) -> str:
    return bench.strategy.id + (f", preset {bench.as_preset.name}" if bench.preset else "")


@plain.register
def _(fact: TrackedFact) -> dict[str, Any]:
    about = only(fact, "kind", "text", "message", "kept=presence", "used", "correct=right", "stale", "reason=why")
    return {"number": fact.index + 1, **about, **only(fact, "severity=rank", "pin_tokens")}


def found_rows(found: Grounding | None, lost: Sequence[TrackedFact] | None) -> list[tuple[str, str]]:
    """Return the rows `not in the head: 2 of 31 claims: …` and `lost: 3 standing instructions, …`; no row for an
    unknown value."""
    rows = []
    if found is not None:
        missing = f"{grouped(len(found.unsupported))} of {counted(found.claims, 'claim')}"
        examples = _examples([one.text for one in found.unsupported])
        rows.append(("not in the head", missing + (f": {examples}" if examples else "")))
    if lost is not None:
        kinds = Counter(fact.kind for fact in lost)  # ordered by the gravest fact of each kind
        counts = ", ".join(counted(number, _NOUNS.get(kind, kind)) for kind, number in kinds.items())
        gravest = _examples([fact.text for fact in lost])
        rows.append(("lost", f"{counts}; first: {gravest}" if lost else "no facts"))
    return rows


def _examples(texts: list[str]) -> str:
    return ", ".join(f"“{one_line(text, EXAMPLE_CHARS)}”" for text in texts[:NAMED]) + (
        " …" if len(texts) > NAMED else ""
    )


SENTENCE_CHARS = 100
"""Characters shown of a watched sentence."""


def state_words(state: RuleState) -> str:
    """Format the state of a sentence: `verbatim → gone: Never log the refresh token.`"""
    after = f" → {state.after}" if state.after else ""
    return f"{state.now}{after}: {_shown(state.sentence, SENTENCE_CHARS)}"


def print_trails(trails: Sequence[RuleTrail]) -> None:
    """Print the states of each sentence around every recorded compaction, and its state at the end."""
    if not trails:
        return
    passed = trails[0].passed
    each = "before and after each compaction that the file records" if passed else "which records no compaction"
    spec = [Column(f"epoch_{one.at}", f"epoch {one.at}") for one in passed]
    rows = (
        Row((*map(change_words, trail.passed), trail.last, _shown(trail.sentence, SENTENCE_CHARS))) for trail in trails
    )
    title = f"Watched in the session, {each}"
    write_tables([Table("watched", title, (*spec, *columns("now sentence")), tuple(rows))])


def change_words(one: StateChange) -> str:
    """Format a change of state: `verbatim → gone`."""
    return f"{one.before} → {one.after}"


def _shown(sentence: str, most: int) -> str:
    return printable(one_line(sentence, most))
