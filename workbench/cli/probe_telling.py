"""The answers of `cwb retention --ask`, for a reader and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from workbench.analysis.probes import FULL, ProbeKind, Probing, Sum
from workbench.analysis.probes.graded import GLYPHS, LOOKED_UP, Share
from workbench.base import tables
from workbench.base.figures import grouped, percent
from workbench.base.printable import one_line, printable
from workbench.base.text import counted
from workbench.cli.output import only, write_fields, write_table
from workbench.cli.probe_asking import Sat
from workbench.cli.watched import heads
from workbench.probing import Watched

WORDS = 110


def document(sat: Sat, found: Probing) -> dict[str, Any]:
    head = {"file": sat.file, "epoch": sat.epoch, "question_source": sat.origin, "answer_source": found.by}
    watched = [_watched_document(found, one) for one in sat.watched]
    return {**head, **probing_document(found), "watched": watched}


def _watched_document(found: Probing, one: Watched) -> dict[str, Any]:
    """How a sentence stands, by arm, as each probe has its answers."""
    return {"sentence": one.sentence, "states": dict(zip((arm.name for arm in found.arms), one.verdicts, strict=True))}


def tell(sat: Sat, found: Probing, *, alone: bool) -> None:
    """Of one among several the arms; of one alone every question, too."""
    controls = len(found.probes) - len(found.asked)
    asked = f"{counted(len(found.asked), 'question')} and {counted(controls, 'control')}, {sat.origin}"
    if alone:
        write_fields([("asked", asked), ("answered", _by(found))])
    else:
        click.secho(f"{printable(str(sat.file))}, epoch {sat.epoch}", bold=True)
        click.echo(asked)
    click.echo()
    write_table(
        ["tokens", "right", "95 %", "less than full", *found.kinds, "made up", "unanswered", "from"],
        [row.cells() for row in _rows(found)],
    )
    click.echo()
    if alone:
        _tell_questions(found, sat.numbers)
    if sat.watched:
        if alone:
            click.echo()
        rows = [[*(one.verdicts[at] for one in sat.watched), arm.name] for at, arm in enumerate(found.arms)]
        write_table([*heads([one.sentence for one in sat.watched]), "from"], rows)
        if not alone:
            click.echo()


def _by(found: Probing) -> str:
    return f"{found.by}: what the text contains, not what a model knows" if found.by == LOOKED_UP else found.by


def _tell_questions(found: Probing, numbers: Mapping[str, int]) -> None:
    """Each question with what became of it in every arm, and the number of the message that tells the answer."""
    rows = [
        ["".join(GLYPHS[row[number].mark] for row in found.given), probe.kind, "*" * probe.used,
         grouped(numbers[probe.source]) if probe.source in numbers else "",
         printable(one_line(probe.question, WORDS))]
        for number, probe in enumerate(found.probes)
    ]  # fmt: skip
    write_table(["arms", "kind", "used", "message", "question"], rows, {"arms": 0, "kind": 0, "used": 0})
    click.echo(
        "\n✓ right  ✗ wrong  · not known  ? no answer; * really used later; message: which one tells it. "
        "--json lists every answer."
    )


def tell_sum(found: Sum, refused: int) -> None:
    click.secho(counted(len(found.several), "session") + " together", bold=True)
    questions = sum(len(one.asked) for one in found.several)
    controls = sum(len(one.probes) for one in found.several) - questions
    asked = f"{counted(questions, 'question')} and {counted(controls, 'control')}"
    left_out = [("left out", counted(refused, "file"))] if refused else []
    write_fields([("asked", asked), ("answered", _by(found.several[0])), *left_out])
    click.echo()
    heads = ["sessions", "tokens", "right", "95 %", "less than full", *found.kinds, "made up", "unanswered", "from"]
    write_table(heads, [[grouped(found.sessions(row.name)), *row.cells()] for row in _sum_rows(found)])
    click.echo("\n--json lists every question and answer.")


@dataclass(frozen=True, slots=True)
class Row:
    """What an arm comes to, in one session or in several: the `share` answered right, of all and by kind, by how much
    that is `less` than from the full context, from where to where, the controls `made_up` as if known, and of how many.
    """

    name: str
    tokens: int
    share: Share | None
    kinds: Mapping[ProbeKind, Share | None]
    less: tuple[float, float, float] | None
    made_up: tuple[int, int]
    unanswered: int

    def cells(self) -> list[str]:
        share, less = self.share, self.less if self.name != FULL else None
        invented, controls = self.made_up
        return [
            grouped(self.tokens),
            percent(share.value) if share else "",
            f"{round(100 * share.low)}–{round(100 * share.high)}" if share else "",
            f"{round(100 * less[0])} ({round(100 * less[1])} to {round(100 * less[2])})" if less else "",
            *(f"{one.right}/{one.of}" if one else "" for one in self.kinds.values()),
            f"{invented}/{controls}" if controls else "",
            grouped(self.unanswered) if self.unanswered else "",
            self.name,
        ]

    def document(self) -> dict[str, Any]:
        invented, controls = self.made_up
        return {
            **only(self, "name", "tokens"),
            "correct": _share_document(self.share),
            "by_kind": {kind: _share_document(share) for kind, share in self.kinds.items()},
            "share_below_full": dict(zip(("mean", "low", "high"), self.less, strict=True)) if self.less else None,
            "controls": controls,
            "invented_answers": invented,
            "unanswered": self.unanswered,
        }


def _rows(found: Probing) -> list[Row]:
    return [
        Row(
            one.name,
            one.tokens,
            found.share(arm),
            {kind: found.share(arm, kind) for kind in found.kinds},
            found.lead(0, arm),
            found.made_up(arm),
            found.unanswered(arm),
        )
        for arm, one in enumerate(found.arms)
    ]


def _sum_rows(found: Sum) -> list[Row]:
    return [
        Row(
            name,
            found.tokens(name),
            found.share(name),
            {kind: found.share(name, kind) for kind in found.kinds},
            found.less(name),
            found.made_up(name),
            found.unanswered(name),
        )
        for name in found.names
    ]


def csv_tables(several: Sequence[tuple[Sat, Probing]]) -> dict[str, tables.Table]:
    """What each arm of each session comes to, and each answer."""
    sizes = "tokens:tokens right:count asked:count share:share low:share high:share"
    spec = f"file epoch:count from {sizes} less:share made_up:count controls:count unanswered:count"
    arms = (
        tables.Row((str(sat.file), sat.epoch, row.name, row.tokens, *_figures(row.share),
                    row.less[0] if row.less and row.name != FULL else None, *row.made_up, row.unanswered))
        for sat, found in several
        for row in _rows(found)
    )  # fmt: skip
    asked = "file epoch:count number:count kind used:flag question answer source:message from reply mark"
    answers = (
        tables.Row((str(sat.file), sat.epoch, number + 1, probe.kind, probe.used, probe.question, probe.answer,
                    probe.source, arm.name, given[number].reply, given[number].mark))
        for sat, found in several
        for number, probe in enumerate(found.probes)
        for arm, given in zip(found.arms, found.given, strict=True)
    )  # fmt: skip
    return {
        "arms": tables.Table("arms", "", tables.columns(spec), tuple(arms)),
        "questions": tables.Table("questions", "", tables.columns(asked), tuple(answers)),
    }


def _figures(share: Share | None) -> tuple[float | None, ...]:
    return (share.right, share.of, share.value, share.low, share.high) if share else (None,) * 5


def probing_document(found: Probing) -> dict[str, Any]:
    """Arms with their shares, and each probe with every arm's answer."""
    return {
        "variants": [row.document() for row in _rows(found)],
        "questions": [
            {
                **only(probe, "kind", "question", "answer", "accepted=accept", "prose", "message=source", "quote=says"),
                "used": probe.used,
                "answers": {
                    arm.name: only(
                        found.given[at][number],
                        "answer=reply",
                        "grade=mark",
                        "correct=right",
                        "quote=line",
                        "found_in_text=told",
                    )
                    for at, arm in enumerate(found.arms)
                },
            }
            for number, probe in enumerate(found.probes)
        ],
    }


def sum_document(found: Sum) -> dict[str, Any]:
    """As of one session, the arms over all of them."""
    arms = [{**row.document(), "sessions": found.sessions(row.name)} for row in _sum_rows(found)]
    return {"answer_source": found.several[0].by, "variants": arms}


def _share_document(share: Share | None) -> dict[str, Any] | None:
    return only(share, "correct=right", "questions=of", "share=value", "low", "high") if share else None
