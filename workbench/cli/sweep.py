"""`cwb compare --vary`: replays of many sessions over a grid of one or two settings."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from workbench.analysis.plots import shade
from workbench.analysis.sweep.cells import Journal, SweepCell, finished_cells, spread, work_of
from workbench.analysis.sweep.plan import SweepPlan, as_preset, plan_of, setting_words, value_words, varying_fields
from workbench.analysis.sweep.rows import CRITERIA, Criterion, best, rows_of, values_table
from workbench.analysis.sweep.rows import SweepRow as Setting
from workbench.analysis.watched_rules import sentence_to_watch
from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.figures import grouped, percent
from workbench.base.parallel import cores
from workbench.base.printable import one_line, printable
from workbench.base.tables import Column, Row, Table, columns
from workbench.base.text import counted
from workbench.cli.outcomes import SENTENCE_CHARS
from workbench.cli.output import (
    fields_of,
    interrupted,
    on_a_terminal,
    plain,
    takes_escapes,
    warn,
    write_csv,
    write_json,
    write_tables,
)
from workbench.cli.replay import cost_unit
from workbench.cli.selection import Selection
from workbench.cli.session_files import FailedFile
from workbench.compaction.preset import load_preset, preset_names, save_preset
from workbench.facts.rule_files import is_rule_file
from workbench.finding.discover import is_session_folder
from workbench.tokens import scales

FAILED = 2
WIDEST = 12
"""Maximum columns of a heat map; the rest goes into further maps."""


def sweep(
    chosen: Selection,
    *,
    vary: tuple[str, ...],
    retained: bool,
    criterion_name: str,
    save_as: str | None,
    resume: Path | None,
    cluster: str,
    as_json: bool,
    as_csv: str | None,
) -> None:
    """Replay the sessions over a grid of one or two settings on all cores, and write the best values.

    A file that fails is a row with its reason. An interrupted sweep continues from the journal `resume`, which may
    also be used for a wider grid.
    """
    preset = chosen.policy()
    if not vary:
        raise BadInput(f"Name what varies with --vary: {', '.join(varying_fields(preset.policy))}.")
    criterion = next(one for one in CRITERIA if one.name == criterion_name)
    if named := next(filter(is_rule_file, chosen.watched), ""):
        raise BadInput(f"--vary tracks sentences; leave it out to track the rules of {named}.")
    watched = tuple(map(sentence_to_watch, chosen.watched))
    if criterion.name == "watched" and not watched:
        raise BadInput("--best watched needs a sentence; give one with --watch.")
    retained = retained or criterion.name == "retention"
    plan = plan_of(preset, vary, chosen.window, retained=retained, part=chosen.part, watched=watched)
    if save_as is not None and save_as in preset_names() and not (paths.presets() / f"{save_as}.toml").is_file():
        raise BadInput(f"{save_as!r} is a built-in preset; choose another name.")
    cells = _done(plan, [str(path.resolve()) for path in listed(chosen.files)], resume, cluster)
    rows = rows_of(plan, cells)
    found = best(rows, criterion)
    saved = _saved(plan, found, save_as)
    if as_csv:
        write_csv({"values": values_table(plan, rows, found)}, as_csv)
    elif as_json:
        failed = {cell.file: cell.error for cell in cells if cell.error}
        swept = {
            "strategy": plan.preset.strategy,
            "preset": plan.preset.id,
            "vary": plan.axes,
            "window_tokens": plan.window,
            "part": plan.part or None,
            "watched": plan.watched,
            "variants": rows,
            "cells": cells,
            "failed": [FailedFile(Path(file), error) for file, error in failed.items()],
            "best": {"criterion": criterion.name, **plain(found)} if found else None,
            "saved": saved,
        }
        write_json(swept)
    else:
        _report(plan, cells, rows, found, criterion, saved)
    if not any(row.files for row in rows):
        raise click.exceptions.Exit(FAILED)


@plain.register
def _(row: Setting) -> dict[str, Any]:
    return {**fields_of(row), "cost_unit": cost_unit(known=row.dollars)}


def listed(paths: Iterable[Path]) -> list[Path]:
    """Return the named files, each once. A folder that is no session is replaced by the sessions and files below it,
    without hidden ones. Raises BadInput for a missing file."""
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise BadInput(f"{path} does not exist; check the name.")
        inner = path.is_dir() and not is_session_folder(path)
        found += listed(sorted(each for each in path.iterdir() if not each.name.startswith("."))) if inner else [path]
    return list(dict.fromkeys(found))


def _done(plan: SweepPlan, files: list[str], resume: Path | None, cluster: str) -> list[SweepCell]:
    """Return all cells by file and setting: those in the journal, and the others replayed now and added to it."""
    before = finished_cells(resume, plan) if resume else ()
    order = {file: number for number, file in enumerate(files)}
    wanted = set(plan.settings)
    cells = [cell for cell in before if cell.file in order and cell.setting in wanted]
    work = work_of(files, plan, {(cell.file, cell.setting) for cell in cells}, cores())
    if cells:
        warn(f"{counted(len(cells), 'cell')} already in the journal.")
    journal = Journal(resume, plan) if resume else None
    try:
        with _bar(sum(len(each) for _, each in work)) as advance:
            for finished in spread(work, plan, cluster, scales.recall):
                if journal:
                    journal.note(finished)
                cells += finished
                advance(len(finished))
    except KeyboardInterrupt:
        how = f"repeat with --resume {resume} to continue" if resume else "with --resume JOURNAL it can be continued"
        raise interrupted(f"Interrupted after {counted(len(cells), 'cell')}; {how}.") from None
    finally:
        if journal:
            journal.close()
    return sorted(cells, key=lambda cell: (order[cell.file], cell.setting))


@contextmanager
def _bar(total: int) -> Iterator[Any]:
    if not (on_a_terminal() and takes_escapes() and total):  # the bar hides the cursor with an escape code
        yield lambda count: None
        return
    with click.progressbar(length=total, label="Sweeping", file=sys.stderr, show_pos=True) as bar:
        yield bar.update


def _saved(plan: SweepPlan, found: Setting | None, name: str | None) -> Path | None:
    if name is None:
        return None
    if found is None:
        raise BadInput("No setting had an effect; there is no best one to save.")
    path = save_preset(as_preset(plan, found.setting, name))
    load_preset(name)
    return path


def _report(
    plan: SweepPlan,
    cells: Sequence[SweepCell],
    rows: Sequence[Setting],
    found: Setting | None,
    criterion: Criterion,
    saved: Path | None,
) -> None:
    files = len({cell.file for cell in cells})
    kind = "extracted" if plan.extracted else "estimated"
    click.echo(
        f"{plan.preset.name}: {counted(len(plan.settings), 'setting')} on "
        f"{counted(files, 'file')}, summaries {kind}. Figures are means over files; calls over the window are a sum."
    )
    click.echo()
    write_tables([values_table(plan, rows, found)])
    if len(plan.axes) == 2:
        click.echo()
        _heat_map(plan, rows, found, criterion)
    _failures(cells)
    for number, sentence in enumerate(plan.watched):
        if not any(row.rule_counts[number].of for row in rows):
            click.echo(f"\nNever there: {printable(one_line(sentence, SENTENCE_CHARS))}")
    if found:
        click.echo(f"\nBest by {criterion.name} ({criterion.about}): {setting_words(plan.axes, found.setting)}")
        if found.over:
            click.echo(f"Even there {counted(found.over, 'call')} would exceed the window.")
        click.echo(f"On the bench: {_command(plan, cells, found, saved)}")


def _heat_map(plan: SweepPlan, rows: Sequence[Setting], found: Setting | None, criterion: Criterion) -> None:
    """Print the criterion as glyph and figure: a row per value of the first field, a column per value of the second."""
    down, across = plan.axes
    figures = {row.setting: row.figure(criterion.name) for row in rows if row.files}
    known = [figure for figure in figures.values() if figure is not None]
    if not known:
        return
    most, least = max(known), min(known)
    overs = {row.setting for row in rows if row.over}
    click.echo(f"{criterion.name}, {down.field} down, {across.field} across (★ best, ! over the window)")
    for start in range(0, len(across.values), WIDEST):
        columns = across.values[start : start + WIDEST]
        table = []
        for row_value in down.values:
            line = [value_words(row_value)]
            for value in columns:
                setting = (row_value, value)
                figure = figures.get(setting)
                mark = "★" if found and found.setting == setting else "!" if setting in overs else " "
                glyph = "" if figure is None else shade(figure, least, most)
                line.append(f"{glyph} {_figure(criterion, figure)}{mark}")
            table.append(Row(tuple(line)))
        spec = [Column(value_words(value), value_words(value), "number") for value in columns]
        write_tables([Table("", "", (Column(down.field, down.field, "number"), *spec), tuple(table))])


def _figure(criterion: Criterion, figure: float | None) -> str:
    if figure is None:
        return "–"
    if criterion.name in ("retention", "watched"):
        return percent(figure)
    return f"{figure:.2f}" if criterion.name == "cost" else f"{figure:.1f}" if figure < 100 else grouped(figure)


def _failures(cells: Sequence[SweepCell]) -> None:
    reasons: dict[str, str] = {}
    for cell in cells:
        if cell.error:
            reasons.setdefault(cell.file, cell.error)
    if reasons:
        failed = tuple(Row((Path(file).name, reason)) for file, reason in reasons.items())
        write_tables([Table("failed", "Failed", columns("file because"), failed)])


def _known_as(plan: SweepPlan, found: Setting) -> str:
    """Return the name of the swept preset if its own policy has the setting already, else ""."""
    name = plan.preset.id
    return name if name in preset_names() and load_preset(name).policy == plan.policy(found.setting) else ""


def _command(plan: SweepPlan, cells: Sequence[SweepCell], found: Setting, saved: Path | None) -> str:
    """Return the command that opens the session under the best setting, or how to save that setting as a preset
    first."""
    file = shlex.quote(next((cell.file for cell in cells if not cell.error), "FILE"))
    window = plan.window_of(found.setting, None)
    more = (f" --window {window.tokens}" if window else "") + (f" --part {shlex.quote(plan.part)}" if plan.part else "")
    if name := saved.stem if saved else _known_as(plan, found):
        return f"cwb {file} --preset {name}{more}"
    return f"run this again with --save-preset NAME, then cwb {file} --preset NAME{more}"
