"""`cwb report`: one self-contained page about a session, to attach to a bug report."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.analysis.compare import candidates
from workbench.analysis.why.diagnosis import overflowed
from workbench.base.errors import BadInput
from workbench.base.files import write_atomically
from workbench.bench import choose_preset
from workbench.cli import settings
from workbench.cli.by_hand import by_hand
from workbench.cli.loading import part_option
from workbench.cli.output import counted
from workbench.cli.whole import bench_and_course, whole_session

BESIDE = ("claude-code", "codex", "ledger")
"""Presets that stand beside the chosen policy where none are named: two that people know, and our own."""


@click.command("report")
@click.argument("file", type=click.Path(path_type=Path))
@part_option
@click.option("-o", "--output", "out", type=click.Path(path_type=Path), metavar="PATH", help="A .html or .md file.")
@click.option("--strategy", "strategy_id", metavar="ID", help="The policy reported on, with its own preset.")
@click.option("--preset", "preset_id", metavar="NAME", help=f"The policy reported on; {BESIDE[0]} by default.")
@click.option("--set", "fields", multiple=True, metavar="FIELD=VALUE", help="Change a field of the policy.")
@click.option("--pin", "pins", multiple=True, metavar="ID", help="Keep a message verbatim.")
@click.option("--compare", "beside", default=",".join(BESIDE), metavar="A,B,…", help="Presets that stand beside it.")
@click.option("--epoch", type=int, metavar="N", help="The epoch; by default the newest that overflowed, else the last.")
@click.option("--window", type=click.IntRange(1), metavar="N", help="The model's context window in tokens.")
@click.option("--overwrite", is_flag=True, help="Replace the file if it is there.")
def command(
    file: Path,
    out: Path | None,
    strategy_id: str | None,
    preset_id: str | None,
    fields: tuple[str, ...],
    pins: tuple[str, ...],
    beside: str,
    epoch: int | None,
    window: int | None,
    overwrite: bool,
) -> None:
    """Write a page about FILE: its growth, why it overflowed, policies compared, what each loses, the policy used.

    The page needs nothing from elsewhere and holds no script; secrets that can be told by their shape or name are
    masked. It quotes the session: read it before you give it away.
    """
    from workbench.report.gathered import gather
    from workbench.report.pages import html, markdown

    target = Path(f"{file.stem or file.name}-report.html") if out is None else out
    if target.suffix not in (".html", ".htm", ".md"):
        raise BadInput(f"{target}: a report is HTML or Markdown; give the file a name that ends in .html or .md.")
    preset = settings.chosen(strategy_id, preset_id or (None if strategy_id else BESIDE[0]), None, fields)
    others = candidates((), [name.strip() for name in beside.split(",") if name.strip()]) if beside.strip() else ()
    session, counter = whole_session(file)
    bench, course = bench_and_course(session, counter, overflowed(session) if epoch is None else epoch, window)
    bench = by_hand(choose_preset(bench, preset), pins=pins, drops=(), shortens=(), split=None)
    report = gather(bench, course, others)
    text = markdown(report) if target.suffix == ".md" else html(report)
    write_atomically(target, text.encode("utf-8", "backslashreplace"), overwrite=overwrite)
    click.echo(
        f"{target}: {counted(len(report.diagnosis.findings), 'finding')}, {len(report.judged)} policies compared"
    )
