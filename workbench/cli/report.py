"""`cwb report`: one self-contained page about a session, to attach to a bug report."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.base.errors import BadInput
from workbench.base.files import refuse_existing, write_atomically
from workbench.base.secrets import Personal, masking
from workbench.base.tables import document
from workbench.base.text import counted
from workbench.cli.load_bench import on_bench_and_course
from workbench.cli.output import csv_option, write_csv, write_json
from workbench.cli.selection import Selection, selection
from workbench.compaction.preset import candidates
from workbench.compaction.strategies import DEFAULT
from workbench.report.sections import TABLES, result_tables

COMPARED = ("claude-code", "codex", DEFAULT)
"""Presets compared with the chosen policy by default: two well-known agents' and our own."""


@click.command("report")
@selection(
    "part",
    "pin",
    "set",
    "window",
    "epoch",
    "watch",
    strategy="The strategy to report on, with its first preset.",
    preset=f"The preset to report on. Default: the agent's, else {COMPARED[0]}.",
)
@click.option("-o", "--output", "out", type=click.Path(path_type=Path), metavar="PATH", help="A .html or .md file.")
@click.option("--compare", default=",".join(COMPARED), metavar="A,B,…", help="Presets to compare it with.")
@click.option("--mask-home", is_flag=True, help="Mask the names of home folders, too.")
@click.option("--mask-mail", is_flag=True, help="Mask mail addresses, too.")
@click.option("--overwrite", is_flag=True, help="Replace an existing file.")
@click.option("--json", "as_json", is_flag=True, help="Verdict and tables as one JSON document instead of a page.")
@csv_option(*TABLES)
def command(
    chosen: Selection, out: Path | None, compare: str, mask_home: bool, mask_mail: bool, overwrite: bool, as_json: bool,
    as_csv: str | None,
) -> None:  # fmt: skip
    """Write a page about FILE: one sentence on why it overflowed, the context before and after as bars, findings,
    growth, compared presets, lost facts, work repeated after compactions (rework), settings.

    The page is self-contained and has no script. Secrets recognized by shape, name or place are masked; the page
    says so. It quotes the session: read it before you share it.
    """
    from workbench.report.contents import collect
    from workbench.report.pages import html, markdown

    if (as_json or as_csv) and out is not None:
        raise click.UsageError("--json and --csv write to standard output; leave out --output.")
    file = chosen.file
    target = Path(f"{file.stem or file.name}-report.html") if out is None else out
    if target.suffix not in (".html", ".htm", ".md"):
        raise BadInput(f"{target}: a report is HTML or Markdown; name a file that ends in .html or .md.")
    if not (as_json or as_csv):
        refuse_existing(target, overwrite=overwrite)
    others = candidates((), [name.strip() for name in compare.split(",") if name.strip()]) if compare.strip() else ()
    bench, course = on_bench_and_course(chosen, lambda own: chosen.policy(own or COMPARED[0]))
    report = collect(bench, course, others)
    also: tuple[Personal, ...] = (*(("home",) if mask_home else ()), *(("mail",) if mask_mail else ()))
    if as_json or as_csv:
        tables = result_tables(report)
        with masking(*also):
            if as_csv:
                write_csv(tables, as_csv)
            else:
                head = {"file": file, "epoch": bench.epoch, "verdict": report.diagnosis.verdict}
                write_json({**head, "tables": list(map(document, tables.values()))})
        return
    with masking(*also):
        text = markdown(report) if target.suffix == ".md" else html(report)
    write_atomically(target, text.encode("utf-8", "backslashreplace"), overwrite=overwrite)
    click.echo(
        f"{target}: {counted(len(report.diagnosis.findings), 'finding')}, {len(report.variants)} variants compared"
    )
