"""`--fail-on`: a compaction that loses a rule fails the command, for CI."""

from __future__ import annotations

from collections.abc import Sequence

import click

from workbench.analysis.retention import Retention
from workbench.base.printable import one_line, printable
from workbench.bench import RuleState
from workbench.runs.requirements import FAILS_ON, rule_failures
from workbench.summarizers.by_name import SummarizerName

fail_on = click.option(
    "--fail-on",
    "fails_on",
    type=click.Choice(FAILS_ON),
    multiple=True,
    metavar="STATE",
    help="Exit 3 if a rule of the user's or a watched sentence is lost or wrong, or any fact stale. Repeatable.",
)


def refuse_estimate(name: SummarizerName, fails_on: Sequence[str]) -> None:
    """Raise UsageError for `--fail-on` with an estimated summary, which has no words to judge."""
    if fails_on and name.kind == "estimate":
        raise click.UsageError("--fail-on needs a summary with words; choose another --summarizer than estimate.")


def failed_rules(held: Retention, watched: Sequence[RuleState], fails_on: Sequence[str]) -> bool:
    """Print a line on stderr for each failure that `--fail-on` names; return True if there is any."""
    found = rule_failures(held, watched, fails_on) if fails_on else []
    for one in found:
        click.echo(printable(one_line(f"{one.requirement}: {one.message}")), err=True)
    return bool(found)
