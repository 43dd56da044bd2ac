"""What came of `cwb probe`, for a reader and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from workbench.analysis.probes import FULL, Probing, Sum
from workbench.analysis.probes.graded import GLYPHS, LOOKED_UP, Share
from workbench.analysis.transcript import one_line, printable
from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.cli.output import only, write_fields, write_table
from workbench.cli.probe_asking import Sitting
from workbench.cli.watched import heads
from workbench.probing import (
    Watched,
    watched_in,
)

WORDS = 110


def document(sitting: Sitting, found: Probing) -> dict[str, Any]:
    head = {"file": sitting.file, "epoch": sitting.bench.epoch, "questions": sitting.origin, "answers": found.by}
    watched = [_watched_document(found, one) for one in watched_in(sitting.bench, sitting.exam)]
    return {**head, **probing_document(found), "watched": watched}


def _watched_document(found: Probing, one: Watched) -> dict[str, Any]:
    """How a sentence stands, by arm, as each probe has its answers."""
    return {"sentence": one.sentence, "given": dict(zip((arm.name for arm in found.arms), one.verdicts, strict=True))}


def tell(sitting: Sitting, found: Probing, *, alone: bool) -> None:
    """Of one among several the arms; of one alone every question, too."""
    controls = len(found.probes) - len(found.asked)
    asked = f"{counted(len(found.asked), 'question')} and {counted(controls, 'control')}, {sitting.origin}"
    if alone:
        write_fields([("asked", asked), ("answered", _by(found))])
    else:
        click.secho(f"{printable(str(sitting.file))}, epoch {sitting.bench.epoch}", bold=True)
        click.echo(asked)
    click.echo()
    write_table(
        ["tokens", "right", "95 %", "less than full", *found.kinds, "made up", "unanswered", "from"],
        [_row(found, arm) for arm in range(len(found.arms))],
    )
    click.echo()
    if alone:
        _tell_questions(found)
    if watched := watched_in(sitting.bench, sitting.exam):
        if alone:
            click.echo()
        rows = [[*(one.verdicts[at] for one in watched), arm.name] for at, arm in enumerate(found.arms)]
        write_table([*heads(sitting.bench.watched), "from"], rows)
        if not alone:
            click.echo()


def _by(found: Probing) -> str:
    return f"{found.by}: what the text still tells, not what a model knows" if found.by == LOOKED_UP else found.by


def _tell_questions(found: Probing) -> None:
    rows = [
        ["".join(GLYPHS[row[number].mark] for row in found.given), probe.kind, "*" * probe.used,
         printable(one_line(probe.question, WORDS))]
        for number, probe in enumerate(found.probes)
    ]  # fmt: skip
    write_table(["arms", "kind", "used", "question"], rows, {"arms": 0, "kind": 0, "used": 0})
    click.echo("\n✓ right  ✗ wrong  · not known  ? no answer; * really used later. --json tells every answer.")


def tell_sum(found: Sum, refused: int) -> None:
    click.secho(counted(len(found.several), "session") + " together", bold=True)
    questions = sum(len(one.asked) for one in found.several)
    controls = sum(len(one.probes) for one in found.several) - questions
    asked = f"{counted(questions, 'question')} and {counted(controls, 'control')}"
    left_out = [("left out", counted(refused, "file"))] if refused else []
    write_fields([("asked", asked), ("answered", _by(found.several[0])), *left_out])
    click.echo()
    heads = ["sessions", "tokens", "right", "95 %", "less than full", *found.kinds, "made up", "unanswered", "from"]
    write_table(heads, [_sum_row(found, name) for name in found.names])
    click.echo("\n--json tells every question and answer.")


def _row(found: Probing, arm: int) -> list[str]:
    one, shares = found.arms[arm], [found.share(arm, kind) for kind in (None, *found.kinds)]
    lead = found.lead(0, arm) if arm else None
    return _cells(one.name, one.tokens, shares, lead, found.made_up(arm), found.unanswered(arm))


def _sum_row(found: Sum, name: str) -> list[str]:
    shares = [found.share(name, kind) for kind in (None, *found.kinds)]
    less = found.less(name) if name != FULL else None
    cells = _cells(name, found.tokens(name), shares, less, found.made_up(name), found.unanswered(name))
    return [grouped(found.sessions(name)), *cells]


def _cells(
    name: str,
    tokens: int,
    shares: Sequence[Share | None],
    less: tuple[float, float, float] | None,
    made_up: tuple[int, int],
    unanswered: int,
) -> list[str]:
    """`shares` are all together and by kind, `made_up` the controls answered as if known, and of how many."""
    share, *kinds = shares
    invented, controls = made_up
    return [
        grouped(tokens),
        f"{round(100 * share.value)} %" if share else "",
        f"{round(100 * share.low)}–{round(100 * share.high)}" if share else "",
        f"{round(100 * less[0])} ({round(100 * less[1])} to {round(100 * less[2])})" if less else "",
        *(f"{one.right}/{one.of}" if one else "" for one in kinds),
        f"{invented}/{controls}" if controls else "",
        grouped(unanswered) if unanswered else "",
        name,
    ]


def probing_document(found: Probing) -> dict[str, Any]:
    """Arms with their shares, and each probe with every arm's answer."""
    return {
        "arms": [_arm_document(found, arm) for arm in range(len(found.arms))],
        "probes": [
            {
                **only(probe, "kind", "question", "answer", "accept", "prose", "source", "says", "used"),
                "given": {
                    arm.name: {**only(found.given[at][number], "reply", "mark", "right", "line")}
                    for at, arm in enumerate(found.arms)
                },
            }
            for number, probe in enumerate(found.probes)
        ],
    }


def _arm_document(found: Probing, arm: int) -> dict[str, Any]:
    invented, controls = found.made_up(arm)
    return {
        **only(found.arms[arm], "name", "tokens"),
        "share": _share_document(found.share(arm)),
        "kinds": {kind: _share_document(found.share(arm, kind)) for kind in found.kinds},
        "less_than_full": _lead_document(found.lead(0, arm)),
        "controls": controls,
        "made_up": invented,
        "unanswered": found.unanswered(arm),
    }


def sum_document(found: Sum) -> dict[str, Any]:
    """As of one session, the arms over all of them."""
    return {"answers": found.several[0].by, "arms": [_sum_arm_document(found, name) for name in found.names]}


def _sum_arm_document(found: Sum, name: str) -> dict[str, Any]:
    invented, controls = found.made_up(name)
    return {
        "name": name,
        "sessions": found.sessions(name),
        "tokens": found.tokens(name),
        "share": _share_document(found.share(name)),
        "kinds": {kind: _share_document(found.share(name, kind)) for kind in found.kinds},
        "less_than_full": _lead_document(found.less(name)),
        "controls": controls,
        "made_up": invented,
        "unanswered": found.unanswered(name),
    }


def _lead_document(lead: tuple[float, float, float] | None) -> dict[str, float] | None:
    return {"mean": lead[0], "low": lead[1], "high": lead[2]} if lead else None


def _share_document(share: Share | None) -> dict[str, Any] | None:
    return {**only(share, "right", "of", "value", "low", "high")} if share else None
