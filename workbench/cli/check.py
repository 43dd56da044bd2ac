"""`cwb check`: requirements on compactions, for CI."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import click
from msgspec import Struct

from workbench.base.errors import BadInput
from workbench.base.figures import grouped, percent
from workbench.base.files import reason, write_atomically
from workbench.base.printable import one_line, printable
from workbench.base.reading import read_file
from workbench.base.text import counted
from workbench.bench.assessment import Assessment, assess_recorded, compare
from workbench.cli.load_bench import on_bench
from workbench.cli.output import write_json
from workbench.cli.selection import Selection
from workbench.cli.session_files import release_session, sessions_in
from workbench.compaction.preset import Preset, load_preset, read_preset
from workbench.runs.requirements import (
    CHECK_FILE,
    CheckFigures,
    CheckSpec,
    Failure,
    failures,
    figures,
    read_checks,
    regressions,
)
from workbench.summarizers.extractive import extractive

FAILED = 3
_XML = '<?xml version="1.0" encoding="UTF-8"?>'
RECORDED = "recorded"


class Case(Struct, frozen=True):
    """One check of one session under one preset. The path `session` is relative to the folder of the file of checks if
    it lies below it; `figures` is None if the session could not be compacted."""

    check: str
    line: int
    session: str
    preset: str
    figures: CheckFigures | None
    failures: tuple[Failure, ...]


@click.command("check")
@click.argument("file", required=False, default=CHECK_FILE, type=click.Path(path_type=Path), metavar="[FILE]")
@click.option("--only", "names", multiple=True, metavar="NAME", help="Run this check alone. Repeatable.")
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="JSON",
    help="Also fail where a figure is worse than in this result of `cwb check --json`, for example of the main branch.",
)
@click.option("--junit", type=click.Path(path_type=Path), metavar="XML", help="Also write a JUnit report to this file.")
@click.option("--github", is_flag=True, help="Print failures as annotations of GitHub Actions.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document with the figures of every case.")
def command(
    file: Path, names: tuple[str, ...], baseline: Path | None, junit: Path | None, github: bool, as_json: bool
) -> None:
    """Compact the sessions that FILE names, offline, and say which requirements fail. FILE is TOML, by default
    cwb-check.toml:

    \b
    [[check]]
    name = "rules survive"
    sessions = ["sessions/*.jsonl"]            # files, folders, patterns; relative to FILE
    presets = ["claude-code", "mine.toml"]     # names, files, or "recorded"
    keep = ["Never log the refresh token."]    # verbatim or paraphrased in the result
    rule_files = ["CLAUDE.md"]                 # the same for the rules of a file
    rules = 1.0                                # share of the user's rules
    kept = 0.8                                 # share of the facts
    correct = 0.8                              # share of the facts, without contradicted ones
    max_tokens = 60000                         # the context afterwards
    max_cost = 0.25                            # dollars for summaries, estimated
    tool_pairs = true                          # every call keeps its result
    continuity = true                          # the newest request is kept, and open tasks agree with it
    generations = 3                            # after each of three compactions

    Summaries are extractive, so that a run needs no model and always gives the same result.

    \b
    cwb check --json > main.json               # on the main branch
    cwb check --baseline main.json --junit report.xml

    \b
    Exit codes: 0 all requirements hold, 2 bad input or usage, 3 a requirement failed
    """
    checks = _chosen(read_checks(file), names, file)
    if junit and junit.is_file() and not read_file(junit).startswith(_XML.encode()):
        raise BadInput(f"{junit} exists and is no report; choose another name for --junit.")
    earlier = read_baseline(baseline) if baseline else {}
    cases = [case for one in checks for case in _cases(one, file.parent, earlier)]
    if junit:
        write_atomically(junit, junit_report(cases).encode(), overwrite=True)
    if as_json:
        write_json({"cases": cases, "failed": sum(bool(case.failures) for case in cases)})
    elif github:
        for line in github_lines(cases, file):
            click.echo(line)
    else:
        for line in text_lines(cases):
            click.echo(printable(line))
    if any(case.failures for case in cases):
        raise click.exceptions.Exit(FAILED)


def _chosen(checks: Sequence[CheckSpec], names: Sequence[str], file: Path) -> list[CheckSpec]:
    known = [one.name for one in checks]
    if unknown := [name for name in names if name not in known]:
        raise BadInput(f"{file} has no check {unknown[0]!r}; it has {', '.join(map(repr, known))}.")
    return [one for one in checks if not names or one.name in names]


def _cases(spec: CheckSpec, folder: Path, earlier: Mapping[tuple[str, str, str], CheckFigures]) -> Iterator[Case]:
    """Yield a case for each session and preset of a check. A session that cannot be compacted is a failed case."""
    policies = [None if name == RECORDED else _preset(name, folder) for name in spec.presets]
    for session in _sessions(spec, folder):
        release_session()
        shown = str(session.relative_to(folder)) if session.is_relative_to(folder) else str(session)
        try:
            assessed = _assessed(spec, session, policies)
        except BadInput as refused:
            for name in spec.presets:
                yield Case(spec.name, spec.line, shown, name, None, (Failure("session", str(refused)),))
            continue
        for name, one in zip(spec.presets, assessed, strict=True):
            if one is None:
                missing = Failure("session", "the session records no compaction at the end of this epoch")
                yield Case(spec.name, spec.line, shown, name, None, (missing,))
                continue
            found, now = failures(one, spec, folder), figures(one)
            if (before := earlier.get((spec.name, shown, name))) is not None:
                found += regressions(now, before)
            yield Case(spec.name, spec.line, shown, name, now, tuple(found))


def _assessed(spec: CheckSpec, session: Path, policies: Sequence[Preset | None]) -> list[Assessment | None]:
    """Return an assessment for each preset; None where the recorded compaction is requested and there is none."""
    bench = on_bench(Selection(files=(session,), epoch=spec.epoch, window=spec.window))
    recorded = assess_recorded(bench)
    ours = iter(compare(bench, [one for one in policies if one is not None], extractive))
    return [recorded if one is None else next(ours) for one in policies]


def _preset(name: str, folder: Path) -> Preset:
    return read_preset(folder / name) if name.endswith(".toml") else load_preset(name)


def _sessions(spec: CheckSpec, folder: Path) -> list[Path]:
    """Return the sessions that a check names. Raises BadInput for a pattern without a match."""
    named: list[Path] = []
    for entry in spec.sessions:
        is_pattern = not {"*", "?", "["}.isdisjoint(entry)
        found = sorted(folder.glob(entry)) if is_pattern else [folder / entry]
        if not found:
            raise BadInput(f"check {spec.name!r}: no file matches {entry!r}; correct sessions.")
        named += found
    return sessions_in(named)


def read_baseline(path: Path) -> dict[tuple[str, str, str], CheckFigures]:
    """Return the figures of an earlier run by check, session and preset. Raises BadInput for a file that is no result
    of `cwb check --json`."""
    try:
        document = json.loads(read_file(path))
        listed = [(one, one["figures"]) for one in document["cases"]]
        return {
            (one["check"], one["session"], one["preset"]): CheckFigures(
                **{name: known[name] for name in CheckFigures.__struct_fields__}
            )
            for one, known in listed
            if known is not None
        }
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {reason(error)}; write it with `cwb check --json`.") from None
    except (ValueError, KeyError, TypeError):
        raise BadInput(f"{path} is no result of `cwb check --json`; write it again with that.") from None


def text_lines(cases: Sequence[Case]) -> Iterator[str]:
    """Yield a line for each case, below it a line for each failed requirement, and a count at the end."""
    for case in cases:
        sign = "✗" if case.failures else "✓"
        yield f"{sign} {one_line(_name(case))}{_figure_words(case.figures)}"
        for failure in case.failures:
            yield f"  {failure.requirement}: {one_line(failure.message)}"
    failed = sum(bool(case.failures) for case in cases)
    yield f"{counted(len(cases), 'case')}, {grouped(failed)} failed"


def github_lines(cases: Sequence[Case], file: Path) -> Iterator[str]:
    """Yield a GitHub Actions annotation for each failed requirement, at the line of its check."""
    for case in cases:
        for failure in case.failures:
            title = _property(f"{failure.requirement}: {_name(case)}")
            place = f"file={_property(str(file))},line={case.line},title={title}"
            yield f"::error {place}::{_data(printable(failure.message))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(printable(text)).replace(":", "%3A").replace(",", "%2C")


def junit_report(cases: Sequence[Case]) -> str:
    """Return a JUnit report: a suite for each check, a test case for each session and preset."""
    suites: dict[str, list[Case]] = {}
    for case in cases:
        suites.setdefault(case.check, []).append(case)
    lines = [_XML, "<testsuites>"]
    for name, several in suites.items():
        failed = sum(bool(case.failures) for case in several)
        lines.append(f'<testsuite name={_attribute(name)} tests="{len(several)}" failures="{failed}">')
        for case in several:
            lines.append(f"<testcase classname={_attribute(name)} name={_attribute(f'{case.session} {case.preset}')}>")
            lines += [
                f"<failure type={_attribute(one.requirement)} message={_attribute(one.message)}>"
                f"{escape(printable(one.message))}</failure>"
                for one in case.failures
            ]
            lines.append("</testcase>")
        lines.append("</testsuite>")
    return "\n".join([*lines, "</testsuites>", ""])


def _attribute(text: str) -> str:
    return quoteattr(one_line(printable(text)))


def _name(case: Case) -> str:
    return f"{case.check} · {case.session} · {case.preset}"


def _figure_words(known: CheckFigures | None) -> str:
    if known is None:
        return ""
    shares = (("kept", known.kept), ("rules", known.rules))
    words = [f"{name} {percent(share)}" for name, share in shares if share is not None]
    return "  " + ", ".join([*words, f"{grouped(known.tokens)} tokens"])
