"""`cwb inspect --health`: format and faults of a file, gaps in its context, and changes by an export."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from workbench.analysis.usage_check import TOLERANCE, Gap, UsageCheck, check_usage
from workbench.base import paths
from workbench.base.figures import grouped, percent
from workbench.base.in_use import still_written
from workbench.base.printable import printable
from workbench.base.text import counted
from workbench.bench import open_bench
from workbench.cli.output import fields_of, plain, write_fields, write_json
from workbench.cli.selection import Selection
from workbench.formats import registry
from workbench.formats.diagnosis import (
    ContextFinding,
    ExportChange,
    Originals,
    Recognition,
    compare_export,
    findings,
    place_of,
    recognition,
    relatives,
)
from workbench.formats.files import load
from workbench.session import LoadWarning, Session, pairs_of
from workbench.tokens import Counter
from workbench.tokens.cache import CountCache

BODIES = ("anthropic-messages", "openai-chat")
"""Formats in which an export is tried in addition to the session's own."""

SHOWN = 12
"""Lines of a list shown as text; --json has all."""

OBJECTIONS = 5
"""Objections of the validator shown as text."""

_SIGNS = {"complete": "✔", "note": "·", "missing": "✘"}


def health(chosen: Selection, *, everything: bool, as_json: bool) -> None:
    """Write the health of a file. Exports are tried in memory, with `everything` in all formats."""
    file = chosen.file
    session = load(file, part=chosen.part)
    found = recognition(file)
    own = registry.by_id(session.format)
    same = own.id if own.codec.write else BODIES[0]
    targets = [same, *(f"{own.id}:{form.id}" for form in own.codec.forms), *BODIES]
    if everything:
        targets = [same, *(one.id for one in registry.targets() if one.id != same)]
    compacted = open_bench(session, Counter(), epoch=len(session.epochs)).plan.outcome.messages
    originals = Originals(session)
    as_it_is = compare_export(session, session.context(), same, originals)
    changes = [compare_export(session, compacted, target, originals) for target in dict.fromkeys(targets)]
    busy = still_written(file)
    usage = check_usage(session, Counter(CountCache(paths.token_counts())))
    document = _health_document(session, found, busy, usage, Exports(as_it_is, changes))
    if as_json:
        write_json(document)
        return
    write_fields(_about(file, document))
    _heading("Is the context complete?")
    for finding in document.findings:
        click.echo(f"  {_SIGNS[finding.level]} {finding.what}: {printable(finding.text)}")
    if usage.gaps:
        _heading("Billed tokens that are not in the file")
        _listed(_gaps(session, usage))
    _heading("Warnings")
    _listed([str(warning) for warning in document.warnings] or ["nothing"])
    if document.related_sessions:
        _heading("Other sessions in it (open one with --part ID)")
        _listed([f"{one.id}: {one.description}" for one in document.related_sessions])
    _heading("What an export would change")
    click.echo(f"  unchanged: {_changed(as_it_is)}")
    click.echo(f"  compacted, {counted(len(compacted), 'message')}:")
    for one in changes:
        click.echo(f"    {one.target}: {_changed(one)}; {counted(one.bytes, 'byte')}")
        for line in (*one.notes, *(f"its agent would reject: {fault}" for fault in one.problems[:SHOWN])):
            click.echo(f"      {printable(line)}")


@dataclass(frozen=True, slots=True)
class OtherFormat:
    """Another format that also recognizes the file."""

    title: str
    recognized_by: str


@dataclass(frozen=True, slots=True)
class RelatedSession:
    """A session that belongs to this one."""

    id: str
    description: str


@dataclass(frozen=True, slots=True)
class Exports:
    unchanged: ExportChange
    compacted: Sequence[ExportChange]


@dataclass(frozen=True, slots=True)
class HealthDocument:
    """Health of a file, as JSON. `in_use` is the reason why the file seems to be still written, or ""; `faults` are the
    objections of the format's validation."""

    format: str
    title: str
    recognized_by: str
    other_formats: Sequence[OtherFormat]
    in_use: str
    bytes: int
    records: int
    messages: int
    branch_messages: int
    context_messages: int
    epochs: int
    unanswered_calls: int
    orphan_results: int
    findings: Sequence[ContextFinding]
    usage: UsageCheck
    warnings: Sequence[LoadWarning]
    related_sessions: Sequence[RelatedSession]
    faults: Sequence[str]
    export: Exports


def _health_document(
    session: Session, found: Recognition, busy: str, usage: UsageCheck, export: Exports
) -> HealthDocument:
    context = session.context()
    pairs = pairs_of(context)
    return HealthDocument(
        format=found.format,
        title=found.title,
        recognized_by=found.why,
        other_formats=[OtherFormat(title, why) for title, why in found.others],
        in_use=busy,
        bytes=len(session.records.data),
        records=len(session.records),
        messages=len(session.messages),
        branch_messages=len(session.branch),
        context_messages=len(context),
        epochs=len(session.epochs),
        unanswered_calls=sum(pair.result is None for pair in pairs),
        orphan_results=sum(pair.call is None for pair in pairs),
        findings=[*findings(session), *_billed(usage)],
        usage=usage,
        warnings=session.warnings,
        related_sessions=[RelatedSession(id, what) for id, what in relatives(session)],
        faults=_faults(session),
        export=export,
    )


def _about(file: Path, document: HealthDocument) -> list[tuple[str, str]]:
    holds = [
        (document.bytes, "byte"),
        (document.messages, "message"),
        (document.epochs, "epoch"),
        (document.context_messages, "message"),
    ]
    rows = [
        ("file", str(file)),
        ("format", f"{document.title} ({document.format})"),
        ("why", document.recognized_by),
        (
            "close to",
            "\n".join(f"{one.title}: {one.recognized_by}" for one in document.other_formats) or "nothing else",
        ),
        ("holds", ", ".join(counted(count, noun) for count, noun in holds) + " in the context"),
    ]
    if document.in_use:
        rows.append(("in use", f"it seems to be in use: {document.in_use}"))
    faults = document.faults
    more = [f"and {counted(len(faults) - OBJECTIONS, 'more objection')}"] if len(faults) > OBJECTIONS else []
    intro = ["would reject this as an export (an agent's own files may have these):"] if faults else []
    objections = [*intro, *(f"- {fault}" for fault in faults[:OBJECTIONS]), *more]
    rows.append(("validator", "\n".join(objections) or "accepts it"))
    return rows


def _billed(usage: UsageCheck) -> list[ContextFinding]:
    """Return the finding on the calls whose usage the context explains; empty if no usage can be checked."""
    if not usage.judged:
        return []
    explained = f"{grouped(usage.judged - len(usage.unexplained))} of {counted(usage.judged, 'call')}"
    text = f"{explained} explained within {percent(TOLERANCE)} by the context shown"
    if not usage.gaps:
        return [ContextFinding("note" if usage.unexplained else "complete", "bills", text)]
    steps = f"{counted(len(usage.gaps), 'step')} between two calls {'is' if len(usage.gaps) == 1 else 'are'} not"
    return [ContextFinding("missing" if usage.unexplained else "note", "bills", f"{text}, but {steps}")]


def _gaps(session: Session, usage: UsageCheck) -> list[str]:
    """Return the gaps between usage and context, each with the place of its call, the largest first."""
    places = {message.id: place_of(session, message) for message in session.messages}
    return [f"{places[gap.message]}: {gap}" for gap in sorted(usage.gaps, key=lambda one: -abs(one.tokens))]


@plain.register
def _(usage: UsageCheck) -> dict[str, Any]:
    return {
        "calls": len(usage.calls),
        "checked_calls": usage.judged,
        "explained_calls": usage.judged - len(usage.unexplained),
        "gaps": usage.gaps,
        "unexplained": usage.unexplained,
    }


@plain.register
def _(gap: Gap) -> dict[str, Any]:
    return {**fields_of(gap), "text": str(gap)}


def _faults(session: Session) -> list[str]:
    validate = registry.by_id(session.format).codec.validate
    return validate(session.records.data) if validate else []


def _heading(text: str) -> None:
    click.secho(f"\n{text}", bold=True)


def _listed(lines: list[str]) -> None:
    for line in lines[:SHOWN]:
        click.echo(f"  {printable(line)}")
    if len(lines) > SHOWN:
        click.echo(f"  and {grouped(len(lines) - SHOWN)} more; --json has them all")


def _changed(one: ExportChange) -> str:
    if not (one.unchanged or one.changed):
        return f"{counted(one.added, 'record')} rewritten"
    keys = f" in {', '.join(one.keys[:6])}{' …' if len(one.keys) > 6 else ''}" if one.keys else " in spacing only"
    figures = [f"{counted(one.unchanged, 'record')} byte for byte"]
    figures += [f"{grouped(one.changed)} changed{keys}"] if one.changed else []
    figures += [f"{grouped(one.added)} added"] if one.added else []
    figures += [f"{grouped(one.left_out)} left out"] if one.left_out else []
    return ", ".join(figures)
