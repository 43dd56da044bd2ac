"""Output of `cwb retention --ask`: answers and shares as text, JSON and CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import click

from workbench.analysis.probes import FULL, ProbeKind, ProbeResults, ProbeTotals
from workbench.analysis.probes.results import GLYPHS, LOOKED_UP, ProbeScore
from workbench.analysis.watched_rules import sentence_columns
from workbench.base.printable import one_line, printable
from workbench.base.tables import Row, Table, columns
from workbench.base.text import counted
from workbench.cli.ask_model import SessionInfo
from workbench.cli.output import only, write_fields, write_tables
from workbench.runs.questions import RuleByVariant

WORDS = 110


def document(info: SessionInfo, found: ProbeResults) -> dict[str, Any]:
    head = {"file": info.file, "epoch": info.epoch, "question_source": info.origin, "answer_source": found.by}
    watched = [_watched_document(found, one) for one in info.watched]
    used = found.used if info.goes_on else None
    counts = {"questions_used_later": used, "questions_per_prompt": found.per_prompt}
    return {**head, **counts, **answers_document(found), "watched": watched}


def _watched_document(found: ProbeResults, one: RuleByVariant) -> dict[str, Any]:
    """Return a watched sentence with its state in each variant, as JSON."""
    return {"sentence": one.sentence, "states": dict(zip((arm.name for arm in found.arms), one.verdicts, strict=True))}


def print_answers(info: SessionInfo, found: ProbeResults, *, alone: bool) -> None:
    """Print the results of every variant; with `alone` (a single session) also every question."""
    controls = len(found.probes) - len(found.scored)
    questions = f"{counted(len(found.scored), 'question')} and {counted(controls, 'control')}, {info.origin}"
    used = counted(found.used, "question") if info.goes_on else "none, because the session ends with this epoch"
    if alone:
        write_fields([("asked", questions), ("used later", used), ("answered", _by(found))])
    else:
        click.secho(f"{printable(str(info.file))}, epoch {info.epoch}", bold=True)
        click.echo(f"{questions}; used later: {used}")
    click.echo()
    write_tables([_shares_table(_variants(found), found.kinds).without("file", "epoch", "sessions", "controls")])
    click.echo()
    if alone:
        _print_questions(found, info.numbers)
    if info.watched:
        if alone:
            click.echo()
        rows = (Row((*(one.verdicts[at] for one in info.watched), arm.name)) for at, arm in enumerate(found.arms))
        spec = (*sentence_columns(one.sentence for one in info.watched), *columns("name:text:variant"))
        write_tables([Table("watched", "", spec, tuple(rows))])
        if not alone:
            click.echo()


def _by(found: ProbeResults) -> str:
    if found.by == LOOKED_UP:
        return f"{found.by}: what the text contains, not what a model knows"
    return f"{found.by}, {counted(found.per_prompt, 'question')} per prompt" if found.per_prompt else found.by


def _print_questions(found: ProbeResults, numbers: Mapping[str, int]) -> None:
    """Print each question with its grade in every variant, and the number of the message that holds the answer."""
    rows = (
        Row(("".join(GLYPHS[row[number].mark] for row in found.answers), probe.kind, probe.used or None,
             numbers.get(probe.source), one_line(probe.question, WORDS)))
        for number, probe in enumerate(found.probes)
    )  # fmt: skip
    spec = columns("grades:text:variants kind used:flag number:count:message question")
    write_tables([Table("questions", "", spec, tuple(rows))])
    click.echo(
        "\n✓ right  ✗ wrong  · not known  ? no answer; used: used later in the session; message: number of the message "
        "with the answer. --json lists every answer."
    )


def print_total(found: ProbeTotals, refused: int) -> None:
    click.secho(counted(len(found.several), "session") + " together", bold=True)
    questions = sum(len(one.scored) for one in found.several)
    controls = sum(len(one.probes) for one in found.several) - questions
    totals = f"{counted(questions, 'question')} and {counted(controls, 'control')}"
    left_out = [("left out", counted(refused, "file"))] if refused else []
    write_fields([("asked", totals), ("answered", _by(found.several[0])), *left_out])
    click.echo()
    write_tables([_shares_table(_totals(found), found.kinds).without("file", "epoch", "controls")])
    click.echo("\n--json lists every question and answer.")


@dataclass(frozen=True, slots=True)
class VariantAnswers:
    """Results of a variant in `sessions` sessions. `share` is that of correct answers, `kinds` the same by kind of
    question, None where nothing was asked. `below_full` is the difference to the full context with its interval.
    `invented` counts the answered controls and all controls."""

    name: str
    tokens: int
    share: ProbeScore | None
    kinds: Mapping[ProbeKind, ProbeScore | None]
    below_full: tuple[float, float, float] | None
    invented: tuple[int, int]
    unanswered: int
    sessions: int = 1

    def row(self, file: str, epoch: int | None) -> Row:
        below = (self.below_full if self.name != FULL else None) or (None,) * 3
        kinds = (one.value if one else None for one in self.kinds.values())
        figures = (self.tokens, *_figures(self.share), *below, *kinds, *self.invented, self.unanswered or None)
        return Row((file, epoch, self.sessions, *figures, self.name))

    def document(self) -> dict[str, Any]:
        invented, controls = self.invented
        return {
            **only(self, "name", "tokens"),
            "correct": _share_document(self.share),
            "by_kind": {kind: _share_document(share) for kind, share in self.kinds.items()},
            "share_below_full": dict(zip(("mean", "low", "high"), self.below_full, strict=True))
            if self.below_full
            else None,
            "controls": controls,
            "invented_answers": invented,
            "unanswered": self.unanswered,
        }


def _variants(found: ProbeResults) -> list[VariantAnswers]:
    return [
        VariantAnswers(
            one.name,
            one.tokens,
            found.share(arm),
            {kind: found.share(arm, kind) for kind in found.kinds},
            found.lead(0, arm),
            found.invented_answers(arm),
            found.unanswered(arm),
        )
        for arm, one in enumerate(found.arms)
    ]


def _totals(found: ProbeTotals) -> list[VariantAnswers]:
    return [
        VariantAnswers(
            name,
            found.tokens(name),
            found.share(name),
            {kind: found.share(name, kind) for kind in found.kinds},
            found.lead_of_full(name),
            found.invented_answers(name),
            found.unanswered(name),
            found.sessions(name),
        )
        for name in found.names
    ]


def _shares_table(
    several: Sequence[VariantAnswers], kinds: Sequence[ProbeKind], file: str = "", epoch: int | None = None
) -> Table:
    shares = " ".join(f"{kind}:share" for kind in kinds)
    spec = (
        "file epoch:count sessions:count tokens:tokens correct:count questions:count share:share low:share:95_%_from "
        "high:share:to share_below_full:points:points_below_full "
        "share_below_full_low:points:95_%_from share_below_full_high:points:to "
        f"{shares} invented_answers:count:invented controls:count unanswered:count name:text:variant"
    )
    return Table("variants", "", columns(spec), tuple(one.row(file, epoch) for one in several))


def csv_tables(several: Sequence[tuple[SessionInfo, ProbeResults]]) -> dict[str, Table]:
    """Return the tables for --csv: shares of each variant of each session, and all answers."""
    kinds = tuple(dict.fromkeys(kind for _, found in several for kind in found.kinds))
    tables = [_shares_table(_with(kinds, found), kinds, str(info.file), info.epoch) for info, found in several]
    shares = replace(_shares_table((), kinds), rows=tuple(row for one in tables for row in one.rows))
    answer_columns = "file epoch:count number:count kind used:flag question answer message variant reply grade"
    answers = (
        Row((str(info.file), info.epoch, number + 1, probe.kind, probe.used, probe.question, probe.answer,
             probe.source, arm.name, replies[number].reply, replies[number].mark))
        for info, found in several
        for number, probe in enumerate(found.probes)
        for arm, replies in zip(found.arms, found.answers, strict=True)
    )  # fmt: skip
    return {
        "variants": shares.without("sessions"),
        "questions": Table("questions", "", columns(answer_columns), tuple(answers)),
    }


def _with(kinds: Sequence[ProbeKind], found: ProbeResults) -> list[VariantAnswers]:
    """Return the results of each variant, with a share for each of these kinds, None for one without questions."""
    return [replace(one, kinds={kind: one.kinds.get(kind) for kind in kinds}) for one in _variants(found)]


def _figures(share: ProbeScore | None) -> tuple[float | None, ...]:
    return (share.right, share.of, share.value, share.low, share.high) if share else (None,) * 5


def answers_document(found: ProbeResults) -> dict[str, Any]:
    """Return the variants with their shares, and each question with every variant's answer, as JSON."""
    return {
        "variants": [one.document() for one in _variants(found)],
        "questions": [
            {
                **only(probe, "kind", "question", "answer", "accepted=accept", "prose", "message=source", "quote=says"),
                "used": probe.used,
                "answers": {
                    arm.name: only(
                        found.answers[at][number],
                        "answer=reply",
                        "grade=mark",
                        "correct=right",
                        "quote=line",
                        "found_in_text=is_stated",
                    )
                    for at, arm in enumerate(found.arms)
                },
            }
            for number, probe in enumerate(found.probes)
        ],
    }


def sum_document(found: ProbeTotals) -> dict[str, Any]:
    """Return the variants with their shares over all sessions, as JSON."""
    arms = [{**one.document(), "sessions": one.sessions} for one in _totals(found)]
    first = found.several[0]
    return {"answer_source": first.by, "questions_per_prompt": first.per_prompt, "variants": arms}


def _share_document(share: ProbeScore | None) -> dict[str, Any] | None:
    return only(share, "correct=right", "questions=of", "share=value", "low", "high") if share else None
