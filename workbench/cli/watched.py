"""Texts about watched sentences, shared by commands."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.analysis.watched_rules import RuleTrail, StateChange
from workbench.base.printable import one_line, printable
from workbench.base.tables import Column, Row, Table, columns
from workbench.bench import RuleState
from workbench.cli.output import write_tables

WORDS = 100


def state_words(stand: RuleState) -> str:
    """Format the state of a sentence: `verbatim → gone: Never log the refresh token.`"""
    went = f" → {stand.after}" if stand.after else ""
    return f"{stand.now}{went}: {_shown(stand.sentence, WORDS)}"


def print_trails(trails: Sequence[RuleTrail]) -> None:
    """Print the states of each sentence around every recorded compaction, and its state at the end."""
    if not trails:
        return
    passed = trails[0].passed
    each = "before and after each compaction that the file records" if passed else "which records no compaction"
    spec = [Column(f"epoch_{one.at}", f"epoch {one.at}") for one in passed]
    rows = (Row((*map(change_words, trail.passed), trail.last, _shown(trail.sentence, WORDS))) for trail in trails)
    title = f"Watched in the session, {each}"
    write_tables([Table("watched", title, (*spec, *columns("now sentence")), tuple(rows))])


def change_words(one: StateChange) -> str:
    """Format a change of state: `verbatim → gone`."""
    return f"{one.before} → {one.after}"


def _shown(sentence: str, most: int) -> str:
    return printable(one_line(sentence, most))
