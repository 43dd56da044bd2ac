"""`cwb doctor`: what a file is, how that was recognised, and what is odd in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from workbench.analysis.transcript import printable
from workbench.cli.output import counted, write_fields, write_json
from workbench.formats import registry
from workbench.formats.files import load
from workbench.session import pairs_of


@click.command("doctor")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of text.")
def command(file: Path, as_json: bool) -> None:
    """Say what FILE is and why, what could not be read as it stands, and what its own tool may object to."""
    session = load(file)
    data = session.records.data
    format, why = registry.detect(data[: registry.HEAD])
    pairs = pairs_of(session.context())
    open_calls = sum(pair.result is None for pair in pairs)
    orphans = sum(pair.call is None for pair in pairs)
    found: dict[str, Any] = {
        "format": format.id,
        "title": format.title,
        "why": why,
        "bytes": len(data),
        "records": len(session.records),
        "messages": len(session.messages),
        "epochs": len(session.epochs),
        "open_calls": open_calls,
        "orphan_results": orphans,
        "warnings": [{"line": warning.line, "text": warning.text} for warning in session.warnings],
        "validator": format.validate(data),
    }
    if as_json:
        write_json(found)
        return
    messages = counted(len(session.messages), "message")
    rows = [
        ("file", str(file)),
        ("format", f"{format.title} ({format.id})"),
        ("why", why),
        ("holds", ", ".join([counted(len(data), "byte"), messages, counted(len(session.epochs), "epoch")])),
        ("pairs", f"{counted(open_calls, 'call')} without a result, {counted(orphans, 'result')} without a call"),
        ("warnings", "\n".join(str(warning) for warning in session.warnings) or "none"),
        ("its tool", "\n".join(found["validator"]) or "has nothing to object to"),
    ]
    write_fields([(name, printable(value)) for name, value in rows])
