"""What commands tell of policies, their triggers and what came of them: in words and as JSON."""

from __future__ import annotations

from typing import Any

from workbench.bench import Bench
from workbench.cli.output import fields_of, json_keys, plain
from workbench.compaction.checks import Check
from workbench.compaction.outcome import Outcome
from workbench.compaction.strategy import Trigger


def policy_words(bench: Bench) -> str:
    return bench.strategy.id + (f", preset {bench.preset}" if bench.preset else "")


def status_words(outcome: Outcome) -> str:
    return f"{outcome.status.replace('_', ' ')}: {outcome.reason}"


json_keys(Check, "name", "hard", "passed", "detail")


@plain.register
def trigger_document(trigger: Trigger) -> dict[str, Any]:
    return {**fields_of(trigger), "distance": trigger.distance}
